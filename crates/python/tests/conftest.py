"""Paths that tests share."""

import os
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]


@pytest.fixture
def program():
    """The program `surmise`: $SURMISE_PROGRAM, or the one of a debug or release build."""
    found = [os.environ.get("SURMISE_PROGRAM"), ROOT / "target/debug/surmise", ROOT / "target/release/surmise"]
    for path in found:
        if path and pathlib.Path(path).is_file():
            return str(path)
    pytest.skip("the program surmise is not built")


@pytest.fixture
def root():
    """The root of the project."""
    return ROOT
