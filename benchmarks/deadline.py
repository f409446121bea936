#!/usr/bin/env python3
"""Measures whether players keep their deadlines while all cores are busy.

    benchmarks/deadline.py [--players hp,uct,…] [--games a,b] [--time 0.1] [--moves 1000] [--json FILE]

Every match is `surmise match GAME PLAYER --time-per-move S --json`, played by copies of one player, while a process for
each core keeps it busy. Prints moves, overruns, 99th percentile and longest move for each player and game. An overrun
is a move that came after its deadline. Moves are spread evenly over the games that a player can play (mc, uct, minimax
and nested need games with complete information). The exit status is 1 if there was an overrun.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
HIDDEN = ["krieg-tictactoe", "blind-breakthrough"]
OPEN = ["connect-four", "breakthrough"]
PERFECT = ["mc", "uct", "minimax", "nested"]


def burn():
    """Processes that keep every core busy."""
    code = "while True: pass"
    return [subprocess.Popen([sys.executable, "-c", code]) for _ in range(os.cpu_count())]


def match(surmise, game, player, time, games):
    """The rows of some matches."""
    command = [surmise, "match", game, player, "--games", str(games), "--time-per-move", str(time), "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
    return json.loads(done.stdout)["players"]


def measure(surmise, game, player, time, moves):
    """Plays matches with about so many moves: (moves, late, p99 of the worse seat, longest)."""
    first = match(surmise, game, player, time, 1)
    a_game = sum(row["moves"] for row in first)
    rows = match(surmise, game, player, time, max(1, -(-moves // a_game)))
    late = sum(row["late"] for row in rows)
    p99 = max(row["p99_ms"] for row in rows)
    return sum(row["moves"] for row in rows), late, p99, max(row["max_ms"] for row in rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--players", default="hp,uct,mc,minimax,nested",
                        help="names, separated by `;` or, if they have no options, by `,`")
    parser.add_argument("--games", help="games to play instead of the usual ones, separated by `;`")
    parser.add_argument("--time", type=float, default=0.1, help="seconds for a move")
    parser.add_argument("--moves", type=int, default=1000, help="moves for each player")
    parser.add_argument("--surmise", default=TARGET / "release/surmise", help="the program")
    parser.add_argument("--json", help="write the results here")
    args = parser.parse_args()
    players = args.players.split(";" if ";" in args.players else ",")
    burners = burn()
    results = []
    try:
        print(f"{args.time * 1000:g} ms a move, {len(burners)} burners on {os.cpu_count()} cores")
        print(f"{'player':16} {'game':20} {'moves':>6} {'overruns':>8} {'p99 ms':>8} {'max ms':>8}", flush=True)
        for player in players:
            usual = OPEN if player.split(":")[0] in PERFECT else HIDDEN + OPEN
            games = args.games.split(";") if args.games else usual
            for game in games:
                share = -(-args.moves // len(games))
                moves, late, p99, longest = measure(args.surmise, game, player, args.time, share)
                results.append(dict(player=player, game=game, moves=moves, overruns=late, p99_ms=p99, max_ms=longest))
                print(f"{player:16} {game:20} {moves:6} {late:8} {p99:8.1f} {longest:8.1f}", flush=True)
    finally:
        for burner in burners:
            burner.kill()
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(results, indent=1) + "\n")
    sys.exit(1 if any(row["overruns"] for row in results) else 0)


if __name__ == "__main__":
    main()
