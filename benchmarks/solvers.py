#!/usr/bin/env python3
"""Solving beside independent solvers: Gambit and OpenSpiel, in one run.

Installs pygambit, open_spiel, cvxpy and ecos from PyPI into a virtual environment under the target directory, solves
the same games with them and with `surmise solve`, and prints tables in Markdown. Results go to benchmarks/solvers.json.

    python3 benchmarks/solvers.py [--seconds S] [--only SECTION] [--surmise PROGRAM]

Sections: values, efg, convergence, rounding, speed. Values are in the units of OpenSpiel (chips, or 1 for a game won).
"""

import argparse
import json
import os
import pathlib
import platform
import resource
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
VENV = TARGET / "solvers-venv"
# The newest version of pygambit that comes compiled; building 16.7 from source takes a quarter of an hour.
PACKAGES = ["pygambit==17.0.0b2", "open_spiel==2.0.2", "cvxpy", "ecos"]

GOOFSPIEL = "goofspiel(imp_info=True,num_cards=4,points_order=descending,returns_type=win_loss)"

# Our game, points that are worth 1 in OpenSpiel, OpenSpiel's game.
GAMES = {
    "kuhn-poker": (25, "kuhn_poker"),
    "leduc-poker": (3, "leduc_poker"),
    "liars-dice:sides=4": (50, "liars_dice(numdice=1,dice_sides=4)"),
    "liars-dice": (50, "liars_dice(numdice=1,dice_sides=6)"),
    "goofspiel": (50, f"turn_based_simultaneous_game(game={GOOFSPIEL})"),
    "matching-pennies": (50, None),
    "scissors-paper-rock": (25, None),
}
ALGORITHMS = {"cfr": "CFRSolver", "cfr+": "CFRPlusSolver", "external": "ExternalSamplingMCCFRSolver"}


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--seconds", type=float, default=1.0, help="for each measurement of speed, three times")
    arguments.add_argument("--only", help="one section")
    arguments.add_argument("--surmise", default=str(TARGET / "release" / "surmise"))
    args = arguments.parse_args()
    enter_venv()
    bench = Bench(args)
    for section in (values, efg, convergence, rounding, speed):
        if args.only in (None, section.__name__):
            section(bench)


def enter_venv():
    """Goes on in the virtual environment, which is made if need be."""
    python = VENV / "bin" / "python"
    if pathlib.Path(sys.prefix).resolve() == VENV.resolve():
        return
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--only-binary", ":all:", *PACKAGES], check=True)
    os.execv(python, [str(python), *sys.argv])


class Bench:
    def __init__(self, args):
        self.args = args
        self.file = ROOT / "benchmarks" / "solvers.json"
        self.results = json.loads(self.file.read_text()) if self.file.exists() else {}
        self.work = TARGET / "solvers"
        self.work.mkdir(parents=True, exist_ok=True)

    def solve(self, game, *options):
        run = subprocess.run(
            [self.args.surmise, "solve", game, *map(str, options), "--json"], check=True, capture_output=True, text=True
        )
        return json.loads(run.stdout)

    def efg(self, game):
        path = self.work / (game.replace(":", "-").replace("=", "") + ".efg")
        return path, self.solve(game, "--efg", path)

    def table(self, section, rows):
        """Prints rows of one section and keeps them."""
        import pygambit
        import pyspiel  # noqa: F401
        from importlib.metadata import version

        self.results[section] = {
            "date": time.strftime("%Y-%m-%d"),
            "machine": platform.processor() or platform.machine(),
            "cores": os.cpu_count(),
            "load": os.getloadavg()[0],
            "versions": {"open_spiel": version("open_spiel"), "pygambit": pygambit.__version__},
            "rows": rows,
        }
        self.file.write_text(json.dumps(self.results, indent=1) + "\n")
        print(f"\n## {section}\n")
        print("| " + " | ".join(rows[0]) + " |")
        print("|" + "---|" * len(rows[0]))
        for row in rows:
            print("| " + " | ".join(shown(cell) for cell in row.values()) + " |", flush=True)


def shown(cell):
    match cell:
        case None:
            return ""
        case float() if abs(cell) >= 1000:
            return f"{cell:,.0f}"
        case float() if cell != 0 and abs(cell) < 1e-3:
            return f"{cell:.3g}"
        case float():
            return f"{cell:.6g}"
        case _:
            return str(cell)


def points_of(game, value):
    """From points to OpenSpiel's units."""
    return (value - 50) / GAMES[game][0]


