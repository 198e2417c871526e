"""The threshold board's data: the level limits of every reference, null policy and kind, in the
shape that the browser looks up; in simultaneous mode one band that holds for all of them at
once."""

import base64
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from flipcore.claims.flips import BAND
from flipcore.core.records import IDENTITY
from flipcore.reports.browser_data.level_limits import (
    LEADS,
    QUANTITIES,
    LevelLimits,
    level_limits,
    stated_names,
)
from flipcore.reports.browser_data.verdicts import RULES, Wording, every_pairing, wordings
from flipcore.reports.rows import plain
from flipcore.stats.base.estimate import coverage_label, without_interval
from flipcore.stats.base.joint_means import JointMeans
from flipcore.stats.base.measured_coverage import measured_coverage
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
WHISKERS = ("T", *LEADS)  # what the browser draws limits of
POLICY_TITLES = {"own_class": "one more answer", "always_flip": "always a flip", "drop": "left out"}
OUTSIDE_BAND = "No interval here holds for every row at once."
RULE_TITLES = {
    "parts": "three parts",
    "paired": "A − G above 0 (source)",
    "nonoverlap": "intervals apart (source)",
}
OPTIONS = {"policy": list(POLICY_TITLES.items()), "rule": list(RULE_TITLES.items())}
START = {
    "level": 0.95,
    "reference": REFERENCE,
    "policy": "own_class",
    "kind": "default",
    "rule": RULES[0],
}
MANY_ITEMS, FEW_BOOT = 2_000, 1_999
# Items from which the 95% band holds for everything at once; planted G = .1, 400 and 300 samples:
# .86 at 20 items, .92 at 30, .95 at 40: where one item flips, its standard error does not know of
# the others.
BAND_HOLDS_FROM = 40


def resamples(answers: CodedAnswers) -> int:
    """The number of resamples that the board and the table under it take, so that both print the
    same limits. Beyond MANY_ITEMS items fewer do: the limits are then so close that the draws no
    longer move their second digit."""
    return N_BOOT if len(answers.items) <= MANY_ITEMS else FEW_BOOT


def readable(answers: CodedAnswers) -> tuple[str, ...]:
    """The readouts that read at least one answer: any of them may be the reference."""
    has_answer = {name for (_, name), codes in answers.codes.items() if (codes >= 0).any()}
    return tuple(name for name in answers.extractors if name in has_answer)


