#!/usr/bin/env python3
"""Steps a second of vector environments, beside OpenSpiel and pgx in one run.

    benchmarks/vector.py [--seconds 1] [--batches 1,64,1024,16384] [--json FILE]

Needs the packages surmise (a release wheel: `make wheel`), numpy and, for the comparison, open_spiel, jax and pgx; what
is not installed is left out and said. Every environment writes observations and masks of legal actions, and takes random
legal actions that are drawn by the same library (for OpenSpiel's, which has no such function, by NumPy from its masks).
A step is one joint move of one game. One thread: the script limits JAX to one. "Step only" is without the drawing of
actions, whose time is measured by itself and subtracted.

OpenSpiel's vector environment is `open_spiel.python.vector_env.SyncVectorEnv` over `rl_environment.Environment`, its
own implementations of the games in C++ below. pgx is compiled by XLA for the CPU.
"""

import argparse
import json
import os
import platform
import time

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import numpy as np

import surmise

#: Our game, OpenSpiel's and pgx's.
GAMES = [
    ("tictactoe", "tic_tac_toe", "tic_tac_toe"),
    ("connect-four", "connect_four", "connect_four"),
    ("kuhn-poker", "kuhn_poker", "kuhn_poker"),
    ("leduc-poker", "leduc_poker", "leduc_holdem"),
    ("phantom-tictactoe", "phantom_ttt", None),
    ("blind-breakthrough", "breakthrough", None),
]


def measure(step, n, seconds):
    """Steps a second: the best of three windows."""
    step()
    best = 0.0
    for _ in range(3):
        count, started = 0, time.perf_counter()
        while time.perf_counter() - started < seconds / 3:
            step()
            count += 1
        best = max(best, count * n / (time.perf_counter() - started))
    return best


def ours(name, n):
    env = surmise.vector(name, n)
    return lambda: env.step(env.sample())


def ours_sampling(name, n):
    """Only the drawing of actions, to be subtracted."""
    env = surmise.vector(name, n)
    return env.sample


def openspiel(name, n):
    from open_spiel.python import rl_environment, vector_env

    if n > 1024:
        return None  # a step takes seconds
    envs = vector_env.SyncVectorEnv([rl_environment.Environment(name) for _ in range(n)])
    rng = np.random.default_rng(0)
    now = envs.reset()

    def step():
        nonlocal now
        from open_spiel.python.rl_agent import StepOutput

        outputs = []
        for at in now:
            player = at.observations["current_player"]
            legal = at.observations["legal_actions"][player] if player >= 0 else [0]
            outputs.append(StepOutput(action=legal[rng.integers(len(legal))], probs=None))
        now, _, _, _ = envs.step(outputs, reset_if_done=True)

    return step


def pgx(name, n):
    import jax
    import pgx

    env = pgx.make(name)
    init, key = jax.jit(jax.vmap(env.init)), jax.random.PRNGKey(0)

    def act(state, key):
        logits = jax.numpy.where(state.legal_action_mask, 0.0, -1e9)
        actions = jax.random.categorical(key, logits, axis=-1)
        keys = jax.random.split(key, n)
        return jax.vmap(pgx.experimental.auto_reset(env.step, env.init))(state, actions, keys)

    act = jax.jit(act)
    state = init(jax.random.split(key, n))

    def step():
        nonlocal state, key
        key, this = jax.random.split(key)
        state = act(state, this)
        state.observation.block_until_ready()

    return step


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--batches", default="1,64,1024,16384")
    parser.add_argument("--json")
    options = parser.parse_args()
    rows = []
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, {time.strftime('%Y-%m-%d')}")
    print(f"{'game':20}{'batch':>7}{'surmise':>14}{'step only':>14}{'OpenSpiel':>14}{'pgx':>14}")
    for name, spiel, other in GAMES:
        for n in map(int, options.batches.split(",")):
            row = {"game": name, "batch": n}
            for label, make, what in (
                ("surmise", ours, name),
                ("sampling", ours_sampling, name),
                ("openspiel", openspiel, spiel),
                ("pgx", pgx, other),
            ):
                try:
                    step = make(what, n) if what else None
                    row[label] = measure(step, n, options.seconds) if step else None
                except ImportError as error:
                    row[label] = None
                    row.setdefault("missing", []).append(str(error))
            # What a step takes without the drawing of actions.
            row["step_only"] = 1 / (1 / row["surmise"] - 1 / row["sampling"])
            rows.append(row)
            cells = [row[label] for label in ("surmise", "step_only", "openspiel", "pgx")]
            print(f"{name:20}{n:7}" + "".join(f"{c:14,.0f}" if c else f"{'-':>14}" for c in cells), flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
