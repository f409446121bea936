#!/usr/bin/env python3
"""Measures the engine beside hand-written simulators, one thread, in one run: `make bench`.

Absolute rates depend on the machine and its load. Hand-written bitboard simulators of connect four and breakthrough
(crates/propnet/benches/yardstick.rs) are therefore measured before, between and after the games, and every rate is the
best of several short windows.

Writes benchmarks/engine.json and prints Markdown.
"""

import argparse
import json
import os
import pathlib
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SURMISE = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/surmise"
RULES = ROOT.parent / "shared/conformance/rules"

# Rules files of other projects, below RULES.
GAMES = [
    "ggp-repository/ticTacToe.kif",
    "ggp-repository/connectFour.kif",
    "ggp-repository/breakthrough.kif",
    "ggp-repository/breakthroughSmall.kif",
    "ggp-repository/reversi.kif",
    "ggp-repository/checkers.kif",
    "ggp-repository/speedChess.kif",
    "ggp-repository/pentago.kif",
    "ggp-repository/hex.kif",
    "ggp-repository/amazons_8x8.kif",
    "ggp-repository/skirmish.kif",
    "scully/kriegTTT_5x5.gdl",
    "scully/meier.gdl",
    "scully/mastermind448.gdl",
    "scully/transit.gdl",
    "scully/montyhall.gdl",
]
YARDSTICK_GAMES = {
    "connect-four": "ggp-repository/connectFour.kif",
    "breakthrough": "ggp-repository/breakthrough.kif",
}


def bench(game, engine, seconds, windows, threads=1):
    """The best of several windows."""
    best = None
    for window in range(windows):
        command = [SURMISE, "bench", game, "--json", "--engine", engine, "--threads", str(threads)]
        command += ["--seconds", str(seconds), "--seed", str(window + 1)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            return {"error": done.stderr.strip()}
        result = json.loads(done.stdout)
        if best is None or result["playouts_per_s"] > best["playouts_per_s"]:
            best = result
    return best


def yardstick(seconds):
    """Rates of the hand-written simulators."""
    command = ["cargo", "bench", "--quiet", "-p", "surmise-propnet", "--bench", "yardstick"]
    command += ["--", "--seconds", str(seconds)]
    out = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    rows = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    return {row["game"]: row for row in rows}


def human(rate):
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if rate >= size:
            return f"{rate / size:.3g} {unit}"
    return f"{rate:.3g}"


def machine():
    model = [l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")]
    return f"{model[0]}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=0.7)
    parser.add_argument("--windows", type=int, default=3)
    args = parser.parse_args()
    where = machine()
    yards = [yardstick(args.seconds)]
    rows = []
    for name in GAMES:
        game = RULES / name
        if not game.exists():
            continue
        lanes = bench(game, "lanes", args.seconds, args.windows)
        scalar = bench(game, "scalar", args.seconds, args.windows)
        rows.append({"game": game.stem, "lanes": lanes, "scalar": scalar})
        print(f"  … {game.stem}", flush=True)
        if len(rows) % 4 == 0:
            yards.append(yardstick(args.seconds))
    yards.append(yardstick(args.seconds))
    best_yard = {g: max((y[g] for y in yards), key=lambda r: r["moves_per_s"]) for g in yards[0]}
    print_tables(rows, best_yard)
    threads = thread_scaling(args)
    catalogue = catalogue_setup(args)
    result = {
        "command": "make bench",
        "date": time.strftime("%Y-%m-%d"),
        "machine": where,
        "yardstick": best_yard,
        "games": rows,
        "threads": threads,
        "catalogue": catalogue,
    }
    (ROOT / "benchmarks/engine.json").write_text(json.dumps(result, indent=1) + "\n")


def print_tables(rows, yards):
    print("\n| yardstick | hand-written moves/s | lanes moves/s | ratio |\n|---|---|---|---|")
    by_name = {row["game"]: row for row in rows}
    for name, file in YARDSTICK_GAMES.items():
        row = by_name.get(pathlib.Path(file).stem)
        if row:
            ours = row["lanes"]["moves_per_s"]
            for variant in (f"{name}, BMI2", name):
                hand = yards[variant]["moves_per_s"]
                print(f"| {variant} | {human(hand)} | {human(ours)} | {ours / hand:.1f} |")
    print("\n| game | gates | set-up s | lanes playouts/s | moves/s | scalar playouts/s |\n|---|---|---|---|---|---|")
    for row in rows:
        lanes, scalar = row["lanes"], row["scalar"]
        if "error" in lanes:
            print(f"| {row['game']} | {lanes['error']} |")
            continue
        print(
            f"| {row['game']} | {lanes['gates']:,} | {lanes['setup_s']:.3f} | {human(lanes['playouts_per_s'])} "
            f"| {human(lanes['moves_per_s'])} | {human(scalar['playouts_per_s'])} |"
        )


def thread_scaling(args):
    """Two threads against one, in turns, so that the load of the machine affects both."""
    print("\n| game | 1 thread moves/s | 2 threads moves/s | ratio |\n|---|---|---|---|")
    rows = []
    for game in ("connect-four", "blind-breakthrough"):
        pairs = [[bench(game, "lanes", args.seconds, 1, n)["moves_per_s"] for n in (1, 2)] for _ in range(args.windows)]
        one, two = max(p[0] for p in pairs), max(p[1] for p in pairs)
        rows.append({"game": game, "one": one, "two": two})
        print(f"| {game} | {human(one)} | {human(two)} | {two / one:.2f} |")
    return rows


def catalogue_setup(args):
    """Set-up and speed of every game of the catalogue."""
    names = subprocess.run([SURMISE, "games", "--json"], capture_output=True, text=True, check=True).stdout
    print("\n| game | set-up s | lanes playouts/s | moves/s |\n|---|---|---|---|")
    rows = []
    for line in names.splitlines():
        result = bench(json.loads(line)["name"], "lanes", args.seconds / 2, 1)
        rows.append(result)
        print(
            f"| {result['game']} | {result['setup_s']:.3f} | {human(result['playouts_per_s'])} "
            f"| {human(result['moves_per_s'])} |"
        )
    return rows


if __name__ == "__main__":
    main()
