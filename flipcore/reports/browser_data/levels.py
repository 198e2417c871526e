"""The threshold board: flip rates with limits at every level, by reference, policy and kind.

In simultaneous mode one band holds for all references and policies at once.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from flipcore.claims.flips import BAND
from flipcore.core.records import IDENTITY
from flipcore.reports.browser_data.board import Board, Chosen, Headline, Row, level_control, packed
from flipcore.reports.browser_data.level_limits import (
    LEADS,
    QUANTITIES,
    LevelLimits,
    level_limits,
    stated_names,
)
from flipcore.reports.browser_data.verdicts import (
    OUTCOMES,
    RULES,
    BoardRows,
    board_rows,
    every_pairing,
)
from flipcore.stats.base.estimate import MIN_N, coverage_label, without_interval
from flipcore.stats.base.joint_means import JointMeans, measured_coverage
from flipcore.stats.base.resample import N_BOOT
from flipcore.stats.flips.coded_answers import CodedAnswers
from flipcore.stats.flips.decomposition import (
    COLUMNS,
    REFERENCE,
    Decomposition,
    default_reference,
    item_rates,
)
from flipcore.stats.flips.disagreement import POLICIES
from flipcore.stats.flips.pooled import ALL_AXES
from flipcore.stats.memory import pearl_alpha

_WIDE_LEVELS = tuple(round(0.5 + 0.01 * i, 2) for i in range(50))
LEVELS = (*_WIDE_LEVELS, 0.992, 0.994, 0.995, 0.996, 0.998, 0.999)
KINDS = {
    "default": "by number of items",
    "percentile": "percentile bootstrap",
    "studentized": "studentised bootstrap",
}
WHISKERS = ("T", *LEADS)  # the quantities whose limits the browser draws
POLICY_TITLES = {"own_class": "one more answer", "always_flip": "always a flip", "drop": "left out"}
OUTSIDE_BAND = "No interval here holds for every row at once."
RULE_TITLES = {
    "parts": "three parts",
    "paired": "A − G above 0 (source)",
    "nonoverlap": "intervals apart (source)",
}
CHOICE_TITLES = {
    "reference": "Reference extractor",
    "policy": "Unreadable answers",
    "kind": "Interval",
    "rule": "Rule",
}
START = {
    "level": 0.95,
    "reference": REFERENCE,
    "policy": "own_class",
    "kind": "default",
    "rule": RULES[0],
}
MANY_ITEMS, FEW_BOOT = 2_000, 1_999  # beyond so many items so many resamples are enough
# Number of items from which the 95% band holds for everything at once. In simulations with G = .1
# it held in .86 of the samples at 20 items, .92 at 30 and .95 at 40. With few items that flip, the
# standard error is too small.
BAND_HOLDS_FROM = 40


def resamples(answers: CodedAnswers) -> int:
    """Return the number of resamples of the board and of its table, which print the same limits.
    Beyond `MANY_ITEMS` items fewer are enough: the second digit of the limits is stable then."""
    return N_BOOT if len(answers.items) <= MANY_ITEMS else FEW_BOOT


def readable(answers: CodedAnswers) -> tuple[str, ...]:
    """Return the extractors that read at least one answer; each may be the reference."""
    with_answers = {name for (_, name), codes in answers.codes.items() if (codes >= 0).any()}
    return tuple(name for name in answers.extractors if name in with_answers)


@dataclass(frozen=True, eq=False)
class LevelBoard:
    """The board's `data` for the browser, and the simultaneous band as numbers.

    `limits` is "reference|policy" -> (low, high), each (rows, quantities, levels). It is empty for
    a board without a band.
    """

    data: dict[str, Any]
    row_ids: tuple[str, ...]
    limits: Mapping[str, tuple[np.ndarray, np.ndarray]]

    def limits_at(
        self, reference: str, policy: str, row_id: str, level: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the band (low, high) of a row's quantities at the nearest level."""
        level_index, row_index = nearest(LEVELS, level), self.row_ids.index(row_id)
        low, high = self.limits[f"{reference}|{policy}"]
        return low[row_index, :, level_index], high[row_index, :, level_index]


def nearest(levels: Sequence[float], level: float) -> int:
    """Return the index of the level that is nearest to `level`."""
    return min(range(len(levels)), key=lambda i: abs(levels[i] - level))


def board(answers: CodedAnswers, title_of: Callable[[str], str], **settings: Any) -> dict:
    """Return the data of `level_board`, which has the same arguments."""
    return level_board(answers, title_of, **settings).data


