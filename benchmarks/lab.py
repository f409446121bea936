#!/usr/bin/env python3
"""Collects finished experiments: the reports, and a table of all claims in README.md.

    surmise lab run all --quick --out results && python3 benchmarks/lab.py results --machine "…, 2 cores"
    surmise lab run all --paper --out full && python3 benchmarks/lab.py full --size paper --machine "…, 2 cores"

Quick results go to benchmarks/lab/, those of the papers' sizes to benchmarks/lab-paper/.
"""

import argparse
import json
import pathlib
import textwrap
import time

ROOTS = {"quick": pathlib.Path(__file__).resolve().parent / "lab",
         "paper": pathlib.Path(__file__).resolve().parent / "lab-paper"}
KEPT = ["report.html", "report.json", "lab.json"]
MADE = ["plot-*.svg", "*.csv", "*.tex", "*.bib"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--machine", required=True)
    parser.add_argument("--date", default=time.strftime("%Y-%m-%d"))
    parser.add_argument("--size", choices=list(ROOTS), default="quick")
    args = parser.parse_args()
    root = ROOTS[args.size]
    experiments = sorted(p.parent for p in args.results.glob("*/report.json"))
    reports = [json.loads((e / "report.json").read_text()) for e in experiments]
    lines = [f"# The papers' experiments at the {args.size} size", "",
             *wrapped(f"Machine: {args.machine}. Date: {args.date}. Version: surmise {reports[0]['version']}. "
                      "`python3 benchmarks/lab.py` wrote this page from the reports in the folders beside it. "
                      f"The command of each experiment is `surmise lab run NAME --{args.size}`; "
                      "its results are the same on every machine, only times differ."), "",
             "| experiment | games | seconds of play | claims that hold | too little data | do not hold |",
             "|---|---|---|---|---|---|"]
    for experiment, report in zip(experiments, reports):
        verdicts = ("holds", "too little data", "does not hold")
        counts = [sum(c["verdict"] == v for c in report["claims"]) for v in verdicts]
        seconds = sum(json.loads(line)["seconds"] for line in (experiment / "times.jsonl").open())
        games = sum(1 for _ in (experiment / "results.jsonl").open())
        lines.append(f"| [{report['name']}]({report['name']}/report.html) {report['title']} | {games:,} | "
                     f"{seconds:,.0f} | " + " | ".join(map(str, counts)) + " |")
    for experiment, report in zip(experiments, reports):
        command = without_folder(report["command"], experiment)
        about = f"{report['paper']}. `{command}`. Intervals at {100 * report['level']:g} %."
        lines += ["", f"## {report['name']}: {report['title']}", "", *wrapped(about), ""]
        lines += [f"*{what}*\n" for what in report["left_out"]]
        lines += ["| claim | verdict | measured |", "|---|---|---|"]
        lines += [f"| {c['says']} | **{c['verdict']}** | " + "; ".join(part(p) for p in c["parts"][:8]) + " |"
                  for c in report["claims"]]
        copy(experiment, root / report["name"])
    root.mkdir(exist_ok=True)
    (root / "README.md").write_text("\n".join(lines) + "\n")


def wrapped(text):
    return textwrap.wrap(text, 118, break_long_words=False, break_on_hyphens=False)


def part(p):
    v = p["value"]
    low, high = (number(v[k]) if v[k] is not None else "?" for k in ("low", "high"))
    return f"{p['of']}: {number(v['mean'])} ({low} to {high})"


def number(value):
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def without_folder(text, folder):
    """The folder of the results is of this machine and says nothing to others."""
    return text.replace(f" --out {folder}", "")


def copy(source, target):
    target.mkdir(parents=True, exist_ok=True)
    made = [p.name for pattern in MADE for p in source.glob(pattern)]
    for name in sorted({*KEPT, *made}):
        if (source / name).exists():
            text = (source / name).read_text()
            (target / name).write_text(without_folder(text, source))


if __name__ == "__main__":
    main()
