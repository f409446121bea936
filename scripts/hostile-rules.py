#!/usr/bin/env python3
"""Rules that are made to be large or slow, through the commands that take rules.

    scripts/hostile-rules.py SURMISE [NAME ...] [--limit SECONDS]

Every command is sent SIGINT after the limit (15 s by default) and must end within two seconds of it. No command may
panic, be killed, or hold more than its limit of memory. Commands that break a rule are printed, and the exit status is
1 if there are any; commands that took more than half of the limit are listed after them.
"""

import argparse
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# Seconds that a command may take to end after SIGINT, on a machine that may be busy.
GRACE = 2.0
# Exit statuses that are documented.
STATUSES = {0, 1, 2, 3, 130}
MEMORY_MIB = 6000

PLAIN = "(role a)(role b)(init (s 0))(<= (legal ?r go) (role ?r))(<= (legal ?r no) (role ?r))"
SHORT = "(<= (next (s 1)) (true (s 0)))(<= terminal (true (s 1)))(<= (goal ?r 50) (role ?r))"


def each(n, form):
    return "".join(form.format(i=i, j=i + 1) for i in range(n))


def joined(n, form):
    return " ".join(form.format(i=i, j=i + 1) for i in range(n))


def rules():
    """Names and texts."""
    name = "a" * 5_000_000
    yield "long-name", f"(role {name})(legal {name} go)(init x)(<= terminal (true x))(goal {name} 0)"
    yield "parentheses", "(" * 200_000
    yield "deep-term", PLAIN + "(init (d " + "(f " * 3000 + "z" + ")" * 3000 + "))" + SHORT
    yield "nul", "(role a)\0(legal a go)\0terminal(goal a 0)"
    yield "growing-term", (
        "(role a)(init (s z))(<= (legal a go) (true (s ?x)))(<= (next (s (f ?x))) (true (s ?x)))"
        "(<= terminal (true (s never)))(<= (goal a 100) (true (s ?x)))"
    )
    yield "endless-relation", "(role a)(p z)(<= (p (f ?x)) (p ?x))(<= (legal a ?x) (p ?x))(<= terminal (p q))(goal a 0)"
    yield "roles", each(500, "(role r{i})") + PLAIN.split("(role b)")[1] + SHORT
    yield "chance", (
        "(role a)(role random)" + each(1000, "(d {i})") + "(init (s 0))(<= (legal random (m ?x ?y)) (d ?x) (d ?y))"
        "(<= (legal a go) (true (s ?x)))(<= (next (got ?x ?y)) (does random (m ?x ?y)))"
        "(<= (sees a ?x) (does random (m ?x ?y)))(<= terminal (true (got ?x ?y)))"
        "(<= (goal a 100) (true (got 1 1)))(<= (goal a 0) (not (true (got 1 1))))"
    )
    yield "joint-moves", (
        each(20, "(role r{i})") + each(20, "(d {i})") + "(init (s 0))(succ 0 1)(succ 1 2)(succ 2 3)"
        "(<= (legal ?r (m ?x)) (role ?r) (d ?x))(<= (next (s ?y)) (true (s ?x)) (succ ?x ?y))"
        "(<= (next (did ?r ?x)) (does ?r (m ?x)))(<= (sees ?r odd) (role ?r) (does r0 (m 1)))"
        "(<= terminal (true (s 3)))(<= (goal ?r 100) (role ?r) (true (did ?r 3)))"
        "(<= (goal ?r 0) (role ?r) (not (true (did ?r 3))))"
    )
    yield "counter", (
        "(role a)(role b)" + each(60, "(succ {i} {j})") + "(init (c 0 0 0))(<= (legal ?r noop) (role ?r))"
        "(<= (legal ?r act) (role ?r))(<= (next (c ?a ?b ?d)) (true (c ?a ?b ?x)) (succ ?x ?d))"
        "(<= (next (c ?a ?d 0)) (true (c ?a ?b 60)) (succ ?b ?d))"
        "(<= (next (c ?d 0 0)) (true (c ?a 60 60)) (succ ?a ?d))"
        "(<= terminal (true (c 60 ?x ?y)))(<= (goal ?r 50) (role ?r))"
    )
    yield "bits", (
        "(role a)(role b)" + each(40, "(init (bit {i} 0))(i {i})") + "(<= (legal a (flip ?i)) (i ?i))"
        "(<= (legal b (flip ?i)) (i ?i))(<= (next (bit ?i 1)) (does ?r (flip ?i)) (true (bit ?i 0)))"
        "(<= (next (bit ?i 0)) (does ?r (flip ?i)) (true (bit ?i 1)))(<= (flipped ?i) (does ?r (flip ?i)))"
        "(<= (next (bit ?i ?v)) (true (bit ?i ?v)) (not (flipped ?i)))(<= (sees ?r yes) (role ?r) (does a (flip 0)))"
        "(<= all " + joined(40, "(true (bit {i} 1))") + ")(<= terminal all)"
        "(<= (goal ?r 100) (role ?r) all)(<= (goal ?r 0) (role ?r) (not all))"
    )
    chain = "(<= p0 (does a go))" + "{}" + "(<= (next (q)) p20000)" + SHORT
    yield "chain", PLAIN + chain.format(each(20_000, "(<= p{j} p{i})"))
    yield "negated-chain", PLAIN + chain.format(each(20_000, "(<= p{j} (not p{i}))"))
    yield "closure", (
        PLAIN + each(1500, "(e {i} {j})") + "(<= (t ?x ?y) (e ?x ?y))(<= (t ?x ?z) (e ?x ?y) (t ?y ?z))"
        "(<= (legal ?r (go ?x)) (role ?r) (t 0 ?x))(<= (next (at ?r ?x)) (does ?r (go ?x)))" + SHORT
    )
    yield "closure-of-state", (
        "(role a)(role b)" + each(60, "(n {i})") + "(<= (legal ?r (link ?x ?y)) (role ?r) (n ?x) (n ?y))"
        "(<= (next (e ?x ?y)) (does ?r (link ?x ?y)))(<= (next (e ?x ?y)) (true (e ?x ?y)))"
        "(<= (t ?x ?y) (true (e ?x ?y)))(<= (t ?x ?z) (true (e ?x ?y)) (t ?y ?z))(<= terminal (t 0 59))"
        "(<= (goal a 100) (t 0 59))(<= (goal a 0) (not (t 0 59)))(<= (goal b 0) (t 0 59))"
        "(<= (goal b 100) (not (t 0 59)))"
    )
    yield "facts", PLAIN + each(200_000, "(f {i} {j})") + SHORT
    yield "fluents", (
        PLAIN + each(50_000, "(init (f {i}))") + "(<= (next (f ?x)) (true (f ?x)))"
        "(<= (legal ?r (del ?x)) (role ?r) (true (f ?x)))" + SHORT
    )
    yield "wide-condition", (
        PLAIN + "".join(f"(<= (next (x{i})) (does a go) (not (true (x{i * 13 % 3000}))))" for i in range(3000))
        + "(<= done " + joined(3000, "(true (x{i}))") + ")(<= (next (s 1)) done)(<= terminal (true (s 1)))"
        "(<= (goal ?r 50) (role ?r))"
    )
    yield "alternatives", (
        PLAIN + "(<= p " + joined(40, "(or (true (x{i})) (true (y{i})))") + ")(<= (next (s 1)) p)"
        "(<= (next (s 0)) (not p))(<= terminal (true (s 1)))(<= (goal ?r 50) (role ?r))"
    )
    yield "nested-alternatives", (
        PLAIN + "(<= p " + "(or " * 2000 + "(true x)" + " (true y))" * 2000 + ")(<= (next q) p)" + SHORT
    )
    yield "many-alternatives", PLAIN + "(<= p (or " + joined(20_000, "(true (x{i}))") + "))(<= (next q) p)" + SHORT
    yield "many-variables", (
        PLAIN + "(init (f 0 1))(<= (next (f ?x ?y)) (true (f ?x ?y)))"
        "(<= p " + joined(1500, "(true (f ?x{i} ?x{j}))") + ")(<= (next q) p)" + SHORT
    )
    pairs = " ".join(f"(distinct ?x{i} ?x{j})" for i in range(60) for j in range(i))
    yield "many-distinct", (
        PLAIN + "(init (f 0))(init (f 1))(<= p " + joined(60, "(true (f ?x{i}))") + f" {pairs})(<= (next q) p)" + SHORT
    )
    yield "static-condition", (
        PLAIN + each(3000, "(e {i} {j})") + "(<= p (true (s 0)) " + joined(3000, "(e {i} {j})") + ")(<= (next q) p)"
        + SHORT
    )
    edges = "".join(f"(e {i} {j})" for i in range(12) for j in range(12) if i * j % 3)
    clique = " ".join(f"(e ?{x} ?{y})" for x in "abcdefg" for y in "abcdefg" if x < y)
    yield "clique", (
        PLAIN + edges + f"(<= (clique ?a ?b ?c ?d ?e ?f ?g) {clique})"
        "(<= (legal a (pick ?a ?b ?c ?d ?e ?f ?g)) (clique ?a ?b ?c ?d ?e ?f ?g))" + SHORT
    )
    yield "many-rules", (
        PLAIN + each(30_000, "(<= (next (x {i} ?y)) (true (x {i} ?y)) (does a go))(init (x {i} z))") + SHORT
    )
    yield "many-goals", (
        PLAIN + "".join(f"(<= (goal a {i % 101}) (true (g {i})))" for i in range(5000))
        + "(<= (next (s 1)) (true (s 0)))(<= terminal (true (s 1)))(goal b 0)(init (g 7))"
    )
    yield "percepts", (
        PLAIN + each(3000, "(init (v {i}))") + "(<= (next (v ?x)) (true (v ?x)))"
        "(<= (sees ?r (p ?x ?y)) (role ?r) (true (v ?x)) (true (v ?y)))" + SHORT
    )
    yield "long-game", (
        "(role a)(role b)(init (b 0))" + each(4000, "(succ {i} {j})")
        + "(<= (next (b ?y)) (true (b ?x)) (succ ?x ?y) (does a go))(<= (next (b ?x)) (true (b ?x)) (does a no))"
        "(<= (legal ?r go) (role ?r))(<= (legal ?r no) (role ?r))(<= terminal (true (b 4000)))"
        "(<= (goal ?r 50) (role ?r))(<= (sees b ?x) (true (b ?x)))"
    )
    yield "no-move", (
        "(role a)(role b)(init (s 0))(<= (legal a go) (true (s 0)))(<= (legal b go) (true (s 0)))"
        "(<= (next (s 1)) (true (s 0)))(<= terminal (true (s 9)))(goal a 0)(goal b 0)"
    )
    yield "over", "(role a)(role b)(legal a go)(legal b go)terminal(goal a 100)(goal b 0)"
    yield "goals", (
        "(role a)(legal a go)(init x)(<= terminal (true y))(<= (next y) (true x))"
        "(goal a 99999999999999999999999)(goal a -5)(goal a foo)"
    )
    yield "negative-cycle", "(role a)(legal a go)(<= p (not q))(<= q (not p))(<= terminal p)(goal a 0)"


