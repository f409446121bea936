#!/usr/bin/env python3
"""Measures `surmise serve`: the first page, a move until it is shown, requests per second, 100 tables at once.

    benchmarks/table.py [--program target/release/surmise] [--tables 100] [--moves 200]

A move is shown when the event stream of its seat has delivered the view of the next round. The opponent of that
measurement is `random`, so that thinking takes no time. At 100 tables every player gets a fixed time per move; an answer
is late by what it takes beyond the time of the thinking that had to be done on the server's threads.
"""

import argparse
import http.client
import json
import re
import statistics
import subprocess
import threading
import time


class Server:
    def __init__(self, program, *options):
        command = [program, "serve", "--port", "0", "--data", "none", "--log", "off", *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        self.host = re.search(r"http://([^/]+)/", line).group(1)
        self.local = threading.local()

    def connection(self):
        if not hasattr(self.local, "connection"):
            self.local.connection = http.client.HTTPConnection(self.host, timeout=120)
        return self.local.connection

    def call(self, method, path, body=None):
        text = None if body is None else json.dumps(body)
        connection = self.connection()
        try:
            connection.request(method, path, text)
            answer = connection.getresponse()
        except (http.client.HTTPException, ConnectionError):
            # The server closes connections that were silent for a while.
            connection.close()
            connection.request(method, path, text)
            answer = connection.getresponse()
        data = answer.read()
        if answer.status != 200:
            raise SystemExit(f"{method} {path}: {answer.status} {data[:200]}")
        return data

    def table(self, **request):
        return json.loads(self.call("POST", "/api/tables", request))

    def end(self):
        self.process.terminate()
        self.process.wait(10)


def events(server, table, token):
    """Views of a seat, with the time of their arrival."""
    connection = http.client.HTTPConnection(server.host, timeout=120)
    connection.request("GET", f"/api/tables/{table}/events?token={token}")
    answer = connection.getresponse()
    while line := answer.readline():
        if line.startswith(b"data: "):
            yield time.perf_counter(), json.loads(line[6:])


def summary(name, seconds):
    ms = sorted(1000 * s for s in seconds)
    at = lambda share: ms[min(len(ms) - 1, int(share * len(ms)))]
    print(f"{name:44} median {statistics.median(ms):8.2f} ms   95 % {at(0.95):8.2f} ms   most {ms[-1]:8.2f} ms")


def pages(server, times=100):
    page = server.call("GET", "/").decode()
    names = ["/"] + sorted(set(re.findall(r'(?:href|src)="(/[^"#?]+\.(?:css|js|svg))"', page)))
    size = sum(len(server.call("GET", name)) for name in names)
    took = []
    for _ in range(times):
        started = time.perf_counter()
        for name in names:
            server.call("GET", name)
        took.append(time.perf_counter() - started)
    print(f"first page: {len(names)} files, {size / 1000:.0f} kB")
    summary("first page with its files", took)


def moves(server, wanted):
    took = []
    while len(took) < wanted:
        made = server.table(game="krieg-tictactoe", seats={"xplayer": "human", "oplayer": "random"})
        seat = made["seats"]["xplayer"]["token"]
        stream = events(server, made["id"], seat)
        _, view = next(stream)
        while not view["finished"] and len(took) < wanted:
            if not view["to_move"]:
                _, view = next(stream)
                continue
            started = time.perf_counter()
            body = {"token": seat, "move": view["legal"][len(took) % len(view["legal"])]}
            server.call("POST", f"/api/tables/{made['id']}/move", body)
            before = view["round"]
            while view["round"] == before and not view["finished"]:
                arrived, view = next(stream)
            took.append(arrived - started)
    summary("a move until it is shown", took)


def requests(server, seconds=3.0):
    made = server.table(game="krieg-tictactoe", seats={"xplayer": "human", "oplayer": "random"})
    path = f"/api/tables/{made['id']}?token={made['seats']['xplayer']['token']}"
    counts = []
    end = time.perf_counter() + seconds

    def ask():
        count = 0
        while time.perf_counter() < end:
            server.call("GET", path)
            count += 1
        counts.append(count)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"views per second, 4 connections (this client included): {sum(counts) / seconds:.0f}")


def crowd(server, tables, think, threads):
    """People at many tables move at once; every opponent thinks for `think` seconds."""
    made = [
        server.table(game="krieg-tictactoe", seats={"xplayer": "human", "oplayer": "hp"}, times={"oplayer": think})
        for _ in range(tables)
    ]
    late = []

    def play(table):
        seat = table["seats"]["xplayer"]["token"]
        path = f"/api/tables/{table['id']}"
        view = json.loads(server.call("GET", f"{path}?token={seat}"))
        started = time.perf_counter()
        server.call("POST", f"{path}/move", {"token": seat, "move": view["legal"][0]})
        accepted = time.perf_counter() - started
        late.append(accepted)
        for arrived, shown in events(server, table["id"], seat):
            if shown["round"] > view["round"] or shown["finished"]:
                ends.append(arrived - begun)
                return

    ends = []
    begun = time.perf_counter()
    workers = [threading.Thread(target=play, args=(table,)) for table in made]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    summary(f"{tables} tables: a move is accepted", late)
    needed = tables * think / threads
    print(f"{tables} tables: thinking takes {needed:.1f} s on {threads} threads, the last answer came after "
          f"{max(ends):.1f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/release/surmise")
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--moves", type=int, default=200)
    parser.add_argument("--think", type=float, default=0.1)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    server = Server(args.program, "--threads", str(args.threads))
    try:
        pages(server)
        moves(server, args.moves)
        requests(server)
        crowd(server, args.tables, args.think, args.threads)
    finally:
        server.end()


if __name__ == "__main__":
    main()
