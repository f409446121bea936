#!/usr/bin/env python3
"""Rates the uniform policy of large games exactly, and solves them, without a tree.

For each game: sizes, value and best responses of the uniform policy, and predictive CFR+ until exploitability is a
thousandth of the payoffs' half range (where a win is 1 and a loss -1). CPU time (user and system), wall-clock time and
peak memory of the whole command. Prints Markdown and writes benchmarks/large.json.

    benchmarks/large.py [--threads N] [--rate-only] [GAME ...]
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent

GAMES = [
    "liars-dice:dice=2,sides=5,sorted=1",
    "dark-hex:hidden=1",
    "dark-hex:abrupt=1",
    "phantom-tictactoe:hidden=1",
    "phantom-tictactoe:abrupt=1",
]


def run(command):
    """The JSON that a command prints, and its cost."""
    started = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    out = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))} ended with {child.returncode}")
    cost = {
        "cpu_s": round(usage.ru_utime + usage.ru_stime, 1),
        "wall_s": round(time.monotonic() - started, 1),
        "mib": usage.ru_maxrss // 1024,
    }
    return json.loads(out), cost


def scaled(points):
    """A number of points where a win is 1 and a loss -1."""
    return (points - 50) / 50


def measure(surmise, game, threads, rate_only):
    base = [surmise, "solve", game, "--graph", "--json", "--quiet", "--threads", str(threads)]
    rated, cost = run([*base, "--rate", "uniform"])
    sizes = rated["sizes"]
    row = {
        "game": game,
        "histories": sizes["histories"],
        "infosets": sum(sizes["infosets"]),
        "states": sizes["states"],
        "merged_states": sizes["merged_states"],
        "entries": rated["entries"],
        "uniform_value": scaled(list(rated["value"].values())[0]),
        "uniform_best": [scaled(best) for best in rated["best_response"].values()],
        "uniform_exploitability": rated["nash_conv"] / 100,
        "rating": cost,
    }
    if not rate_only:
        solved, cost = run([*base, "--until", "0.1"])
        row["solving"] = {
            **cost,
            "iterations": solved["iterations"],
            "exploitability": solved["nash_conv"] / 100,
            "value": scaled(list(solved["value"].values())[0]),
            "curve": [
                {
                    "iterations": p["iterations"],
                    "seconds": round(p["seconds"], 1),
                    "exploitability": p["nash_conv"] / 100,
                }
                for p in solved["curve"]
            ],
        }
    print(f"| {game} | {row['histories']:.0f} | {row['infosets']} | {row['uniform_exploitability']:.6f} "
          f"| {row['rating']['cpu_s']} | {row.get('solving', {}).get('cpu_s', '')} |", flush=True)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--surmise", default=ROOT / "target/release/surmise")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rate-only", action="store_true")
    parser.add_argument("--out", default=ROOT / "benchmarks/large.json")
    parser.add_argument("games", nargs="*", default=GAMES)
    args = parser.parse_args()
    print("| game | histories | information sets | exploitability of uniform | CPU s to rate | CPU s to solve |")
    print("|---|---|---|---|---|---|")
    rows = [measure(args.surmise, game, args.threads, args.rate_only) for game in args.games]
    about = {
        "command": "benchmarks/large.py",
        "date": datetime.date.today().isoformat(),
        "machine": f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores",
        "load": os.getloadavg()[0],
        "threads": args.threads,
        "rows": rows,
    }
    pathlib.Path(args.out).write_text(json.dumps(about, indent=1) + "\n")


if __name__ == "__main__":
    main()
