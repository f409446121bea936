#!/usr/bin/env python3
"""Solves Meier exactly: what a guaranteed payoff costs against weak opponents. Needs numpy and scipy; takes seconds.

    python3 benchmarks/meier.py

Dice are rolled again after every claim that is believed, so only the last claim and the present roll matter. The game
is solved from the highest claim down, with a small linear program for each claim and side. With a weight on a model of
the opponent (random, or the hand-made bluffer of crates/lab) the programs maximise
(1 - weight) * guaranteed payoff + weight * payoff against the model,
over strategies that depend on the last claim and the roll only. For each weight it prints the guaranteed payoff as
player 1 / player 2, and the payoffs against the three opponents of the tables.
"""
from functools import lru_cache

import numpy as np
from scipy.optimize import linprog

VALUES = [31, 32, 41, 42, 43, 51, 52, 53, 54, 61, 62, 63, 64, 65, 11, 22, 33, 44, 55, 66, 21]
N, TOP, NOTHING = len(VALUES), len(VALUES) - 1, -1
CHANCE = np.array([(1 if v % 11 == 0 else 2) / 36 for v in VALUES])

# A strategy is claim(last, roll, new) and believe(last, new): probabilities.


def honest_claim(last, roll, new):
    least = min(last + 1, TOP)
    return float(new == (roll if roll >= least else least + roll * (N - least) // N))


def bluffing_claim(last, roll, new):
    if roll == TOP:
        return honest_claim(last, roll, new)
    lies, least = (TOP - roll) / TOP, min(max(last, roll) + 1, TOP)
    return lies * (new >= least) / (TOP + 1 - least) + (1 - lies) * honest_claim(last, roll, new)


def timid_answer(last, new):
    return 1 - (new + 1) / N


RANDOM = (lambda last, roll, new: 1 / (TOP - last), lambda last, new: 0.5)
HAND = (honest_claim, timid_answer)
BLUFFER = (bluffing_claim, timid_answer)


def believes(strategy, last, new):
    return strategy[1](last, new) if new < TOP else 0.0


def wins(one, two):
    """The probability that `one` wins as player 1."""

    @lru_cache(None)
    def rolls(last, who):
        mine, other = (one, two) if who == 0 else (two, one)
        total = 0.0
        for new in range(last + 1, N):
            belief = believes(other, last, new)
            later = 1 - rolls(new, 1 - who) if belief > 0 else 0.0
            for roll in range(N):
                p = CHANCE[roll] * mine[0](last, roll, new)
                total += p * ((1 - belief) * (roll == new) + belief * later)
        return total

    return rolls(NOTHING, 0)


def best_answers(strategy):
    """What the best answer to a strategy wins as player 1, and as player 2."""

    @lru_cache(None)
    def answer_rolls(last):
        def worth(roll, new):
            belief = believes(strategy, last, new)
            return (1 - belief) * (roll == new) + (belief * (1 - strategy_rolls(new)) if belief > 0 else 0.0)

        return sum(CHANCE[roll] * max(worth(roll, new) for new in range(last + 1, N)) for roll in range(N))

    @lru_cache(None)
    def strategy_rolls(last):
        total = 0.0
        for new in range(last + 1, N):
            claimed = sum(CHANCE[roll] * strategy[0](last, roll, new) for roll in range(N))
            if claimed > 0:
                called = CHANCE[new] * strategy[0](last, new, new)
                total += min(called, claimed * (1 - answer_rolls(new))) if new < TOP else called
        return total

    return answer_rolls(NOTHING), 1 - strategy_rolls(NOTHING)


def robust(weight, model):
    """A strategy that is as safe as can be with this weight on a model of the opponent."""
    sure, most, we_roll, model_rolls, claims, answers = {}, {}, {}, {}, {}, {}
    for last in range(TOP - 1, NOTHING - 1, -1):
        news = list(range(last + 1, N))
        n = len(news)
        # Our claims: sigma[roll, new], then what each claim is sure to win.
        cost, rows = np.zeros(N * n + n), []
        cost[N * n :] = -(1 - weight)
        for at, new in enumerate(news):
            row = np.zeros(N * n + n)
            row[N * n + at], row[new * n + at] = 1, -CHANCE[new]
            rows.append(row)
            if new < TOP:
                row = np.zeros(N * n + n)
                row[N * n + at] = 1
                row[at : N * n : n] = -CHANCE * (1 - most[new])
                rows.append(row)
            belief = believes(model, last, new)
            for roll in range(N):
                later = belief * model_rolls[new] if belief > 0 else 0.0
                cost[roll * n + at] -= weight * CHANCE[roll] * ((1 - belief) * (roll == new) + later)
        sums = np.zeros((N, N * n + n))
        for roll in range(N):
            sums[roll, roll * n : (roll + 1) * n] = 1
        x = linprog(cost, np.array(rows), np.zeros(len(rows)), sums, np.ones(N)).x
        claims[last], sure[last] = x[: N * n].reshape(N, n), x[N * n :].sum()
        # Our answers: how often each claim is believed, then what the roller gets at best with each roll.
        cost, rows, limits = np.zeros(n + N), [], []
        cost[n:] = (1 - weight) * CHANCE
        for at, new in enumerate(news):
            for roll in range(N):
                row = np.zeros(n + N)
                row[n + roll], row[at] = -1, (1 - sure[new] if new < TOP else 0.0) - (roll == new)
                rows.append(row)
                limits.append(-float(roll == new))
        we_roll[last] = sum(
            CHANCE[roll] * claims[last][roll, at]
            * ((1 - believes(model, last, new)) * (roll == new)
               + (believes(model, last, new) * model_rolls[new] if new < TOP else 0.0))
            for roll in range(N)
            for at, new in enumerate(news)
        )
        claimed = {new: sum(CHANCE[r] * model[0](last, r, new) for r in range(N)) for new in news}
        true = {new: CHANCE[new] * model[0](last, new, new) for new in news}
        for at, new in enumerate(news):
            if new < TOP:
                cost[at] -= weight * (claimed[new] * we_roll[new] - (claimed[new] - true[new]))
        bounds = [(0, 1) if new < TOP else (0, 0) for new in news] + [(None, None)] * N
        x = linprog(cost, np.array(rows), limits, bounds=bounds).x
        answers[last], most[last] = dict(zip(news, x[:n])), (CHANCE * x[n:]).sum()
        model_rolls[last] = sum(
            answers[last][new] * claimed[new] * we_roll.get(new, 0.0)
            + (1 - answers[last][new]) * (claimed[new] - true[new])
            for new in news
        )
    return (lambda last, roll, new: claims[last][roll, new - last - 1]), (lambda last, new: answers[last][new])


def main():
    opponents = {"random": RANDOM, "hand:meier-bluffer": BLUFFER, "hand:meier": HAND}
    print("| model | weight | guaranteed | " + " | ".join(opponents) + " |\n" + "|---" * (3 + len(opponents)) + "|")
    for model in ("random", "hand:meier-bluffer"):
        for weight in (1e-6, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9):
            ours = robust(weight, opponents[model])
            first, second = best_answers(ours)
            cells = [f"{100 * wins(ours, o):.1f} / {100 - 100 * wins(o, ours):.1f}" for o in opponents.values()]
            sure = f"{100 - 100 * second:.1f} / {100 - 100 * first:.1f}"
            print(f"| {model} | {weight:.1f} | {sure} | " + " | ".join(cells) + " |", flush=True)
    best = [best_answers(o) for o in opponents.values()]
    print("| best response | – | – | " + " | ".join(f"{100 * a:.1f} / {100 * b:.1f}" for a, b in best) + " |")


if __name__ == "__main__":
    main()