def first_value(found):
    return next(iter(found["value"].values()))


# Values and NashConv beside independent solvers.


def values(bench):
    rows = []
    for game in GAMES:
        path, ours = bench.efg(game)
        theirs, how, seconds = independent(game, path)
        unit = GAMES[game][0]
        rows.append(
            {
                "game": game,
                "information sets": ours["infosets"],
                "ours": points_of(game, first_value(ours)),
                "NashConv": ours["nash_conv"] / unit,
                "s": round(ours["seconds"], 4),
                "theirs": theirs,
                "by": how,
                "s ": round(seconds, 2),
                "difference": abs(theirs - points_of(game, first_value(ours))),
            }
        )
    bench.table("values", rows)


def independent(game, path):
    """The value by another program, on its own rules where it has them; how, and in how many seconds."""
    import pygambit
    import pyspiel

    own = GAMES[game][1]
    started = time.process_time()
    if own is None:
        value = gambit_value(pygambit.nash.lp_solve(pygambit.read_efg(str(path)), rational=True).equilibrium)
        return points_of(game, float(value)), "pygambit lp, exact, our EFG", time.process_time() - started
    spiel = pyspiel.load_game(own)
    if spiel.get_type().short_name == "liars_dice" and "sides=6" in own:
        # Its sequence-form program takes too long here; CFR+ is within its NashConv.
        solver = pyspiel.CFRPlusSolver(pyspiel.convert_to_cached_tree(spiel))
        for _ in range(150):
            solver.evaluate_and_update_policy()
        policy = solver.average_policy()
        value = pyspiel.expected_returns(spiel.new_initial_state(), policy, -1, True, -1.0)[0]
        gap = pyspiel.nash_conv(spiel, policy)
        return value, f"OpenSpiel CFR+, within {gap:.2g}", time.process_time() - started
    from open_spiel.python.algorithms import sequence_form_lp

    value = sequence_form_lp.solve_zero_sum_game(spiel)[0]
    return float(value), "OpenSpiel sequence_form_lp with ECOS, its rules", time.process_time() - started


def gambit_value(profile):
    """What a profile is worth to the first player."""
    return next(iter(dict(profile.payoffs).values()))


# Our extensive form files in other programs.


def efg(bench):
    import pygambit
    import pyspiel

    rows = []
    for game in ("kuhn-poker", "leduc-poker", "scissors-paper-rock", "goofspiel", "liars-dice:sides=4"):
        path, ours = bench.efg(game)
        policies = by_role(ours)
        gambit = pygambit.read_efg(str(path))
        data = [[list(policy.values()) for policy in sets] for sets in policies]
        profile = gambit.mixed_behavior_profile(data=data)
        spiel = pyspiel.load_efg_game(path.read_text())
        policy = pyspiel.TabularPolicy(spiel_policy(spiel, policies))
        returns = pyspiel.expected_returns(spiel.new_initial_state(), policy, -1, True, -1.0)
        quick = game in ("kuhn-poker", "scissors-paper-rock")
        solved = gambit_value(pygambit.nash.lp_solve(gambit, rational=True).equilibrium) if quick else None
        rows.append(
            {
                "game": game,
                "our value (points)": first_value(ours),
                "our strategy in pygambit": float(gambit_value(profile)),
                "its max_regret": float(profile.max_regret()),
                "our strategy in OpenSpiel": returns[0],
                "its nash_conv": pyspiel.nash_conv(spiel, policy),
                "pygambit's own lp_solve": str(solved) if quick else None,
            }
        )
    bench.table("efg", rows)


def by_role(found):
    """The probabilities of the moves of each information set, by role."""
    roles = list(found["value"])
    return [[entry["policy"] for entry in found["strategy"] if entry["role"] == role] for role in roles]


def spiel_policy(game, policies):
    """A policy for a game that OpenSpiel read from a file. Its information states end with the number in the file."""
    table = {}
    pending = [game.new_initial_state()]
    while pending:
        state = pending.pop()
        if state.is_terminal():
            continue
        actions = state.legal_actions()
        if not state.is_chance_node():
            key = state.information_state_string()
            number = int(key.split("-")[2])
            policy = policies[state.current_player()][number - 1]
            table[key] = [(a, policy[state.action_to_string(a)]) for a in actions]
        pending.extend(state.child(a) for a in actions)
    return table


# NashConv after the same number of iterations of the same algorithm.

