"""Games, players, matches, beliefs and solutions."""

from __future__ import annotations

import copy
import html
import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Union

import numpy as np

from . import _surmise

#: What a role knows besides the rules: its own move and its percepts, round by round.
View = Sequence[tuple[str, Sequence[str]]]

#: Called with what is being counted and how far the count is. `True` prints a line to standard error.
Progress = Union[bool, Callable[[str, float], None], None]


class Player:
    """A player in Python: implement `choose`, and hand the class or an instance to `Game.play`.

    One object plays one role in one match. `role` is the role's name; `rng` is a `random.Random` seeded by the match,
    so that the same seed gives the same match.
    """

    #: Name in records and tables; the name of the class if it is empty.
    name: str = ""
    role: str
    rng: random.Random

    def choose(self, view: list[tuple[str, tuple[str, ...]]], legal: list[str]) -> str:
        """Chooses a move, given the own moves and percepts of all rounds so far.

        `legal` has the moves that are legal in some state that the role holds possible.
        """
        raise NotImplementedError(f"{type(self).__name__} needs a method choose(self, view, legal)")


class _Entrant:
    """What the native part needs of a Python player: a name, and a function that makes one for a role."""

    def __init__(self, player: Player | type[Player]):
        kind = player if isinstance(player, type) else type(player)
        self.name = player.name or kind.__name__
        self._player = player

    def _seat(self, role: str, seed: int) -> Player:
        player = self._player() if isinstance(self._player, type) else copy.copy(self._player)
        player.role = role
        player.rng = random.Random(seed)
        return player


def _entrant(player: Any) -> Any:
    if isinstance(player, str):
        return player
    if isinstance(player, Player) or (isinstance(player, type) and issubclass(player, Player)):
        return _Entrant(player)
    raise TypeError(f"a player is a text such as 'hp:16,4', or a subclass of surmise.Player, not {player!r}")


class _Printer:
    """Prints how far the work is: on one line of a terminal, elsewhere a line every ten seconds."""

    def __init__(self, total: float | None = None):
        self.total, self.terminal = total, sys.stderr.isatty()
        self.next, self.printed = time.monotonic() + (0.2 if self.terminal else 10.0), False

    def __call__(self, what: str, done: float) -> None:
        if time.monotonic() < self.next:
            return
        self.next = time.monotonic() + (0.2 if self.terminal else 10.0)
        of = f" of {self.total:,.0f}" if self.total else ""
        end = "\r" if self.terminal else "\n"
        print(f"surmise: {done:,.0f}{of} {what}", end=end, file=sys.stderr, flush=True)
        self.printed = True

    def close(self) -> None:
        if self.printed and self.terminal:
            print(file=sys.stderr)


def _progress(progress: Progress, total: float | None = None) -> tuple[Any, Callable[[], None]]:
    if progress is True:
        printer = _Printer(total)
        return printer, printer.close
    if progress in (None, False):
        return None, lambda: None
    if not callable(progress):
        raise TypeError("progress is True, or a function of a text and a number")
    return progress, lambda: None


def _view(view: View) -> list[tuple[str, list[str]]]:
    rounds = []
    for number, told in enumerate(view, 1):
        if isinstance(told, Mapping):
            told = (told["move"], told["sees"])
        if isinstance(told, str) or len(told) != 2 or isinstance(told[1], str):
            raise ValueError(f"round {number} of the view is {told!r}; write (move, [percept, …])")
        rounds.append((told[0], list(told[1])))
    return rounds


