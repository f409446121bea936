#!/usr/bin/env python3
"""Measures whether players keep their deadlines, on idle cores and on busy ones.

    benchmarks/deadline.py [--players hp,uct,…] [--games a,b] [--load N] [--time 0.1] [--moves 10000] [--json FILE]

Every match is `surmise match GAME PLAYER --time-per-move S --json`, played by copies of one player, while `--load`
processes keep as many cores busy. Without `--players` and `--games` every thinking player plays every catalogue game
that it can play; a pair that `surmise` refuses is left out. Moves are spread evenly over the pairs. Prints moves, late
moves, 99th percentile and longest move for each pair. A late move came after its deadline. The exit status is 1 if
there was a late move.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PLAYERS = ["mc", "uct", "minimax", "nested", "hp", "hp2", "auto", "ismcts", "cfr", "epimc", "kluss", "cheat"]


def burn(count):
    """Processes that each keep a core busy."""
    return [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]


def catalogue(surmise):
    """Names of all catalogue games."""
    done = subprocess.run([surmise, "games", "--json"], capture_output=True, text=True, check=True)
    return [json.loads(line)["name"] for line in done.stdout.splitlines()]


def match(surmise, game, player, time, games, seed):
    """The rows of some matches, or nothing if the player cannot play the game."""
    command = [surmise, "match", game, player, "--games", str(games), "--threads", "1", "--time-per-move", str(time),
               "--seed", str(seed), "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 0:
        return json.loads(done.stdout)["players"]
    if "` needs " in done.stderr or "cannot play" in done.stderr:
        return None
    sys.exit(f"{' '.join(map(str, command))}: {done.stderr.strip()}")


def measure(surmise, game, player, time, moves):
    """Plays matches with about so many moves: (moves, late, p99 of the worse seat, longest), or nothing."""
    rows = match(surmise, game, player, time, 1, 1)
    if rows is None:
        return None
    played = max(1, sum(row["moves"] for row in rows))
    if played < moves:
        rows += match(surmise, game, player, time, -(-(moves - played) // played), 2)
    late = sum(row["late"] for row in rows)
    p99 = max(row["p99_ms"] for row in rows)
    return sum(row["moves"] for row in rows), late, p99, max(row["max_ms"] for row in rows)


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
    burners = burn(args.load)
    results = []
    try:
        print(f"{args.time * 1000:g} ms a move, {args.load} busy processes on {os.cpu_count()} cores")
        print(f"{'player':16} {'game':24} {'moves':>6} {'late':>5} {'p99 ms':>8} {'max ms':>8}", flush=True)
        for player in players:
            for game in games:
                measured = measure(args.surmise, game, player, args.time, share)
                if measured is None:
                    continue
                moves, late, p99, longest = measured
                results.append(dict(player=player, game=game, moves=moves, late=late, p99_ms=p99, max_ms=longest))
                print(f"{player:16} {game:24} {moves:6} {late:5} {p99:8.1f} {longest:8.1f}", flush=True)
        print(f"{'all':16} {'':24} {sum(row['moves'] for row in results):6} {sum(row['late'] for row in results):5} "
              f"{'':8} {max(row['max_ms'] for row in results):8.1f}")
    finally:
        for burner in burners:
            burner.kill()
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(results, indent=1) + "\n")
    sys.exit(1 if any(row["late"] for row in results) else 0)


if __name__ == "__main__":
    main()
