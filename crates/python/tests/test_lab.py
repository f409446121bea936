"""Experiments with players written in Python."""

import json
import subprocess
import sys

import pytest

import surmise

SPEC = """
name = "pennies"
title = "Matching pennies"
[[sweep]]
game = "matching-pennies"
players = ["{first}", "{second}"]
games = 20
over = { first = ["heads", "random"], second = ["heads", "tails"] }
"""


class Always(surmise.Player):
    def __init__(self, move):
        self.move = move

    def choose(self, view, legal):
        assert self.move in legal
        return self.move


def players():
    return {side: Always(f"(show {side})") for side in ("heads", "tails")}


def test_own_players_play_in_the_lab(tmp_path):
    told = []
    report = surmise.lab(
        SPEC, players(), out=tmp_path / "one", progress=lambda what, done: told.append((what, done))
    )
    assert report.complete and len(report.cells) == 4 and ("matches", 80) in told
    same, other = report.score(first="heads", second="heads"), report.score(first="heads", second="tails")
    assert (same["mean"], other["mean"], same["n"]) == (100.0, 0.0, 20)
    assert 0 < report.score(first="random", second="tails")["mean"] < 100
    assert (report.folder / "report.html").is_file() and "Matching pennies" in report._repr_html_()
    with pytest.raises(ValueError, match="2 cells"):
        report.score(first="heads")
    # Threads change nothing, and what is there is not played again.
    threads = surmise.lab(SPEC, players(), out=tmp_path / "two", threads=2)
    results = [(folder / "results.jsonl").read_bytes() for folder in (report.folder, threads.folder)]
    assert results[0] == results[1]
    again = []
    surmise.lab(SPEC, players(), out=tmp_path / "one", progress=lambda what, done: again.append(done))
    assert all(done == 80 for done in again)


def test_the_lab_agrees_with_matches_outside(tmp_path):
    """The payoffs of a deterministic player against itself are those of `Game.play`."""
    spec = SPEC[: SPEC.index("over")].replace("{first}", "heads").replace("{second}", "tails")
    spec = spec.replace("games = 20", "games = 3")
    report = surmise.lab(spec, players(), out=tmp_path / "lab")
    outside = surmise.Game("matching-pennies").play([players()["heads"], players()["tails"]], games=3)
    assert report.score()["mean"] == list(outside.means.values())[0]


def test_mistakes_are_exceptions(tmp_path):
    class Bad(surmise.Player):
        def choose(self, view, legal):
            raise KeyError("no idea")

    out = tmp_path / "out"
    with pytest.raises(KeyError, match="no idea"):
        surmise.lab(SPEC, {"heads": Bad, "tails": Bad}, out=out)
    with pytest.raises(ValueError, match="heads"):
        surmise.lab(SPEC, out=tmp_path / "a")
    with pytest.raises(ValueError, match="nobody"):
        surmise.lab(SPEC, {**players(), "nobody": Bad}, out=tmp_path / "b")
    with pytest.raises(ValueError, match="random"):
        surmise.lab(SPEC, {**players(), "random": Bad}, out=tmp_path / "c")
    with pytest.raises(TypeError, match="surmise.Player"):
        surmise.lab(SPEC, {"heads": object()}, out=tmp_path / "d")
    with pytest.raises(ValueError, match="no file and no preset"):
        surmise.lab("no-such-preset")
    with pytest.raises(ValueError, match="spec:1:"):
        surmise.lab("name = 3\n", out=tmp_path / "e")


def test_a_changed_player_plays_again(tmp_path):
    """The file of a player is part of what decides its results."""
    code = """
import sys, surmise
class Mine(surmise.Player):
    def choose(self, view, legal):
        return "(show heads)"
spec = open(sys.argv[1]).read()
played = []
report = surmise.lab(spec, {"mine": Mine}, out=sys.argv[2], progress=lambda what, done: played.append(done))
print(report.score()["mean"], played[0])
"""
    spec = tmp_path / "spec.toml"
    spec.write_text(
        'name = "one"\ntitle = "One"\n[[sweep]]\ngame = "matching-pennies"\nplayers = ["mine", "mine"]\ngames = 4\n'
    )
    player, out = tmp_path / "player.py", tmp_path / "out"

    def run(text):
        player.write_text(text)
        done = subprocess.run([sys.executable, player, spec, out], check=True, capture_output=True, text=True)
        return [float(number) for number in done.stdout.split()]

    assert run(code) == [100.0, 0.0]
    assert run(code) == [100.0, 4.0]
    mean, before = run(code.replace('"(show heads)"', 'legal[0 if self.role == "matcher" else 1]'))
    assert before == 0.0 and mean in (0.0, 100.0)
    assert json.loads((out / "lab.json").read_text())["contents"]
