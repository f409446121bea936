#!/usr/bin/env python3
"""Milliseconds from a keystroke to its answers, through the protocol: `surmise lsp` over its pipes.

A rule is typed letter by letter at the beginning, in the middle and at the end of a file. After each letter the time is
taken until the findings of that version arrive, and then for each question that an editor asks. Background work is on,
as in an editor. Prints medians, 95th percentiles and maxima.

  benchmarks/editor.py [--surmise target/release/surmise] [GAME…]

GAME is a rules file or a game of the catalogue. Without it: the largest file of ../shared/conformance if it is there,
and battleships-in-fog.
"""

import argparse
import json
import pathlib
import queue
import subprocess
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
RULE = "(<= (legal ?r noop) (role ?r))"


class Server:
    def __init__(self, program):
        self.process = subprocess.Popen([program, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.messages = queue.Queue()
        self.ids = 0
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        out = self.process.stdout
        while True:
            length = None
            while True:
                line = out.readline()
                if not line:
                    return
                if line == b"\r\n":
                    break
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            self.messages.put(json.loads(out.read(length)))

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def notify(self, method, params):
        self.send({"method": method, "params": params})

    def ask(self, method, params):
        self.ids += 1
        self.send({"id": self.ids, "method": method, "params": params})
        return self.wait(lambda m: m.get("id") == self.ids and "method" not in m)

    def wait(self, wanted):
        while True:
            message = self.messages.get(timeout=120)
            if wanted(message):
                if "error" in message:
                    raise SystemExit(message["error"]["message"])
                return message

    def findings(self, uri, version):
        def wanted(m):
            p = m.get("params") or {}
            return m.get("method") == "textDocument/publishDiagnostics" and p["uri"] == uri and p["version"] == version

        return self.wait(wanted)


def rules(program, game):
    path = pathlib.Path(game)
    if path.is_file():
        return path.read_text(errors="replace")
    return subprocess.run([program, "fmt", game], check=True, capture_output=True, text=True).stdout


def measure(program, text):
    server = Server(program)
    server.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
    server.notify("initialized", {})
    uri, version = "file:///game.kif", 1
    started = time.perf_counter()
    item = {"uri": uri, "languageId": "gdl", "version": version, "text": text}
    server.notify("textDocument/didOpen", {"textDocument": item})
    server.findings(uri, version)
    times = {"open to findings": [time.perf_counter() - started]}
    document = {"textDocument": {"uri": uri}}
    started = time.perf_counter()
    server.ask("textDocument/formatting", {**document, "options": {"tabSize": 4, "insertSpaces": True}})
    times["formatting"] = [time.perf_counter() - started]
    lines = text.split("\n")
    # Between forms: before a line that begins one.
    begins = [n for n, line in enumerate(lines) if line.startswith("(")] or [0]
    for line in (begins[0], begins[len(begins) // 2], len(lines) - 1):
        for column, letter in enumerate(RULE):
            at = {"line": line, "character": column}
            version += 1
            change = {"range": {"start": at, "end": at}, "text": letter}
            change = {"textDocument": {"uri": uri, "version": version}, "contentChanges": [change]}
            started = time.perf_counter()
            server.notify("textDocument/didChange", change)
            server.findings(uri, version)
            times.setdefault("key to findings", []).append(time.perf_counter() - started)
            position = {"line": line, "character": column + 1}
            for method in (
                "completion",
                "hover",
                "documentHighlight",
                "documentSymbol",
                "semanticTokens/full",
                "foldingRange",
                "definition",
            ):
                started = time.perf_counter()
                server.ask(f"textDocument/{method}", {**document, "position": position})
                times.setdefault(method, []).append(time.perf_counter() - started)
    server.ask("shutdown", None)
    server.notify("exit", None)
    server.process.wait(timeout=30)
    return len(text.encode()), times


def largest(folder):
    return max((p for p in folder.rglob("*") if p.is_file()), key=lambda p: p.stat().st_size)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--surmise", default=str(ROOT / "target/release/surmise"))
    parser.add_argument("games", nargs="*", metavar="GAME")
    args = parser.parse_args()
    games = args.games
    if not games:
        shared = ROOT.parent / "shared/conformance/rules"
        games = [str(largest(shared))] if shared.exists() else []
        games.append("battleships-in-fog")
    for game in games:
        size, times = measure(args.surmise, rules(args.surmise, game))
        print(f"{pathlib.Path(game).name}, {size} bytes")
        print(f"  {'':22}{'n':>5}{'median':>10}{'95 %':>10}{'most':>10}   (ms)")
        for name, values in times.items():
            values = sorted(1000 * v for v in values)
            high = values[min(len(values) - 1, int(0.95 * len(values)))]
            print(f"  {name:22}{len(values):5}{values[len(values) // 2]:10.2f}{high:10.2f}{values[-1]:10.2f}")


if __name__ == "__main__":
    main()
