#!/usr/bin/env python3
"""Checks the JSON that the program prints and writes against the schemas in docs/schemas.

    scripts/check-schemas.py [PROGRAM]        (default: target/debug/surmise)

Each command below runs once; its output must be valid. Three more checks keep schemas and output together: an object
without one of its required fields must be refused, no object may have fields that the schema does not know, and
docs/json.md must name every field of a schema's outermost object. Needs the Python package jsonschema.
"""

import copy
import json
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCHEMAS = ROOT / "docs" / "schemas"
NAMES = ["belief", "bench", "check", "explain", "match", "players", "record", "solve"]

MISTAKES = """(role a) (role a)
(<= (legal a ?x) (not (f ?x)))
(<= (p ?x) (q ?x)) (<= (q ?x) (p ?x))
(<= (goal a 100) (true (done ?y)))
"""


def run(program, *arguments, cwd, status=(0,)):
    done = subprocess.run([program, "--quiet", *arguments], cwd=cwd, capture_output=True, text=True, timeout=300)
    if done.returncode not in status:
        raise SystemExit(f"{' '.join(arguments)}: exit status {done.returncode}\n{done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def records(folder):
    return [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]


def hosted(program, folder):
    """Records of matches over the network, with and without a player that answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [program, "player", "--port", str(port), "--with", "random", "--log", "off"]
    player = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    try:
        player.stdout.readline()
        clocks = ["--start-clock", "1", "--play-clock", "1", "--log", "off"]
        there = f"127.0.0.1:{port},legal"
        run(program, "manage", "kuhn-poker", "--players", there, *clocks, "--record", "hosted", cwd=folder)
        run(program, "manage", "tictactoe", "--players", there, *clocks, "--record", "open", cwd=folder)
        # A scrambled match with a player that is not there: every move is replaced.
        nobody = "127.0.0.1:1,random"
        run(program, "manage", "kuhn-poker", "--players", nobody, *clocks, "--scramble", "--record", "nobody",
            cwd=folder, status=(0, 1))
    finally:
        player.terminate()
        player.wait()
    return [record for name in ("hosted", "open", "nobody") for record in records(folder / name)]


def samples(program, folder):
    """Real outputs, by schema."""
    (folder / "mistakes.kif").write_text(MISTAKES)
    (folder / "view.json").write_text(
        '[{"move": "(choose 1)", "sees": []}, {"move": "noop", "sees": ["(closed 3)"]}]'
    )

    def ask(*arguments, status=(0,)):
        return run(program, *arguments, cwd=folder, status=status)

    matches = (
        ask("match", "kuhn-poker", "hp:8,2", "random", "--games", "4", "--swap", "--record", "kuhn", "--json")
        + ask("match", "tictactoe", "mc:4", "legal", "--games", "2", "--time-per-move", "5", "--json")
        + ask("match", "kuhn-poker", "cfr:8", "random", "--games", "1", "--explain", "--record", "cfr", "--json")
        + ask("match", "monty-hall", "cheat:4", "--games", "20", "--record", "cheat", "--json")
    )
    beliefs = ask("belief", "monty-hall", "--role", "candidate", "--view", "view.json", "--json")
    beliefs += ask("belief", "kuhn-poker", "--role", "player1", "--sampler", "hyperplay", "--models", "8", "--json")
    reasons = ask("explain", "kuhn-poker", "--record", "cfr/match-000000.json", "--round", "2", "--json")
    reasons += ask("explain", "monty-hall", "--record", "cheat/match-000000.json", "--player", "random", "--json")
    solved = ask("solve", "kuhn-poker", "--save", "kuhn.json", "--json")
    solved += [json.loads((folder / "kuhn.json").read_text())]
    solved += ask("solve", "kuhn-poker", "--rate", "kuhn.json", "--json")
    solved += ask("solve", "monty-hall", "--json") + ask("solve", "goofspiel", "--iterations", "3", "--json")
    found = ask("check", "mistakes.kif", "--json", status=(2,))
    found += ask("check", "mistakes.kif", "--strict", "--json", status=(2,))
    speeds = [
        line
        for engine in ("lanes", "scalar", "reference")
        for line in ask("bench", "tictactoe", "--engine", engine, "--seconds", "0.05", "--json")
    ]
    return {
        "match": matches,
        "belief": beliefs,
        "explain": reasons,
        "solve": solved,
        "check": found,
        "bench": speeds,
        "players": ask("players", "--json") + ask("players", "hp", "--json"),
        "record": [r for name in ("kuhn", "cfr", "cheat") for r in records(folder / name)] + hosted(program, folder),
    }


def strict(schema):
    """The schema, refusing fields that it does not know."""
    if isinstance(schema, list):
        return [strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    part = {key: strict(value) for key, value in schema.items()}
    if part.get("type") == "object" and "properties" in part:
        part["additionalProperties"] = False
    return part


def undocumented(name, schema, page):
    """Fields of the outermost object that the section of docs/json.md does not name."""
    section = page.split(f"\n## {name}\n")[1].split("\n## ")[0]
    return [field for field in schema["properties"] if f"`{field}`" not in section]


def problems(name, outputs, page, validator):
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text())
    validator.check_schema(schema)
    plain, exact = validator(schema), validator(strict(schema))
    if not outputs:
        yield "nothing was printed"
    for number, output in enumerate(outputs):
        for kind, one in (("", plain), ("strictly: ", exact)):
            for error in one.iter_errors(output):
                yield f"{kind}output {number}, {error.json_path}: {error.message[:200]}"
        for field in schema["required"]:
            without = copy.copy(output)
            without.pop(field, None)
            if plain.is_valid(without):
                yield f"output {number} without `{field}` should be refused"
    for field in undocumented(name, schema, page):
        yield f"docs/json.md does not name `{field}`"


def main():
    try:
        from jsonschema import Draft202012Validator
    except ImportError:
        print("SKIPPED: check-schemas: the Python package jsonschema is not installed")
        return 0
    program = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "target" / "debug" / "surmise").resolve()
    if not program.is_file():
        print(f"there is no program `{program}`; build it first, or name another one", file=sys.stderr)
        return 2
    page = (ROOT / "docs" / "json.md").read_text()
    files = sorted(path.name.removesuffix(".schema.json") for path in SCHEMAS.glob("*.schema.json"))
    failed = files != NAMES
    if failed:
        print(f"docs/schemas holds {files}, not {NAMES}")
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        outputs = samples(str(program), Path(folder))
    for name in NAMES:
        wrong = list(dict.fromkeys(problems(name, outputs[name], page, Draft202012Validator)))
        failed |= bool(wrong)
        print(f"{name:8} {len(outputs[name]):3} outputs: {'ok' if not wrong else f'{len(wrong)} problems'}")
        for line in wrong[:10]:
            print(f"  {line}")
    print(f"{time.monotonic() - started:.1f} s")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