def level_board(
    answers: CodedAnswers,
    title_of: Callable[[str], str],
    *,
    seed: int = 0,
    n_boot: int | None = None,
    simultaneous: bool = False,
    closed_gates: Mapping[str, str] | None = None,
    temperature: float | None = None,
    selection: Mapping[str, Any] | None = None,
) -> LevelBoard:
    """Make the board of one model's flips.

    Rows depend on reference and policy, intervals also on the kind, and outcomes on every choice.
    `closed_gates` is axis or extractor -> why it is not claimed. With `simultaneous` the only kind
    is a max-|t| band over all rows, references and policies; otherwise hidden rows over all open
    axes give the headline. `selection` has one reference, policy and kind: only their parts are
    made, while all options stay, and a page asks again when somebody chooses another.
    """
    references, n_boot = readable(answers), n_boot or resamples(answers)
    gates = closed_gates or {}
    open_axes = tuple(axis for axis in answers.axes if axis not in gates and axis != IDENTITY)
    pooled = () if simultaneous else open_axes
    kinds = {"simultaneous": BAND} if simultaneous else KINDS
    options = {
        "reference": [(name, title_of(name)) for name in references],
        "kind": list(kinds.items()),
        "policy": list(POLICY_TITLES.items()),
        "rule": list(RULE_TITLES.items()),
    }
    choices = {
        "reference": default_reference(references) if references else "",
        "policy": "own_class",
        "kind": next(iter(kinds)),
        "rule": RULES[0],
    }
    policies: tuple[str, ...] = POLICIES
    shown_kinds = tuple(kinds)
    if selection is not None and references:
        choices = _choices(options, choices, selection)
        references, policies = (choices["reference"],), (choices["policy"],)
        shown_kinds = (choices["kind"],)
    by_level = level_limits(
        answers,
        references,
        policies=policies,
        kinds=() if simultaneous else shown_kinds,
        levels=LEVELS,
        pooled=pooled,
        seed=seed,
        n_boot=n_boot,
    )
    family = every_pairing(answers, references) if simultaneous else None
    rows_of = board_rows(answers, references, policies, gates, temperature, pooled, family)
    band = _band(answers, by_level, seed, n_boot) if simultaneous else None
    limits: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    rows, intervals, outcomes, headlines = {}, {}, {}, {}
    for (r, reference), (p, policy) in product(enumerate(references), enumerate(policies)):
        key, own_rows = f"{reference}|{policy}", rows_of[reference, policy]
        indices = [(r, p, i) for i in range(len(by_level.rows))]
        rows[key] = [_row(own_rows, by_level, index, title_of) for index in indices]
        rows[key].append(_AXIS)
        for k, kind in enumerate(shown_kinds):
            if band:
                low, high = (band_limits[r, p] for band_limits in band)
                limits[key] = (low, high)
            else:
                low, high = by_level.low[r, p, k], by_level.high[r, p, k]
            intervals[f"{key}|{kind}"] = _intervals(by_level.values[r, p], low, high)
            lows = {name: low[:, i] for i, name in enumerate(QUANTITIES)}
            highs = {name: high[:, i] for i, name in enumerate(QUANTITIES)}
            for rule in RULES:
                verdicts = own_rows.verdicts_at(rule, LEVELS, lows, highs)
                outcomes[f"{key}|{kind}|{rule}"] = verdicts.outcomes
                headlines[f"{key}|{kind}|{rule}"] = [
                    Headline([[0, own_rows.why_no_lead]], verdicts.tally, verdicts.leading_row)
                ]
    options["kind"] = _kind_titles(kinds, by_level)
    shown = []
    for name, title in CHOICE_TITLES.items():
        choice = {"name": name, "title": title, "options": options[name], "chosen": choices[name]}
        shown.append(choice)
    names = list(CHOICE_TITLES)
    quoted = "({label} band)" if simultaneous else "({label} intervals)"
    declared = Board(
        "threshold",
        Chosen(["reference", "policy"], rows),
        Chosen(names, headlines),
        [level_control(LEVELS, 0.95, quoted)],
        shown,
        outcomes=OUTCOMES,
        outcomes_by_row=Chosen(names, outcomes),
        intervals_by_row=Chosen(["reference", "policy", "kind"], intervals),
        legend=_LEGEND,
        scale=(0, 1),
        hint="Click to open the outputs behind it.",
    )
    row_ids = tuple(f"{axis}|{name}" for axis, name in by_level.rows)
    return LevelBoard(declared.data(), row_ids, limits)


