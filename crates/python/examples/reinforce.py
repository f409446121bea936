"""REINFORCE with a softmax table, on vector environments, in NumPy alone.

    python reinforce.py [GAME] [STEPS]

A table has a row of logits for every view that a seat has had. Games with few views are learned in seconds; what was
learned is rated exactly. Policy gradients of self-play need not converge to an equilibrium, and here they do not quite:
compare the NashConv that is printed with that of `game.solve()`.
"""

import sys

import numpy as np

import surmise


class Table:
    """Logits by view, for one seat."""

    def __init__(self, n_actions):
        self.rows, self.logits = {}, np.zeros((0, n_actions))

    def row(self, view):
        if view not in self.rows:
            self.rows[view] = len(self.rows)
            self.logits = np.vstack([self.logits, np.zeros((1, self.logits.shape[1]))])
        return self.rows[view]

    def policy(self, rows, mask):
        logits = np.where(mask, self.logits[rows], -np.inf)
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        return weights / weights.sum(axis=1, keepdims=True)


def learn(game, steps, n=256, rate=0.2, seed=0):
    env, rng = surmise.vector(game, n, seed), np.random.default_rng(seed)
    tables = [Table(len(env.actions)) for _ in env.seats]
    names = [env.observations(seat) for seat in range(len(env.seats))]
    views = [[()] * n for _ in env.seats]
    taken = [[[] for _ in range(n)] for _ in env.seats]
    actions = np.zeros((len(env.seats), n), dtype=np.int32)
    mean = np.full(len(env.seats), 0.5)
    for _ in range(steps):
        for seat, table in enumerate(tables):
            rows = np.array([table.row(view) for view in views[seat]])
            policy = table.policy(rows, env.action_mask[seat])
            actions[seat] = (policy.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
            for at in np.flatnonzero(env.current[seat]):
                taken[seat][at].append((rows[at], actions[seat, at], policy[at]))
        env.step(actions)
        over = env.terminated | env.truncated
        for seat, table in enumerate(tables):
            for at in range(n):
                views[seat][at] = () if over[at] else views[seat][at] + (told(names[seat], env.observation[seat][at]),)
            for at in np.flatnonzero(over):
                advantage = env.reward[seat][at] - mean[seat]
                mean[seat] += 0.001 * advantage
                for row, action, policy in taken[seat][at]:
                    table.logits[row] -= rate * advantage * policy
                    table.logits[row, action] += rate * advantage
                taken[seat][at] = []
    return env, tables


def told(names, bits):
    """A round of a view from the bits of an observation: the own move, and the percepts."""
    texts = [names[i] for i in np.flatnonzero(bits)]
    moves = [text[5:] for text in texts if text.startswith("does ")]
    return moves[0], tuple(sorted(text[5:] for text in texts if text.startswith("sees ")))


def main(name="kuhn-poker", steps="600"):
    game = surmise.Game(name)
    env, tables = learn(game, int(steps))

    def policy(role, view, legal):
        table = tables[env.seats.index(role)]
        mask = np.array([[action in legal for action in env.actions]])
        if view not in table.rows:
            return {move: 1 / len(legal) for move in legal}
        chosen = table.policy([table.rows[view]], mask)[0]
        return {move: float(chosen[env.actions.index(move)]) for move in legal}

    rated = game.rate(policy)
    print(f"{name}: NashConv {rated.nash_conv:.2f} points; uniform play has {game.rate('uniform').nash_conv:.2f}")
    return rated.nash_conv


if __name__ == "__main__":
    main(*sys.argv[1:])
