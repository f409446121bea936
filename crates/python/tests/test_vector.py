"""Vector environments against states, game by game."""

import threading

import numpy as np
import pytest

import surmise

GAMES = ["tictactoe", "kuhn-poker", "leduc-poker", "krieg-tictactoe", "goofspiel", "phantom-tictactoe"]


@pytest.mark.parametrize("name", GAMES)
def test_environments_follow_the_rules(name):
    game = surmise.Game(name)
    env = surmise.vector(game, 5, seed=4, final_observation=True)
    states = [game.initial()] * 5
    nature = "random" in game.roles
    ended = 0
    for _ in range(60):
        for seat, role in enumerate(env.seats):
            for at, state in enumerate(states):
                legal = [env.actions[i] for i in np.flatnonzero(env.action_mask[seat][at])]
                assert legal == sorted(state.legal(role))
                assert env.current[seat][at] == (len(legal) > 1)
        actions = env.sample().copy()
        env.step(actions)
        for at, state in enumerate(states):
            moves = {role: env.actions[actions[seat, at]] for seat, role in enumerate(env.seats)}
            told = [named(env, seat, env.final_observation[seat][at]) for seat in range(len(env.seats))]
            states[at] = followed(state, moves, told, env, at, nature)
            ended += env.terminated[at]
            if env.terminated[at]:
                goals = states[at].goals()
                assert [env.reward[s][at] for s in range(len(env.seats))] == [
                    np.float32(goals[role] / 100) for role in env.seats
                ]
                states[at] = game.initial()
                assert not env.observation[0][at].any()
            else:
                assert not any(env.reward[s][at] for s in range(len(env.seats)))
                assert (env.observation[0][at] == env.final_observation[0][at]).all()
    assert ended


def named(env, seat, bits):
    return {env.observations(seat)[i] for i in np.flatnonzero(bits)}


def followed(state, moves, told, env, at, nature):
    """The successor that agrees with what the environment told; nature's move is found by trying."""
    for drawn in state.legal("random") if nature else [None]:
        joint = dict(moves, random=drawn) if nature else moves
        percepts, successor = state.percepts(joint), state.next(joint)
        fits = all(
            told[seat] == {f"does {moves[role]}"} | {f"sees {percept}" for percept in percepts[role]}
            for seat, role in enumerate(env.seats)
        )
        if fits and env.terminated[at] == successor.terminal and (successor.terminal or legal_agrees(env, at, successor)):
            return successor
    raise AssertionError("no move of nature explains what was told")


def legal_agrees(env, at, state):
    for seat, role in enumerate(env.seats):
        legal = [env.actions[i] for i in np.flatnonzero(env.action_mask[seat][at])]
        if legal != sorted(state.legal(role)):
            return False
    return True


def test_arrays_are_written_in_place():
    env = surmise.vector("tictactoe", 300)
    arrays = [*env.observation, *env.action_mask, *env.reward, *env.current, env.terminated, env.truncated]
    places = [array.__array_interface__["data"][0] for array in arrays]
    for _ in range(20):
        env.step(env.sample())
    env.reset(seed=2)
    after = [*env.observation, *env.action_mask, *env.reward, *env.current, env.terminated, env.truncated]
    assert places == [array.__array_interface__["data"][0] for array in after]
    assert np.from_dlpack(env.reward[0]).ctypes.data == env.reward[0].ctypes.data
    assert env.action_mask[0].shape == (300, 10) and env.action_mask[0].dtype == np.bool_
    assert env.action_mask[0].sum() == 300 * 9


def test_same_seed_same_games():
    def play(seed):
        env = surmise.vector("kuhn-poker", 700, seed=seed)
        out = []
        for _ in range(10):
            env.step(env.sample())
            out.append([o.copy() for o in env.observation])
        return np.concatenate([o.ravel() for step in out for o in step])

    assert (play(1) == play(1)).all() and (play(1) != play(2)).any()


def test_endless_games_are_cut():
    rules = """(role a) (init s) (legal a go) (legal a stay) (<= (next s) (true s))
    (<= terminal (true never)) (<= (next never) (true never)) (goal a 0)"""
    env = surmise.vector(surmise.Game.from_rules(rules), 3, max_rounds=4)
    cut = []
    for _ in range(8):
        env.step(np.zeros((1, 3), dtype=np.int32))
        cut.append(env.truncated.tolist())
    assert cut == [[False] * 3] * 3 + [[True] * 3] + [[False] * 3] * 3 + [[True] * 3]