class Game(_surmise.Game):
    """A game: of the catalogue (`Game("krieg-tictactoe:size=4")`), of a rules file, or of your own text.

    `roles` are all roles, `players` those that are not chance; `hidden` says whether some role cannot follow the state.
    """

    @classmethod
    def from_rules(cls, text: str, name: str = "rules") -> Game:
        """Opens rules that you bring. `RulesError.diagnostics` lists what is wrong with them."""
        return cls(name, rules=text)

    def __repr__(self) -> str:
        return f"Game({self.name!r})"

    def play(
        self,
        players: Sequence[str | Player | type[Player]] | str,
        games: int = 1,
        seed: int = 1,
        *,
        swap: bool = False,
        threads: int = 1,
        seconds: float | None = None,
        max_rounds: int | None = None,
        record: str | os.PathLike[str] | None = None,
        progress: Progress = None,
    ) -> Matches:
        """Plays matches: one player for each of `self.players`, or one player for all of them.

        Players are texts as on the command line, or subclasses of `Player`. `seconds` limits the time for a move;
        without it the same seed gives the same matches as `surmise match` does.
        """
        if isinstance(players, (str, Player, type)):
            players = [players]
        entrants = [_entrant(player) for player in players]
        tell, close = _progress(progress, games)
        done = None if tell is None else lambda number: tell("matches", number)
        try:
            records = _surmise.play(
                self, entrants, games, seed, swap, threads, seconds, max_rounds, record, done
            )
        finally:
            close()
        return Matches(self, [Match(self, json.loads(text)) for text in records])

    def belief(
        self,
        role: str,
        view: View = (),
        *,
        sampler: str | None = None,
        models: int | None = None,
        seed: int = 0,
    ) -> Belief:
        """What a role can believe, given its own moves and percepts: `[("(choose 1)", []), ("noop", ["(closed 3)"])]`."""
        rounds = _view(view)
        found = _surmise.belief(self, role, rounds, sampler, models, seed)
        return Belief(game=self, role=role, view=rounds, seed=seed, **found)

    def legal(self, role: str, view: View = ()) -> list[str]:
        """The moves of a role that are legal in some state that it holds possible."""
        return _surmise.known_legal(self, role, _view(view))

    def solve(
        self,
        algorithm: str = "auto",
        *,
        iterations: int | None = None,
        seconds: float | None = None,
        until: float | None = None,
        histories: int | None = None,
        seed: int = 1,
        threads: int = 1,
        progress: Progress = None,
    ) -> Solution:
        """Finds strategies for all roles of a game that is small enough to be played out whole."""
        tell, close = _progress(progress)
        try:
            text = _surmise.solve(
                self, algorithm, iterations, seconds, until, histories, seed, threads, None, None, tell
            )
        finally:
            close()
        return Solution(json.loads(text))

    def rate(
        self,
        policy: str | Solution | Policy | Callable[[str, tuple, list[str]], Mapping[str, float]],
        *,
        histories: int | None = None,
        seed: int = 1,
        threads: int = 1,
        progress: Progress = None,
    ) -> Solution:
        """What a policy is worth, exactly: `value`, `best_response` and `nash_conv`.

        `policy` is `"uniform"`, a player or `strategy:FILE` as on the command line, a `Solution` or its `policy`, or a
        function of role, view and legal moves that returns the probability of each move.
        """
        tell, close = _progress(progress)
        what = strategy = None
        if policy == "uniform":
            policy = lambda _role, _view, legal: {move: 1 / len(legal) for move in legal}  # noqa: E731
        if isinstance(policy, str):
            what = policy
        else:
            strategy = json.dumps(self._strategy(policy, histories))
        try:
            text = _surmise.solve(self, "auto", None, None, None, histories, seed, threads, what, strategy, tell)
        finally:
            close()
        return Solution(json.loads(text))

    def _strategy(self, policy: Any, histories: int | None) -> dict[str, Any]:
        if isinstance(policy, Solution):
            return policy.data
        if isinstance(policy, Policy):
            return {"game": self.name, "roles": self.roles, "strategy": policy.entries}
        if not callable(policy):
            raise TypeError("a policy is a text, a Solution, a Policy, or a function of role, view and legal moves")
        # One iteration is enough to list the information sets.
        listed = _surmise.solve(self, "cfr", 1, None, None, histories, 1, 1, None, None, None)
        entries = json.loads(listed)["strategy"]
        for entry in entries:
            view = Policy.key(entry["view"])
            chosen = dict(policy(entry["role"], view, list(entry["policy"])))
            entry["policy"] = _checked(chosen, entry)
        return {"game": self.name, "roles": self.roles, "strategy": entries}

    def train(
        self,
        out: str | os.PathLike[str],
        *,
        minutes: float | None = 10.0,
        games: int | None = None,
        resume: bool = False,
        seed: int | None = None,
        threads: int = 1,
        trials: int = 50,
        progress: Progress = None,
    ) -> str:
        """Learns the game by self-play into a folder; returns the player's name, `cfr:net=…`."""
        tell, close = _progress(progress)
        seconds = None if minutes is None else 60.0 * minutes
        try:
            _surmise.train(self, out, seconds, games, resume, seed, threads, trials, tell)
        finally:
            close()
        return f"cfr:net={os.fspath(out)}"

    def explain(
        self,
        match: Match | Mapping[str, Any],
        *,
        round: int | None = None,
        role: str | None = None,
        player: str | None = None,
        top: int = 3,
        ahead: int = 6,
    ) -> dict[str, Any]:
        """Why a player decides as it does in a round of a match: the moves it weighs and the states it holds likely."""
        record = match.record if isinstance(match, Match) else match
        return _surmise.explain(self, json.dumps(record), round, role, player, top, ahead)

    def to_efg(self, path: str | os.PathLike[str] | None = None, *, histories: int | None = None) -> str:
        """The game in extensive form, as Gambit and OpenSpiel read it; also written to a file if a path is given."""
        text = _surmise.efg(self, histories)
        if path is not None:
            with open(path, "x", encoding="utf-8") as file:
                file.write(text)
        return text

    def to_gambit(self, *, histories: int | None = None) -> Any:
        """The game as a `pygambit.Game`."""
        try:
            import pygambit
        except ImportError as error:
            raise ImportError("to_gambit needs pygambit: pip install 'surmise[gambit]'") from error
        import io

        return pygambit.read_efg(io.StringIO(self.to_efg(histories=histories)))

    def _repr_svg_(self) -> str:
        return self.initial()._repr_svg_()


