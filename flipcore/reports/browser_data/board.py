"""A board: a figure with sentences that change while a level, margin or cut-off is dragged.

Each kind of board declares its handles, rows and sentences with the classes below, and `board.js`
draws it from `Board.data`. What depends on a handle is computed here for each of its positions: as
`steps` where neighbouring positions often share a value, as `packed` numbers elsewhere.
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
    """Return the runs of equal values: a [first position, value] each."""
    runs: Steps = []
    for position, value in enumerate(values):
        if not runs or value != runs[-1][1]:
            runs.append([position, value])
    return runs


def value_at(runs: Steps, position: int) -> Any:
    """Return the value of `steps` at a position, as the browser looks it up."""
    return [value for first, value in runs if first <= position][-1]


def packed(values: Any, dtype: str = "<f8") -> str:
    """Return the values, row by row, as base64 of little-endian numbers."""
    # Limits need 64 bits: in 32 bits 0.075 would be printed as 0.08 here and as 0.07 in a table.
    return base64.b64encode(np.ascontiguousarray(values, dtype=dtype).tobytes()).decode()


@dataclass(frozen=True)
class Control:
    """A handle. Messages call its value `name`; the log of moves calls it `logged_as`.

    A handle on a slider stops at `values`, which have the texts `labels`. A handle on a line takes
    any number within its `range`. The line's numbers change at `positions` (packed, sorted 32-bit
    floats): the first position counts that is not below the line, or with `is_exceeded` the last
    one that is not above it. `label` is the template of the line's text, `quoted` the template of
    what a sentence ends with in the decision record.
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
    """A part of a board that depends on choices. `by` names the choices; the keys of `parts` are
    their values, joined by "|"."""

    by: Sequence[str]
    parts: Mapping[str, Any]


@dataclass(frozen=True)
class Outcome:
    """An outcome that rows can have. Its rows show `sign`, colored by `tone`.

    A tick on the slider says that a row `becomes` this outcome ("becomes equivalent"). Rows enter
    the decision record in the order of `rank`; those with None stay out.
    """

    sign: str = ""
    tone: str = ""
    becomes: str = ""
    rank: int | None = None


@dataclass(frozen=True)
class Row:
    """A row: its outcome by position, and its sentence by outcome or, as steps, by position.

    A sentence holds numbers as {name|format}, in the formats of `board.js`. {lead} is the interval
    that `leads` names for the outcome. A function of `board.js` draws each of the `pictures`, by
    its `kind`. Rows with outcomes of equal rank are ordered by `weight`, the largest first.
    `note` stands below the title, `hint` is shown on hover, `figure` is the text of a last column,
    and `style` names CSS classes. A hidden row is not drawn, but a headline may show its sentence.
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
    """A sentence above the rows, with its small line `detail`.

    `rows` has per position the index of the row whose sentence is shown; None shows `sentence`.
    `combined` has (sentence, detail) by the outcomes of all rows, joined by "|".
    """

    sentence: Steps = field(default_factory=list)
    detail: Steps = field(default_factory=list)
    rows: Steps = field(default_factory=list)
    combined: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Board:
    """A board; its `kind` names the layout.

    `choices` are {name, title, options, chosen}. A part that depends on them is `Chosen`: always
    `outcomes_by_row` and `intervals_by_row`, which have an entry per row, and `rows` and
    `headlines` where they differ by choice. `lines` are further sentences; `numbers` has the packed
    32-bit numbers of their templates by position. `changes` are (position, text) of the slider's
    ticks, None if ticks show changing outcomes. `scale` has the ends of the axis, and with
    `is_share` its numbers are shown as percentages. `legend` has (label, style), `columns` the
    heads of the table. Boards with an equal `shared_as` move together in a meeting. A board that
    `is_waiting` for results offers no decision.
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
        """Return the board as values of JSON, without the fields that have their default."""
        return _plain(self)


def level_control(levels: Sequence[float], level: float, quoted: str = "({label})") -> Control:
    """Return the handle of a confidence level; it starts at the level nearest to `level`."""
    start = min(levels, key=lambda shown: abs(shown - level))
    labels = [level_text(shown) for shown in levels]
    title = "Confidence level"
    return Control(
        "level", title, start=start, values=levels, labels=labels, aria=title, quoted=f" {quoted}"
    )


@cache
def _defaults(kind: type) -> dict[str, Any]:
    """Return the default of each field of a dataclass."""
    defaults = {}
    for part in fields(kind):
        factory = part.default_factory
        defaults[part.name] = part.default if factory is MISSING else factory()
    return defaults


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        changed_fields = {}
        for name, default in _defaults(type(value)).items():
            if (content := getattr(value, name)) != default:
                changed_fields[name] = _plain(content)
        return changed_fields
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    # JSON has neither NaN nor infinity.
    return None if isinstance(value, float) and not math.isfinite(value) else value
