"""{{name}}: a player to change. Surmise starts it for each match:

    surmise match krieg-tictactoe "exec:python3 {{name}}.py" random

It reads one JSON object a line and answers each with one. It needs nothing but Python. docs/players.md describes the
messages. Standard error is yours: what is written there is kept with the records.
"""

import json
import random
import sys

view = []  # the own move and the percepts of every round so far: all that the role was told


def choose(turn, legal):
    """Chooses one of the moves that may be legal. Replace this by your own idea."""
    tried = [move for move, _ in view]
    return min(legal, key=lambda move: (tried.count(move), random.random()))


def main():
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "start":
            # Also there: "rules" (GDL), "roles", "start_clock" and "play_clock" in seconds.
            random.seed(message["seed"])
            print(f"I play {message['role']}", file=sys.stderr)
            answer = {"ready": True}
        elif message["type"] == "play":
            if message["turn"] > 0:
                view.append((message["move"], message["sees"]))
            legal = message.get("legal")  # missing where it cannot be computed
            answer = {"move": choose(message["turn"], legal) if legal else "nil"}
        else:  # "end": the last round is told, and no answer is expected
            break
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
