#!/usr/bin/env python3
"""Simulations a CPU second of tree searches beside OpenSpiel's, one thread, in turns in one run.

    python3 benchmarks/trees.py [--seconds 2] [--simulations 1000,10000] [--turns 3] [--reversi FILE] [--json OUT]

Builds `crates/search/examples/tree_speed.rs` in release mode, installs open_spiel from PyPI into a virtual environment
under the target directory, and measures decisions from the first state in which a player has a choice, each with an
empty tree: UCT beside `MCTSBot` and IS-MCTS beside `ISMCTSBot`, both of C++ and without solver, with one playout from
each leaf. A simulation is one descent with its playout (or with the end of the game that it reaches); playouts of ours
are also printed, since lanes that would be idle play further games from the same leaves. Our decisions of IS-MCTS
include the belief.

OpenSpiel 2.0.2 has no sampler of information sets for liar's dice and phantom tic-tac-toe, and its Python package
cannot give the bot one. `resample.cc` can: it is compiled against the package's own headers and library (this needs
g++), so that the same bot runs. At these first decisions both samplers are exact: for liar's dice the other player's
dice are rolled again, and in phantom tic-tac-toe, where nothing happened yet, the state is copied. Without g++, figures
of an earlier C++ program on another machine stand in, marked "stated".

Reversi is not a game of our catalogue: `--reversi` names rules of it, such as the GGP repository's `reversi.kif`.
"""

import argparse
import ctypes
import json
import os
import random
import shutil
import subprocess
import sys
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
OPEN = [("tictactoe", "tic_tac_toe"), ("connect-four", "connect_four"), ("breakthrough", "breakthrough")]
# Games whose sampler is in `resample.cc`, and its number there.
SAMPLERS = {"liars_dice": 1, "phantom_ttt": 2}
# Middles of the stated ranges: 530-556 k and 107-130 k.
STATED = {"liars_dice": 543_000.0, "phantom_ttt": 118_500.0}
HIDDEN = [
    ("kuhn-poker", "kuhn_poker"),
    ("leduc-poker", "leduc_poker"),
    ("liars-dice", "liars_dice"),
    ("phantom-tictactoe", "phantom_ttt"),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=2.0, help="CPU seconds for each figure")
    parser.add_argument("--simulations", default="1000,10000", help="simulations a decision")
    parser.add_argument("--turns", type=int, default=3, help="times that each figure is taken; the median is printed")
    parser.add_argument("--reversi", help="a rules file of reversi")
    parser.add_argument("--ours", help="our program, if it is built already")
    parser.add_argument("--json", help="a file for the figures")
    parser.add_argument("--spiel", nargs=5, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.spiel:
        kind, game, simulations, seconds, library = options.spiel
        if library:
            print(json.dumps(spiel_with_sampler(library, game, int(simulations), float(seconds))))
        else:
            print(json.dumps(spiel(kind, game, int(simulations), float(seconds))))
        return
    ours, python = options.ours or build(), environment()
    samplers = build_samplers(python)
    games = OPEN + ([(options.reversi, "othello")] if options.reversi else [])
    rows = []
    for kind, pairs in (("uct", games), ("ismcts", HIDDEN)):
        for mine, theirs in pairs:
            for simulations in options.simulations.split(","):
                row = measure(ours, python, kind, mine, theirs, simulations, options, samplers)
                rows.append(row)
                show(row)
    if options.json:
        Path(options.json).write_text(json.dumps(rows, indent=1) + "\n")


def build():
    command = ["cargo", "build", "--release", "-p", "surmise-search", "--example", "tree_speed"]
    subprocess.run(command, cwd=ROOT, check=True)
    return str(TARGET / "release" / "examples" / "tree_speed")


def environment():
    """A Python that has OpenSpiel."""
    home = TARGET / "open-spiel"
    python = home / "bin" / "python"
    if not python.exists():
        venv.create(home, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "open_spiel==2.0.2"], check=True)
    return str(python)


