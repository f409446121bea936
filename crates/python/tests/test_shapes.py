"""The shapes of other libraries. Tests of a library that is not installed are skipped."""

import itertools

import numpy as np
import pytest

import surmise


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["tictactoe", "kuhn-poker", "krieg-tictactoe", "monty-hall", "goofspiel"])
def test_pettingzoo(name):
    pytest.importorskip("pettingzoo")
    from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test

    import surmise.pettingzoo as shape

    api_test(shape.env(name), num_cycles=100)
    parallel_api_test(shape.parallel_env(name), num_cycles=100)
    seed_test(lambda: shape.env(name), num_cycles=10)
    parallel_seed_test(lambda: shape.parallel_env(name, illegal="random"), num_cycles=10)


@pytest.mark.filterwarnings("ignore")
def test_gymnasium():
    pytest.importorskip("gymnasium")
    from gymnasium.utils.env_checker import check_env

    import surmise.gymnasium as shape

    check_env(shape.env("monty-hall", illegal="random"), skip_render_check=True)
    env = shape.vector_env("monty-hall", 6)
    observation, info = env.reset(seed=3)
    assert observation.shape[0] == 6 and env.single_observation_space.contains(observation[0])
    for _ in range(9):
        actions = np.array([np.flatnonzero(mask)[-1] for mask in info["action_mask"]])
        observation, reward, terminated, truncated, info = env.step(actions)
    assert terminated.all() and reward.shape == (6,) and info["_final_obs"].all()
    with pytest.raises(surmise.IllegalMoveError):
        shape.env("monty-hall").reset() and shape.vector_env("monty-hall", 2).step(np.array([99, 99]))
    with pytest.raises(ValueError, match="surmise.pettingzoo"):
        shape.env("tictactoe")


def openspiel():
    pytest.importorskip("pyspiel")
    import surmise.openspiel as shape

    return shape


@pytest.mark.parametrize("name, iterations", [("kuhn-poker", 300), ("leduc-poker", 3)])
def test_openspiel_and_surmise_agree(name, iterations):
    shape = openspiel()
    from open_spiel.python.algorithms import cfr, expected_game_score, exploitability

    game = surmise.Game(name)
    spiel = shape.load(game)
    solver = cfr.CFRSolver(spiel)
    for _ in range(iterations):
        solver.evaluate_and_update_policy()
    average = solver.average_policy()
    table = {}
    walk(spiel.new_initial_state(), average, game, table)
    ours = game.rate(lambda role, view, legal: table[role, view])
    assert exploitability.nash_conv(spiel, average) == pytest.approx(ours.nash_conv, abs=1e-9)
    value = expected_game_score.policy_value(spiel.new_initial_state(), [average] * 2)
    assert value == pytest.approx([ours.value[role] for role in game.players], abs=1e-9)
    if name == "kuhn-poker":
        assert value[0] == pytest.approx(game.solve().value["player1"], abs=0.05)


def walk(state, policy, game, table):
    if state.is_terminal():
        return
    if not state.is_chance_node():
        player = state.current_player()
        chosen = policy.action_probabilities(state)
        moves = {state.action_to_string(player, action): float(p) for action, p in chosen.items()}
        table[game.players[player], state.view(player)] = moves
    for action in state.legal_actions():
        walk(state.child(action), policy, game, table)


TWO_ROLES = [entry["name"] for entry in surmise.games() if len(surmise.Game(entry["name"]).players) == 2]


@pytest.mark.parametrize("name", TWO_ROLES)
def test_information_states_are_functions_of_views(name):
    shape = openspiel()
    game = surmise.Game(name)
    spiel = shape.load(game)
    rng = np.random.default_rng(5)
    texts, views = {}, {}
    for _ in range(30):
        state = spiel.new_initial_state()
        for _ in range(40):
            if state.is_terminal():
                break
            for player in range(2):
                text = state.information_state_string(player)
                view = (player, state.view(player), decided(state, player))
                assert texts.setdefault(view, text) == text
                assert views.setdefault(text, view) == view
            state.apply_action(int(rng.choice(state.legal_actions())))
    assert len(texts) > 3


def decided(state, player):
    """The move that a player has chosen in the present round, if it had a choice."""
    at, role = state._at, state._facts.players[player]
    return None if at.over or len(at.legal[role]) == 1 else at.joint.get(role)


def test_simultaneous_rounds():
    shape = openspiel()
    spiel = shape.load("goofspiel", simultaneous=True)
    state = spiel.new_initial_state()
    seen = set()
    for _ in itertools.count():
        if state.is_terminal():
            break
        seen.add(state.current_player())
        if state.is_simultaneous_node():
            state.apply_actions([(state.legal_actions(player) or [0])[0] for player in range(2)])
        else:
            state.apply_action(state.legal_actions()[0])
    assert any(player == -2 for player in seen) and sum(state.returns()) == 100
    assert len(state.information_state_tensor(0)) == np.prod(spiel.information_state_tensor_shape())


def test_gambit():
    pytest.importorskip("pygambit")
    game = surmise.Game("kuhn-poker").to_gambit()
    assert len(game.players) == 2
