#!/usr/bin/env python3
"""Players that value information: the experiments of the 2016 paper, and games whose optimum is known.

Plays matches with `surmise match --json` and prints tables in Markdown; results go to benchmarks/information.json as they come.

    python3 benchmarks/information.py [--games N] [--only SECTION] [--surmise PROGRAM]
"""

import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Section, game, our player, opponent (or none), share of --games, what the paper or theory says (score, states).
HP = "hp:16,16"
SMALL = "hp:4,4"
CELLS = [
    ("number guessing", "number-guessing:numbers=4", "hp:16,64", None, 1, "blind guesser: 25", None),
    ("number guessing", "number-guessing:numbers=4", "hp2:16,1,16,16", None, 1, "paper 78.2, optimum 80", 677314),
    ("number guessing", "number-guessing:numbers=4", "ismcts:20000,c=2", None, 1, "optimum 80", None),
    ("number guessing", "number-guessing:numbers=8", "hp:16,64", None, 1, "blind guesser: 12.5", None),
    ("number guessing", "number-guessing:numbers=8", "hp2:16,1,16,16", None, 1, "optimum 70", None),
    ("number guessing", "number-guessing:numbers=8", "ismcts:200000,c=2", None, 0.05, "optimum 70", None),
    ("number guessing", "number-guessing:numbers=16", "hp:16,64", None, 1, "blind guesser: 6.25", None),
    ("number guessing", "number-guessing:numbers=16", "hp2:16,1,16,16", None, 1, "optimum 60", None),
    ("banker and thief", "banker-and-thief", HP, HP, 1, "greedy", None),
    ("banker and thief", "banker-and-thief", "hp2:16,4,8,16", HP, 1, "paper 28.3, optimum 40", 743705),
    ("banker and thief", "banker-and-thief", "ismcts:5000", HP, 0.2, "optimum 40", None),
    ("banker and thief", "banker-and-thief", "ismcts:2000,opponents=hp", HP, 1, "optimum 40", None),
    ("banker and thief", "banker-and-thief:banks=4", HP, HP, 1, "", None),
    ("banker and thief", "banker-and-thief:banks=4", "hp2:16,4,8,16", HP, 1, "", None),
    ("banker and thief", "banker-and-thief:banks=4", "ismcts:5000,opponents=hp", HP, 0.2, "", None),
    ("battleships", "battleships-in-fog:reach=2", "cheat:64", SMALL, 1, "knows the state", None),
    ("battleships", "battleships-in-fog:reach=2", HP, SMALL, 1, "little above 50", None),
    ("battleships", "battleships-in-fog:reach=2", "hp2:9,2,2,2", SMALL, 1, "paper 89.1", 5236047),
    ("battleships", "battleships-in-fog:reach=2", "hp2:9,2,2,2", HP, 0.5, "paper 89.1", 5236047),
    ("battleships", "battleships-in-fog:reach=2", "ismcts:2000,opponents=hp,inner-playouts=4", SMALL, 0.05, "", None),
    ("battleships", "battleships-in-fog:size=4,reach=3", "hp2:9,2,2,2", SMALL, 0.1, "", None),
    ("battleships", "battleships-in-fog:size=5,reach=4", "hp2:9,2,2,2", SMALL, 0.02, "", None),
    ("battleships", "battleships-in-fog:reach=1", "cheat:64", SMALL, 1, "knows the state", None),
    ("battleships", "battleships-in-fog:reach=1", HP, SMALL, 1, "", None),
    ("battleships", "battleships-in-fog:reach=1", "hp2:9,2,2,2", SMALL, 0.5, "", None),
    ("no information to buy", "hidden-connect", "hp:64,64", HP, 1, "paper: hp as good as hp2", None),
    ("no information to buy", "hidden-connect", "hp2:64,8,16,64", HP, 1, "paper 78.8", 768687),
    ("no information to buy", "hidden-connect", "auto:64,8,16,64,hp-playouts=64", HP, 1, "", None),
    ("no information to buy", "hidden-connect", "ismcts:5000,opponents=hp", HP, 0.5, "", None),
    ("no information to buy", "mastermind", "hp:16,16", None, 1, "optimum 83.25", None),
    ("no information to buy", "mastermind", "hp2:16,1,16,16", None, 1, "paper 83.1, optimum 83.25", 307619),
    ("optimum known", "monty-hall", "hp2:16,4,8,4", None, 1, "66.67", None),
    ("optimum known", "monty-hall", "ismcts:1000", None, 1, "66.67", None),
    ("optimum known", "tiger", "hp:64,64", None, 1, "94.39", None),
    ("optimum known", "tiger", "hp2:64,4,64,64", None, 1, "94.39", None),
    ("optimum known", "tiger", "hp2:64,16,64,16,levels=3", None, 1, "94.39", None),
    ("optimum known", "tiger", "ismcts:10000", None, 1, "94.39", None),
    ("optimum known", "mastermind", "ismcts:50000", None, 0.3, "83.25", None),
    ("optimum known", "guess-who", "hp:64,64", None, 1, "70", None),
    ("optimum known", "guess-who", "hp2:16,1,16,16", None, 0.3, "70", None),
    ("optimum known", "number-guessing:numbers=16", "ismcts:1000000,c=2", None, 0.02, "60", None),
    ("optimum known", "guess-who", "ismcts:200000,c=2", None, 0.02, "70", None),
]