def build_samplers(python):
    """Our samplers for OpenSpiel's bot, as a library; None without a compiler."""
    if not shutil.which("g++"):
        return None
    where = "import importlib.util as u; print(u.find_spec('open_spiel').submodule_search_locations[0])"
    home = Path(subprocess.run([python, "-c", where], check=True, capture_output=True, text=True).stdout.strip())
    folders = [home.parent, home / "abseil-cpp", home / "json" / "include"]
    library = TARGET / "open-spiel" / "resample.so"
    command = ["g++", "-O2", "-std=c++20", "-shared", "-fPIC", *(f"-I{folder}" for folder in folders)]
    subprocess.run([*command, ROOT / "benchmarks" / "resample.cc", "-o", library], check=True)
    return str(library)


def measure(ours, python, kind, mine, theirs, simulations, options, samplers):
    """Both programs in turns; medians."""
    found = {"ours": [], "playouts": [], "theirs": []}
    for _ in range(options.turns):
        command = [ours, "--seconds", str(options.seconds), "--simulations", simulations, mine]
        line = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        assert line["player"] == kind, line
        found["ours"].append(line["per_cpu_second"])
        found["playouts"].append(line["playouts_per_cpu_second"])
        if theirs in SAMPLERS and not samplers:
            found["theirs"].append(STATED[theirs])
            continue
        library = samplers if theirs in SAMPLERS else ""
        command = [python, __file__, "--spiel", kind, theirs, simulations, str(options.seconds), library]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{theirs}: {done.stderr.strip().splitlines()[-1]}")
        found["theirs"].append(json.loads(done.stdout))
    median = {name: sorted(values)[len(values) // 2] for name, values in found.items()}
    row = {"player": kind, "game": Path(mine).stem, "simulations": int(simulations), **median}
    return {**row, "stated": theirs in SAMPLERS and not samplers}


def show(row):
    ratio = row["ours"] / row["theirs"]
    print(
        f"{row['player']:7} {row['game']:18} {row['simulations']:7}  ours {row['ours']:11,.0f}/s"
        f"  (playouts {row['playouts']:11,.0f}/s)  OpenSpiel {row['theirs']:10,.0f}/s  {ratio:6.1f}x"
        + (" (stated)" if row["stated"] else ""),
        flush=True,
    )


def spiel(kind, name, simulations, seconds):
    """OpenSpiel's simulations a CPU second."""
    import pyspiel

    game = pyspiel.load_game(name)
    state, rng = game.new_initial_state(), random.Random(1)
    while state.is_chance_node():
        outcomes, chances = zip(*state.chance_outcomes())
        state.apply_action(rng.choices(outcomes, chances)[0])
    done, seed, started = 0, 0, time.process_time()
    while time.process_time() - started < seconds:
        evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
        if kind == "uct":
            bot = pyspiel.MCTSBot(game, evaluator, 1.4, simulations, 1000, False, seed, False)
            bot.step(state)
        else:
            most_visited = pyspiel.ISMCTSFinalPolicyType.MAX_VISIT_COUNT
            bot = pyspiel.ISMCTSBot(seed, evaluator, 1.4, simulations, -1, most_visited, False, False)
            bot.step(state)
        done, seed = done + simulations, seed + 1
    return done / (time.process_time() - started)


def spiel_with_sampler(library, name, simulations, seconds):
    """The same of IS-MCTS with a sampler of ours."""
    # The library finds OpenSpiel's functions in the module that is loaded already.
    sys.setdlopenflags(os.RTLD_NOW | os.RTLD_GLOBAL)
    import pyspiel  # noqa: F401

    measure = ctypes.CDLL(library).simulations_per_second
    measure.restype = ctypes.c_double
    measure.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_double, ctypes.c_int]
    return measure(name.encode(), simulations, seconds, SAMPLERS[name])


if __name__ == "__main__":
    main()
