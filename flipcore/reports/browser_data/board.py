"""A board: what moves while a level, a margin or a cut-off is dragged.

Each kind of board declares its handles, rows and sentences with the classes below; `board.js` draws
all of them from `Board.data`. Whatever depends on a handle is made here for each of its positions:
as `steps` where neighbors often share a value, as `packed` numbers elsewhere.
"""

import base64
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import cache
from typing import Any

import numpy as np

from flipcore.stats.base.estimate import level_text

Steps = list[list]  # [first position, value] of each run of equal values


def steps(values: Iterable[Any]) -> Steps:
    """Return the runs of equal neighbors: [first position, value] each."""
    runs: Steps = []
    for position, value in enumerate(values):
        if not runs or value != runs[-1][1]:
            runs.append([position, value])
    return runs


def value_at(runs: Steps, position: int) -> Any:
    """Return the value of `steps` at a position, as the browser looks it up."""
    return [value for first, value in runs if first <= position][-1]


def packed(values: Any) -> str:
    """Return base64 of little-endian 64-bit floats, one per position."""
    # In single precision 0.075 would be printed as 0.08 here and as 0.07 in a table.
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f8").tobytes()).decode()


@dataclass(frozen=True)
class Control:
    """A handle. Its value travels as `name`; its moves are logged as `logged_as`.

    It stops at `values`, each with its text of `labels`. A line instead goes to any number of its
    `range`; what it does changes at `positions`, sorted 32-bit floats: it is at the first that is
    not below it, or, if it `is_exceeded`, at the last that is not above it. `label` is the template
    of its text. `quoted` is the template that a sentence ends with in the record.
    """

    name: str
    title: str
    start: float | None
    values: Sequence[float | None] = ()
    labels: Sequence[str] = ()
    logged_as: str = "level"
    aria: str = ""
    range: Sequence[float] | None = None
    positions: str = ""
    is_exceeded: bool = False
    label: str = ""
    quoted: str = ""


@dataclass(frozen=True)
class Chosen:
    """A part of a board that differs by choices: `parts` by their values, joined by "|"."""

    by: Sequence[str]
    parts: Mapping[str, Any]


@dataclass(frozen=True)
class Outcome:
    """The mark of a row with this outcome, and what a tick on the slider says that it becomes.

    Rows are written to the record in the order of `rank`; those without one are not.
    """

    sign: str = ""
    tone: str = ""
    becomes: str = ""
    rank: int | None = None


@dataclass(frozen=True)
class Row:
    """A row: its outcome by position, and its sentence by outcome or, as steps, by position.

    A number in a sentence stands as {name|format}, `board.js` has the formats; {lead} is the
    interval that `leads` names for the outcome. `pictures` are drawn by the function of their
    `kind` in `board.js`. Rows of an equal `rank` are ordered by `weight`, the largest first.
    """

    title: str = ""
    id: str = ""
    note: str = ""
    hint: str = ""
    sentences: Mapping[str, str] | Steps = field(default_factory=dict)
    leads: Mapping[str, str] = field(default_factory=dict)
    outcomes: Steps = field(default_factory=list)
    pictures: Sequence[Mapping[str, Any]] = ()
    figure: str = ""
    control: Control | None = None
    weight: float = 0
    style: str = ""
    is_hidden: bool = False


@dataclass(frozen=True)
class Headline:
    """A sentence above the rows, with its small line.

    `rows` names at each position the row whose sentence it is (None: `sentence` is said).
    `combined` has (sentence, detail) by the outcomes of all rows, joined by "|".
    """

    sentence: Steps = field(default_factory=list)
    detail: Steps = field(default_factory=list)
    rows: Steps = field(default_factory=list)
    combined: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Board:
    """A board of a `kind`, which names its layout.

    `choices` are {name, title, options, chosen}. Where they differ by choice, `rows` and
    `headlines` are `Chosen`, and so are `outcomes_by_row` and `intervals_by_row`, which have an
    entry per row. `lines` are further sentences, `numbers` those of their templates by position
    (32-bit). `changes` are the positions with a tick and its words, where it is not the outcomes of
    rows that change. `scale` are the ends of the one axis, `legend` (label, style).
    """

    kind: str
    rows: Any  # a sequence of Row, or Chosen
    headlines: Sequence[Headline] | Chosen
    controls: Sequence[Control] = ()
    choices: Sequence[Mapping[str, Any]] = ()
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    outcomes_by_row: Chosen | None = None
    intervals_by_row: Chosen | None = None
    lines: Sequence[Steps] = ()
    numbers: Mapping[str, str] = field(default_factory=dict)
    legend: Sequence[tuple[str, str]] = ()
    columns: Sequence[str] = ()
    changes: Sequence[tuple[int, str]] | None = None
    scale: Sequence[float] = ()
    is_share: bool = False
    hint: str = ""
    shared_as: str = ""
    is_waiting: bool = False

    def data(self) -> dict[str, Any]:
        """Return the board as JSON has it, without the fields that have their default."""
        return _plain(self)


def level_control(levels: Sequence[float], level: float, quoted: str = "({label})") -> Control:
    """Return the handle of a confidence level, at the level that is nearest."""
    start = min(levels, key=lambda shown: abs(shown - level))
    labels = [level_text(shown) for shown in levels]
    title = "Confidence level"
    return Control("level", title, start, levels, labels, aria=title, quoted=f" {quoted}")


@cache
def _defaults(kind: type) -> dict[str, Any]:
    defaults = {}
    for part in fields(kind):
        factory = part.default_factory
        defaults[part.name] = part.default if factory is MISSING else factory()
    return defaults


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        shown = {}
        for name, default in _defaults(type(value)).items():
            if (content := getattr(value, name)) != default:
                shown[name] = _plain(content)
        return shown
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    # JSON has neither NaN nor infinity.
    return None if isinstance(value, float) and not math.isfinite(value) else value
