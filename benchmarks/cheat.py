#!/usr/bin/env python3
"""HyperPlay against a player that sees the true state, with rising resources: figures 6 and 7 of the 2012 paper, at quick sizes.

    python3 benchmarks/cheat.py [--games N] [--threads N] [--surmise PROGRAM]
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
GAMES = [f"krieg-tictactoe:size={n},line=4" for n in (4, 5, 6)] + [
    f"blind-breakthrough:width={n},height={n}" for n in (5, 6, 7)]
RESOURCES = [1, 4, 16, 64]
CHEAT = "cheat:64"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--surmise", default=None, help="the program; built if not given")
    parser.add_argument("--out", default=str(ROOT / "benchmarks" / "cheat.json"))
    args = parser.parse_args()
    if args.surmise is None:
        subprocess.run(["cargo", "build", "--release", "-p", "surmise"], cwd=ROOT, check=True)
        target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
        args.surmise = str(target / "release" / "surmise")
    print("| game | " + " | ".join(f"hp:{n},{n}" for n in RESOURCES) + " | cheat against itself |")
    print("|---" * (len(RESOURCES) + 2) + "|")
    cells = []
    for game in GAMES:
        row = []
        for player in [f"hp:{n},{n}" for n in RESOURCES] + [CHEAT]:
            mean, half = play(args, game, player, cells)
            row.append(f"{mean:.1f} ± {half:.1f}")
        print(f"| {game} | " + " | ".join(row) + " |", flush=True)


def play(args, game, player, cells):
    """The mean of both seats."""
    command = ["match", game, player, CHEAT, "--swap", "--games", str(args.games), "--threads", str(args.threads), "--json"]
    done = subprocess.run([args.surmise] + command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    rows = json.loads(done.stdout)["players"]
    ours = [r for r in rows if r["player"] == player]
    mean = sum(r["mean"] for r in ours) / len(ours)
    half = 1.96 * sum(r["stderr"] ** 2 for r in ours) ** 0.5 / len(ours)
    cells.append({"command": "surmise " + " ".join(command), "mean": mean, "ci95": half,
                  "states": sum(r["states_per_game"] for r in ours) / len(ours)})
    record = {"machine": platform.processor() or platform.machine(), "cores": os.cpu_count(),
              "date": time.strftime("%Y-%m-%d"), "cells": cells}
    pathlib.Path(args.out).write_text(json.dumps(record, indent=1) + "\n")
    return mean, half


if __name__ == "__main__":
    main()
