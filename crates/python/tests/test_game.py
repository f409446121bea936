"""Games, states, matches, beliefs and solutions, as a user calls them."""

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import surmise

GUESS = """
(role guesser) (role random)
(bit 0) (bit 1)
(init (step 1))
(<= (legal random (hide ?b)) (true (step 1)) (bit ?b))
(<= (legal random noop) (true (step 2)))
(<= (legal guesser noop) (true (step 1)))
(<= (legal guesser (guess ?b)) (true (step 2)) (bit ?b))
(<= (next (hidden ?b)) (does random (hide ?b)))
(<= (next (hidden ?b)) (true (hidden ?b)))
(<= (next (step 2)) (true (step 1)))
(<= (next (step 3)) (true (step 2)))
(<= (next right) (does guesser (guess ?b)) (true (hidden ?b)))
(<= (sees guesser (fair ?b)) (does random (hide ?b)) (bit 9))
(<= terminal (true (step 3)))
(<= (goal guesser 100) (true right))
(<= (goal guesser 0) (not (true right)))
(goal random 0)
"""


def test_states_follow_the_rules():
    game = surmise.Game.from_rules(GUESS, name="guess")
    assert game.roles == ["guesser", "random"] and game.players == ["guesser"] and game.hidden
    first = game.initial()
    assert first.legal("random") == ["(hide 0)", "(hide 1)"] and not first.terminal
    moves = {"guesser": "noop", "random": "(hide 1)"}
    second = first.next(moves)
    assert second == first.next(["noop", "(hide 1)"]) and second != first
    assert first.percepts(moves) == {"guesser": [], "random": []}
    last = second.next({"guesser": "(guess 1)", "random": "noop"})
    assert last.terminal and last.goals() == {"guesser": 100, "random": 0}
    assert game.state(last.fluents) == last
    assert pickle.loads(pickle.dumps(game)).initial().fluents == first.fluents


def test_mistakes_in_rules_are_listed():
    with pytest.raises(surmise.RulesError) as caught:
        surmise.Game.from_rules("(role a)\n(<= (legal a ?x) (not (p ?x)))")
    found = {d["code"]: d for d in caught.value.diagnostics}
    assert found["E-UNSAFE"]["line"] == 2 and "?x" in found["E-UNSAFE"]["message"]
    assert surmise.check(GUESS) == surmise.check(GUESS, strict=False)
    assert any(d["code"] == "E-UNSAFE" for d in surmise.check("(<= (p ?x) (not (q ?x)))"))


def test_belief_is_exact_where_it_can_be():
    game = surmise.Game("monty-hall")
    belief = game.belief("candidate", [("(choose 1)", []), ("noop", ["(closed 3)"])])
    assert belief.exact and belief.legal == ["stay", "switch"]
    np.testing.assert_allclose(belief.weights, [2 / 3, 1 / 3])
    assert belief.holds.shape == (2, len(belief.fluents)) and belief.holds.dtype == np.bool_
    np.testing.assert_allclose(belief.weights @ belief.holds, belief.marginals)
    assert belief.probability("(car 3)") == pytest.approx(2 / 3)
    assert belief.probability("(car 2)") == 0.0
    assert "<svg" in belief._repr_svg_() and "<svg" in game.initial()._repr_svg_()


def test_matches_have_the_bytes_of_the_command_line(program, tmp_path):
    players, games, seed = ["hp:16,4", "random"], 3, 7
    command = [program, "match", "krieg-tictactoe", *players, "--games", str(games), "--seed", str(seed)]
    subprocess.run([*command, "--record", tmp_path / "program", "--quiet"], check=True, capture_output=True)
    game = surmise.Game("krieg-tictactoe")
    game.play(players, games=games, seed=seed, threads=2, record=tmp_path / "package")
    for number in range(games):
        name = f"match-{number:06}.json"
        assert (tmp_path / "package" / name).read_bytes() == (tmp_path / "program" / name).read_bytes()


class First(surmise.Player):
    def choose(self, view, legal):
        assert all(isinstance(move, str) and isinstance(percepts, tuple) for move, percepts in view)
        return self.rng.choice(legal)


def test_own_players_play():
    game = surmise.Game("krieg-tictactoe")
    matches = game.play([First, "random"], games=4, seed=3)
    again = game.play([First(), "random"], games=4, seed=3, threads=2)
    assert [m.moves for m in matches] == [m.moves for m in again]
    assert matches.goals.shape == (4, 2) and matches[0].players == {"xplayer": "First", "oplayer": "random"}
    assert len(matches[0].view("xplayer", 2)) == 2
    assert set(matches.means) == {"xplayer", "oplayer"} and "First" not in matches._repr_html_()
    why = game.explain(matches[0], round=1, role="xplayer", player="hp:4,2")
    assert why["candidates"] and why["move"] in game.legal("xplayer")


