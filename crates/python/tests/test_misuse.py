"""Random wrong use: exceptions, and nothing else."""

import random

import numpy as np

import surmise

#: Calls are cheap games and small arguments, so that ten thousand take seconds.
COUNT = 10_000

VALUES = [
    None, True, 0, 1, -1, 7, 2**31, -(2**63), 2**70, 1.5, float("nan"), float("inf"), "", "x", "noop", "xplayer",
    "random", "(mark 1 1)", "(((", "\0", "é" * 50, b"bytes", [], {}, (), [1], ["a"], [("a",)], [("a", "b")],
    [("noop", ["x"])], {"xplayer": "noop"}, object(), print, np.zeros(3), np.zeros((2, 2), np.int32), surmise.Player,
]  # fmt: skip


def test_ten_thousand_misuses():
    rng = random.Random(1)
    game = surmise.Game("tictactoe")
    state = game.initial()
    env = surmise.vector(game, 2)
    calls = [
        lambda a, b: surmise.Game(a),
        lambda a, b: surmise.Game.from_rules(a),
        lambda a, b: surmise.check(a),
        lambda a, b: state.legal(a),
        lambda a, b: state.next(a),
        lambda a, b: state.percepts(a),
        lambda a, b: game.state(a),
        lambda a, b: game.moves(a),
        lambda a, b: game.belief(a, b),
        lambda a, b: game.belief("xplayer", [(a, b)]),
        lambda a, b: game.legal(a, b),
        lambda a, b: game.play(a, games=1, max_rounds=2),
        lambda a, b: game.play([a, b], games=1, max_rounds=2),
        lambda a, b: game.solve(a, histories=10),
        lambda a, b: game.rate(a, histories=10),
        lambda a, b: game.explain(a, round=b),
        lambda a, b: surmise.vector(game, a if a != 2**31 else 3, b),
        lambda a, b: env.step(a),
        lambda a, b: env.reset(a),
        lambda a, b: env._native.step(a),
        lambda a, b: env._native.sample(a),
        lambda a, b: env._native.states(a),
        lambda a, b: env._native.seat_arrays(a),
        lambda a, b: env.observations(a),
    ]
    raised = 0
    for _ in range(COUNT):
        call, a, b = rng.choice(calls), rng.choice(VALUES), rng.choice(VALUES)
        try:
            call(a, b)
        except Exception as error:  # noqa: BLE001: any ordinary exception is an answer
            raised += 1
            assert str(error) or isinstance(error, (KeyError, TypeError))
    assert raised > COUNT // 2
    env.reset()
    env.step(env.sample())
    assert state.legal("xplayer")