_LEGEND = (
    ("compared extractor alone", "compared"),
    ("both", "both"),
    ("reference alone", "reference"),
    ("noise floor", "floor"),
    ("interval of the part that leads", "lead"),
    ("of all", "total"),
)
_QUARTERS = [(0, "0"), (0.25, "25"), (0.5, "50"), (0.75, "75"), (1, "100%")]
_AXIS = Row(note="share of pairs", pictures=[{"kind": "axis", "ticks": _QUARTERS}])


def _row(
    own_rows: BoardRows,
    by_level: LevelLimits,
    index: tuple[int, int, int],
    title_of: Callable[[str], str],
) -> Row:
    """Return the row at the indices (reference, policy, row), with its parts and noise floors."""
    r, p, i = index
    axis, name = by_level.rows[i]
    sentences, leads = own_rows.sentences(i)
    values, parts, n = by_level.values[r, p, i], own_rows.parts(i), int(by_level.n[r, p, i])
    floor, reference_floor = by_level.floors[r, p, i].tolist()
    # The reference's floor is drawn where its flips begin; the reference's own row has one floor.
    is_reference = name == by_level.references[r]
    floors = [floor] if is_reference else [floor, parts[0] + reference_floor]
    picture = {"kind": "parts", "parts": parts, "floors": [] if math.isnan(floor) else floors}
    return Row(
        f"{axis.replace('_', ' ')}, {title_of(name).lower()}",
        id=f"{axis}|{name}",
        note=f"{n:,} item{'' if n == 1 else 's'}" if n else "",
        hint=own_rows.claims[i].detail,
        sentences=sentences,
        leads=leads,
        pictures=[picture],
        weight=float(values[QUANTITIES.index("A")]),
        is_hidden=axis == ALL_AXES,
    )


def _intervals(values: np.ndarray, low: np.ndarray, high: np.ndarray) -> list[dict]:
    """Return quantity -> value and packed limits, per row. `values` is (rows, quantities), `low`
    and `high` (rows, quantities, levels)."""
    by_row = []
    for i in range(len(values)):
        intervals = {}
        for name in WHISKERS:
            q = QUANTITIES.index(name)
            interval: dict[str, Any] = {"value": float(values[i, q])}
            if not np.isnan(low[i, q]).all():
                interval |= {"low": packed(low[i, q]), "high": packed(high[i, q])}
            intervals[name] = interval
        by_row.append(intervals)
    return by_row


def _kind_titles(kinds: Mapping[str, str], by_level: LevelLimits) -> list[tuple[str, str]]:
    """Return (kind, title) of each interval. The title states the simulated coverage where it is
    below the level at this number of items."""
    smallest_n = int(by_level.n[by_level.n > 0].min(initial=0))
    titles = []
    for kind, title in kinds.items():
        label = coverage_label(measured_coverage(kind, smallest_n))
        titles.append((kind, f"{title} ({label})" if label else title))
    return titles


def at_settings(data: dict, view: dict) -> dict:
    """Return a board's `data` with the level and the choices of `view`, where it has them."""
    options = {choice["name"]: choice["options"] for choice in data["choices"]}
    start = {choice["name"]: choice["chosen"] for choice in data["choices"]}
    chosen = _choices(options, start, view)
    control = data["controls"][0]
    level = control["values"][nearest(control["values"], view["level"])]
    return data | {
        "controls": [control | {"start": level}],
        "choices": [choice | {"chosen": chosen[choice["name"]]} for choice in data["choices"]],
    }


def _choices(
    options: Mapping[str, Sequence[tuple[str, str]]],
    start: Mapping[str, str],
    view: Mapping[str, Any],
) -> dict:
    """Return the choices of `view` that are among the options, else those of `start`."""
    choices = {}
    for key, default in start.items():
        choices[key] = view[key] if view[key] in dict(options[key]) else default
    return choices


def start_of(scorers: Sequence[str], start: Mapping[str, Any] = START) -> dict:
    """Return the settings before anybody chose; a log's first scorer is the reference."""
    return {**start, "reference": next(iter(scorers), REFERENCE)}


def with_own_reference(view: dict, extractors: Sequence[str], scorers: Sequence[str] = ()) -> dict:
    """Return the view with the model's default reference where nobody chose one."""
    is_start = view["reference"] == start_of(scorers)["reference"]
    if not is_start or view["reference"] in extractors:
        return view
    return view | {"reference": default_reference(extractors, scorers)}