# Figure 8 of the paper: game, player, opponent, maximum for cutting, and the paper's scores and states.
PRUNING = [
    ("hidden-connect", "hp2:16,2,8,8", HP, 100, [(78.8, 768687), (63.6, 548684), (79.4, 753236), (52.7, 520416)]),
    ("mastermind", "hp2:16,2,8,8", None, 100, [(83.1, 307619), (81.2, 68300), (84.1, 303373), (81.6, 82812)]),
    ("number-guessing:numbers=4", "hp2:16,2,8,16", None, 80, [(78.2, 677314), (70.6, 677190), (78.3, 672235), (70.5, 699806)]),
    ("banker-and-thief", "hp2:16,4,8,16", HP, 40, [(28.3, 743705), (14.9, 660727), (27.1, 744103), (26.7, 744071)]),
    ("battleships-in-fog:reach=2", "hp2:9,2,2,2", SMALL, 100, [(89.1, 5236047), (42.3, 2482041), (86.6, 5157731), (48.8, 3027023)]),
]
KINDS = [("none", "none"), ("cut on win", "win"), ("discounting", "discount"), ("pruning on depth", "depth")]

# Games of growing size: cost with and without what inner players remember.
GROWTH = [
    ("number-guessing:numbers=2", None),
    ("number-guessing:numbers=4", None),
    ("number-guessing:numbers=8", None),
    ("banker-and-thief:deposits=4", HP),
    ("banker-and-thief:deposits=8", HP),
    ("banker-and-thief:deposits=16", HP),
    ("hidden-connect", HP),
    ("hidden-connect:columns=4,rows=4", HP),
    ("hidden-connect:columns=5,rows=5,line=4", HP),
]


def main():
    args = parse()
    results = []
    if args.only in (None, "players"):
        players(args, results)
    if args.only in (None, "pruning"):
        pruning(args, results)
    if args.only in (None, "growth"):
        growth(args, results)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=1000, help="games of a cell; dear cells play a share of them")
    parser.add_argument("--only", choices=["players", "pruning", "growth"])
    parser.add_argument("--kinds", default="", help="with --only players: kinds of players, such as hp,hp2, and no others")
    parser.add_argument("--from", dest="start", default="", help="with --only players: begin with this section")
    parser.add_argument("--surmise", default=None, help="the program; built if not given")
    parser.add_argument("--out", default=str(ROOT / "benchmarks" / "information.json"))
    args = parser.parse_args()
    if args.surmise is None:
        subprocess.run(["cargo", "build", "--release", "-p", "surmise"], cwd=ROOT, check=True)
        target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
        args.surmise = str(target / "release" / "surmise")
    return args


def players(args, results):
    section = None
    first = next((at for at, cell in enumerate(CELLS) if cell[0] == args.start), 0)
    for name, game, player, opponent, share, known, states in CELLS[first:]:
        if args.kinds and player.split(":")[0] not in args.kinds.split(","):
            continue
        if name != section:
            section = name
            print(f"\n**{name}**\n\n| game | player | against | games | score (95 %) | states a game | touches a game | known | paper's states |")
            print("|---|---|---|---|---|---|---|---|---|")
        cell = play(args, game, player, opponent, max(10, int(args.games * share)), results)
        against = opponent or "nature"
        print(f"| {game} | `{player}` | {against} | {cell['games']} | {score(cell)} | {count(cell['states'])} "
              f"| {count(cell['touches'])} | {known} | {count(states) if states else ''} |", flush=True)


def pruning(args, results):
    print("\n| game | enhancement | score (95 %) | touches a game | paper's score | paper's states |\n|---|---|---|---|---|---|")
    for game, player, opponent, maximum, paper in PRUNING:
        games = args.games // 5 if game.startswith("battle") else args.games // 2
        for (title, kind), (points, states) in zip(KINDS, paper):
            name = f"{player},prune={kind},maximum={maximum}"
            cell = play(args, game, name, opponent, max(10, games), results)
            print(f"| {game} | {title} | {score(cell)} | {count(cell['touches'])} | {points} | {count(states)} |", flush=True)


def growth(args, results):
    print("\n| game | cache on: touches a game | cache off: touches a game | off / on |\n|---|---|---|---|")
    for game, opponent in GROWTH:
        games = max(3, args.games // 100)
        on = play(args, game, "hp2:4,2,4,2,cache=on", opponent, games, results)["touches"]
        off = play(args, game, "hp2:4,2,4,2,cache=off", opponent, games, results)["touches"]
        print(f"| {game} | {count(on)} | {count(off)} | {off / on:.1f} |", flush=True)


def play(args, game, player, opponent, games, results):
    command = ["match", game, player] + ([opponent] if opponent else []) + ["--games", str(games), "--json"]
    started = time.monotonic()
    done = subprocess.run([args.surmise] + command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    row = json.loads(done.stdout)["players"][0]
    cell = {
        "command": "surmise " + " ".join(command),
        "games": games,
        "mean": row["mean"],
        "ci95": row["ci95"],
        "states": row["states_per_game"],
        "touches": row["touches_per_game"],
        "seconds": round(time.monotonic() - started, 1),
    }
    results.append(cell)
    record = {"machine": platform.processor() or platform.machine(), "cores": os.cpu_count(),
              "date": time.strftime("%Y-%m-%d"), "cells": results}
    pathlib.Path(args.out).write_text(json.dumps(record, indent=1) + "\n")
    return cell


def score(cell):
    return f"{cell['mean']:.1f} ({cell['ci95'][0]:.1f}–{cell['ci95'][1]:.1f})"


def count(number):
    return f"{number:,.0f}"


if __name__ == "__main__":
    main()