POINTS = {"kuhn-poker": (100, 1000, 10000), "goofspiel": (100, 300, 1000), "leduc-poker": (100, 300, 1000)}
POINTS["liars-dice:sides=4"] = (100, 300, 1000)


def convergence(bench):
    import pyspiel

    rows = []
    for game, points in POINTS.items():
        unit, own = GAMES[game]
        for algorithm in ("cfr", "cfr+"):
            theirs = nash_convs(pyspiel.load_game(own), algorithm, points)
            for n, found in zip(points, theirs):
                ours = bench.solve(game, "--algorithm", algorithm, "--iterations", n)["nash_conv"] / unit
                row = {"game": game, "algorithm": algorithm, "iterations": n, "ours": ours, "OpenSpiel": found}
                rows.append({**row, "ratio": round(ours / found, 4)})
    bench.table("convergence", rows)


def nash_convs(game, algorithm, points):
    import pyspiel

    solver = getattr(pyspiel, ALGORITHMS[algorithm])(game)
    done, found = 0, []
    for n in points:
        while done < n:
            solver.evaluate_and_update_policy()
            done += 1
        found.append(pyspiel.nash_conv(game, solver.average_policy()))
    return found


def rounding(bench):
    """How far OpenSpiel drifts from itself when only rounding changes: the same game, with payoffs in other units."""
    import pyspiel

    rows = []
    for game, algorithm in (("goofspiel", "cfr"), ("leduc-poker", "cfr+")):
        path, _ = bench.efg(game)
        unit = GAMES[game][0]
        runs = {"its own game": (pyspiel.load_game(GAMES[game][1]), 1)}
        for factor in (1.0, 1 / unit, 0.1, 0.7):
            runs[f"our EFG, points × {factor:.3g}"] = (
                pyspiel.load_efg_game(scaled(path.read_text(), factor)),
                unit * factor,
            )
        found = {
            name: [gap / scale for gap in nash_convs(spiel, algorithm, POINTS[game])]
            for name, (spiel, scale) in runs.items()
        }
        ours = (bench.solve(game, "--algorithm", algorithm, "--iterations", n) for n in POINTS[game])
        found["(ours)"] = [run["nash_conv"] / unit for run in ours]
        for name, gaps in found.items():
            row = {"game": game, "algorithm": algorithm, "OpenSpiel on": name}
            rows.append({**row, **dict(zip(("100", "300", "1,000"), gaps))})
    bench.table("rounding", rows)


def scaled(text, factor):
    """A file with other payoffs: points from 50, times a factor."""
    lines = []
    for line in text.splitlines():
        if line.lstrip().startswith("t "):
            head, _, payoffs = line.rpartition("{")
            numbers = [(float(p) - 50) * factor for p in payoffs.rstrip(" }").split(",")]
            line = head + "{ " + ", ".join(repr(n) for n in numbers) + " }"
        lines.append(line)
    return "\n".join(lines) + "\n"


# Iterations a second, by CPU time and best of three on both sides.


def speed(bench):
    rows = []
    for game in ("kuhn-poker", "leduc-poker", "goofspiel", "liars-dice:sides=4"):
        for algorithm in ALGORITHMS:
            if algorithm == "external" and game == "goofspiel":
                continue
            theirs, ours = 0, 0
            for _ in range(3):
                theirs = max(theirs, spiel_speed(GAMES[game][1], algorithm, bench.args.seconds))
                ours = max(ours, our_speed(bench, game, algorithm))
            row = {"game": game, "algorithm": algorithm, "ours, it/s": ours, "OpenSpiel C++, it/s": theirs}
            rows.append({**row, "factor": round(ours / theirs)})
    bench.table("speed", rows)


def spiel_speed(name, algorithm, seconds):
    import pyspiel

    solver = getattr(pyspiel, ALGORITHMS[algorithm])(pyspiel.load_game(name))
    step = solver.run_iteration if algorithm == "external" else solver.evaluate_and_update_policy
    step()
    started = time.process_time()
    done = 0
    while time.process_time() - started < seconds:
        for _ in range(1 + done // 50):
            step()
            done += 1
    return done / (time.process_time() - started)


def our_speed(bench, game, algorithm):
    """Iterations a CPU second, with start-up and building the tree: CPU time is known for the whole process only."""
    before = children_cpu()
    found = bench.solve(game, "--algorithm", algorithm, "--seconds", 3 * bench.args.seconds, "--threads", 1)
    return found["iterations"] / (children_cpu() - before)


def children_cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