def band_words(cells: Sequence[Decomposition]) -> str:
    """State the scope of the simultaneous band, and that it holds less often with few items."""
    caveat = ""
    if min((cell.T.n for cell in cells if cell.T.n), default=0) < BAND_HOLDS_FROM:
        caveat = (
            f" (with fewer than {BAND_HOLDS_FROM} items, as here, less often than the level says)"
        )
    return (
        "for every row, reference extractor and policy for unreadable answers at once, at any one"
        f" level{caveat}"
    )


def banded(
    cells: Sequence[Decomposition], band_board: LevelBoard, level: float, policy: str
) -> list[Decomposition]:
    """Return the cells with the simultaneous band in place of their own intervals.

    `band_board` is a board with `simultaneous`. Estimates that it does not show lose their interval
    and p-values, because these do not hold for all rows at once.
    """
    banded_cells = []
    for cell in cells:
        row_id = f"{cell.axis}|{cell.extractor}"
        low, high = band_board.limits_at(cell.reference, policy, row_id, level)
        estimates: dict[str, Any] = {}
        for i, name in enumerate(stated_names(cell.item_values)):
            limits = {"low": float(low[i]), "high": float(high[i]), "method": BAND}
            estimates[name] = replace(getattr(cell, name), **limits, note="", coverage=None)
        for name in (*COLUMNS, "share"):
            if name not in estimates:
                value = getattr(cell, name)
                estimates[name] = without_interval(value.value, value.n, value.level, OUTSIDE_BAND)
        banded_cells.append(replace(cell, **estimates, p_artifact=math.nan, p_more=math.nan))
    return banded_cells


def _band(
    answers: CodedAnswers, by_level: LevelLimits, seed: int, n_boot: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the band's limits (references, policies, rows, quantities, levels): low and high.

    They are value ± c(level) SE, where c is a quantile of max |t| over all columns that vary. Each
    replicate has one joint draw of items. Below 10 items there is no band.
    """
    cells = list(product((axis for axis in answers.axes if axis != IDENTITY), answers.extractors))
    bounds, parts = [], []
    for reference, policy, (axis, name) in product(by_level.references, by_level.policies, cells):
        values = item_rates(answers, axis, name, reference, policy).values
        stated = stated_names(values)
        part = values[:, [list(COLUMNS).index(column) for column in stated]]
        # T and G come first. The reference's other shares would repeat them, and each rare share
        # widens the band.
        if name == reference:
            part[:, 2:] = np.nan
        bounds += [COLUMNS[column] for column in stated]
        parts.append(part)
    columns = np.hstack(parts)
    joint = JointMeans(columns, seed, n_boot, answers.families)
    # Equal values leave a rounding error as their standard error, which must count as 0.
    has_band = (joint.n >= MIN_N) & (joint.se > 1e-12)
    critical = np.full(len(LEVELS), np.nan)
    if has_band.any():
        varying = JointMeans(columns[:, has_band], seed, n_boot, answers.families)
        studentized = np.abs(varying.studentized)
        # A draw in which no column varies has no largest t.
        largest = np.nanmax(studentized[np.isfinite(studentized).any(axis=1)], axis=1)
        critical = np.quantile(largest, LEVELS)
    # Columns that do not vary have a value and no band.
    half = np.where(has_band, joint.se, np.nan)[:, None] * critical
    shape = (len(by_level.references), len(by_level.policies), len(cells), len(QUANTITIES), 1)
    half = half.reshape(*shape[:-1], len(LEVELS))
    middle = joint.values.reshape(shape)
    # Limits stay within the range of their quantity.
    low, high = np.array(bounds).T.reshape(2, *shape)
    return np.maximum(middle - half, low), np.minimum(middle + half, high)


# Checks of a page's settings, which come from a user, a link, a browser's message or a decision.

BOUNDS = {
    "level": (LEVELS[0], LEVELS[-1]),
    "margin": (0.0, 1.0),
    "alpha": (0.0, 1.0),
    "fpr": (0.0, 1.0),
}
CHOICES = (POLICIES, RULES, tuple(pearl_alpha.RULES))


def fitting(settings: Mapping[str, Any], start: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings whose names are in `start` and whose values are allowed."""
    fitting_settings = {}
    for key, value in settings.items():
        if key in start and _fits(key, value, start[key]):
            fitting_settings[key] = value
    return fitting_settings


def _fits(key: str, value: Any, start: Any) -> bool:
    """Tell whether a value is within its bounds, or among the choices that `start` belongs to."""
    if key in BOUNDS and value is not None:
        low, high = BOUNDS[key]
        return isinstance(value, (int, float)) and low <= value <= high
    return all(value in choices for choices in CHOICES if start in choices)