def test_wrong_actions():
    env = surmise.vector("tictactoe", 4)
    good = env.sample().copy()
    before = env.privileged()
    for wrong, error in [
        (np.zeros((2, 5), np.int32), ValueError),
        (np.zeros((8,), np.int32), ValueError),
        (np.zeros((2, 4)), TypeError),
        (np.full((2, 4), 10**12), surmise.IllegalMoveError),
        (np.full((2, 4), -(10**12)), surmise.IllegalMoveError),
        (np.full((2, 4), 2**32), surmise.IllegalMoveError),
        (np.full((2, 4), -1), surmise.IllegalMoveError),
        ("abc", TypeError),
        (None, TypeError),
        ([[0, 0], [1]], (TypeError, ValueError)),
    ]:
        with pytest.raises(error):
            env.step(wrong)
        assert (env.privileged() == before).all()
    env.step(good.astype(np.int64)[:, :])
    env.close()
    with pytest.raises(surmise.SurmiseError, match="closed"):
        env.step(good)
    for n in (0, -1, 2**40):
        with pytest.raises((ValueError, OverflowError)):
            surmise.vector("tictactoe", n)


def test_threads_have_their_own_games():
    env, errors = surmise.vector("connect-four", 4096), []

    def work():
        try:
            for _ in range(50):
                env.step(env.sample())
        except Exception as error:  # noqa: BLE001: compared below
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(2)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    # Games that another thread is stepping, or arrays that it writes: a word, or a borrow that is refused.
    allowed = (surmise.SurmiseError, surmise.IllegalMoveError, TypeError)
    assert all(isinstance(error, allowed) for error in errors)
    env.reset()
    env.step(env.sample())


@pytest.mark.parametrize("name", ["kuhn-poker", "krieg-tictactoe", "phantom-tictactoe"])
@pytest.mark.parametrize("rounds", [None, 1, 3])
def test_views_are_the_rounds_so_far(name, rounds):
    """The observation of a view has the last rounds of the game, each as the observation of a round tells it."""
    options = dict(seed=3, final_observation=True)
    single = surmise.vector(name, 5, **options)
    whole = surmise.vector(name, 5, observation="view", rounds=rounds, **options)
    slots = whole.slots
    assert slots == rounds or (rounds is None and slots >= 3)
    width = len(single.observations(0))
    assert whole.observation[0].shape == (5, slots * (1 + width)) and len(whole.observations(0)) == slots * (1 + width)
    history = [[] for _ in range(5)]
    ended = 0
    for _ in range(60):
        actions = single.sample().copy()
        # Both draw the same moves of nature: the second has to use up as many random numbers.
        assert (whole.sample() == actions).all()
        single.step(actions)
        whole.step(actions)
        for at in range(5):
            history[at].append([single.final_observation[seat][at].copy() for seat in range(len(single.seats))])
            for seat in range(len(single.seats)):
                expected = np.zeros(slots * (1 + width) if seat == 0 else whole.observation[seat].shape[1], bool)
                features = len(single.observations(seat))
                for number, told in enumerate(history[at]):
                    start = slots + number % slots * features
                    expected[start : start + features] = told[seat]
                expected[(len(history[at]) - 1) % slots] = True
                assert (whole.final_observation[seat][at] == expected).all()
                over = single.terminated[at] or single.truncated[at]
                assert (whole.observation[seat][at] == (expected & (not over))).all()
            if single.terminated[at] or single.truncated[at]:
                history[at], ended = [], ended + 1
    assert ended > 2
    names = whole.observations(0)
    assert names[0] == "last round in slot 1" and names[slots].startswith("slot 1 does ")
    whole.reset()
    assert not any(observation.any() for observation in whole.observation)


def test_wrong_views_are_refused():
    for wrong in (dict(observation="all"), dict(rounds=3), dict(observation="view", rounds=0)):
        with pytest.raises(ValueError):
            surmise.vector("tictactoe", 2, **wrong)
    with pytest.raises((ValueError, surmise.SurmiseError), match="rounds"):
        surmise.vector("tictactoe", 2**20, observation="view", rounds=10**6)
