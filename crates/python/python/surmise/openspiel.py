"""Games as OpenSpiel games: `surmise.openspiel.load(game)` registers a `pyspiel.Game` and returns it.

A round of the rules becomes the decisions of the roles that have a choice, in the order of the roles, followed by a
chance node if nature has a choice. Nobody is told anything before the round is complete. With `simultaneous=True` roles
that have a choice in the same round decide in one simultaneous node. Roles with one legal move are not asked.

An information state is a function of the role's view (its own moves and percepts) and of nothing else. Returns are the
points of the rules, 0 to 100.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

try:
    import pyspiel
except ImportError as error:
    raise ImportError("surmise.openspiel needs open_spiel: pip install 'surmise[openspiel]'") from error

from ._game import Game
from ._vector import VectorEnv

#: Rounds that an information state tensor holds at most; games that last longer have no such tensor.
_TENSOR_ROUNDS = 64
#: Entries of an information state tensor at most.
_TENSOR_SIZE = 100_000


def load(game: Game | str, *, simultaneous: bool = False, max_rounds: int = 200) -> pyspiel.Game:
    """The game for OpenSpiel's algorithms. Games with more than `max_rounds` rounds are refused when they get there."""
    game = game if isinstance(game, Game) else Game(game)
    key = hashlib.sha256(game.rules.encode()).hexdigest()[:12]
    name = "".join(c if c.isalnum() else "_" for c in game.name)
    short_name = f"surmise_{name}_{key}_{'sim' if simultaneous else 'seq'}_{max_rounds}"
    if short_name not in pyspiel.registered_names():
        _register(game, short_name, simultaneous, max_rounds)
    return pyspiel.load_game(short_name)


def _register(game: Game, short_name: str, simultaneous: bool, max_rounds: int) -> None:
    facts = _Facts(game, max_rounds)
    nature = "random" in game.roles
    kind = pyspiel.GameType(
        short_name=short_name,
        long_name=f"{game.name} (rules by Surmise)",
        dynamics=pyspiel.GameType.Dynamics.SIMULTANEOUS if simultaneous else pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=(
            pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC if nature else pyspiel.GameType.ChanceMode.DETERMINISTIC
        ),
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=(
            pyspiel.GameType.Utility.GENERAL_SUM if facts.total is None else pyspiel.GameType.Utility.CONSTANT_SUM
        ),
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=len(game.players),
        min_num_players=len(game.players),
        provides_information_state_string=True,
        provides_information_state_tensor=facts.perfect_tensor,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification={},
    )
    sums = {} if facts.total is None else {"utility_sum": float(facts.total)}
    info = pyspiel.GameInfo(
        num_distinct_actions=len(facts.actions),
        max_chance_outcomes=len(facts.outcomes),
        num_players=len(game.players),
        min_utility=0.0,
        max_utility=100.0,
        max_game_length=max_rounds * len(game.players),
        **sums,
    )

    class SurmiseGame(_OpenSpielGame):
        def __init__(self, params: Any = None):
            super().__init__(kind, info, params or {})
            self.facts, self.simultaneous = facts, simultaneous

    pyspiel.register_game(kind, SurmiseGame)


class _Facts:
    """What all states of a game share."""

    def __init__(self, game: Game, max_rounds: int):
        self.game, self.max_rounds = game, max_rounds
        self.players = game.players
        self.moves = {role: game.moves(role) for role in game.roles}
        self.actions = sorted({move for role in self.players for move in self.moves[role]})
        self.number = {move: at for at, move in enumerate(self.actions)}
        self.outcomes = self.moves.get("random", [])
        self.outcome_number = {move: at for at, move in enumerate(self.outcomes)}
        self.percept_number = [
            {percept: at for at, percept in enumerate(game.percepts(role))} for role in self.players
        ]
        self.total = _constant_sum(game)
        self.width = len(self.actions) + max((len(p) for p in self.percept_number), default=0)
        self.tensor_rounds = min(max_rounds, _TENSOR_ROUNDS)
        self.perfect_tensor = self.tensor_rounds * self.width <= _TENSOR_SIZE

    def __deepcopy__(self, memo: Any) -> _Facts:
        return self

    def encode(self, player: int, told: tuple[str, tuple[str, ...]], out: np.ndarray) -> None:
        """One round as bits: own move, then percepts."""
        move, percepts = told
        out[self.number[move]] = 1.0
        for percept in percepts:
            out[len(self.actions) + self.percept_number[player][percept]] = 1.0


def _constant_sum(game: Game) -> int | None:
    """The sum of payoffs if all games of 256 random players in 400 rounds have the same: observed, not proved."""
    if len(game.players) < 2:
        return None
    env, sums = VectorEnv(game, 256, seed=11), set()
    for _ in range(400):
        env.step(env.sample())
        points = 100 * sum(env.reward)
        sums.update(np.rint(points[env.terminated]).astype(int).tolist())
        if len(sums) > 1:
            break
    return sums.pop() if len(sums) == 1 else None


class _OpenSpielGame(pyspiel.Game):
    facts: _Facts
    simultaneous: bool

    def new_initial_state(self) -> pyspiel.State:
        return _OpenSpielState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> _Observer:
        perfect = iig_obs_type is not None and iig_obs_type.perfect_recall
        return _Observer(self.facts, perfect)


