#!/usr/bin/env python3
"""Tables 1 to 3 of Partridge and Thielscher (2022): CFR, untrained and trained, against random and hand-made players.

    python3 benchmarks/learning.py [--minutes 10] [--threads 2] [--seeds 1 2] [--games 100] [--out DIR] [--only GAME …]
    python3 benchmarks/learning.py --only meier --seeds 1        # one training at a time
    python3 benchmarks/learning.py --print                       # the tables so far

Trains each game for each seed, computes the exploitability of the trained tables, then plays every cell. Every result
is written to benchmarks/learning.json at once and not computed again: a run that was interrupted goes on where it
ended, a training with the minutes that it lacks. --again deletes the results of rows with this text in their name. Runs
target/release/surmise, or the program named by SURMISE.

The presets 2022-table-1 to 2022-table-3 of the lab play the same tables with a network that is already there
(`surmise lab run 2022-table-1 --set net=DIR`); this script is for the trainings.
"""
import argparse, json, os, pathlib, platform, subprocess, sys, time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SURMISE = os.environ.get("SURMISE", str(ROOT / "target" / "release" / "surmise"))
KEPT = ROOT / "benchmarks" / "learning.json"

# Hand-made opponents; the paper's figures by column (first seat, second seat); shares of beginners to train with
# besides the default; probability below which histories are left out when exploitability is computed.
GAMES = {
    "meier": {
        "hand": ["hand:meier-bluffer", "hand:meier"],
        "seats": ["player1", "player2"],
        "paper": {"trained": [(97, 80), (81, 41)], "untrained": [(83, 80), (64, 40)], "random": [(33, 72), (21, 35)]},
        "beginners": [0.7],
        "walk": 1e-6,
    },
    "blind-tictactoe": {
        "hand": ["hand:blind-tictactoe"],
        "seats": ["xplayer", "oplayer"],
        "paper": {
            "trained": [(79.5, 79.5), (48, 55)],
            "untrained": [(54, 60), (25, 20)],
            "random": [(48, 52), (23.5, 21.5)],
        },
        "beginners": [],
        "walk": 1e-3,
    },
    "biased-blind-tictactoe": {
        "hand": ["hand:blind-tictactoe"],
        "seats": ["xplayer", "oplayer"],
        "paper": {
            "trained (mean of two seeds)": [(90.5, 49), (80, 44.5)],
            "untrained": [(84, 36), (40.5, 14.5)],
            "random": [(80.5, 18), (35, 11)],
        },
        "beginners": [0.85],
        "walk": 1e-4,
    },
}


def run(*args):
    command = [SURMISE, *map(str, args)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=os.environ.get("TMPDIR", "/tmp"))
    if done.returncode != 0:
        sys.exit(f"surmise {' '.join(map(str, args))}: {done.stderr}")
    return done.stdout


def machine():
    known = os.path.exists("/proc/cpuinfo")
    cpus = [line for line in open("/proc/cpuinfo") if line.startswith("model name")] if known else []
    return f"{cpus[0].split(':')[1].strip()}, {len(cpus)} cores" if cpus else platform.machine()


class Kept:
    """The results so far; the file is replaced as a whole after every change."""

    def __init__(self):
        known = json.loads(KEPT.read_text()) if KEPT.exists() else {}
        self.all = known if "cells" in known else {"cells": {}, "trainings": {}}

    def save(self):
        self.all["machine"] = machine()
        beside = KEPT.with_suffix(".tmp")
        beside.write_text(json.dumps(self.all, indent=1) + "\n")
        beside.replace(KEPT)

    def cells(self, game, row):
        return self.all["cells"].setdefault(game, {}).setdefault(row, {})

    def trainings(self, game):
        return self.all["trainings"].setdefault(game, {})


def name_of(seed, beginners):
    return f"trained, seed {seed}" if beginners is None else f"trained, seed {seed}, {beginners} beginners"


def folder_of(args, game, seed, beginners):
    extra = "" if beginners is None else f"-{beginners}"
    return pathlib.Path(args.out) / f"{game}-{seed}{extra}"


def train(kept, args, game, seed, beginners):
    """Trains for the minutes that are missing."""
    folder, name = folder_of(args, game, seed, beginners), name_of(seed, beginners)
    notes = folder / "run.json"
    done = json.loads(notes.read_text())["seconds"] / 60 if notes.exists() else 0.0
    missing = args.minutes - done
    if missing > 0.02 * args.minutes:
        command = ["train", game, "--minutes", missing, "--threads", args.threads, "--every", 200, "--trials", 10]
        command += ["--out", folder]
        command += ["--resume"] if notes.exists() else ["--seed", seed]
        command += [] if beginners is None or notes.exists() else ["--beginners", beginners]
        print(f"{time.strftime('%H:%M')} {game}: {name}, {missing:.1f} minutes", file=sys.stderr, flush=True)
        run(*command, "--json")
        kept.trainings(game).pop(name, None)
    about = json.loads(notes.read_text())
    known = kept.trainings(game).get(name, {})
    if known.get("games") != about["games"]:
        last = about["reports"][-1]
        known = {key: about[key] for key in ("games", "seconds", "threads", "settings")}
        known.update(views=last["views"], load=os.getloadavg()[0], date=time.strftime("%Y-%m-%d"))
        kept.trainings(game)[name] = known
        for row in [r for r in kept.all["cells"].get(game, {}) if r.startswith(name)]:
            del kept.all["cells"][game][row]
        kept.save()
    return folder