def _unpickle_game(name: str, rules: str) -> Game:
    return Game(name, rules=rules)


def _checked(chosen: dict[str, float], entry: dict[str, Any]) -> dict[str, float]:
    legal = entry["policy"]
    for move, p in chosen.items():
        if move not in legal:
            raise _surmise.IllegalMoveError(f"the policy of {entry['role']} has the move {move}, which is not legal")
        if not 0.0 <= p <= 1.0 + 1e-9:
            raise ValueError(f"the policy of {entry['role']} gives {move} the probability {p}")
    if abs(sum(chosen.values()) - 1.0) > 1e-6:
        raise ValueError(f"the probabilities of {entry['role']} sum to {sum(chosen.values())}, not to 1")
    return {move: chosen.get(move, 0.0) for move in legal}


@dataclass
class Match:
    """A match that was played. `record` is what `surmise match --record` writes (docs/json.md)."""

    game: Game = field(repr=False)
    record: dict[str, Any] = field(repr=False)

    @property
    def goals(self) -> dict[str, int]:
        """The payoff of every role; empty if the match was not played to its end."""
        return dict(zip(self.record["roles"], self.record["goalValues"] or []))

    @property
    def players(self) -> dict[str, str]:
        """Who played each role."""
        return dict(zip(self.record["roles"], self.record["playerNamesFromHost"]))

    @property
    def moves(self) -> list[dict[str, str]]:
        """The moves of all roles, round by round."""
        return [dict(zip(self.record["roles"], joint)) for joint in self.record["moves"]]

    def view(self, role: str, rounds: int | None = None) -> list[tuple[str, tuple[str, ...]]]:
        """What a role was told in the first rounds, or in all."""
        try:
            at = self.record["roles"].index(role)
        except ValueError:
            raise ValueError(f"there is no role {role}; the roles are {', '.join(self.record['roles'])}") from None
        told = zip(self.record["moves"][:rounds], self.record["percepts"][:rounds])
        return [(moves[at], tuple(percepts[at])) for moves, percepts in told]

    def __len__(self) -> int:
        return len(self.record["moves"])


class Matches(list[Match]):
    """Matches in order, with their payoffs."""

    def __init__(self, game: Game, matches: Iterable[Match]):
        super().__init__(matches)
        self.game = game

    @property
    def goals(self) -> np.ndarray:
        """Payoffs as an array: a row per match, a column per role of `game.roles`; matches that were cut are left out."""
        rows = [list(match.goals.values()) for match in self if match.goals]
        return np.array(rows, dtype=np.int64).reshape(len(rows), len(self.game.roles))

    @property
    def means(self) -> dict[str, float]:
        """The mean payoff of every role."""
        goals = self.goals
        return {role: float(goals[:, at].mean()) for at, role in enumerate(self.game.roles) if len(goals)}

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(role)}</th>" for role in self.game.roles)
        mean = "".join(f"<td>{value:.2f}</td>" for value in self.means.values())
        return f"<table><tr><th></th>{head}</tr><tr><th>mean of {len(self)} matches</th>{mean}</tr></table>"


