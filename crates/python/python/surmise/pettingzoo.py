"""Games as PettingZoo environments: `surmise.pettingzoo.env(game)` (AEC) and `parallel_env(game)`.

Agents are the roles that are not chance. An observation is a dict: `observation` is what the agent was told in the last
round (own move and percepts), or with `observation="view"` the whole view, as in `surmise.vector`; `action_mask` has
the legal actions. Rewards are payoffs / 100. An
action that is not legal is an error; with `illegal="random"` a random legal action takes its place.

In the AEC form the roles of a round move one after the other; nobody is told anything before all have moved. Agents
with only one legal move are asked too, as in the parallel form.
"""

from __future__ import annotations

from typing import Any

import numpy as np

try:
    from gymnasium import spaces
    from pettingzoo import AECEnv, ParallelEnv
except ImportError as error:
    raise ImportError("surmise.pettingzoo needs pettingzoo: pip install 'surmise[pettingzoo]'") from error

from ._game import Game
from ._vector import VectorEnv, legal_or_random


def env(
    game: Game | str,
    *,
    max_rounds: int = 1000,
    illegal: str = "error",
    observation: str = "round",
    rounds: int | None = None,
) -> AECEnv:
    """The game with one agent acting at a time."""
    return _AEC(_Table(game, max_rounds, illegal, observation, rounds))


def parallel_env(
    game: Game | str,
    *,
    max_rounds: int = 1000,
    illegal: str = "error",
    observation: str = "round",
    rounds: int | None = None,
) -> ParallelEnv:
    """The game with all agents acting at once, as its rules have it."""
    return _Parallel(_Table(game, max_rounds, illegal, observation, rounds))


class _Table:
    """One game with its agents, shared by both forms."""

    def __init__(self, game: Game | str, max_rounds: int, illegal: str, observation: str, rounds: int | None):
        self.illegal = illegal
        self.rng: np.random.Generator | None = None
        self.vector = VectorEnv(
            game, 1, max_rounds=max_rounds, final_observation=True, observation=observation, rounds=rounds
        )
        self.agents = list(self.vector.seats)
        n_actions = len(self.vector.actions)
        self.observation_spaces = {
            agent: spaces.Dict(
                observation=spaces.MultiBinary(self.vector.observation[seat].shape[1]),
                action_mask=spaces.MultiBinary(n_actions),
            )
            for seat, agent in enumerate(self.agents)
        }
        self.action_spaces = {agent: spaces.Discrete(n_actions) for agent in self.agents}
        self.actions = np.zeros((len(self.agents), 1), dtype=np.int32)
        self.over = False

    def reset(self, seed: int | None) -> None:
        """A new game: from this seed, or from the last one that was given."""
        if seed is not None or self.rng is None:
            self.rng = np.random.default_rng(seed)
        self.vector.reset(int(self.rng.integers(2**63)))
        self.over = False

    def metadata(self) -> dict[str, Any]:
        return {"name": f"surmise/{self.vector.game.name}", "render_modes": [], "is_parallelizable": True}

    def observe(self, seat: int) -> dict[str, np.ndarray]:
        last = self.vector.final_observation[seat][0]
        mask = self.vector.action_mask[seat][0]
        return {
            "observation": last.astype(np.int8),
            "action_mask": np.zeros_like(mask, dtype=np.int8) if self.over else mask.astype(np.int8),
        }

    def step(self) -> tuple[bool, bool]:
        self.vector.step(legal_or_random(self.vector, self.actions, self.illegal, self.rng))
        terminated, truncated = bool(self.vector.terminated[0]), bool(self.vector.truncated[0])
        self.over = terminated or truncated
        return terminated, truncated

    def reward(self, seat: int) -> float:
        return float(self.vector.reward[seat][0])


class _Parallel(ParallelEnv):
    def __init__(self, table: _Table):
        self.metadata = table.metadata()
        self.render_mode = None
        self._table = table
        self.possible_agents = list(self._table.agents)
        self.agents: list[str] = []
        self.observation_spaces = self._table.observation_spaces
        self.action_spaces = self._table.action_spaces

    def observation_space(self, agent: str) -> spaces.Space:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None):
        self._table.reset(seed)
        self.agents = list(self.possible_agents)
        return self._observations(), {agent: {} for agent in self.agents}

    def step(self, actions: dict[str, int]):
        if not self.agents:
            return {}, {}, {}, {}, {}
        for seat, agent in enumerate(self.possible_agents):
            self._table.actions[seat, 0] = int(actions[agent])
        terminated, truncated = self._table.step()
        agents = self.agents
        rewards = {agent: self._table.reward(seat) for seat, agent in enumerate(agents)}
        result = (
            self._observations(),
            rewards,
            dict.fromkeys(agents, terminated),
            dict.fromkeys(agents, truncated),
            {agent: {} for agent in agents},
        )
        if terminated or truncated:
            self.agents = []
        return result

    def _observations(self) -> dict[str, dict[str, np.ndarray]]:
        return {agent: self._table.observe(seat) for seat, agent in enumerate(self.possible_agents)}

    def render(self) -> None:
        return None

    def close(self) -> None:
        self._table.vector.close()


class _AEC(AECEnv):
    def __init__(self, table: _Table):
        super().__init__()
        self.metadata = table.metadata()
        self.render_mode = None
        self._table = table
        self.possible_agents = list(self._table.agents)
        self.agents: list[str] = []
        self.observation_spaces = self._table.observation_spaces
        self.action_spaces = self._table.action_spaces

    def observation_space(self, agent: str) -> spaces.Space:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self._table.reset(seed)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._turn = 0
        self.agent_selection = self.agents[0]

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        return self._table.observe(self.possible_agents.index(agent))

    def step(self, action: int | None) -> None:
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self._table.actions[self._turn, 0] = int(action) if action is not None else -1
        self._turn += 1
        if self._turn == len(self.possible_agents):
            self._finish_round()
        self.agent_selection = self.possible_agents[self._turn]
        self._accumulate_rewards()

    def _finish_round(self) -> None:
        self._turn = 0
        terminated, truncated = self._table.step()
        self.rewards = {agent: self._table.reward(seat) for seat, agent in enumerate(self.possible_agents)}
        self.terminations = dict.fromkeys(self.agents, terminated)
        self.truncations = dict.fromkeys(self.agents, truncated)

    def render(self) -> None:
        return None

    def close(self) -> None:
        self._table.vector.close()
