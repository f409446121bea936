#!/usr/bin/env python3
"""Measures the engine beside hand-written simulators, one thread, in one run: `make bench`.

The machine is shared and noisy, so absolute rates say little. Hand-written bitboard simulators of connect four and
breakthrough (benches/yardstick.rs) are measured before, between and after the games, and every rate is best of
several short windows. The columns "prototype" are the figures of a throw-away prototype of the same idea, measured
elsewhere; "vs prototype" scales them by the yardsticks, so that two machines can be compared.

Writes benchmarks/engine.json and prints Markdown.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SURMISE = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/surmise"
RULES = ROOT.parent / "shared/conformance/rules"

# Playouts a second of the prototype: best scalar column, last lanes column. Its yardsticks: 4.15 M and 1.30 M.
PROTOTYPE = {
    "ggp-repository/ticTacToe.kif": (394e3, 126e6),
    "ggp-repository/connectFour.kif": (104e3, 32.0e6),
    "ggp-repository/breakthrough.kif": (7.5e3, 2.77e6),
    "ggp-repository/breakthroughSmall.kif": (28.9e3, 11.1e6),
    "ggp-repository/reversi.kif": (1.5e3, 749e3),
    "ggp-repository/checkers.kif": (1.7e3, 182e3),
    "ggp-repository/speedChess.kif": (1.4e3, 53.7e3),
    "ggp-repository/pentago.kif": (17.3e3, 8.0e6),
    "ggp-repository/hex.kif": (1.6e3, 91.6e3),
    "ggp-repository/amazons_8x8.kif": (4.6e3, 98e3),
    "ggp-repository/skirmish.kif": (679, 38e3),
    "scully/kriegTTT_5x5.gdl": (54e3, 22.9e6),
    "scully/meier.gdl": (284e3, 66.7e6),
    "scully/mastermind448.gdl": (102e3, 6.7e6),
    "scully/transit.gdl": (78e3, 27.9e6),
    "scully/montyhall.gdl": (1.67e6, 280e6),
}
PROTOTYPE_YARDSTICK = {"connect-four, BMI2": 4.15e6, "breakthrough, BMI2": 1.30e6}
YARDSTICK_GAMES = {
    "connect-four": ("ggp-repository/connectFour.kif", 6.0),
    "breakthrough": ("ggp-repository/breakthrough.kif", 2.0),
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
    command = ["cargo", "bench", "--quiet", "-p", "surmise-propnet", "--bench", "yardstick", "--", "--seconds", str(seconds)]
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
    for name, (proto_scalar, proto_lanes) in PROTOTYPE.items():
        game = RULES / name
        if not game.exists():
            continue
        lanes = bench(game, "lanes", args.seconds, args.windows)
        scalar = bench(game, "scalar", args.seconds, args.windows)
        rows.append({"game": game.stem, "lanes": lanes, "scalar": scalar, "prototype": [proto_scalar, proto_lanes]})
        print(f"  … {game.stem}", flush=True)
        if len(rows) % 4 == 0:
            yards.append(yardstick(args.seconds))
    yards.append(yardstick(args.seconds))
    best_yard = {g: max((y[g] for y in yards), key=lambda r: r["moves_per_s"]) for g in yards[0]}
    scale = statistics.fmean(best_yard[g]["playouts_per_s"] / r for g, r in PROTOTYPE_YARDSTICK.items())
    print_tables(rows, best_yard, scale)
    threads = thread_scaling(args)
    catalogue = catalogue_setup(args)
    result = {
        "command": "make bench",
        "date": time.strftime("%Y-%m-%d"),
        "machine": where,
        "yardstick": best_yard,
        "machine_vs_prototype_machine": scale,
        "games": rows,
        "threads": threads,
        "catalogue": catalogue,
    }
    (ROOT / "benchmarks/engine.json").write_text(json.dumps(result, indent=1) + "\n")


def print_tables(rows, yards, scale):
    print(f"\nThis machine runs the yardsticks at {scale:.2f} times the prototype's machine.\n")
    print("| yardstick | hand-written moves/s | lanes moves/s | ratio | wanted |\n|---|---|---|---|---|")
    by_name = {row["game"]: row for row in rows}
    for name, (file, wanted) in YARDSTICK_GAMES.items():
        row = by_name.get(pathlib.Path(file).stem)
        if row:
            ours = row["lanes"]["moves_per_s"]
            for variant, goal in ((f"{name}, BMI2", f"{wanted:.0f}"), (name, "")):
                hand = yards[variant]["moves_per_s"]
                print(f"| {variant} | {human(hand)} | {human(ours)} | {ours / hand:.1f} | {goal} |")
    print("\n| game | gates | set-up s | lanes playouts/s | moves/s | vs prototype | scalar playouts/s | vs prototype |")
    print("|---|---|---|---|---|---|---|---|")
    for row in rows:
        lanes, scalar, (proto_scalar, proto_lanes) = row["lanes"], row["scalar"], row["prototype"]
        if "error" in lanes:
            print(f"| {row['game']} | {lanes['error']} |")
            continue
        print(
            f"| {row['game']} | {lanes['gates']:,} | {lanes['setup_s']:.3f} | {human(lanes['playouts_per_s'])} "
            f"| {human(lanes['moves_per_s'])} | {lanes['playouts_per_s'] / proto_lanes / scale:.2f} "
            f"| {human(scalar['playouts_per_s'])} | {scalar['playouts_per_s'] / proto_scalar / scale:.1f} |"
        )


def thread_scaling(args):
    """Two threads against one, taking turns so that the machine's load hits both alike."""
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
