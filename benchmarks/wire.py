#!/usr/bin/env python3
"""Measures the GGP player over loopback: deadlines, response times, leaks of memory and files, errors.

    benchmarks/wire.py deadline [--moves 1000] [--games krieg-tictactoe;connect-four] [--with PLAYER] [--parallel 4]
    benchmarks/wire.py info     [--rounds 20]
    benchmarks/wire.py cycles   [--cycles 1000]
    benchmarks/wire.py corpus   [--matches 10] [--games a;b]

deadline: matches at a play clock of 1 s between copies of one player, while a process for each core keeps it busy. The
manager measures each move from before it connects to after the reply. An overrun is a move that took longer than the
clock (without the grace period).
info: 50 INFO at once while the player chooses a move; time of the slowest.
cycles: START and STOP many times; memory, threads and open files before and after.
corpus: our manager and our player on every game of the catalogue with hidden information; counts errors and records
that do not replay.

The exit status is 1 if a requirement is not met.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


class Player:
    """A `surmise player` on a free port."""

    def __init__(self, surmise, with_player=None, matches=1):
        command = [surmise, "player", "--port", "0", "--log", "off", "--max-matches", str(matches)]
        command += ["--with", with_player] if with_player else []
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().split()[-1]

    def say(self, message):
        host, port = self.address.rsplit(":", 1)
        with socket.create_connection((host, int(port))) as link:
            body = message.encode()
            link.sendall(b"POST / HTTP/1.0\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            reply = b"".join(iter(lambda: link.recv(65536), b""))
        return reply.split(b"\r\n\r\n", 1)[1].decode()

    def resources(self):
        folder = pathlib.Path(f"/proc/{self.process.pid}")
        status = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
        return int(status["VmRSS"].split()[0]), int(status["Threads"]), len(list((folder / "fd").iterdir()))

    def close(self):
        self.process.kill()
        self.process.wait()


def burn():
    """Processes that keep every core busy."""
    return [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count())]


def roles(surmise, game):
    """How many roles have to be played."""
    trace = subprocess.run([surmise, "trace", game, "--steps", "0"], capture_output=True, text=True, check=True)
    return len([role for role in json.loads(trace.stdout)["legal"] if role != "random"])


def rules(surmise, game):
    """The rules of a game."""
    return subprocess.run([surmise, "show", game, "--rules"], capture_output=True, text=True, check=True).stdout


def table(surmise, game, players, extra):
    """The records of some matches."""
    with tempfile.TemporaryDirectory() as folder:
        addresses = ";".join(p.address for p in players)
        command = [surmise, "manage", game, "--players", addresses, "--record", folder, "--json", "--log", "off"]
        command += extra
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
        files = sorted(str(f) for f in pathlib.Path(folder).glob("*.json"))
        replayed = subprocess.run([surmise, "replay", *files], capture_output=True, text=True).returncode == 0
        return [json.loads(pathlib.Path(f).read_text()) for f in files], replayed


def deadline(args):
    """Moves, overruns, and how long they took."""
    burners = burn()
    times, errors = [], []
    try:
        for game in args.games.split(";"):
            seats = roles(args.surmise, game)
            lanes = [[Player(args.surmise, args.player) for _ in range(seats)] for _ in range(args.parallel)]
            share = -(-args.moves // len(args.games.split(";")))
            seed, mine = 0, []
            while len(mine) < share:
                with concurrent.futures.ThreadPoolExecutor(args.parallel) as pool:
                    extra = lambda n: ["--start-clock", "2", "--play-clock", "1", "--seed", str(seed + n)]
                    jobs = [pool.submit(table, args.surmise, game, lanes[n], extra(n)) for n in range(args.parallel)]
                    for job in jobs:
                        records, _ = job.result()
                        for record in records:
                            asked = [role != "random" for role in record["roles"]]
                            mine += [ms for row in record["timesMs"] for ms, ours in zip(row, asked) if ours]
                            errors += [e for row in record["errors"] for e in row if e]
                seed += args.parallel
                overruns = sum(ms > 1000 for ms in mine)
                print(f"{game}: {len(mine)} moves, {overruns} overruns, longest {max(mine)} ms", flush=True)
            times += mine
            for player in (p for lane in lanes for p in lane):
                player.close()
    finally:
        for burner in burners:
            burner.kill()
    times.sort()
    late = sum(ms > 1000 for ms in times)
    p99 = times[-(-99 * len(times) // 100) - 1]
    print(f"{len(times)} moves at 1 s with {len(burners)} burners and {args.parallel} matches at a time: "
          f"{late} overruns, {len(errors)} replaced, median {times[len(times) // 2]} ms, p99 {p99} ms, "
          f"longest {times[-1]} ms")
    return late == 0 and not errors


def info(args):
    """The slowest of 50 INFO during a PLAY."""
    text = rules(args.surmise, "krieg-tictactoe")
    player = Player(args.surmise, "hp")
    worst, every = 0.0, []
    for number in range(args.rounds):
        assert player.say(f"(START m{number} xplayer ({text}) 1 2)") == "ready"
        with concurrent.futures.ThreadPoolExecutor(51) as pool:
            play = pool.submit(player.say, f"(PLAY m{number} 0 NIL NIL)")
            time.sleep(0.3)

            def ask():
                began = time.perf_counter()
                assert "busy" in player.say("(INFO)")
                return (time.perf_counter() - began) * 1000

            took = [job.result() for job in [pool.submit(ask) for _ in range(50)]]
            assert not play.done(), "the move came before the last INFO"
            play.result()
        player.say(f"(STOP m{number} NIL)")
        worst = max(worst, max(took))
        every += took
    player.close()
    every.sort()
    median, p99 = every[len(every) // 2], every[-len(every) // 100]
    print(f"{args.rounds} x 50 INFO during a PLAY: median {median:.1f} ms, p99 {p99:.1f} ms, slowest {worst:.1f} ms")
    return worst < 100


def cycles(args):
    """Memory, threads and files before and after many matches."""
    text = rules(args.surmise, "matching-pennies")
    role = text.split("(role ", 1)[1].split(")", 1)[0]
    player = Player(args.surmise, "random")

    def cycle(number):
        assert player.say(f"(START m{number} {role} ({text}) 5 5)") == "ready"
        assert player.say(f"(STOP m{number} NIL)") == "done"

    for number in range(args.cycles // 5):
        cycle(number)
    time.sleep(1)
    before = player.resources()
    began = time.perf_counter()
    for number in range(args.cycles):
        cycle(number)
    took = time.perf_counter() - began
    time.sleep(1)
    after = player.resources()
    player.close()
    print(f"{args.cycles} START/STOP in {took:.1f} s: memory {before[0]} -> {after[0]} kB, "
          f"threads {before[1]} -> {after[1]}, files {before[2]} -> {after[2]}")
    return after[0] < before[0] + 8192 and after[1] <= before[1] + 1 and after[2] <= before[2] + 1


# Games that take too long at their default size: where both armies are hidden, sampling a belief takes a long search.
SMALLER = {"blind-breakthrough": "blind-breakthrough:width=5,height=5"}


def corpus(args):
    """Our manager and our player on games with hidden information."""
    names = sorted(p.stem for p in (ROOT / "games").glob("*.kif"))
    games = args.games.split(";") if args.games else [SMALLER.get(name, name) for name in names]
    good = True
    for game in games:
        text = rules(args.surmise, game)
        if "(sees" not in text:
            continue
        seats = roles(args.surmise, game)
        players = [Player(args.surmise, args.player or "hp:8,2") for _ in range(seats)]
        began = time.perf_counter()
        options = ["--start-clock", "5", "--play-clock", "5", "--games", str(args.matches)]
        records, replayed = table(args.surmise, game, players, options)
        errors = [e for r in records for row in r["errors"] for e in row if e]
        errors += [e for r in records for e in r["startErrors"] if e]
        for player in players:
            player.close()
        fine = replayed and not errors and len(records) == args.matches
        good &= fine
        outcome = "replayed" if replayed else "NOT REPLAYED"
        print(f"{game:36} {len(records):3} matches, {len(errors)} errors, {outcome}, "
              f"{time.perf_counter() - began:.1f} s {'' if fine else '  <-- ' + str(errors[:3])}", flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["deadline", "info", "cycles", "corpus"])
    parser.add_argument("--surmise", default=TARGET / "release/surmise", help="the program")
    parser.add_argument("--with", dest="player", help="who plays")
    parser.add_argument("--games", help="separated by `;`")
    parser.add_argument("--moves", type=int, default=1000)
    parser.add_argument("--parallel", type=int, default=1, help="matches at a time")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--cycles", type=int, default=1000)
    parser.add_argument("--matches", type=int, default=10)
    args = parser.parse_args()
    if args.what == "deadline":
        args.games = args.games or "krieg-tictactoe;connect-four"
    sys.exit(0 if globals()[args.what](args) else 1)


if __name__ == "__main__":
    main()