@dataclass(frozen=True, eq=False)
class Board:
    """`arrays` is what the browser looks up; `limits["reference|policy"]` a simultaneous band as
    numbers, low and high, each (rows, quantities, levels)."""

    arrays: dict[str, Any]
    limits: Mapping[str, tuple[np.ndarray, np.ndarray]]

    def limits_at(
        self, reference: str, policy: str, row_id: str, level: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """(low, high) of the quantities of one row at the level that is nearest."""
        level_index = nearest(self.arrays["levels"], level)
        row_index = [row["id"] for row in self.arrays["rows"]].index(row_id)
        low, high = self.limits[f"{reference}|{policy}"]
        return low[row_index, :, level_index], high[row_index, :, level_index]


def nearest(levels: Sequence[float], level: float) -> int:
    """The index of the level that is nearest."""
    return min(range(len(levels)), key=lambda i: abs(levels[i] - level))


def board(answers: CodedAnswers, title_of: Callable[[str], str], **settings: Any) -> dict:
    """The arrays of `level_board` alone."""
    return level_board(answers, title_of, **settings).arrays


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
) -> Board:
    """Make the board. Its arrays: `levels, rows, tables, wording, options, start, chosen`;
    `tables["reference|policy|kind"]` holds points, floors, packed limits in the order quantity,
    row, level, and for each rule the outcomes, the headline's row and the tally at each level;
    `wording["reference|policy"]` the sentences of each row. `closed_gates`: axis or extractor ->
    why it is not claimed. With `simultaneous` the only kind is a max-|t| band over all rows,
    references and policies. Otherwise hidden rows over all axes that may be claimed carry the
    headline. `selection` names one reference, policy and kind: there are no other tables and words
    then, and a page asks again for those that somebody chooses; the options stay all."""
    references, n_boot = readable(answers), n_boot or resamples(answers)
    shut = set(closed_gates or {}) | {IDENTITY}
    pooled = () if simultaneous else tuple(axis for axis in answers.axes if axis not in shut)
    kinds = {"simultaneous": BAND} if simultaneous else KINDS
    options = {
        "reference": [(name, title_of(name)) for name in references],
        "kind": list(kinds.items()),
        **OPTIONS,
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
        # A page asks again for what somebody chooses, instead of waiting for all of it.
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
    together = every_pairing(answers, references) if simultaneous else None
    gates = closed_gates or {}
    wording_of = wordings(answers, references, policies, gates, temperature, pooled, together)
    band = _band(answers, by_level, seed, n_boot) if simultaneous else None
    tables: dict[str, dict] = {}
    wording: dict[str, dict] = {}
    limits: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for (r, reference), (p, policy) in product(enumerate(references), enumerate(policies)):
        key, words = f"{reference}|{policy}", wording_of(reference, policy)
        wording[key] = {"rows": words.rows(), "instead": words.instead}
        for k, kind in enumerate(shown_kinds):
            if band:
                low, high = band[0][r, p], band[1][r, p]
                limits[key] = (low, high)
            else:
                low, high = by_level.low[r, p, k], by_level.high[r, p, k]
            outcomes = _verdicts(words, low, high)
            tables[f"{key}|{kind}"] = _table(by_level, r, p, low, high) | outcomes
    rows = []
    for axis, name in by_level.rows:
        label = f"{axis.replace('_', ' ')}, {title_of(name).lower()}"
        rows.append({"id": f"{axis}|{name}", "label": label, "hidden": axis == ALL_AXES})
    arrays = {
        "levels": list(LEVELS),
        "rows": rows,
        "tables": tables,
        "quantities": list(WHISKERS),
        "wording": wording,
        "options": options | {"kind": _titles(kinds, by_level)},
        "start": LEVELS.index(0.95),
        "chosen": choices,
    }
    return Board(arrays, limits)


def _titles(kinds: Mapping[str, str], by_level: LevelLimits) -> list[tuple[str, str]]:
    """Each kind of interval with its title, which says what one that is short held in simulation at
    these numbers of items."""
    fewest = int(by_level.n[by_level.n > 0].min(initial=0))
    titles = []
    for kind, title in kinds.items():
        label = coverage_label(measured_coverage(kind, fewest))
        titles.append((kind, f"{title} ({label})" if label else title))
    return titles


def at_settings(board: dict, view: dict) -> dict:
    """The board at the settings of `view`, where it has them."""
    chosen = _choices(board["options"], board["chosen"], view)
    return board | {"start": nearest(board["levels"], view["level"]), "chosen": chosen}


def _choices(
    options: Mapping[str, Sequence[tuple[str, str]]],
    start: Mapping[str, str],
    view: Mapping[str, Any],
) -> dict:
    """The choices of `view` where they are options, else those of `start`."""
    choices = {}
    for key, default in start.items():
        choices[key] = view[key] if view[key] in dict(options[key]) else default
    return choices


def start_of(scorers: Sequence[str], start: Mapping[str, Any] = START) -> dict:
    """The settings that nobody chose yet: of a log that has scorers of its own, the first is the
    reference."""
    return {**start, "reference": next(iter(scorers), REFERENCE)}


def with_own_reference(view: dict, extractors: Sequence[str], scorers: Sequence[str] = ()) -> dict:
    """`view` with the model's own default for a reference extractor that nobody chose."""
    is_start = view["reference"] == start_of(scorers)["reference"]
    if not is_start or view["reference"] in extractors:
        return view
    return view | {"reference": default_reference(extractors, scorers)}


def band_words(cells: Sequence[Decomposition]) -> str:
    """The scope of the simultaneous band of these cells, and where it holds less often than its
    level says."""
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
    cells: Sequence[Decomposition], band_board: Board, level: float, policy: str
) -> list[Decomposition]:
    """The cells with the simultaneous band of `band_board` (a board with `simultaneous`) in place
    of each interval by itself: what the board shows has one, every other estimate and p-value is
    left without, because nothing holds for all at once.
    """
    banded_cells = []
    for cell in cells:
        row_id = f"{cell.axis}|{cell.extractor}"
        low, high = band_board.limits_at(cell.reference, policy, row_id, level)
        estimates: dict[str, Any] = {}
        for i, name in enumerate(stated_names(cell.item_values)):
            limits = {"low": float(low[i]), "high": float(high[i]), "method": BAND}
            estimates[name] = replace(getattr(cell, name), **limits, note="", coverage=None)
        # No interval and no p-value by itself holds for all rows at once.
        for name in (*COLUMNS, "share"):
            if name not in estimates:
                value = getattr(cell, name)
                estimates[name] = without_interval(value.value, value.n, value.level, OUTSIDE_BAND)
        banded_cells.append(replace(cell, **estimates, p_artifact=math.nan, p_more=math.nan))
    return banded_cells


