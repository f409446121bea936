#!/usr/bin/env python3
"""Which reading of blind tic-tac-toe gives the 2022 paper's rows that have no learned player?

An implementation of its own, without Surmise: both games, every reading of legality, of two lines in one round and of
a full board, random against random and against the hand-made player of crates/lab. Prints x's points (or o's, for the
rows of the random player as o) beside the paper's, and the root mean square difference over the rows.

    python3 benchmarks/readings.py [GAMES]
"""
import itertools
import math
import random
import sys

LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
# The fifth reading: only free cells are legal, but players are not told which those are. A random player draws among
# the legal moves of the true state, and a move of the hand-made player that is not legal is replaced by such a move.
LEGAL = ["untried", "any", "not own", "free", "untold"]
# Tables 2 and 3: random x against random, random o against random, random x and o against the hand-made player.
PAPER = {"blind": (48, 52, 23.5, 21.5), "biased": (80.5, 18, 35, 11)}


def allowed(board, tried, me, legal):
    """Cells that a player may try."""
    if legal == 0:
        return [c for c in range(9) if c not in tried[me]]
    if legal == 1:
        return list(range(9))
    return [c for c in range(9) if board[c] != me] if legal == 2 else [c for c in range(9) if board[c] is None]


def hand(board, tried, me, legal, rng):
    """The hand-made player: the open line with most own marks, then centre, corners, sides. It knows its own tries,
    and all taken cells where it is told them."""
    known = [None] * 9
    for c in range(9):
        if c in tried[me] or legal == 3 and board[c] is not None:
            known[c] = 1 if board[c] == me else 0

    def wish(c):
        open_lines = [l for l in LINES if c in l and all(known[i] != 0 for i in l)]
        marks = max((1 + sum(known[i] == 1 for i in l) for l in open_lines), default=0)
        return marks, 2 if c == 4 else 1 if c in (0, 2, 6, 8) else 0

    cells = [c for c in range(9) if known[c] is None]
    best = max(map(wish, cells), default=None)
    cell = rng.choice([c for c in cells if wish(c) == best] or [0])
    if legal == 4 and board[cell] is not None:
        return rng.choice(allowed(board, tried, me, legal))
    return cell


def play(game, legal, both, full, players, rng):
    """x's points of one game."""
    board, tried = [None] * 9, (set(), set())
    for _ in range(40):
        moves = [
            hand(board, tried, me, legal, rng) if players[me] else rng.choice(allowed(board, tried, me, legal))
            for me in (0, 1)
        ]
        free = [board[m] is None for m in moves]
        order = [0, 1] if game == "biased" or rng.random() < 0.5 else [1, 0]
        for me in order:
            tried[me].add(moves[me])
            if free[me] and board[moves[me]] is None:
                board[moves[me]] = me
        line = [any(all(board[c] == me for c in l) for l in LINES) for me in (0, 1)]
        if all(line):
            return 100 if both else 50
        if line[0] or line[1]:
            return 100 if line[0] else 0
        if None not in board:
            return 100 if full else 50
    return 100 if full else 50


def main():
    games = int(sys.argv[1]) if len(sys.argv) > 1 else 6000
    print(f"{games} games a cell; standard error at most {50 / math.sqrt(games):.2f}")
    print("game    legal    both  full   x-rand  o-rand  x-hand  o-hand   rms difference from the paper")
    for game in PAPER:
        for legal, both, full in itertools.product(range(5), range(2), range(2)):
            rng = random.Random(1)
            mean = lambda players: sum(play(game, legal, both, full, players, rng) for _ in range(games)) / games
            x = mean((0, 0))
            row = (x, 100 - x, mean((0, 1)), 100 - mean((1, 0)))
            rms = math.sqrt(sum((a - b) ** 2 for a, b in zip(row, PAPER[game])) / 4)
            cells = "  ".join(f"{v:6.1f}" for v in row)
            print(f"{game:7} {LEGAL[legal]:8} {'x' if both else 'draw':5} {'x' if full else 'draw':5} {cells}   {rms:5.1f}")
        print(f"{game:7} the paper            {'  '.join(f'{v:6.1f}' for v in PAPER[game])}")


if __name__ == "__main__":
    main()