def rate(kept, args, game, seed, beginners):
    """The exploitability of a trained table: the points of a best response."""
    name = name_of(seed, beginners)
    known = kept.trainings(game)[name]
    if "rating" in known or args.no_rating:
        return
    print(f"{time.strftime('%H:%M')} {game}: rating {name}", file=sys.stderr, flush=True)
    # trust=1: the table alone. With more trust the player searches where it knows little, which cannot be rated.
    player = f"cfr:net={folder_of(args, game, seed, beginners)},trust=1"
    result = json.loads(run("solve", game, "--rate", player, "--walk", GAMES[game]["walk"], "--json"))
    keys = ("best_response_low", "best_response_high", "ignored_below", "states", "seconds")
    known["rating"] = {k: result[k] for k in keys}
    kept.save()


def score(game, first, second, games, threads, seat, seconds):
    """Mean, and the ends of its 95 % interval as `surmise match` computes it."""
    clock = [] if seconds is None else ["--time-per-move", seconds]
    result = json.loads(run("match", game, first, second, "--games", games, "--json", "--threads", threads, *clock))
    player = result["players"][seat]
    return [player["mean"], *player["ci95"]]


def rows(args, game):
    """Names, players, games of a cell, and the seconds for a move if there is a clock."""
    # Tables need no search: ten times as many games cost little, and the interval is a third as wide.
    many = 10 * args.games
    yield "random", "random", many, None
    yield "cfr", "cfr", args.games, None
    yield "cfr, own view only", "cfr:common=0", args.games, None
    for seed in args.seeds:
        for beginners in [None, *GAMES[game]["beginners"]]:
            folder = folder_of(args, game, seed, beginners)
            if (folder / "run.json").exists():
                yield name_of(seed, beginners), f"cfr:net={folder}", many, None
    for seconds in args.seconds:
        yield f"cfr, {seconds:g} s a move", "cfr", args.timed_games, seconds
        folder = folder_of(args, game, args.seeds[0], None)
        if (folder / "run.json").exists():
            name = f"{name_of(args.seeds[0], None)}, network and search, {seconds:g} s a move"
            yield name, f"cfr:net={folder},table=off", args.timed_games, seconds


def columns(args, game):
    yield "random", "random"
    for hand in GAMES[game]["hand"]:
        yield hand, hand
    for seed in args.seeds:
        folder = folder_of(args, game, seed, None)
        if (folder / "run.json").exists():
            yield name_of(seed, None), f"cfr:net={folder}"


def play(kept, args, game):
    for row, player, games, seconds in rows(args, game):
        cells = kept.cells(game, row)
        for column, opponent in columns(args, game):
            if column in cells or column.startswith("trained") and (seconds or not row.startswith("trained")):
                continue
            cells[column] = {
                "first": score(game, player, opponent, games, args.threads, 0, seconds),
                "second": score(game, opponent, player, games, args.threads, 1, seconds),
                "games": games,
            }
            kept.save()


def show(kept, game):
    about = GAMES[game]
    table = kept.all["cells"].get(game, {})
    names = ["random", *about["hand"]]
    names += sorted({c for cells in table.values() for c in cells if c.startswith("trained")})
    print(f"\n**{game}** ({' / '.join(about['seats'])})\n")
    print("| | " + " | ".join(names) + " |\n" + "|---" * (len(names) + 1) + "|")
    for row, cells in table.items():
        shown = [f"{cells[c]['first'][0]:.1f} / {cells[c]['second'][0]:.1f}" if c in cells else "" for c in names]
        print(f"| {row} | " + " | ".join(shown) + " |")
    for name, figures in about["paper"].items():
        shown = [f"{a} / {b}" for a, b in figures] + [""] * (len(names) - len(figures))
        print(f"| *paper: {name}* | " + " | ".join(shown) + " |")
    for name, known in kept.trainings(game).items():
        print(f"\n{name}: {known['games']} games in {known['seconds']:.0f} s on {known['threads']} threads, "
              f"{known['views']} views. Best responses: {best_responses(known.get('rating'))}")


def best_responses(rating):
    if not rating:
        return "not computed"
    low, high = rating["best_response_low"], rating["best_response_high"]
    return ", ".join(f"{role} {low[role]:.1f} to {high[role]:.1f}" for role in low)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--games", type=int, default=100, help="games of a cell; ten times as many for tables")
    parser.add_argument("--seconds", type=float, nargs="*", default=[],
                        help="also play searches with so many seconds a move (the paper: 1 to 15)")
    parser.add_argument("--timed-games", type=int, default=100, help="games of each cell of those")
    parser.add_argument("--out", default="/tmp/surmise-learning")
    parser.add_argument("--only", nargs="+", choices=list(GAMES), default=list(GAMES))
    parser.add_argument("--shares", choices=["all", "none", "only"], default="all",
                        help="train also, not, or only with more beginners")
    parser.add_argument("--no-training", action="store_true", help="use the networks that are there")
    parser.add_argument("--no-rating", action="store_true", help="do not compute exploitability, which takes minutes")
    parser.add_argument("--no-play", action="store_true", help="play no games")
    parser.add_argument("--again", default=None, metavar="ROW", help="play rows with this in their name again")
    parser.add_argument("--print", action="store_true", help="only print the tables so far")
    args = parser.parse_args()
    kept = Kept()
    for game in args.only:
        if args.again is not None:
            for row in [r for r in kept.all["cells"].get(game, {}) if args.again in r]:
                del kept.all["cells"][game][row]
        for seed in [] if args.print else args.seeds:
            more = GAMES[game]["beginners"]
            for beginners in {"all": [None, *more], "none": [None], "only": more}[args.shares]:
                if not args.no_training:
                    train(kept, args, game, seed, beginners)
                if name_of(seed, beginners) in kept.trainings(game):
                    rate(kept, args, game, seed, beginners)
        if not args.print and not args.no_play:
            play(kept, args, game)
        show(kept, game)


if __name__ == "__main__":
    main()