COMMANDS = [
    ["check", "RULES"],
    ["check", "RULES", "--simulate"],
    ["show", "RULES"],
    ["fmt", "RULES"],
    ["trace", "RULES"],
    ["draw", "RULES"],
    ["bench", "RULES", "--seconds", "0.3"],
    ["match", "RULES", "random", "random", "--games", "1"],
    ["match", "RULES", "--games", "1", "--time-per-move", "0.1"],
    ["solve", "RULES", "--seconds", "3"],
]


def limit_memory():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(program, command, limit):
    """Seconds until the end or SIGINT, seconds after SIGINT, status, and standard error."""
    with tempfile.TemporaryFile() as errors:
        started = time.monotonic()
        process = subprocess.Popen(
            [program, "--memory", str(MEMORY_MIB), "--game-cache", "off", *command],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors, preexec_fn=limit_memory,
        )
        after = 0.0
        try:
            process.wait(limit)
            took = time.monotonic() - started
        except subprocess.TimeoutExpired:
            took = limit
            process.send_signal(signal.SIGINT)
            asked = time.monotonic()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            after = time.monotonic() - asked
        errors.seek(0)
        return took, after, process.returncode, errors.read().decode(errors="replace")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("surmise")
    parser.add_argument("names", nargs="*", help="only these rules")
    parser.add_argument("--limit", type=float, default=15.0, metavar="SECONDS")
    args = parser.parse_args()
    known = dict(rules())
    wrong = [name for name in args.names if name not in known]
    if wrong:
        sys.exit(f"there are no rules {', '.join(wrong)}; known: {', '.join(known)}")
    broken, slow, count = [], [], 0
    with tempfile.TemporaryDirectory() as folder:
        for name in args.names or known:
            path = Path(folder) / f"{name}.kif"
            path.write_text(known[name])
            for command in COMMANDS:
                words = [str(path) if word == "RULES" else word for word in command]
                took, after, status, errors = run(args.surmise, words, args.limit)
                count += 1
                line = f"{name:20} {' '.join(command):40} {took:6.1f} s"
                last = errors.strip().rsplit("\n", 1)[-1][:160]
                if status not in STATUSES or "panicked" in errors or after > GRACE:
                    broken.append(f"{line}, {after:.1f} s after SIGINT, status {status}: {last}")
                    print("broken:", broken[-1], flush=True)
                elif took > args.limit / 2:
                    slow.append(f"{line}: {last}")
    for line in slow:
        print("slow:", line)
    print(f"{count} commands, {len(broken)} broken, {len(slow)} took more than {args.limit / 2:g} s")
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
