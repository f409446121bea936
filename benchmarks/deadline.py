#!/usr/bin/env python3
"""Measures whether players keep their deadlines, on idle cores and on busy ones.

    benchmarks/deadline.py [--players hp,uct,…] [--games a,b] [--load N] [--time 0.1] [--moves 10000] [--json FILE]

Every match is `surmise match GAME PLAYER --time-per-move S --json`, played by copies of one player, while `--load`
processes keep as many cores busy. Without `--players` and `--games` every thinking player plays every catalogue game
that it can play; a pair that `surmise` refuses is left out. Moves are spread evenly over the pairs. Prints moves, late
moves, 99th percentile and longest move for each pair. A late move came after its deadline.

A virtual machine may itself stand still. As root, a sleeper with real-time priority on each core, which nothing on this
machine can delay, writes down when it woke up more than 10 ms late. The column `stall` counts the late moves of matches
during which a core stood still for over 20 ms: they say nothing of the player. The exit status is 1 if there was a late
move that no stall explains.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PLAYERS = ["mc", "uct", "minimax", "nested", "hp", "hp2", "auto", "ismcts", "cfr", "epimc", "kluss", "cheat"]


def burn(count):
    """Processes that each keep a core busy."""
    return [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]


SLEEPER = """
import os, sys, time
os.sched_setaffinity(0, {int(sys.argv[1])})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
parent, last = os.getppid(), time.monotonic()
with open(sys.argv[2], "w") as stalls:
    while os.getppid() == parent:
        time.sleep(0.005)
        now = time.monotonic()
        if now - last > 0.015:
            print(now, (now - last - 0.005) * 1000, file=stalls, flush=True)
        last = now
"""


class Sleepers:
    """Measures the stalls of the machine, if it may."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.cores = sorted(os.sched_getaffinity(0))
        self.processes = [subprocess.Popen([sys.executable, "-c", SLEEPER, str(core), str(self.file(core))],
                                           stderr=subprocess.DEVNULL)
                          for core in self.cores]

    def file(self, core):
        return pathlib.Path(self.folder.name) / str(core)

    def stalls(self, core):
        """The ends and lengths (ms) of the stalls so far, or nothing if they cannot be measured."""
        if not self.file(core).exists():
            return None
        return [tuple(map(float, line.split())) for line in self.file(core).read_text().splitlines()]

    def stalled_since(self, start):
        """Whether a core stood still for over 20 ms since `start`."""
        return any(end > start and length > 20 for core in self.cores for end, length in self.stalls(core) or [])

    def report(self):
        for core, process in zip(self.cores, self.processes):
            process.kill()
            process.wait()
            stalls = self.stalls(core)
            if stalls is None:
                print(f"core {core}: stalls of the machine are measured as root only")
                continue
            lengths = [length for _, length in stalls]
            print(f"core {core} stood still for over 10 ms {len(lengths)} times, for over 20 ms "
                  f"{sum(length > 20 for length in lengths)} times, at most {max(lengths, default=0):.1f} ms")
        self.folder.cleanup()


def catalogue(surmise):
    """Names of all catalogue games."""
    done = subprocess.run([surmise, "games", "--json"], capture_output=True, text=True, check=True)
    return [json.loads(line)["name"] for line in done.stdout.splitlines()]


def match(surmise, game, player, seconds, games, seed):
    """The rows of some matches, or nothing if the player cannot play the game."""
    command = [surmise, "match", game, player, "--games", str(games), "--threads", "1", "--time-per-move", str(seconds),
               "--seed", str(seed), "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 0:
        return json.loads(done.stdout)["players"]
    if "` needs " in done.stderr or "cannot play" in done.stderr:
        return None
    sys.exit(f"{' '.join(map(str, command))}: {done.stderr.strip()}")


def measure(surmise, game, player, seconds, moves, sleepers):
    """Plays matches with about so many moves, a call of `surmise` at a time, or nothing if the player cannot."""
    result = dict(player=player, game=game, moves=0, late=0, stall=0, p99_ms=0.0, max_ms=0.0)
    games, seed = 1, 1
    while result["moves"] < moves:
        start = time.monotonic()
        rows = match(surmise, game, player, seconds, games, seed)
        if rows is None:
            return None
        late = sum(row["late"] for row in rows)
        played = max(1, sum(row["moves"] for row in rows))
        result["moves"] += played
        result["late"] += late
        result["stall"] += late if sleepers.stalled_since(start) else 0
        result["p99_ms"] = max(result["p99_ms"], *(row["p99_ms"] for row in rows))
        result["max_ms"] = max(result["max_ms"], *(row["max_ms"] for row in rows))
        games, seed = max(1, -(-(moves - result["moves"]) * games // played)), seed + 1
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--players", default=",".join(PLAYERS),
                        help="names, separated by `;` or, if they have no options, by `,`")
    parser.add_argument("--games", help="games to play instead of the whole catalogue, separated by `;`")
    parser.add_argument("--load", type=int, default=0, help="processes that keep cores busy")
    parser.add_argument("--time", type=float, default=0.05, help="seconds for a move")
    parser.add_argument("--moves", type=int, default=10000, help="moves of all pairs together")
    parser.add_argument("--surmise", default=TARGET / "release/surmise", help="the program")
    parser.add_argument("--json", help="write the results here")
    args = parser.parse_args()
    players = args.players.split(";" if ";" in args.players else ",")
    games = args.games.split(";") if args.games else catalogue(args.surmise)
    share = -(-args.moves // (len(players) * len(games)))
    burners, sleepers = burn(args.load), Sleepers()
    results = []
    try:
        print(f"{args.time * 1000:g} ms a move, {args.load} busy processes on {os.cpu_count()} cores")
        print(f"{'player':16} {'game':24} {'moves':>6} {'late':>5} {'stall':>5} {'p99 ms':>8} {'max ms':>8}",
              flush=True)
        for player in players:
            for game in games:
                row = measure(args.surmise, game, player, args.time, share, sleepers)
                if row is None:
                    continue
                results.append(row)
                print(f"{player:16} {game:24} {row['moves']:6} {row['late']:5} {row['stall']:5} {row['p99_ms']:8.1f} "
                      f"{row['max_ms']:8.1f}", flush=True)
        moves, late, stall = (sum(row[key] for row in results) for key in ("moves", "late", "stall"))
        print(f"{'all':16} {'':24} {moves:6} {late:5} {stall:5} {'':8} {max(row['max_ms'] for row in results):8.1f}")
    finally:
        for burner in burners:
            burner.kill()
        sleepers.report()
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(results, indent=1) + "\n")
    sys.exit(1 if any(row["late"] > row["stall"] for row in results) else 0)


if __name__ == "__main__":
    main()