@dataclass
class Belief:
    """What a role can believe. Rows of `holds` are states, likeliest first; columns are `fluents`."""

    game: Game = field(repr=False)
    role: str
    view: list[tuple[str, list[str]]]
    seed: int = field(repr=False)
    fluents: list[str] = field(repr=False)
    marginals: np.ndarray = field(repr=False)
    weights: np.ndarray = field(repr=False)
    holds: np.ndarray = field(repr=False)
    histories: list[tuple[list[tuple[str, ...]], float]] = field(repr=False)
    exact: bool
    legal: list[str] = field(repr=False)

    @property
    def states(self) -> list[frozenset[str]]:
        """The states held possible, likeliest first."""
        names = np.array(self.fluents, dtype=object)
        return [frozenset(names[row]) for row in self.holds]

    @property
    def entropy(self) -> float:
        """Entropy of the belief over states, in bits."""
        p = self.weights[self.weights > 0]
        return float(-(p * np.log2(p)).sum()) + 0.0

    def probability(self, fluent: str) -> float:
        """The probability that a fluent holds."""
        try:
            return float(self.marginals[self.fluents.index(fluent)])
        except ValueError:
            return 0.0

    def _repr_svg_(self) -> str:
        return _surmise.seat_svg(self.game, self.role, self.view, True, self.seed)


class Policy(Mapping[str, Mapping[tuple, dict[str, float]]]):
    """Probabilities by role and view: `policy["player1"][view]["(bet)"]`.

    A view is a tuple with a pair of own move and percepts for each round.
    """

    def __init__(self, entries: list[dict[str, Any]]):
        self.entries = entries
        self._tables: dict[str, dict[tuple, dict[str, float]]] = {}
        for entry in entries:
            self._tables.setdefault(entry["role"], {})[self.key(entry["view"])] = entry["policy"]

    @staticmethod
    def key(view: Iterable[Any]) -> tuple:
        """A view as a key."""
        rounds = (r if not isinstance(r, Mapping) else (r["move"], r["sees"]) for r in view)
        return tuple((move, tuple(sees)) for move, sees in rounds)

    def __getitem__(self, role: str) -> Mapping[tuple, dict[str, float]]:
        return self._tables[role]

    def __iter__(self):
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)


class Solution:
    """Strategies of all roles and what they are worth. `data` is what `surmise solve --save` writes."""

    def __init__(self, data: dict[str, Any]):
        self.data = data

    @property
    def value(self) -> dict[str, float]:
        """The expected payoff of every role."""
        return self.data["value"]

    @property
    def best_response(self) -> dict[str, float]:
        """What each role can get at best while the others keep to their strategies."""
        return self.data["best_response"]

    @property
    def nash_conv(self) -> float:
        """The sum of what all roles gain by best responses."""
        return self.data["nash_conv"]

    @property
    def policy(self) -> Policy:
        """Probabilities by role and view."""
        return Policy(self.data["strategy"])

    def save(self, path: str | os.PathLike[str]) -> str:
        """Writes a file for the player `strategy:FILE`; returns the player's name."""
        with open(path, "x", encoding="utf-8") as file:
            json.dump(self.data, file)
            file.write("\n")
        return f"strategy:{os.fspath(path)}"

    def __repr__(self) -> str:
        value = ", ".join(f"{role} {value:.4f}" for role, value in self.value.items())
        return f"Solution({self.data['game']}: {value}; NashConv {self.nash_conv:.2e})"

    def _repr_html_(self) -> str:
        rows = []
        for entry in self.data["strategy"]:
            view = "; ".join(f"{r['move']} → {' '.join(r['sees'])}" for r in entry["view"])
            moves = ", ".join(f"{move} {p:.3f}" for move, p in entry["policy"].items())
            rows.append("".join(f"<td>{html.escape(text)}</td>" for text in (entry["role"], view, moves)))
        body = "".join(f"<tr>{row}</tr>" for row in rows[:200])
        more = f"<p>{len(rows) - 200} more information sets</p>" if len(rows) > 200 else ""
        return f"<p>{html.escape(repr(self))}</p><table><tr><th>role</th><th>view</th><th>moves</th></tr>{body}</table>{more}"
