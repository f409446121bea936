#!/usr/bin/env python3
"""Compares Cargo.lock with a clone of RustSec's advisory database, where cargo-deny or cargo-audit is not at hand.

    scripts/advisories.py FOLDER

FOLDER is a git repository of https://github.com/RustSec/advisory-db, bare or not. The exit status is 1 if an advisory
is about a version of Cargo.lock.
"""

import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent


def locked():
    """The versions of every crate from a registry."""
    crates = {}
    for package in tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]:
        if "source" in package:
            crates.setdefault(package["name"], []).append(package["version"])
    return crates


def number(text):
    """A version that can be compared; a pre-release is before its release."""
    core, _, pre = text.split("+")[0].partition("-")
    parts = [int(part) for part in core.split(".")] + [0, 0]
    return tuple(parts[:3]), (not pre, pre)


def matches(version, requirement):
    """Whether a version meets a requirement such as `>=1.2.0, <2.0.0`."""
    for part in requirement.split(","):
        operator, wanted = re.match(r"(>=|<=|>|<|=|\^|~)?\s*(.*)", part.strip()).groups()
        have, want = number(version), number(wanted)
        major, minor, patch = want[0]
        after = (major + 1, 0, 0) if major else (0, minor + 1, 0) if minor else (0, 0, patch + 1)
        meets = {">=": have >= want, "<=": have <= want, ">": have > want, "<": have < want, "=": have == want,
                 "~": have >= want and have[0][:2] == want[0][:2]}
        if not meets.get(operator, have >= want and have[0] < after):
            return False
    return True


def main():
    git = lambda *args: subprocess.run(["git", "-C", sys.argv[1], *args], capture_output=True, text=True,
                                       check=True).stdout
    crates, read, found = locked(), 0, []
    for path in git("ls-tree", "-r", "--name-only", "HEAD", "crates").splitlines():
        name = path.split("/")[1]
        if name not in crates:
            continue
        read += 1
        front = re.search(r"```toml\n(.*?)```", git("show", f"HEAD:{path}"), re.S)
        advisory = tomllib.loads(front.group(1))
        fine = [r for kind in ("patched", "unaffected") for r in advisory.get("versions", {}).get(kind, [])]
        for version in crates[name]:
            if not advisory["advisory"].get("withdrawn") and not any(matches(version, r) for r in fine):
                found.append(f"{name} {version}: {advisory['advisory']['id']}")
    print(f"database of {git('log', '-1', '--format=%cs %h').strip()}: {sum(map(len, crates.values()))} versions of "
          f"{len(crates)} crates, {read} advisories about crates of these names, {len(found)} about these versions")
    print("\n".join(found), end="\n" if found else "")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
