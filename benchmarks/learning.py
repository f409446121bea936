#!/usr/bin/env python3
"""Tables 1 to 3 of Partridge and Thielscher (2022): untrained and trained CFR against random and hand-made opponents.

    python3 benchmarks/learning.py [--minutes 10] [--threads 2] [--seeds 1 2] [--games 100] [--out DIR] [--skip-training]

Trains each game for each seed (two seeds at a time with --parallel), then plays every cell. Prints Markdown; writes
benchmarks/learning.json. Runs whatever `surmise` is in target/release, or the one named by SURMISE.
"""
import argparse, json, os, pathlib, platform, subprocess, sys, time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SURMISE = os.environ.get("SURMISE", str(ROOT / "target" / "release" / "surmise"))

# Game, hand-made opponents, and the paper's figures: (row, column) -> score of the row, by seat.
GAMES = {
    "meier": {
        "hand": ["hand:meier-bluffer", "hand:meier"],
        "seats": ["player1", "player2"],
        "paper": {"trained": [(97, 80), (81, 41)], "untrained": [(83, 80), (64, 40)], "random": [(33, 72), (21, 35)]},
    },
    "blind-tictactoe": {
        "hand": ["hand:blind-tictactoe"],
        "seats": ["xplayer", "oplayer"],
        "paper": {"trained": [(79.5, 79.5), (48, 55)], "untrained": [(54, 60), (25, 20)], "random": [(48, 52), (23.5, 21.5)]},
    },
    "biased-blind-tictactoe": {
        "hand": ["hand:blind-tictactoe"],
        "seats": ["xplayer", "oplayer"],
        "paper": {"trained": [(90.5, 49), (80, 44.5)], "untrained": [(84, 36), (40.5, 14.5)], "random": [(80.5, 18), (35, 11)]},
    },
}


def run(*args):
    done = subprocess.run([SURMISE, *map(str, args)], capture_output=True, text=True, cwd=os.environ.get("TMPDIR", "/tmp"))
    if done.returncode != 0:
        sys.exit(f"surmise {' '.join(map(str, args))}: {done.stderr}")
    return done.stdout


def machine():
    cpus = [line for line in open("/proc/cpuinfo") if line.startswith("model name")] if os.path.exists("/proc/cpuinfo") else []
    return f"{cpus[0].split(':')[1].strip()}, {len(cpus)} cores" if cpus else platform.machine()


def score(game, first, second, games, seat, threads):
    result = json.loads(run("match", game, first, second, "--games", games, "--json", "--threads", threads))
    player = result["players"][seat]
    return player["mean"], player["stderr"]


def train(game, seed, args):
    folder = pathlib.Path(args.out) / f"{game}-{seed}"
    if not args.skip_training and not (folder / "run.json").exists():
        command = [SURMISE, "train", game, "--minutes", args.minutes, "--threads", args.threads, "--seed", seed]
        command += ["--every", 120, "--out", folder]
        return folder, subprocess.Popen([str(c) for c in command], stdout=subprocess.DEVNULL)
    return folder, None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--parallel", action="store_true", help="train all seeds of a game at the same time")
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--out", default="/tmp/surmise-learning")
    parser.add_argument("--skip-training", action="store_true")
    parser.add_argument("--only", nargs="+", choices=list(GAMES), default=list(GAMES))
    parser.add_argument("--rows", default="", help="only rows whose name contains this; the others stay as they were recorded")
    args = parser.parse_args()
    results = {"machine": machine(), "date": time.strftime("%Y-%m-%d"), "games": args.games, "tables": {}}
    for game in args.only:
        about = GAMES[game]
        folders, running = [], []
        for seed in args.seeds:
            folder, training = train(game, seed, args)
            folders.append(folder)
            if training:
                running.append(training)
                if not args.parallel:
                    training.wait()
        for training in running:
            if training.wait() != 0:
                sys.exit(f"training {game} failed")
        rows = [("random", "random"), ("cfr", "cfr"), ("cfr, own view only", "cfr:common=0")]
        for seed, folder in zip(args.seeds, folders):
            seconds = json.loads((folder / "run.json").read_text())["seconds"]
            rows.append((f"trained {seconds / 60:.0f} min, seed {seed}", f"cfr:net={folder}"))
            rows.append(("the same, purified", f"cfr:net={folder},purify=0.15"))
            rows.append(("the same, search from own view only", f"cfr:net={folder},table=off,common=0"))
        rows = [(name, player) for name, player in rows if args.rows in name]
        columns = ["random"] + about["hand"]
        if len(folders) > 1:
            columns += [f"cfr:net={folder}" for folder in folders]
        names = ["random"] + about["hand"] + [f"trained, seed {s}" for s in args.seeds]
        table = []
        print(f"\n### {game}\n\n| {' / '.join(about['seats'])} | " + " | ".join(names[: len(columns)]) + " |")
        print("|---" * (len(columns) + 1) + "|")
        for name, player in rows:
            cells = []
            for column in columns:
                if column.startswith("cfr:net") and not player.startswith("cfr:net"):
                    cells.append(None)
                    continue
                one = score(game, player, column, args.games, 0, args.threads)
                two = score(game, column, player, args.games, 1, args.threads)
                cells.append((one, two))
            shown = ["" if c is None else f"{c[0][0]:.1f} / {c[1][0]:.1f}" for c in cells]
            print(f"| {name} | " + " | ".join(shown) + " |", flush=True)
            table.append({"row": name, "player": player, "columns": columns, "cells": cells})
        for name, cells in about["paper"].items():
            print(f"| paper: {name} | " + " | ".join(f"{a} / {b}" for a, b in cells) + " |")
        kept = ROOT / "benchmarks" / "learning.json"
        if kept.exists():
            results["tables"] = json.loads(kept.read_text())["tables"]
        played = {row["player"] for row in table}
        others = [row for row in results["tables"].get(game, []) if args.rows and row["player"] not in played]
        results["tables"][game] = others + table
        kept.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
