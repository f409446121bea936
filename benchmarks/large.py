#!/usr/bin/env python3
"""Rates the uniform policy of large games exactly, and solves them, without a tree.

For each game: sizes, value and best responses of the uniform policy with and without the symmetries of the game, and
the default algorithm until exploitability is a thousandth of the payoffs' half range (where a win is 1 and a loss -1),
or 1e-5 with --deep. With --algorithms also discounted and predictive CFR+. CPU time (user and system), wall-clock time
and peak memory of the whole command; "seconds" are those of rating or iterating alone. Prints Markdown and writes
benchmarks/large.json.

    benchmarks/large.py [--threads N] [--rate-only] [--deep] [--algorithms] [--seconds S] [GAME ...]

--larger: what happens to larger games, within --memory MIB. Idle on two cores the default takes about ten minutes.
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

LARGER = [
    "phantom-tictactoe",
    "leduc-poker",
    "leduc-poker:ranks=13",
    "leduc-poker:ranks=6,suits=4",
    "phantom-connect:hidden=1",
    "phantom-connect:rows=4,hidden=1",
    "phantom-connect:columns=5,hidden=1",
    "dark-hex:width=4,height=3,hidden=1",
    "dark-hex:width=4,height=3,abrupt=1",
]


def run(command, may_fail=False):
    """The JSON that a command prints, and its cost; the message in place of JSON if it fails and may."""
    started = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE if may_fail else None,
                             text=True)
    out = child.stdout.read()
    errors = child.stderr.read() if may_fail else ""
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0 and not may_fail:
        raise SystemExit(f"{' '.join(map(str, command))} ended with {child.returncode}")
    cost = {
        "cpu_s": round(usage.ru_utime + usage.ru_stime, 1),
        "wall_s": round(time.monotonic() - started, 1),
        "mib": usage.ru_maxrss // 1024,
    }
    return (json.loads(out) if child.returncode == 0 else errors.strip()), cost


def scaled(points):
    """A number of points where a win is 1 and a loss -1."""
    return (points - 50) / 50


def rating_of(rated, cost):
    return {**cost, "build_s": round(rated["build_seconds"], 1), "seconds": round(rated["seconds"], 1),
            "entries": rated["entries"]}


def solving_of(solved, cost):
    return {
        **cost,
        "algorithm": solved["algorithm"],
        "build_s": round(solved["build_seconds"], 1),
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


def measure(args, game):
    base = [args.surmise, "solve", game, "--graph", "--json", "--quiet", "--threads", str(args.threads)]
    rated, cost = run([*base, "--rate", "uniform"])
    sizes = rated["sizes"]
    row = {
        "game": game,
        "histories": sizes["histories"],
        "infosets": sum(sizes["infosets"]),
        "states": sizes["states"],
        "merged_states": sizes["merged_states"],
        "symmetries": sizes["symmetries"],
        "uniform_value": scaled(list(rated["value"].values())[0]),
        "uniform_best": [scaled(best) for best in rated["best_response"].values()],
        "uniform_exploitability": rated["nash_conv"] / 100,
        "rating": rating_of(rated, cost),
    }
    if sizes["symmetries"] > 1:
        row["rating_without_symmetry"] = rating_of(*run([*base, "--rate", "uniform", "--symmetry", "off"]))
    limits = ["--until", "0.001" if args.deep else "0.1", "--seconds", str(args.seconds)]
    if not args.rate_only:
        row["solving"] = solving_of(*run([*base, *limits]))
    for algorithm in ("discounted", "pcfr+") if args.algorithms else ():
        row[algorithm] = solving_of(*run([*base, *limits, "--algorithm", algorithm]))
    solving = row.get("solving", {})
    print(f"| {game} | {row['histories']:.0f} | {row['infosets']} | {row['symmetries']} "
          f"| {row['uniform_exploitability']:.6f} | {row['rating']['build_s']} + {row['rating']['seconds']} "
          f"| {row.get('rating_without_symmetry', {}).get('seconds', '')} | {solving.get('exploitability', '')} "
          f"| {solving.get('iterations', '')} | {solving.get('wall_s', '')} | {solving.get('mib', '')} |", flush=True)
    return row


def try_larger(args, game):
    """What becomes of a larger game: its sizes and a rating, or the message why not."""
    command = [args.surmise, "solve", game, "--graph", "--json", "--quiet", "--threads", str(args.threads),
               "--memory", str(args.memory), "--rate", "uniform"]
    rated, cost = run(command, may_fail=True)
    row = {"game": game, **cost}
    if isinstance(rated, str):
        row["message"] = rated
    else:
        row |= {"sizes": rated["sizes"], "uniform_exploitability": rated["nash_conv"] / 100}
    print(f"{game}: {json.dumps(row)}", flush=True)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--surmise", default=ROOT / "target/release/surmise")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rate-only", action="store_true")
    parser.add_argument("--deep", action="store_true", help="solve to 1e-5 in place of 1e-3")
    parser.add_argument("--algorithms", action="store_true", help="solve by discounted CFR and predictive CFR+, too")
    parser.add_argument("--seconds", type=float, default=600, help="seconds of iterating at most")
    parser.add_argument("--larger", action="store_true", help="what becomes of larger games, nothing else")
    parser.add_argument("--memory", type=int, default=12000, help="MiB for --larger")
    parser.add_argument("--out", default=ROOT / "benchmarks/large.json")
    parser.add_argument("games", nargs="*")
    args = parser.parse_args()
    if args.larger:
        rows = [try_larger(args, game) for game in args.games or LARGER]
    else:
        print("| game | histories | information sets | symmetries | exploitability of uniform | s to build and rate "
              "| s to rate without symmetry | solved to | iterations | wall s to solve | MiB |")
        print("|---|---|---|---|---|---|---|---|---|---|---|")
        rows = [measure(args, game) for game in args.games or GAMES]
    about = {
        "command": "benchmarks/large.py",
        "date": datetime.date.today().isoformat(),
        "machine": f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores",
        "load": os.getloadavg()[0],
        "threads": args.threads,
    }
    out = pathlib.Path(args.out)
    kept = json.loads(out.read_text()) if out.exists() else {}
    kept |= about | ({"larger": rows} if args.larger else {"rows": rows})
    out.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