class _Position:
    """A place in a round: the state, what was told, and the moves that are made already. It never changes."""

    def __init__(self, facts: _Facts, state: Any, told: tuple, joint: dict[str, str] | None = None):
        self.facts, self.state, self.told = facts, state, told
        self.over = state.terminal
        self.legal = {} if self.over else {role: state.legal(role) for role in facts.moves}
        forced = {role: moves[0] for role, moves in self.legal.items() if len(moves) == 1}
        self.joint = forced if joint is None else joint

    def __deepcopy__(self, memo: Any) -> _Position:
        return self

    @property
    def waiting(self) -> list[str]:
        """The players that have a choice and have not made it."""
        return [] if self.over else [role for role in self.facts.players if role not in self.joint]

    def after(self, moves: dict[str, str]) -> _Position:
        """The position after some roles' moves; rounds in which nobody has a choice are played on."""
        at = _Position.__new__(_Position)
        at.__dict__ = dict(self.__dict__, joint={**self.joint, **moves})
        while not at.over and len(at.joint) == len(at.facts.moves):
            at = at._next_round()
        return at

    def _next_round(self) -> _Position:
        if len(self.told[0]) >= self.facts.max_rounds:
            raise pyspiel.SpielError(
                f"the game lasts longer than {self.facts.max_rounds} rounds; load it with a larger max_rounds"
            )
        percepts = self.state.percepts(self.joint)
        told = tuple(
            rounds + ((self.joint[role], tuple(percepts[role])),)
            for role, rounds in zip(self.facts.players, self.told)
        )
        return _Position(self.facts, self.state.next(self.joint), told)


class _OpenSpielState(pyspiel.State):
    def __init__(self, game: _OpenSpielGame):
        super().__init__(game)
        self._facts, self._simultaneous = game.facts, game.simultaneous
        begin = _Position(game.facts, game.facts.game.initial(), tuple(() for _ in game.facts.players))
        self._at = begin.after({})

    # What OpenSpiel calls.

    def current_player(self) -> int:
        waiting = self._at.waiting
        if self._at.over:
            return pyspiel.PlayerId.TERMINAL
        if not waiting:
            return pyspiel.PlayerId.CHANCE
        if self._simultaneous and len(waiting) > 1:
            return pyspiel.PlayerId.SIMULTANEOUS
        return self._facts.players.index(waiting[0])

    def _legal_actions(self, player: int) -> list[int]:
        role = self._facts.players[player]
        if role not in self._at.waiting:
            return []
        return sorted(self._facts.number[move] for move in self._at.legal[role])

    def chance_outcomes(self) -> list[tuple[int, float]]:
        moves = self._at.legal["random"]
        return [(self._facts.outcome_number[move], 1.0 / len(moves)) for move in moves]

    def _apply_action(self, action: int) -> None:
        waiting = self._at.waiting
        if waiting:
            self._at = self._at.after({waiting[0]: self._facts.actions[action]})
        else:
            self._at = self._at.after({"random": self._facts.outcomes[action]})

    def _apply_actions(self, actions: list[int]) -> None:
        players = self._facts.players
        moves = {role: self._facts.actions[actions[players.index(role)]] for role in self._at.waiting}
        self._at = self._at.after(moves)

    def _action_to_string(self, player: int, action: int) -> str:
        names = self._facts.outcomes if player == pyspiel.PlayerId.CHANCE else self._facts.actions
        return names[action]

    def is_terminal(self) -> bool:
        return self._at.over

    def returns(self) -> list[float]:
        if not self._at.over:
            return [0.0] * len(self._facts.players)
        goals = self._at.state.goals()
        return [float(goals[role]) for role in self._facts.players]

    def view(self, player: int) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """What a player was told, round by round."""
        return self._at.told[player]

    def view_text(self, player: int) -> str:
        """The view of a player as text; with its own move of this round, if it has decided already."""
        rounds = [f"{move}>{' '.join(percepts)}" for move, percepts in self._at.told[player]]
        role, at = self._facts.players[player], self._at
        decided = at.joint.get(role) if not at.over and len(at.legal[role]) > 1 else None
        if decided is not None:
            rounds.append(f"{decided}?")
        return f"{role}|{'|'.join(rounds)}"

    def __str__(self) -> str:
        pending = "" if self._at.over else " ".join(f"{role}:{move}" for role, move in sorted(self._at.joint.items()))
        return f"{' '.join(self._at.state.fluents)} [{pending}]"


class _Observer:
    """Information states (perfect recall) or observations (the last round) of a player."""

    def __init__(self, facts: _Facts, perfect: bool):
        self._facts, self._perfect = facts, perfect
        rounds = facts.tensor_rounds if perfect else 1
        shape = (rounds, facts.width) if not perfect or facts.perfect_tensor else (0, facts.width)
        self._rounds = np.zeros(shape, dtype=np.float32)
        self.tensor = self._rounds.reshape(-1)
        self.dict = {"told": self._rounds}

    def set_from(self, state: _OpenSpielState, player: int) -> None:
        self._rounds.fill(0.0)
        told = state.view(player)
        if not self._perfect:
            told = told[-1:]
        if len(told) > len(self._rounds) and len(self._rounds):
            raise pyspiel.SpielError(f"the tensor has room for {len(self._rounds)} rounds, and there were {len(told)}")
        for at, round_told in enumerate(told[: len(self._rounds)]):
            self._facts.encode(player, round_told, self._rounds[at])

    def string_from(self, state: _OpenSpielState, player: int) -> str:
        if self._perfect:
            return state.view_text(player)
        told = state.view(player)
        return " ".join(told[-1][1]) if told else ""
