"""Many games at once, in arrays that are written in place."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _surmise
from ._game import Game


def vector(
    game: Game | str,
    n: int,
    seed: int = 0,
    *,
    max_rounds: int = 1000,
    final_observation: bool = False,
    observation: str = "round",
    rounds: int | None = None,
) -> VectorEnv:
    """`n` games side by side; see `VectorEnv`."""
    return VectorEnv(
        game,
        n,
        seed,
        max_rounds=max_rounds,
        final_observation=final_observation,
        observation=observation,
        rounds=rounds,
    )


class VectorEnv:
    """`n` games that are stepped together and start again when they are over.

    Seats are `game.players`. All arrays are made once and written in place by `reset` and `step`, which write only what
    has changed: copy what you want to keep or to change. A feature is a row in memory, so that arrays of shape
    `(n, features)` are Fortran-ordered views:

    | attribute | shape, dtype | meaning |
    |---|---|---|
    | `observation[seat]` | `(n, actions + percepts)`, bool | the seat's own last move and percepts; zero in a new game |
    | `action_mask[seat]` | `(n, actions)`, bool | the legal moves |
    | `current[seat]` | `(n,)`, bool | the seat has more than one legal move |
    | `reward[seat]` | `(n,)`, float32 | payoff / 100 of games that are over, else 0 |
    | `terminated`, `truncated` | `(n,)`, bool | the game is over; it was cut after `max_rounds` or had no legal move |
    | `final_observation[seat]` | as `observation` | with the last round of games that are over, if asked for |

    With `observation="view"` an observation is the whole view, without need of memory. It has `slots` slots of
    `actions + percepts` features: round 1 of a game is in the first slot, round 2 in the second, and so on, so that the
    view is complete in games of at most `slots` rounds. In a longer game round `slots + 1` is in the first slot again,
    and the slots hold the last rounds. The first `slots` features say which slot has the last round. `rounds` sets the
    number of slots; by default it is the length of the longest of 4,096 random games.

    Actions are the moves of all seats: `actions[i]` is the text of action i, in every seat. `observations(seat)` names
    the features. Arrays support DLPack as NumPy arrays do (`np.from_dlpack`, `torch.from_dlpack`).
    """

    def __init__(
        self,
        game: Game | str,
        n: int,
        seed: int = 0,
        *,
        max_rounds: int = 1000,
        final_observation: bool = False,
        observation: str = "round",
        rounds: int | None = None,
    ):
        self.game = game if isinstance(game, Game) else Game(game)
        self.n = int(n)
        self.seats: list[str] = self.game.players
        view = _view_rounds(observation, rounds)
        self._native = _surmise.Environments(self.game, self.n, seed, max_rounds, final_observation, view)
        self.actions: list[str] = self._native.actions
        #: Rounds in an observation of the whole view; none if the last round is observed.
        self.slots: int | None = self._native.slots
        self.observation: list[np.ndarray] = []
        self.action_mask: list[np.ndarray] = []
        self.current: list[np.ndarray] = []
        self.reward: list[np.ndarray] = []
        self.final_observation: list[np.ndarray] = []
        for seat in range(len(self.seats)):
            mask, told, current, reward, last = self._native.seat_arrays(seat)
            self.observation.append(told.view(np.bool_).T)
            self.action_mask.append(mask.view(np.bool_).T)
            self.current.append(current.view(np.bool_))
            self.reward.append(reward)
            if last is not None:
                self.final_observation.append(last.view(np.bool_).T)
        terminated, truncated = self._native.ends()
        self.terminated: np.ndarray = terminated.view(np.bool_)
        self.truncated: np.ndarray = truncated.view(np.bool_)
        self._actions = np.empty((len(self.seats), self.n), dtype=np.int32)

    def observations(self, seat: int) -> list[str]:
        """Names of the features of a seat's observation: own moves, then percepts; of a view, slot by slot."""
        own = [f"does {move}" for move in self.actions]
        told = own + [f"sees {percept}" for percept in self._native.percepts(seat)]
        if self.slots is None:
            return told
        slots = range(1, self.slots + 1)
        newest = [f"last round in slot {slot}" for slot in slots]
        return newest + [f"slot {slot} {name}" for slot in slots for name in told]

    def reset(self, seed: int = 0) -> list[np.ndarray]:
        """All games back to the start; returns `observation`."""
        self._native.reset(seed)
        return self.observation

    def step(self, actions: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray], np.ndarray, np.ndarray]:
        """Makes a move in every game: `actions` has the shape `(seats, n)`, -1 where a seat has only one legal move.

        Returns `observation`, `reward`, `terminated` and `truncated`. If one action is not legal, `IllegalMoveError`
        names it and no game has moved.
        """
        plain = isinstance(actions, np.ndarray) and actions.dtype == np.int32 and actions.ndim == 2
        if not plain or not actions.flags.c_contiguous:
            actions = self._converted(actions)
        self._native.step(actions)
        return self.observation, self.reward, self.terminated, self.truncated

    def _converted(self, actions: Any) -> np.ndarray:
        given = np.asarray(actions)
        if given.dtype.kind not in "iu":
            raise TypeError(f"actions are whole numbers, not {given.dtype}")
        if given.shape != self._actions.shape:
            raise ValueError(f"actions have the shape {given.shape}, and should have {self._actions.shape}: seats, games")
        # Numbers that do not fit are no actions; they must not become legal ones by wrapping around.
        return np.clip(given, -2, 2**31 - 1).astype(np.int32)

    def sample(self) -> np.ndarray:
        """Uniformly random legal actions, in an array that the next call overwrites."""
        self._native.sample(self._actions)
        return self._actions

    def privileged(self) -> np.ndarray:
        """The true states, `(n, fluents)`: for critics and referees, never for players."""
        states = np.empty((self._native.n_fluents, self.n), dtype=np.uint8)
        self._native.states(states)
        return states.view(np.bool_).T

    def close(self) -> None:
        """Frees the games; the arrays stay."""
        self._native.close()

    def __len__(self) -> int:
        return self.n

    def __repr__(self) -> str:
        return f"VectorEnv({self.game.name!r}, n={self.n}, seats={self.seats}, actions={len(self.actions)})"


def _view_rounds(observation: str, rounds: int | None) -> int | None:
    """What the native part is told: nothing, a number of rounds, or 0 for as many as are needed."""
    if observation == "round":
        if rounds is not None:
            raise ValueError('rounds are those of observation="view"')
        return None
    if observation != "view":
        raise ValueError(f'observation is "round" or "view", not {observation!r}')
    if rounds is not None and rounds < 1:
        raise ValueError(f"a view has at least one round, not {rounds}")
    return rounds or 0


def legal_or_random(env: VectorEnv, actions: np.ndarray, illegal: str, rng: np.random.Generator) -> np.ndarray:
    """The actions, with random legal ones in the place of those that are not legal if `illegal` is `"random"`."""
    if illegal == "error":
        return actions
    if illegal != "random":
        raise ValueError(f'illegal is "error" or "random", not {illegal!r}')
    actions = np.array(actions)
    for seat, mask in enumerate(env.action_mask):
        for game, action in enumerate(actions[seat]):
            if not (0 <= action < mask.shape[1] and mask[game, action]):
                actions[seat, game] = rng.choice(np.flatnonzero(mask[game]))
    return actions
