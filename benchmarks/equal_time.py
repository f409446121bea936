#!/usr/bin/env python3
"""An experiment of the lab in which players think equally long, without a clock.

    python3 benchmarks/equal_time.py [--ms 100] [--rivals ismcts,hp2] [--short 100] [--long 40] --out SPEC.toml
    surmise lab run SPEC.toml --out results

On a machine with other work a clock measures the other work. Here every player gets a budget in iterations instead:
`kluss` as many nodes as take `--ms` of processor time a move in each game, and each rival as much as takes the same
time in matches against it, found by a few pairs of games (the share of the two players' times counts, which other work
does not change much). The matches of the experiment then have the same bytes on any machine.

The share that was reached is written beside each budget. Runs target/release/surmise, or the program named by SURMISE.
"""

import argparse
import json
import os
import re
import resource
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SURMISE = os.environ.get("SURMISE", str(ROOT / "target" / "release" / "surmise"))

# Title, rules, whether matches are long.
GAMES = [
    ("Phantom Tic-Tac-Toe", "phantom-tictactoe", False),
    ("Dark Hex 4x4", "dark-hex:width=4,height=4", False),
    ("Liar's Dice, two dice", "liars-dice:dice=2", False),
    ("Battleships in Fog", "battleships-in-fog", False),
    ("Krieg-TicTacToe 5x5", "krieg-tictactoe", True),
    ("Blind Breakthrough 6x6", "blind-breakthrough:width=6,height=6", True),
    ("Fog Minichess", "fog-minichess", True),
]
# A player with a budget, the budget tried first, and the largest. The budget of `hp2` is split, see `named`.
PLAYERS = {
    "kluss": ("kluss:nodes={}", 2000, 10**7),
    "ismcts": ("ismcts:{}", 20000, 10**8),
    "hp": ("hp:64,{}", 64, 10**6),
    "hp2": ("hp2:{},{},8,4", 32, 10**6),
    "cfr": ("cfr:80,nodes={}", 5000, 10**7),
    "epimc": ("epimc:1,samples={},nodes=10000000", 40, 10**5),
}


def named(player, budget):
    """The player with a budget; for `hp2` models times simulations, of which it takes up to 16 models."""
    if player == "hp2":
        models = min(budget, 16)
        return PLAYERS[player][0].format(models, budget // models)
    return PLAYERS[player][0].format(budget)


def match(game, first, second, seed, *options):
    """What two matches in both seats print, and the seconds of processor time that they take."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    command = [SURMISE, "match", game, first, second, "--games", "2", "--swap", "--seed", str(seed), "--threads", "1"]
    done = subprocess.run([*command, "--quiet", *options], capture_output=True, text=True, check=True)
    return done.stdout, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def times(game, first, second, seed):
    """Milliseconds a move of each of two players, over both seats."""
    text, _ = match(game, first, second, seed)
    # all, player, mean, interval, states, touches, milliseconds a move, illegal moves.
    rows = re.findall(r"^ +all +(\S+) .*? ([\d.]+) +\d+$", text, re.MULTILINE)
    found = {player: float(ms) for player, ms in rows}
    return found[first], found[second]


def scaled(budget, factor, most):
    """A budget that takes `factor` times as long, at most eight times as much or little."""
    return max(1, min(most, round(budget * min(8.0, max(0.125, factor)))))


def reference(game, ms):
    """Nodes with which `kluss` takes so many milliseconds of processor time a move, against itself."""
    _, budget, most = PLAYERS["kluss"]
    for turn in range(3):
        player = named("kluss", budget)
        text, seconds = match(game, player, player, 1000 + turn, "--json")
        moves = sum(row["moves"] for row in json.loads(text)["players"])
        budget = scaled(budget, ms / (1000 * seconds / moves), most)
    return budget


def equal(game, kluss, rival):
    """The rival's budget that takes as long as `kluss`, and its share of the time then reached."""
    _, budget, most = PLAYERS[rival]
    tried = {}
    for _ in range(8):
        mine, theirs = times(game, kluss, named(rival, budget), 2000)
        tried[budget] = theirs / mine
        if 0.87 < tried[budget] < 1.15:
            break
        budget = scaled(budget, mine / theirs, most)
        if budget in tried:
            break
    best = min(tried, key=lambda b: abs(tried[b] - 1.0))
    return best, tried[best]


HEAD = """# `kluss` and its rivals with budgets that take equally long, {ms} ms of processor time a move.
# Written by benchmarks/equal_time.py; `time` is the rival's time for a move over that of `kluss` in the pilot.
name = "kluss-equal-time"
title = "Search without common knowledge, at equal time"
about = "`kluss` against others with budgets in iterations that take the same time, {ms} ms of processor time a move."
"""
CELL = """
[[sweep]]
game = "{rules}"
players = ["{kluss}", "{rival}"]
swap = true
games = {games}
[sweep.over]
cell = [{{ game = "{title}", rival = "{name}", time = {time:.2f} }}]
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ms", type=float, default=100.0, help="milliseconds of processor time a move")
    parser.add_argument("--rivals", default="ismcts,hp2,cfr,epimc")
    parser.add_argument("--games", default="", help="only games whose title has this")
    parser.add_argument("--short", type=int, default=100, help="matches of a short game")
    parser.add_argument("--long", type=int, default=40, help="matches of a long game")
    parser.add_argument("--out", type=Path, required=True, help="the experiment, a file for `surmise lab run`")
    options = parser.parse_args()
    parts = [HEAD.format(ms=f"{options.ms:g}")]
    for title, rules, is_long in (game for game in GAMES if options.games in game[0]):
        kluss = named("kluss", reference(rules, options.ms))
        for rival in options.rivals.split(","):
            budget, time = equal(rules, kluss, rival)
            print(f"{title}: {kluss}, {named(rival, budget)} ({time:.2f} times its time)", file=sys.stderr, flush=True)
            games = options.long if is_long else options.short
            cell = dict(rules=rules, kluss=kluss, rival=named(rival, budget), games=games, title=title)
            parts.append(CELL.format(**cell, name=rival, time=time))
    parts.append('\n[[claim]]\nsays = "kluss is ahead"\nabove = 50.0\n')
    options.out.write_text("".join(parts))


if __name__ == "__main__":
    main()
