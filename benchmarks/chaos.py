#!/usr/bin/env python3
"""Plays matches over loopback whose managers and players are killed at random moments (kill -9).

    benchmarks/chaos.py [--matches 1000] [--lanes 2] [--seed 1] [--surmise target/release/surmise]

Each lane has two players, A and B, with room for one match each, and plays its matches one after the other: `surmise
manage` with A and B in the seats. Of four matches, one is left alone, in one the manager is killed, in one B is killed
(and started again later), and in one both, at moments between the start and twice the usual length of a match; who
would die after the end lives. The next match begins at once. Required:

- every match whose manager lives is played to its end, and A makes all of its moves: no match is lost that could have
  been played, whatever happened in the match before;
- A answers within its clock; a dead B blocks its seat for no longer than the clock, the grace and the time to connect;
- what a killed manager leaves on disk replays;
- A is the same process all the time; its memory, threads and files at the end are those after the warm-up of 60
  matches.

The exit status is 1 if a requirement is not met.
"""

import argparse
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
GAMES = ["kuhn-poker", "matching-pennies", "tictactoe", "krieg-tictactoe"]
START, PLAY, GRACE, CONNECT = 3, 1, 1, 5


class Player:
    """A `surmise player` on a port that stays its own when it is started again."""

    def __init__(self, surmise, name):
        self.command = [surmise, "player", "--with", "hp:8,2", "--name", name, "--log", "off"]
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.process = None
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command + ["--port", str(self.port)], stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()

    def kill(self):
        self.process.kill()
        self.process.wait()

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def resources(self):
        folder = pathlib.Path(f"/proc/{self.process.pid}")
        status = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
        return int(status["VmRSS"].split()[0]), int(status["Threads"]), len(list((folder / "fd").iterdir()))


class Lane:
    def __init__(self, args, number, records):
        self.args, self.records = args, records
        self.rng = random.Random(args.seed * 1000 + number)
        self.a, self.b = Player(args.surmise, f"A{number}"), Player(args.surmise, f"B{number}")
        self.faults, self.longest_a, self.longest_b = [], 0, 0
        # Seconds that a match takes if nobody dies: most matches of a fast program would end before a fixed moment.
        self.usual = 1.0
        self.counts = dict.fromkeys(["alone", "manager", "player", "both", "complete", "killed", "b_killed", "a_moves"], 0)

    def match(self, kind):
        game, a_first = self.rng.choice(GAMES), self.rng.random() < 0.5
        players = [self.a.address, self.b.address] if a_first else [self.b.address, self.a.address]
        command = [self.args.surmise, "manage", game, "--players", ";".join(players), "--start-clock", str(START),
                   "--play-clock", str(PLAY), "--grace", str(GRACE), "--seed", str(self.rng.randrange(10**9)),
                   "--record", str(self.records), "--json", "--log", "off"]
        manager = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        moments = sorted(self.rng.random() * self.usual * self.rng.choice([0.3, 1, 2]) for _ in range(2))
        begun = time.monotonic()
        wait = lambda moment: time.sleep(max(0, begun + moment - time.monotonic()))
        if kind in ("player", "both"):
            wait(moments[0])
            self.counts["b_killed"] += manager.poll() is None
            self.b.kill()
        if kind in ("manager", "both"):
            wait(moments[1])
            manager.kill()
        out, err = manager.communicate(timeout=300)
        if kind == "alone":
            self.usual += 0.2 * (time.monotonic() - begun - self.usual)
        if kind in ("player", "both"):
            self.b.start()
        self.counts[kind] += 1
        if manager.returncode == -signal.SIGKILL:
            self.counts["killed"] += 1
            return
        self.judge(kind, game, a_first, manager.returncode, out, err)

    def judge(self, kind, game, a_first, status, out, err):
        what = f"{kind} {game} A {'first' if a_first else 'second'}"
        try:
            result = json.loads(out)
        except ValueError:
            self.faults.append(f"{what}: status {status}, no result: {err.strip()}")
            return
        rows = result["players"]
        a, b = (rows[0], rows[1]) if a_first else (rows[1], rows[0])
        if result["complete"] != 1 or a["errors"]:
            self.faults.append(f"{what}: {json.dumps(result)} {err.strip()}")
        if b["errors"] and kind in ("alone", "manager"):
            self.faults.append(f"{what}: B, which was alive, has {b['errors']}")
        self.counts["complete"] += result["complete"]
        self.counts["a_moves"] += a["moves"]
        self.longest_a = max(self.longest_a, a["longest_ms"])
        self.longest_b = max(self.longest_b, b["longest_ms"])

    def run(self, matches):
        kinds = ["alone", "manager", "player", "both"]
        for _ in range(60):
            self.match(self.rng.choice(kinds))
        time.sleep(1)
        before = self.a.resources()
        for number in range(matches):
            self.match(self.rng.choice(kinds))
            if number % 50 == 49:
                print(f"{number + 1} matches, A {self.a.resources()}, {len(self.faults)} faults", *self.faults[-3:],
                      sep="\n  ", flush=True)
        self.match("alone")
        time.sleep(2)
        after = self.a.resources()
        print(f"A before {before}, after {after} (kB, threads, files)", flush=True)
        if after[1] > before[1] or after[2] > before[2] or after[0] > before[0] + 16_000:
            self.faults.append(f"A grew: {before} to {after}")
        if self.longest_a > PLAY * 1000:
            self.faults.append(f"A took {self.longest_a} ms")
        if self.longest_b > (PLAY + GRACE + CONNECT) * 1000 + 100:
            self.faults.append(f"B's seat was blocked for {self.longest_b} ms")
        self.a.kill()
        self.b.kill()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--surmise", default=str(ROOT / "target/release/surmise"))
    parser.add_argument("--matches", type=int, default=1000)
    parser.add_argument("--lanes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        records = pathlib.Path(folder)
        lanes = [Lane(args, number, records) for number in range(args.lanes)]
        share = -(-args.matches // args.lanes)
        threads = [threading.Thread(target=lane.run, args=(share,)) for lane in lanes]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        faults = [fault for lane in lanes for fault in lane.faults]
        files = sorted(str(path) for path in records.glob("*.json"))
        broken = 0
        for at in range(0, len(files), 100):
            replayed = subprocess.run([args.surmise, "replay", *files[at:at + 100]], capture_output=True, text=True)
            broken += replayed.returncode != 0
            faults += replayed.stderr.splitlines()[:3] if replayed.returncode else []
        scraps = [name for name in os.listdir(records) if not name.endswith(".json")]
    counts = {key: sum(lane.counts[key] for lane in lanes) for key in lanes[0].counts}
    print(f"{counts}\nlongest move of A {max(lane.longest_a for lane in lanes)} ms, longest wait for B "
          f"{max(lane.longest_b for lane in lanes)} ms; {len(files)} records replayed, {broken} batches failed, "
          f"{len(scraps)} temporary files of killed managers; {time.monotonic() - begun:.0f} s")
    print("\n".join(faults) or "no faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
