"""The threshold board's data: the level limits of every reference, null policy and kind, in the
shape that the browser looks up; in simultaneous mode one band that holds for all of them at
once."""

import base64
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, product
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

LEVELS = tuple(round(0.5 + 0.01 * i, 2) for i in range(50)) + (
    0.992,
    0.994,
    0.995,
    0.996,
    0.998,
    0.999,
)
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
    """How many the board and the table under it take, so that they print the same limits. Beyond
    MANY_ITEMS items fewer do: the limits are then so close that the draws no longer move their
    second digit."""
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

    def at(
        self, reference: str, policy: str, row: str, level: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """(low, high) of the quantities of one row at the level that is nearest."""
        levels = self.arrays["levels"]
        at = min(range(len(levels)), key=lambda i: abs(levels[i] - level))
        place = [one["id"] for one in self.arrays["rows"]].index(row)
        low, high = self.limits[f"{reference}|{policy}"]
        return low[place, :, at], high[place, :, at]


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
    at: Mapping[str, Any] | None = None,
) -> Board:
    """Arrays: `levels, rows, tables, wording, options, start, chosen`;
    `tables["reference|policy|kind"]` holds points, floors, packed limits in the order quantity,
    row, level, and for each rule the outcomes, the headline's row and the tally at each level;
    `wording["reference|policy"]` the sentences of each row. `closed_gates`: axis or extractor ->
    why it is not claimed. With `simultaneous` the only kind is a max-|t| band over all rows,
    references and policies. Otherwise hidden rows over all axes that may be claimed carry the
    headline. `at` names one reference, policy and kind: there are no other tables and words then,
    and a page asks again for those that somebody chooses; the options stay all."""
    references, n_boot = readable(answers), n_boot or resamples(answers)
    shut = set(closed_gates or {}) | {IDENTITY}
    pooled = () if simultaneous else tuple(axis for axis in answers.axes if axis not in shut)
    kinds = {"simultaneous": BAND} if simultaneous else KINDS
    options = {
        "reference": [(e, title_of(e)) for e in references],
        "kind": list(kinds.items()),
    } | OPTIONS
    reference = default_reference(references) if references else ""
    choices = {
        "reference": reference,
        "policy": "own_class",
        "kind": next(iter(kinds)),
        "rule": RULES[0],
    }
    policies: tuple[str, ...] = POLICIES
    of_kind = tuple(kinds)
    if at is not None and references:
        choices = _choices(options, choices, at)
        references, policies, of_kind = (
            (choices[name],) for name in ("reference", "policy", "kind")
        )
    by_level = level_limits(
        answers,
        references,
        policies=policies,
        kinds=() if simultaneous else of_kind,
        levels=LEVELS,
        pooled=pooled,
        seed=seed,
        n_boot=n_boot,
    )
    every = every_pairing(answers, references) if simultaneous else None
    wording_of = wordings(
        answers, references, policies, closed_gates or {}, temperature, pooled, every
    )
    band = _band(answers, by_level, seed, n_boot) if simultaneous else None
    tables: dict[str, dict] = {}
    limits: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for (r, reference), (p, policy), (k, kind) in product(
        enumerate(references), enumerate(policies), enumerate(of_kind)
    ):
        low, high = (
            (band[0][r, p], band[1][r, p])
            if band
            else (by_level.low[r, p, k], by_level.high[r, p, k])
        )
        outcomes = _verdicts(wording_of(reference, policy), low, high)
        if band:
            limits[f"{reference}|{policy}"] = low, high
        tables[f"{reference}|{policy}|{kind}"] = _table(by_level, r, p, low, high) | outcomes
    rows = [
        {
            "id": f"{axis}|{e}",
            "label": f"{axis.replace('_', ' ')}, {title_of(e).lower()}",
            "hidden": axis == ALL_AXES,
        }
        for axis, e in by_level.rows
    ]
    wording = {}
    for reference, policy in product(references, policies):
        sentences = wording_of(reference, policy)
        wording[f"{reference}|{policy}"] = {"rows": sentences.rows(), "instead": sentences.instead}
    arrays = {"levels": list(LEVELS), "rows": rows, "tables": tables, "quantities": list(WHISKERS)}
    arrays |= {
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
    labels = {kind: coverage_label(measured_coverage(kind, fewest)) for kind in kinds}
    return [
        (kind, f"{title} ({labels[kind]})" if labels[kind] else title)
        for kind, title in kinds.items()
    ]


def at_settings(board: dict, view: dict) -> dict:
    """The board at the settings of `view`, where it has them."""
    levels = board["levels"]
    at = min(range(len(levels)), key=lambda i: abs(levels[i] - view["level"]))
    return board | {"start": at, "chosen": _choices(board["options"], board["chosen"], view)}


def _choices(
    options: Mapping[str, Sequence[tuple[str, str]]],
    start: Mapping[str, str],
    view: Mapping[str, Any],
) -> dict:
    """The choices of `view` where they are options, else those of `start`."""
    return {
        key: view[key] if view[key] in dict(options[key]) else default
        for key, default in start.items()
    }


def start_of(scorers: Sequence[str], start: Mapping[str, Any] = START) -> dict:
    """The settings that nobody chose yet: of a log that has scorers of its own, the first is the
    reference."""
    return {**start, "reference": next(iter(scorers), REFERENCE)}


def with_own_reference(view: dict, extractors: Sequence[str], scorers: Sequence[str] = ()) -> dict:
    """`view` with the model's own default for a reference extractor that nobody chose."""
    untouched = (
        view["reference"] == start_of(scorers)["reference"] and view["reference"] not in extractors
    )
    return view | {"reference": default_reference(extractors, scorers)} if untouched else view


def band_words(cells: Sequence[Decomposition]) -> str:
    """For what the simultaneous band of these cells holds, and where it holds less often than its
    level says."""
    fewest = min((one.T.n for one in cells if one.T.n), default=0)
    caveat = (
        f" (with fewer than {BAND_HOLDS_FROM} items, as here, less often than the level says)"
        if fewest < BAND_HOLDS_FROM
        else ""
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
    out = []
    for cell in cells:
        low, high = band_board.at(cell.reference, policy, f"{cell.axis}|{cell.extractor}", level)
        estimates: dict[str, Any] = {}
        for i, name in enumerate(stated_names(cell.item_values)):
            limits = {"low": float(low[i]), "high": float(high[i]), "method": BAND}
            estimates[name] = replace(getattr(cell, name), **limits, note="", coverage=None)
        for name in (*COLUMNS, "share"):
            if name not in estimates:
                value = getattr(cell, name)
                estimates[name] = without_interval(value.value, value.n, value.level, OUTSIDE_BAND)
        out.append(replace(cell, **estimates, p_artifact=math.nan, p_more=math.nan))
    return out


def _table(by_level: LevelLimits, r: int, p: int, low: np.ndarray, high: np.ndarray) -> dict:
    """`low` and `high` are (rows, quantities, levels)."""
    points = {
        name: [plain(one) for one in by_level.values[r, p, :, i]]
        for i, name in enumerate(QUANTITIES)
    }
    places = [QUANTITIES.index(name) for name in WHISKERS]
    return {
        **points,
        "low": _packed(low[:, places]),
        "high": _packed(high[:, places]),
        "floor_T": [plain(one) for one in by_level.floors[r, p, :, 0]],
        "floor_G": [plain(one) for one in by_level.floors[r, p, :, 1]],
        "n": by_level.n[r, p].tolist(),
        "reference_rows": [e == by_level.references[r] for _, e in by_level.rows],
    }


def _verdicts(wording: Wording, low: np.ndarray, high: np.ndarray) -> dict:
    """What the cells' verdicts are at each level by rule; limits are (rows, quantities, levels)."""
    lows, highs = ({name: side[:, i] for i, name in enumerate(QUANTITIES)} for side in (low, high))
    return {"verdicts": {rule: wording.verdicts_at(rule, LEVELS, lows, highs) for rule in RULES}}


def _band(
    answers: CodedAnswers, by_level: LevelLimits, seed: int, n_boot: int
) -> tuple[np.ndarray, np.ndarray]:
    """Limits (references, policies, rows, quantities, levels): point ± c(level) SE with c a
    quantile of max |t| over every column that varies, from one joint item draw a replicate. Of the
    reference itself only T has limits, since each rare share more makes the band wider for all.
    Below 10 items there is none."""
    cells = list(product((axis for axis in answers.axes if axis != IDENTITY), answers.extractors))
    names, parts = [], []
    for reference, policy, (axis, e) in product(by_level.references, by_level.policies, cells):
        values = item_rates(answers, axis, e, reference, policy).values
        names.append(stated_names(values))
        part = values[:, [list(COLUMNS).index(name) for name in names[-1]]]
        parts.append(
            np.where(
                np.arange(len(QUANTITIES)) < (2 if e == reference else len(QUANTITIES)),
                part,
                np.nan,
            )
        )
    columns = np.hstack(parts)
    joint = JointMeans(columns, seed, n_boot, answers.families)
    has_band = (joint.n >= 10) & (joint.se > 1e-12)
    critical = np.full(len(LEVELS), np.nan)
    if has_band.any():
        studentized = np.abs(
            JointMeans(columns[:, has_band], seed, n_boot, answers.families).studentized
        )
        largest = np.nanmax(studentized[np.isfinite(studentized).any(axis=1)], axis=1)
        critical = np.quantile(largest, LEVELS)
    half = np.where(has_band, joint.se, np.nan)[:, None] * critical
    shape = (
        len(by_level.references),
        len(by_level.policies),
        len(cells),
        len(QUANTITIES),
        len(LEVELS),
    )
    # what each can be at all
    bounds = [COLUMNS[name] for name in chain.from_iterable(names)]
    low, high = np.array(bounds).T.reshape(2, *shape[:-1], 1)
    middle, half = joint.values[:, None].reshape(*shape[:-1], 1), half.reshape(shape)
    return np.maximum(middle - half, low), np.minimum(middle + half, high)


def _packed(limits: np.ndarray) -> str:
    """(rows, quantities, levels) as base64 float64 in the order quantity, row, level. In single
    precision 0.075 would be printed as 0.08 here and as 0.07 in a table."""
    return base64.b64encode(
        np.ascontiguousarray(limits.transpose(1, 0, 2), dtype="<f8").tobytes()
    ).decode()


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
    """Those of `start`'s settings that are within their bounds, or among the choices that `start`
    has them from."""
    return {
        key: value
        for key, value in settings.items()
        if key in start and _fits(key, value, start[key])
    }


def _fits(key: str, value: Any, start: Any) -> bool:
    if key in BOUNDS and value is not None:
        low, high = BOUNDS[key]
        return isinstance(value, (int, float)) and low <= value <= high
    choices = next((several for several in CHOICES if start in several), None)
    return choices is None or value in choices
