#!/usr/bin/env python3
"""Collects finished experiments: the reports, and a table of all claims in README.md.

    surmise lab run all --quick --out results && python3 benchmarks/lab.py results --load "one thread beside other work"
    surmise lab run all --paper --out full && python3 benchmarks/lab.py full --size paper --load "…"

Quick results go to benchmarks/lab/, those of the papers' sizes to benchmarks/lab-paper/. Experiments that are not among
the results keep what they have there, and unfinished ones are left out. `--kept` collects nothing and writes the page
again.
"""

import argparse
import json
import pathlib
import re
import textwrap
import time

ROOTS = {"quick": pathlib.Path(__file__).resolve().parent / "lab",
         "paper": pathlib.Path(__file__).resolve().parent / "lab-paper"}
TITLES = {"quick": "The papers' experiments at the quick size", "paper": "The papers' experiments at the papers' sizes"}
KEPT = ["report.html", "report.json", "lab.json"]
MADE = ["plot-*.svg", "*.csv", "*.tex", "*.bib"]
VERDICTS = ("holds", "too little data", "does not hold")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=pathlib.Path, nargs="?")
    parser.add_argument("--load", required=True, help="threads, and what else ran on the machine")
    parser.add_argument("--size", choices=list(ROOTS), default="quick")
    parser.add_argument("--kept", action="store_true")
    args = parser.parse_args()
    root = ROOTS[args.size]
    root.mkdir(exist_ok=True)
    played = seconds_of(root / "README.md")
    for experiment in sorted(p.parent for p in args.results.glob("*/report.json")) if not args.kept else []:
        report = json.loads((experiment / "report.json").read_text())
        if not all(cell["complete"] for cell in report["cells"]) or report["size"] != args.size:
            print(f"{report['name']} is unfinished or of another size: left out")
            continue
        played[report["name"]] = sum(json.loads(line)["seconds"] for line in (experiment / "times.jsonl").open())
        copy(experiment, root / report["name"])
    reports = [json.loads(p.read_text()) for p in sorted(root.glob("*/report.json"))]
    (root / "README.md").write_text("\n".join(page(args, reports, played)) + "\n")


def page(args, reports, played):
    machines = ", or ".join(sorted({r["made"]["machine"] for r in reports}))
    days = sorted({time.strftime("%Y-%m-%d", time.gmtime(r["made"]["finished"])) for r in reports})
    versions = ", ".join(sorted({r["version"] for r in reports}))
    days = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    yield from [f"# {TITLES[args.size]}", "",
                *wrapped(f"Machine: {machines}; {args.load}. Date: {days}. Version: surmise {versions}. "
                         "`python3 benchmarks/lab.py` wrote this page from the reports in the folders beside it. "
                         f"The command of each experiment is `surmise lab run NAME --{args.size}`; "
                         "its results are the same on every machine, only times differ."), "",
                "| experiment | games | seconds of play | claims that hold | too little data | do not hold |",
                "|---|---|---|---|---|---|"]
    for report in reports:
        counts = [sum(c["verdict"] == v for c in report["claims"]) for v in VERDICTS]
        games = sum({c["cell"]: c["games"] for c in report["cells"]}.values())
        yield (f"| [{report['name']}]({report['name']}/report.html) {report['title']} | {games:,} | "
               f"{played[report['name']]:,.0f} | " + " | ".join(map(str, counts)) + " |")
    for report in reports:
        about = f"{report['paper']}. `{report['command']}`. Intervals at {100 * report['level']:g} %."
        yield from ["", f"## {report['name']}: {report['title']}", "", *wrapped(about), ""]
        yield from [f"*{what}*\n" for what in report["left_out"]]
        yield from ["| claim | verdict | measured |", "|---|---|---|"]
        for c in report["claims"]:
            yield f"| {c['says']} | **{c['verdict']}** | " + "; ".join(part(p) for p in c["parts"][:8]) + " |"


def seconds_of(page):
    """Seconds of play of each experiment, from the page as it is."""
    rows = re.findall(r"^\| \[([^]]+)\].*?\| [\d,]+ \| ([\d,]+) \|", page.read_text() if page.exists() else "", re.M)
    return {name: float(seconds.replace(",", "")) for name, seconds in rows}


def wrapped(text):
    return textwrap.wrap(text, 118, break_long_words=False, break_on_hyphens=False)


def part(p):
    v = p["value"]
    low, high = (number(v[k]) if v[k] is not None else "?" for k in ("low", "high"))
    return f"{p['of']}: {number(v['mean'])} ({low} to {high})"


def number(value):
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def copy(source, target):
    target.mkdir(parents=True, exist_ok=True)
    made = [p.name for pattern in MADE for p in source.glob(pattern)]
    for name in sorted({*KEPT, *made}):
        if (source / name).exists():
            # The folder of the results is of this machine and says nothing to others.
            text = re.sub(r"(surmise lab run [^\n<\"]*?) --out [^\s<\"]+", r"\1", (source / name).read_text())
            (target / name).write_text(text)


if __name__ == "__main__":
    main()