def _table(by_level: LevelLimits, r: int, p: int, low: np.ndarray, high: np.ndarray) -> dict:
    """`low` and `high` are (rows, quantities, levels)."""
    table = {}
    for i, name in enumerate(QUANTITIES):
        table[name] = list(map(plain, by_level.values[r, p, :, i]))
    places = [QUANTITIES.index(name) for name in WHISKERS]
    return table | {
        "low": _packed(low[:, places]),
        "high": _packed(high[:, places]),
        "floor_T": list(map(plain, by_level.floors[r, p, :, 0])),
        "floor_G": list(map(plain, by_level.floors[r, p, :, 1])),
        "n": by_level.n[r, p].tolist(),
        "reference_rows": [name == by_level.references[r] for _, name in by_level.rows],
    }


def _verdicts(wording: Wording, low: np.ndarray, high: np.ndarray) -> dict:
    """The cells' verdicts at each level by rule; limits are (rows, quantities, levels)."""
    lows = {name: low[:, i] for i, name in enumerate(QUANTITIES)}
    highs = {name: high[:, i] for i, name in enumerate(QUANTITIES)}
    return {"verdicts": {rule: wording.verdicts_at(rule, LEVELS, lows, highs) for rule in RULES}}


def _band(
    answers: CodedAnswers, by_level: LevelLimits, seed: int, n_boot: int
) -> tuple[np.ndarray, np.ndarray]:
    """Limits (references, policies, rows, quantities, levels): point ± c(level) SE with c a
    quantile of max |t| over every column that varies, from one joint item draw a replicate. Of the
    reference itself only T has limits, since each rare share more makes the band wider for all.
    Below 10 items there is none."""
    cells = list(product((axis for axis in answers.axes if axis != IDENTITY), answers.extractors))
    bounds, parts = [], []
    for reference, policy, (axis, name) in product(by_level.references, by_level.policies, cells):
        values = item_rates(answers, axis, name, reference, policy).values
        stated = stated_names(values)
        part = values[:, [list(COLUMNS).index(column) for column in stated]]
        # Of the reference only T has limits: each rare share more widens the band for all.
        if name == reference:
            part[:, 2:] = np.nan
        bounds += [COLUMNS[column] for column in stated]
        parts.append(part)
    columns = np.hstack(parts)
    joint = JointMeans(columns, seed, n_boot, answers.families)
    has_band = (joint.n >= 10) & (joint.se > 1e-12)
    critical = np.full(len(LEVELS), np.nan)
    if has_band.any():
        varying = JointMeans(columns[:, has_band], seed, n_boot, answers.families)
        studentized = np.abs(varying.studentized)
        # A draw in which no column varies has no largest t.
        largest = np.nanmax(studentized[np.isfinite(studentized).any(axis=1)], axis=1)
        critical = np.quantile(largest, LEVELS)
    # Columns that do not vary have a point and no band.
    half = np.where(has_band, joint.se, np.nan)[:, None] * critical
    shape = (len(by_level.references), len(by_level.policies), len(cells), len(QUANTITIES), 1)
    half = half.reshape(*shape[:-1], len(LEVELS))
    middle = joint.values.reshape(shape)
    # No limit lies beyond what a quantity can be at all.
    low, high = np.array(bounds).T.reshape(2, *shape)
    return np.maximum(middle - half, low), np.minimum(middle + half, high)


def _packed(limits: np.ndarray) -> str:
    """(rows, quantities, levels) as base64 float64 in the order quantity, row, level."""
    # In single precision 0.075 would be printed as 0.08 here and as 0.07 in a table.
    ordered = np.ascontiguousarray(limits.transpose(1, 0, 2), dtype="<f8")
    return base64.b64encode(ordered.tobytes()).decode()


# What the settings of a page may be, whoever set them: a hand, a link, a browser's message or a
# decision.

BOUNDS = {
    "level": (LEVELS[0], LEVELS[-1]),
    "margin": (0.0, 1.0),
    "alpha": (0.0, 1.0),
    "fpr": (0.0, 1.0),
}
CHOICES = (POLICIES, RULES, pearl_alpha.RULES)


def fitting(settings: Mapping[str, Any], start: Mapping[str, Any]) -> dict[str, Any]:
    """Keep the settings that `start` has and that are within their bounds, or among the choices
    that `start` has them from."""
    fitting_settings = {}
    for key, value in settings.items():
        if key in start and _fits(key, value, start[key]):
            fitting_settings[key] = value
    return fitting_settings


def _fits(key: str, value: Any, start: Any) -> bool:
    if key in BOUNDS and value is not None:
        low, high = BOUNDS[key]
        return isinstance(value, (int, float)) and low <= value <= high
    return all(value in choices for choices in CHOICES if start in choices)
