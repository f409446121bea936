#!/usr/bin/env python3
"""Times `surmise check` on the largest rules files at hand and on 16 MiB of garbage of many kinds.

CPU time (user + system), best of three, since the machine may be shared. Prints a Markdown table and writes
benchmarks/check.json. Run by `make bench`.
"""

import json
import os
import pathlib
import platform
import random
import resource
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SURMISE = ROOT / "target/release/surmise"
CONFORMANCE = ROOT.parent / "shared/conformance/rules"
SIZE = 16 << 20


def garbage():
    """Name and bytes of inputs that a careless reader would choke on."""
    numbered = lambda text, n: b"".join(text.replace(b"#", b"%d" % i) for i in range(n))
    yield "random bytes", random.Random(1).randbytes(SIZE)
    yield "opening parentheses", b"(" * SIZE
    yield "closing parentheses", b")" * SIZE
    yield "opening parentheses, one a line", b"(\n" * (SIZE // 2)
    yield "empty lists", b"()" * (SIZE // 2)
    yield "one name", b"a" * SIZE
    yield "short names", b"a " * (SIZE // 2)
    yield "empty variables", b"? " * (SIZE // 2)
    yield "quotes", b'"a ' * (SIZE // 3)
    yield "NUL bytes", b"\0" * SIZE
    yield "Latin-1", b"a\xe9 " * (SIZE // 3)
    yield "comments", b";\n" * (SIZE // 2)
    yield "unsafe rules", numbered(b"(<= (p# ?x) (q# ?x) (not (r# ?y)))\n", SIZE // 40)
    yield "relations that negate themselves", numbered(b"(<= (p# ?x) (q ?x) (not (p# ?x)))\n", SIZE // 40)
    yield "one relation that negates itself in many clauses", numbered(b"(<= (p a#) (q a) (not (p b#)))\n", 90_000)
    yield "one cycle of relations", numbered(b"(<= (p# ?x) (p0 ?x) (e ?x)) (<= (p0 ?x) (p# ?x))\n", 45_000)
    yield "names in two spellings", numbered(b"(aB# AB#)", 200_000)
    yield "names with two arities", numbered(b"(a# 1)(a# 1 2)", 100_000)
    yield "a rule with 150,000 conditions", b"(<= (p ?x)" + numbered(b" (q# ?x#)", 150_000) + b")"
    yield "150,000 alternatives", b"(<= (p ?x) (q ?x) (or" + numbered(b" (q# ?x#)", 150_000) + b"))"
    yield "products of alternatives", numbered(b"(<= (p# ?x)" + b" (or (a ?x) (b ?x))" * 12 + b")\n", 9_000)
    yield "infix", numbered(b"p#(?x) <= q#(?x), not r(?x) | s(?x).\n", 40_000)
    yield "broken infix", b"a(b,,c). " * (SIZE // 9)


def cpu_seconds(path):
    """CPU time of one check, and its exit status."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    status = subprocess.run([SURMISE, "check", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, status


def measure(name, path):
    runs = [cpu_seconds(path) for _ in range(3)]
    seconds, status = min(runs)
    assert status in (0, 2), f"{name}: exit status {status}"
    row = {"input": name, "bytes": os.path.getsize(path), "cpu_s": round(seconds, 4)}
    print(f"| {name} | {row['bytes']:,} | {row['cpu_s']:.3f} |", flush=True)
    return row


def main():
    print("| input | bytes | CPU seconds |\n|---|---|---|")
    rows = []
    files = sorted(CONFORMANCE.glob("*/*"), key=os.path.getsize, reverse=True)[:5]
    rows += [measure(f.name, f) for f in files]
    for name, data in garbage():
        with tempfile.NamedTemporaryFile(suffix=".kif") as file:
            file.write(data[:SIZE])
            file.flush()
            rows.append(measure(name, file.name))
    model = [l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")]
    result = {
        "command": "make bench",
        "date": time.strftime("%Y-%m-%d"),
        "machine": f"{model[0] if model else platform.processor()}, {os.cpu_count()} cores",
        "rows": rows,
    }
    (ROOT / "benchmarks/check.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
