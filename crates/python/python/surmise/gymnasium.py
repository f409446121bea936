"""Games of one role as Gymnasium environments: `surmise.gymnasium.env(game)` and `vector_env(game, n)`.

An observation is what the role was told in the last round, or with `observation="view"` the whole view, as in
`surmise.vector`; `info["action_mask"]` has the legal
actions. An action that is not legal is an error; with `illegal="random"` a random legal action takes its place.
"""

from __future__ import annotations

from typing import Any

import numpy as np

try:
    import gymnasium
    from gymnasium import spaces
    from gymnasium.vector import AutoresetMode, VectorEnv as GymnasiumVectorEnv
    from gymnasium.vector.utils import batch_space
except ImportError as error:
    raise ImportError("surmise.gymnasium needs gymnasium 1.1 or later: pip install 'surmise[gymnasium]'") from error

from ._game import Game
from ._vector import VectorEnv, legal_or_random


def _one_seat(game: Game | str) -> Game:
    game = game if isinstance(game, Game) else Game(game)
    if len(game.players) != 1:
        raise ValueError(
            f"{game.name} has the roles {', '.join(game.players)}; Gymnasium is for one. "
            "Use surmise.pettingzoo, or surmise.vector"
        )
    return game


def env(
    game: Game | str,
    *,
    max_rounds: int = 1000,
    illegal: str = "error",
    observation: str = "round",
    rounds: int | None = None,
) -> gymnasium.Env:
    """One game."""
    return _Env(_games(game, 1, max_rounds, observation, rounds), illegal)


def vector_env(
    game: Game | str,
    n: int,
    *,
    max_rounds: int = 1000,
    illegal: str = "error",
    observation: str = "round",
    rounds: int | None = None,
) -> GymnasiumVectorEnv:
    """`n` games that start again in the step in which they end."""
    return _VectorEnv(_games(game, n, max_rounds, observation, rounds), illegal)


def _games(game: Game | str, n: int, max_rounds: int, observation: str, rounds: int | None) -> VectorEnv:
    return VectorEnv(
        _one_seat(game), n, max_rounds=max_rounds, final_observation=True, observation=observation, rounds=rounds
    )


class _Env(gymnasium.Env):
    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(self, games: VectorEnv, illegal: str):
        self._illegal, self._env = illegal, games
        self.observation_space = spaces.MultiBinary(self._env.observation[0].shape[1])
        self.action_space = spaces.Discrete(len(self._env.actions))
        self._actions = np.empty((1, 1), dtype=np.int32)
        self._over = True

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):
        super().reset(seed=seed)
        self._env.reset(int(self.np_random.integers(2**63)))
        self._over = False
        return self._env.observation[0][0].astype(np.int8), self._info()

    def step(self, action: Any):
        if self._over:
            raise gymnasium.error.ResetNeeded("the game is over: call reset")
        self._actions[0, 0] = int(action)
        self._env.step(legal_or_random(self._env, self._actions, self._illegal, self.np_random))
        terminated, truncated = bool(self._env.terminated[0]), bool(self._env.truncated[0])
        self._over = terminated or truncated
        observation = self._env.final_observation[0][0].astype(np.int8)
        return observation, float(self._env.reward[0][0]), terminated, truncated, self._info()

    def _info(self) -> dict[str, Any]:
        mask = np.zeros(len(self._env.actions), dtype=np.int8) if self._over else self._env.action_mask[0][0]
        return {"action_mask": mask.astype(np.int8)}

    def close(self) -> None:
        self._env.close()


class _VectorEnv(GymnasiumVectorEnv):
    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.SAME_STEP}

    def __init__(self, games: VectorEnv, illegal: str):
        self._illegal, self._env = illegal, games
        self.num_envs = n = games.n
        self.single_observation_space = spaces.MultiBinary(self._env.observation[0].shape[1])
        self.single_action_space = spaces.Discrete(len(self._env.actions))
        self.observation_space = batch_space(self.single_observation_space, n)
        self.action_space = batch_space(self.single_action_space, n)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):
        super().reset(seed=seed)
        self._env.reset(int(self.np_random.integers(2**63)))
        return self._env.observation[0].astype(np.int8), self._info()

    def step(self, actions: np.ndarray):
        actions = np.asarray(actions).reshape(1, -1)
        self._env.step(legal_or_random(self._env, actions, self._illegal, self.np_random))
        info = self._info()
        over = self._env.terminated | self._env.truncated
        if over.any():
            info["final_obs"] = self._env.final_observation[0].astype(np.int8)
            info["_final_obs"] = over.copy()
        rewards = self._env.reward[0].astype(np.float64)
        observation = self._env.observation[0].astype(np.int8)
        return observation, rewards, self._env.terminated.copy(), self._env.truncated.copy(), info

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self._env.action_mask[0].astype(np.int8)}

    def close_extras(self, **kwargs: Any) -> None:
        self._env.close()
