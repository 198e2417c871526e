"""The threshold board: the level limits of every reference, null policy and kind; in simultaneous
mode one band that holds for all of them at once."""

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
from flipcore.reports.browser_data.verdicts import OUTCOMES, RULES, Wording, every_pairing, wordings
from flipcore.stats.base.estimate import coverage_label, without_interval
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
WHISKERS = ("T", *LEADS)  # what the browser draws limits of
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
class LevelBoard:
    """`data` is what the browser looks up; `limits["reference|policy"]` a simultaneous band as
    numbers, low and high, each (rows, quantities, levels)."""

    data: dict[str, Any]
    row_ids: tuple[str, ...]
    limits: Mapping[str, tuple[np.ndarray, np.ndarray]]

    def limits_at(
        self, reference: str, policy: str, row_id: str, level: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """(low, high) of the quantities of one row at the level that is nearest."""
        level_index, row_index = nearest(LEVELS, level), self.row_ids.index(row_id)
        low, high = self.limits[f"{reference}|{policy}"]
        return low[row_index, :, level_index], high[row_index, :, level_index]


def nearest(levels: Sequence[float], level: float) -> int:
    """The index of the level that is nearest."""
    return min(range(len(levels)), key=lambda i: abs(levels[i] - level))


def board(answers: CodedAnswers, title_of: Callable[[str], str], **settings: Any) -> dict:
    """The data of `level_board` alone."""
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
    """Make the board. Its rows differ by reference and policy, their intervals by kind too, and
    their outcomes by every choice. `closed_gates`: axis or extractor -> why it is not claimed. With
    `simultaneous` the only kind is a max-|t| band over all rows, references and policies. Otherwise
    hidden rows over all axes that may be claimed carry the headline. `selection` names one
    reference, policy and kind: there are no other parts then, and a page asks again for those that
    somebody chooses; the options stay all."""
    references, n_boot = readable(answers), n_boot or resamples(answers)
    shut = set(closed_gates or {}) | {IDENTITY}
    pooled = () if simultaneous else tuple(axis for axis in answers.axes if axis not in shut)
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
    limits: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    rows, intervals, outcomes, headlines = {}, {}, {}, {}
    for (r, reference), (p, policy) in product(enumerate(references), enumerate(policies)):
        key, words = f"{reference}|{policy}", wording_of(reference, policy)
        rows[key] = [_row(words, by_level, (r, p, i), title_of) for i in range(len(by_level.rows))]
        rows[key].append(_AXIS)
        for k, kind in enumerate(shown_kinds):
            if band:
                low, high = band[0][r, p], band[1][r, p]
                limits[key] = (low, high)
            else:
                low, high = by_level.low[r, p, k], by_level.high[r, p, k]
            intervals[f"{key}|{kind}"] = _intervals(by_level.values[r, p], low, high)
            lows = {name: low[:, i] for i, name in enumerate(QUANTITIES)}
            highs = {name: high[:, i] for i, name in enumerate(QUANTITIES)}
            for rule in RULES:
                verdicts = words.verdicts_at(rule, LEVELS, lows, highs)
                outcomes[f"{key}|{kind}|{rule}"] = verdicts.outcomes
                headlines[f"{key}|{kind}|{rule}"] = [
                    Headline([[0, words.instead]], verdicts.tally, verdicts.leading_row)
                ]
    options["kind"] = _titles(kinds, by_level)
    shown = []
    for name, title in CHOICE_TITLES.items():
        choice = {"name": name, "title": title, "options": options[name], "chosen": choices[name]}
        shown.append(choice)
    names = list(CHOICE_TITLES)
    quoted = "({label} band)" if simultaneous else "({label} intervals)"
    declared = Board(
        "threshold",
        Chosen(names[:2], rows),
        Chosen(names, headlines),
        [level_control(LEVELS, 0.95, quoted)],
        shown,
        outcomes=OUTCOMES,
        outcomes_by_row=Chosen(names, outcomes),
        intervals_by_row=Chosen(names[:3], intervals),
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
    words: Wording,
    by_level: LevelLimits,
    place: tuple[int, int, int],
    title_of: Callable[[str], str],
) -> Row:
    """The row at (reference, policy, row), with its three parts and the floors under them."""
    r, p, i = place
    axis, name = by_level.rows[i]
    sentences, leads = words.sentences(i)
    values, parts, n = by_level.values[r, p, i], words.parts(i), int(by_level.n[r, p, i])
    floor, compared_floor = by_level.floors[r, p, i].tolist()
    # Of the reference itself there is one floor, that of all flips.
    is_reference = name == by_level.references[r]
    floors = [floor] if is_reference else [floor, parts[0] + compared_floor]
    picture = {"kind": "parts", "parts": parts, "floors": [] if math.isnan(floor) else floors}
    return Row(
        f"{axis.replace('_', ' ')}, {title_of(name).lower()}",
        id=f"{axis}|{name}",
        note=f"{n:,} item{'' if n == 1 else 's'}" if n else "",
        hint=words.claims[i].detail,
        sentences=sentences,
        leads=leads,
        pictures=[picture],
        weight=float(values[QUANTITIES.index("A")]),
        is_hidden=axis == ALL_AXES,
    )


def _intervals(values: np.ndarray, low: np.ndarray, high: np.ndarray) -> list[dict]:
    """The intervals of each row by name; `low` and `high` are (rows, quantities, levels)."""
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
    """The board's data at the settings of `view`, where it has them."""
    options = {choice["name"]: choice["options"] for choice in board["choices"]}
    start = {choice["name"]: choice["chosen"] for choice in board["choices"]}
    chosen = _choices(options, start, view)
    control = board["controls"][0]
    level = control["values"][nearest(control["values"], view["level"])]
    return board | {
        "controls": [control | {"start": level}],
        "choices": [choice | {"chosen": chosen[choice["name"]]} for choice in board["choices"]],
    }


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
    """Settings that nobody chose yet; the first scorer of a log is its reference."""
    return {**start, "reference": next(iter(scorers), REFERENCE)}


def with_own_reference(view: dict, extractors: Sequence[str], scorers: Sequence[str] = ()) -> dict:
    """`view` with the model's own default for a reference extractor that nobody chose."""
    is_start = view["reference"] == start_of(scorers)["reference"]
    if not is_start or view["reference"] in extractors:
        return view
    return view | {"reference": default_reference(extractors, scorers)}


def band_words(cells: Sequence[Decomposition]) -> str:
    """Scope of the simultaneous band, and where it holds less often than its level says."""
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
