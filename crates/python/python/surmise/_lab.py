"""Experiments of the lab, with players of your own."""

from __future__ import annotations

import html
import inspect
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import _surmise
from ._game import Player, Progress, _Entrant, _progress


@dataclass
class LabReport:
    """The report of an experiment. `data` is its report.json; `folder` holds report.html, plots and all results."""

    folder: Path
    complete: bool
    data: dict[str, Any] = field(repr=False)

    @property
    def cells(self) -> list[dict[str, Any]]:
        """The cells: `game`, `players`, `variables`, `games`, and `values` with `mean`, `low`, `high` and `n`."""
        return self.data["cells"]

    def score(self, **variables: Any) -> dict[str, Any]:
        """Mean payoff and interval of the focused player in the one cell with these variables."""
        wanted = {name: str(value) for name, value in variables.items()}
        found = [cell for cell in self.cells if wanted.items() <= cell["variables"].items()]
        if len(found) != 1:
            raise ValueError(f"{len(found)} cells have {wanted or 'any variables'}; name the variables of one of them")
        return found[0]["values"]["score"]

    def _repr_html_(self) -> str:
        rows = []
        for cell in self.cells:
            score = cell["values"]["score"]
            texts = [cell["game"], ", ".join(cell["players"]), str(cell["games"])]
            texts += [f"{score['mean']:.2f}", f"{score['low']:.2f} .. {score['high']:.2f}"]
            rows.append("<tr>" + "".join(f"<td>{html.escape(text)}</td>" for text in texts) + "</tr>")
        head = "".join(f"<th>{name}</th>" for name in ("game", "players", "games", "mean", "interval"))
        return f"<p>{html.escape(self.data['title'])}</p><table><tr>{head}</tr>{''.join(rows)}</table>"


def lab(
    spec: str | os.PathLike[str],
    players: Mapping[str, Player | type[Player]] | None = None,
    *,
    size: str | None = None,
    set: Mapping[str, Any] | None = None,
    out: str | os.PathLike[str] | None = None,
    threads: int = 1,
    progress: Progress = None,
) -> LabReport:
    """Plays what is missing of an experiment and writes its report, as `surmise lab run` does.

    `spec` is a TOML file, the name of a preset, or TOML text (something with a line break). `players` gives names to
    players of your own, which the spec uses like any other player: `players = ["mine", "hp:16,4"]`. Results go to
    `out`, or to lab-results/NAME; matches that are there already are not played again. The file that a player of your
    own is written in is part of what decides this: after a change its matches are played again. Code that is in no file
    cannot be compared: use another folder after a change.
    """
    text, origin = _spec_text(os.fspath(spec))
    own = [(name, _lab_entrant(player), _files(player)) for name, player in (players or {}).items()]
    for name, _, _ in own:
        if text is not None and name not in text:
            raise ValueError(f"the spec names no player {name!r}")
    tell, close = _progress(progress)
    pairs = [(name, str(value)) for name, value in (set or {}).items()]
    try:
        folder, complete, report = _surmise.lab_run(origin, text, own, size, pairs, out, threads, tell)
    finally:
        close()
    return LabReport(Path(folder), complete, json.loads(report))


def _spec_text(spec: str) -> tuple[str | None, str]:
    if "\n" in spec:
        return spec, "spec"
    if os.path.isfile(spec):
        return Path(spec).read_text(encoding="utf-8"), spec
    return None, spec


def _lab_entrant(player: Any) -> _Entrant:
    if isinstance(player, Player) or (isinstance(player, type) and issubclass(player, Player)):
        return _Entrant(player)
    raise TypeError(f"a player of your own is a subclass of surmise.Player, not {player!r}")


def _files(player: Player | type[Player]) -> list[str]:
    """The file that a player is written in, if there is one."""
    kind = player if isinstance(player, type) else type(player)
    try:
        file = inspect.getsourcefile(kind)
    except (OSError, TypeError):
        return []
    return [os.path.abspath(file)] if file and os.path.isfile(file) else []
