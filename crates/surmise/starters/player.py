"""{{name}}: a player to change. Run it with `python {{name}}.py`.

It needs the Python package of Surmise: `make wheel` in the sources builds it, `pip install` installs the result.
"""

import surmise


class {{class}}(surmise.Player):
    """Plays the move that it has played least often."""

    name = "{{name}}"

    # Shared by all matches: by role and move, how often the move was played.
    tried: dict[tuple[str, str], int] = {}

    def choose(self, view, legal):
        """Chooses one of `legal`.

        `view` has the own move and the percepts of every round so far, and nothing else: [(move, (percept, …)), …].
        `self.role` is the role's name, `self.rng` a random.Random that the match has seeded.
        """
        if len(legal) == 1:
            return legal[0]
        # Replace this by your own idea.
        self.rng.shuffle(legal)
        choice = min(legal, key=lambda move: self.tried.get((self.role, move), 0))
        self.tried[self.role, choice] = self.tried.get((self.role, choice), 0) + 1
        return choice


def main():
    game = surmise.Game("krieg-tictactoe:size=3,line=3")  # or surmise.Game("my-game.kif")
    print(game.play([{{class}}, "random"], games=100).means)


if __name__ == "__main__":
    main()
