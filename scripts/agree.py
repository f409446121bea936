#!/usr/bin/env python3
"""Compares the engines on rules files of others, such as a copy of ggp-org/ggp-repository.

    python3 scripts/agree.py FOLDER [--steps 12] [--limit SECONDS] [--out FILE]

For every rules file below FOLDER (equal files once) the reference simulator plays a random game of so many steps, and
the scalar simulator and the lanes follow it: their lines must have the same bytes. An engine that is not ready within
the limit is named and does not count as a difference. What was compared is kept in FILE, so that a run that was ended
goes on. Ends with 1 if anything differs or fails. Runs target/release/surmise, or the program named by SURMISE.
"""

import argparse
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SURMISE = os.environ.get("SURMISE", str(ROOT / "target" / "release" / "surmise"))


def trace(rules, limit, *options):
    """Lines of a trace, and what went wrong."""
    command = [SURMISE, "trace", str(rules), "--quiet", *options]
    try:
        done = subprocess.run(command, capture_output=True, timeout=limit, env={**os.environ, "SURMISE_CACHE": "off"})
    except subprocess.TimeoutExpired:
        return [], "timeout"
    wrong = None if done.returncode == 0 else done.stderr.decode(errors="replace").strip()[-300:]
    return done.stdout.splitlines(), wrong


def compare(rules, steps, limit):
    """What each engine makes of one file: `same`, `timeout`, or what is different."""
    lines, wrong = trace(rules, limit, "--engine", "reference", "--steps", str(steps))
    if wrong:
        return {"reference": wrong}
    results = {}
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as play:
        play.write(b"\n".join(lines) + b"\n")
        play.flush()
        for engine in ("scalar", "lanes"):
            followed, wrong = trace(rules, limit, "--engine", engine, "--follow", play.name)
            places = [n for n, (a, b) in enumerate(zip(lines, followed), 1) if a != b]
            if not wrong and (places or len(lines) != len(followed)):
                wrong = f"line {places[0]} differs" if places else f"{len(followed)} of {len(lines)} lines"
            results[engine] = wrong or "same"
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--limit", type=float, default=100)
    parser.add_argument("--out", type=pathlib.Path)
    args = parser.parse_args()
    known = {}
    if args.out and args.out.exists():
        known = {row["file"]: row for row in map(json.loads, args.out.open())}
    seen, counts = set(), {"same": 0, "timeout": 0, "different": 0}
    for rules in sorted(args.folder.rglob("*.kif")):
        content, name = hashlib.sha256(rules.read_bytes()).digest(), str(rules.relative_to(args.folder))
        if content in seen:
            continue
        seen.add(content)
        row = known.get(name) or {"file": name, "engines": compare(rules, args.steps, args.limit)}
        if args.out and name not in known:
            with args.out.open("a") as out:
                out.write(json.dumps(row) + "\n")
        for engine, result in row["engines"].items():
            counts[result if result in counts else "different"] += 1
            if result != "same":
                print(f"{name}: {engine}: {result}", flush=True)
    print(f"{len(seen)} files: {counts['same']} runs agree, {counts['timeout']} were not ready within {args.limit:g} s, "
          f"{counts['different']} differ or failed")
    return 1 if counts["different"] else 0


if __name__ == "__main__":
    sys.exit(main())
