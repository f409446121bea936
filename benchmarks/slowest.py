#!/usr/bin/env python3
"""The slowest games of ../shared/conformance under one program, or under two: set-up, playouts, memory.

    benchmarks/slowest.py [--before PROGRAM] [--after PROGRAM] [--seconds 3] [--count 20] [--games a,b] [--json FILE]

Every game is one `surmise bench GAME --engine auto --json` at a time, on one thread, without the cache. Without
`--games`, the games are those with the fewest playouts a second under the first program, found in windows of a quarter
of a second. Prints a Markdown table. Rates of games of several seconds need windows of several game lengths: few of the
256 lanes finish in a short one.
"""

import argparse
import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
FOLDER = ROOT.parent / "shared/conformance"
# Seconds for setting up and playing one game, beyond which it counts as failed.
LONGEST = 300


def bench(program, rules, seconds, engine="auto"):
    """What `bench` says of a game, or an error."""
    command = [program, "bench", FOLDER / rules, "--json", "--quiet", "--seconds", str(seconds), "--engine", engine]
    environment = dict(os.environ)
    environment.pop("SURMISE_CACHE", None)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, env=environment)
    except subprocess.TimeoutExpired:
        return {"error": f"more than {LONGEST} s"}
    return json.loads(done.stdout) if done.returncode == 0 else {"error": done.stderr.strip()[:200]}


def cells(result):
    """Set-up, playouts, engine and memory of a result, as text."""
    if "error" in result:
        return [result["error"], "", "", ""]
    rate = result["playouts_per_s"]
    rate = f"{rate:,.0f}" if rate >= 10 else f"{rate:.2f}"
    return [f"{result['setup_s']:.2f}", rate, result["engine"], f"{(result['bytes'] or 0) >> 20}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", help="an older program to compare with")
    parser.add_argument("--after", default=TARGET / "release/surmise", help="the program")
    parser.add_argument("--seconds", type=float, default=3, help="seconds to play each game")
    parser.add_argument("--count", type=int, default=20, help="number of games")
    parser.add_argument("--games", help="names of games, separated by `,`")
    parser.add_argument("--json", help="write the results here")
    args = parser.parse_args()
    index = json.loads((FOLDER / "index.json").read_text())
    rules = {f"{entry['source']}/{entry['game']}": entry["rules"] for entry in index}
    programs = [program for program in (args.before, args.after) if program]
    if args.games:
        names = [name for name in rules if name.split("/")[1] in args.games.split(",")]
    else:
        speed = {name: bench(programs[0], path, 0.25).get("playouts_per_s", 0.0) for name, path in rules.items()}
        names = sorted(speed, key=speed.get)[: args.count]
    heads = ["set-up s", "playouts/s", "engine", "MiB"]
    titles = ["game"] + [f"{head}{when}" for when in ([" before", " after"] if args.before else [""]) for head in heads]
    print("| " + " | ".join(titles) + " |")
    print("|---" * len(titles) + "|", flush=True)
    results = {}
    for name in names:
        results[name] = [bench(program, rules[name], args.seconds) for program in programs]
        row = [name] + [cell for result in results[name] for cell in cells(result)]
        print("| " + " | ".join(row) + " |", flush=True)
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