def test_a_player_that_raises_ends_the_match():
    class Bad(surmise.Player):
        def choose(self, view, legal):
            raise KeyError("no idea")

    class Wrong(surmise.Player):
        def choose(self, view, legal):
            return 3

    game = surmise.Game("tictactoe")
    with pytest.raises(KeyError, match="no idea"):
        game.play([Bad, "random"])
    with pytest.raises(TypeError):
        game.play([Wrong, "random"])
    with pytest.raises(NotImplementedError, match="choose"):
        game.play([surmise.Player, "random"])
    with pytest.raises(TypeError, match="surmise.Player"):
        game.play([object(), "random"])


def test_solutions():
    game = surmise.Game("kuhn-poker")
    solution = game.solve()
    assert solution.value["player1"] == pytest.approx(50 - 100 / 72, abs=1e-6)
    assert solution.nash_conv < 1e-6 and game.rate(solution).nash_conv == pytest.approx(solution.nash_conv, abs=1e-9)
    assert game.rate(solution.policy).value == pytest.approx(solution.value)
    assert game.rate("uniform").nash_conv > 10
    with pytest.raises(ValueError, match="sum"):
        game.rate(lambda role, view, legal: {legal[0]: 0.5})
    with pytest.raises(surmise.IllegalMoveError):
        game.rate(lambda role, view, legal: {"(nonsense)": 1.0})
    assert game.to_efg().startswith("EFG 2 R")


def test_strategies_and_trainings_are_players(tmp_path):
    game = surmise.Game("kuhn-poker")
    player = game.solve().save(tmp_path / "kuhn.json")
    assert len(game.play([player, "random"], games=2)) == 2
    with pytest.raises(FileExistsError):
        game.solve().save(tmp_path / "kuhn.json")
    learned = game.train(tmp_path / "net", minutes=None, games=200, trials=0)
    assert len(game.play([learned, "random"], games=1)) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: surmise.Game("no-such-game"),
        lambda: surmise.Game("tictactoe").initial().legal("nobody"),
        lambda: surmise.Game("tictactoe").play(["hpp", "random"]),
        lambda: surmise.Game("tictactoe").play(["random"] * 3),
        lambda: surmise.Game("tictactoe").play("random", seconds=float("nan")),
        lambda: surmise.Game("monty-hall").belief("candidate", [("(choose 77)", [])]),
        lambda: surmise.Game("monty-hall").belief("candidate", ["(choose 1)"]),
        lambda: surmise.Game("kuhn-poker").solve("magic"),
        lambda: surmise.Game("kuhn-poker").solve(until=-1.0),
        lambda: surmise.Game("tictactoe").explain({"roles": []}),
    ],
)
def test_wrong_use_is_an_exception_with_advice(wrong):
    with pytest.raises((ValueError, surmise.SurmiseError)) as caught:
        wrong()
    assert len(str(caught.value)) > 10


def test_two_threads_do_not_disturb_each_other():
    expected = [surmise.Game(name).play("random", games=50, seed=1).goals for name in ("tictactoe", "kuhn-poker")]
    found = [None, None]

    def work(at, name):
        for _ in range(5):
            found[at] = surmise.Game(name).play("random", games=50, seed=1).goals

    threads = [threading.Thread(target=work, args=pair) for pair in enumerate(("tictactoe", "kuhn-poker"))]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert all((a == b).all() for a, b in zip(expected, found))


@pytest.mark.skipif(os.name != "posix", reason="needs SIGINT")
@pytest.mark.parametrize(
    "call",
    [
        "surmise.Game('leduc-poker').solve('cfr', iterations=10**9)",
        "surmise.Game('blind-breakthrough').play('hp:1000,1000', games=10**6)",
        "surmise.Game('mastermind').play('hp2', games=10**6)",
    ],
)
def test_ctrl_c_ends_long_calls(call):
    program = f"import surmise\nprint('begun', flush=True)\ntry:\n    {call}\nexcept KeyboardInterrupt:\n    print('stopped')\n"
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "begun\n"
    time.sleep(1.0)
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=20)
    assert out == "stopped\n" and child.returncode == 0


def test_progress_is_told():
    told = []
    surmise.Game("tictactoe").play("random", games=20, progress=lambda what, done: told.append((what, done)))
    assert ("matches", 20) in told
    with pytest.raises(TypeError):
        surmise.Game("tictactoe").play("random", progress=3)


def test_records_are_json():
    match = surmise.Game("tictactoe").play("random")[0]
    assert json.loads(json.dumps(match.record)) == match.record and len(match) == len(match.moves)
