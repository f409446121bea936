"""Games with hidden information from their rules.

>>> import surmise
>>> game = surmise.Game("monty-hall")
>>> game.players
['candidate']
>>> belief = game.belief("candidate", [("(choose 1)", []), ("noop", ["(closed 3)"])])
>>> round(belief.probability("(car 3)"), 4)
0.6667

Read next: `Game`, `Player`, `vector`; the modules `surmise.pettingzoo`, `surmise.gymnasium` and `surmise.openspiel`
give games the shapes of those libraries.
"""

from __future__ import annotations

from ._game import Belief, Game, Match, Matches, Player, Policy, Solution, _unpickle_game
from ._lab import LabReport, lab
from ._surmise import IllegalMoveError, RulesError, State, SurmiseError, __version__, check, games
from ._vector import VectorEnv, vector

__all__ = [
    "Belief",
    "Game",
    "IllegalMoveError",
    "LabReport",
    "Match",
    "Matches",
    "Player",
    "Policy",
    "RulesError",
    "Solution",
    "State",
    "SurmiseError",
    "VectorEnv",
    "__version__",
    "check",
    "games",
    "lab",
    "vector",
]
