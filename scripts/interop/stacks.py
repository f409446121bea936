#!/usr/bin/env python3
"""Other people's HTTP, both ways: our player called by clients that come with languages and tools, our manager calling servers that do.

    scripts/interop/stacks.py SURMISE

Students write managers and players with what their language has, and those differ in what they send: keep-alive, chunks, `Expect`, offers of
HTTP/2, lengths that are missing. What is not installed here is said and left out. Ends with 1 if something is not as it should be.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import http.client
import http.server
import urllib.request

GAME = "matching-pennies"
MOVE = "(show heads)"

JAVA_CLIENT = """
import java.net.URI;
import java.net.http.*;
public class Client {
    public static void main(String[] a) throws Exception {
        HttpClient client = HttpClient.newHttpClient();
        for (int i = 1; i < a.length; i++) {
            String body = a[i].startsWith("@") ? java.nio.file.Files.readString(java.nio.file.Path.of(a[i].substring(1))) : a[i];
            HttpRequest request = HttpRequest.newBuilder(URI.create(a[0])).POST(HttpRequest.BodyPublishers.ofString(body)).build();
            System.out.println(client.send(request, HttpResponse.BodyHandlers.ofString()).body());
        }
    }
}
"""
JAVA_SERVER = """
import com.sun.net.httpserver.*;
public class Server {
    public static void main(String[] a) throws Exception {
        HttpServer server = HttpServer.create(new java.net.InetSocketAddress("127.0.0.1", 0), 0);
        server.createContext("/", e -> {
            String said = new String(e.getRequestBody().readAllBytes());
            String reply = said.startsWith("(START") ? "ready" : said.startsWith("(PLAY") ? "(show heads)" : said.startsWith("(INFO") ? "available" : "done";
            e.sendResponseHeaders(200, 0); // chunked, for clients of HTTP/1.1
            e.getResponseBody().write(reply.getBytes());
            e.close();
        });
        server.start();
        System.out.println(server.getAddress().getPort());
    }
}
"""
NODE_CLIENT = """
const [url, ...messages] = process.argv.slice(1);
const fs = require('fs');
(async () => {
  for (const m of messages) {
    const body = m.startsWith('@') ? fs.readFileSync(m.slice(1), 'utf8') : m;
    console.log(await (await fetch(url, { method: 'POST', body })).text());
  }
})();
"""
NODE_SERVER = """
require('http').createServer((request, response) => {
  let said = '';
  request.on('data', part => said += part);
  request.on('end', () => response.end(said.startsWith('(START') ? 'ready' : said.startsWith('(PLAY') ? '(show heads)' : 'done'));
}).listen(0, '127.0.0.1', function () { console.log(this.address().port); });
"""


def answer(said):
    return {"(START": "ready", "(PLAY ": MOVE, "(INFO)": "available"}.get(said[:6], "done")


class Handler(http.server.BaseHTTPRequestHandler):
    """A player in Python; subclasses differ in how the reply travels."""

    length = True

    def do_POST(self):
        reply = answer(self.rfile.read(int(self.headers["Content-Length"])).decode()).encode()
        self.send_response(200)
        if self.length:
            self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_):
        pass


class KeepAlive(Handler):
    protocol_version = "HTTP/1.1"


class NoLength(Handler):
    length = False


def messages(folder, surmise, number):
    """A whole match, message by message, and what is to be answered."""
    rules = subprocess.run([surmise, "show", GAME, "--rules"], capture_output=True, text=True, check=True).stdout
    start = folder / f"start{number}"
    # Longer than a megabyte: curl then asks whether it may go on.
    start.write_text(f"(START m{number} {role(surmise)} ({rules} {'(padding x) ' * 100_000}) 5 2)")
    return [("(INFO)", "((name"), (f"@{start}", "ready"), (f"(PLAY m{number} 0 NIL NIL)", "(show"), (f"(ABORT m{number})", "aborted"), ("what?", "what")]


def role(surmise):
    trace = subprocess.run([surmise, "trace", GAME, "--steps", "0"], capture_output=True, text=True, check=True)
    return next(r for r in json.loads(trace.stdout)["legal"] if r != "random")


def text(message):
    return pathlib.Path(message[1:]).read_text() if message.startswith("@") else message


def by_http_client(url, said):
    # One connection for all: ours is closed after each reply, and http.client opens another.
    link = http.client.HTTPConnection(url.split("/")[2], timeout=20)
    replies = []
    for message in said:
        link.request("POST", "/", text(message))
        replies.append(link.getresponse().read().decode())
    return replies


def by_urllib(url, said):
    return [urllib.request.urlopen(url, text(m).encode(), timeout=20).read().decode() for m in said]


def by_curl(url, said):
    call = lambda m: subprocess.run(["curl", "-s", "-m", "20", "--data-binary", m, url], capture_output=True, text=True).stdout
    return [call(m) for m in said]


def by_program(*command):
    def run(url, said):
        return subprocess.run([*command, url, *said], capture_output=True, text=True).stdout.splitlines()

    return run


def clients(surmise, folder):
    """Clients of other people call our player."""
    (folder / "Client.java").write_text(JAVA_CLIENT)
    known = [("Python http.client", "python3", by_http_client), ("Python urllib", "python3", by_urllib), ("curl, Expect: 100-continue", "curl", by_curl),
             ("Node fetch, keep-alive", "node", by_program("node", "-e", NODE_CLIENT)),
             ("Java HttpClient, offers HTTP/2", "javac", by_program("java", str(folder / "Client.java")))]
    player = subprocess.Popen([surmise, "player", "--port", "0", "--log", "off", "--with", "hp:8,2"], stdout=subprocess.PIPE, text=True)
    url = "http://" + player.stdout.readline().split()[-1] + "/"
    good = True
    for number, (name, program, say) in enumerate(known):
        if not shutil.which(program):
            print(f"client  {name:40} left out: no {program} here")
            continue
        expected = messages(folder, surmise, number)
        replies = say(url, [m for m, _ in expected])
        fine = len(replies) == len(expected) and all(r.startswith(e) for r, (_, e) in zip(replies, expected))
        good &= fine
        print(f"client  {name:40} {'as it should be' if fine else replies}")
    player.kill()
    player.wait()
    return good


def servers(surmise, folder):
    """Our manager calls servers of other people."""
    (folder / "Server.java").write_text(JAVA_SERVER)
    running, processes = [], []
    for name, handler in [("Python http.server, HTTP/1.0", Handler), ("Python http.server, keep-alive", KeepAlive), ("Python http.server, no length", NoLength)]:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        running.append((name, server.server_address[1]))
    for name, program, command in [("Node http, keep-alive", "node", ["node", "-e", NODE_SERVER]),
                                   ("Java HttpServer", "javac", ["java", str(folder / "Server.java")])]:
        if not shutil.which(program):
            print(f"server  {name:40} left out: no {program} here")
            continue
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        processes.append(process)
        running.append((name, int(process.stdout.readline())))
    good = True
    for name, port in running:
        command = [surmise, "manage", GAME, "--players", f"127.0.0.1:{port};random", "--games", "5", "--start-clock", "2", "--play-clock", "2", "--log", "off", "--json"]
        said = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)
        them = said["players"][0]
        fine = said["complete"] == 5 and not them["errors"] and them["longest_ms"] < 1000
        good &= fine
        print(f"server  {name:40} {'as it should be' if fine else said}")
    for process in processes:
        process.kill()
        process.wait()
    return good


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        good = [clients(sys.argv[1], pathlib.Path(folder)), servers(sys.argv[1], pathlib.Path(folder))]
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
