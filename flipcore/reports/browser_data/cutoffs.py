"""The items that a cut-off flags, wherever it is dragged: bands that hold at every position at
once, and verdicts on a grid."""

import base64
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from flipcore.claims.memory_gap import MARGIN, gap_claim
from flipcore.claims.memory_sets import dragged_bound
from flipcore.reports.memory import MemoryTest
from flipcore.reports.rows import plain
from flipcore.stats.base.estimate import MIN_N
from flipcore.stats.memory.drop_gap_analysis import DropGap
from flipcore.stats.memory.loss_analysis import (
    DEFAULT_RULE,
    RULES,
    CutoffCurve,
    LossTest,
    cutoff_curve,
)
from flipcore.stats.memory.pearl_analysis import AlphaCurve, Pearl

SETS = ("benchmark", "control")


def dkw_half_width(n: int, level: float = 0.95, sides: int = 2) -> float:
    """Half the width of a band around an empirical distribution that holds everywhere at once
    (Dvoretzky, Kiefer and Wolfowitz, with Massart's constant): sqrt(ln(sides / (1 - level)) / 2n).
    NaN without values."""
    return math.sqrt(math.log(sides / (1 - level)) / (2 * n)) if n else math.nan


def excess_low_everywhere(curve: CutoffCurve, n: int, m: int, level: float = 0.95) -> np.ndarray:
    """Lower bound of the excess that holds at every cut-off at once, from each set's one-sided DKW
    bound."""
    # Half the error for each set, so that both bounds hold together.
    slack = dkw_half_width(n, (1 + level) / 2, 1) + dkw_half_width(m, (1 + level) / 2, 1)
    chance = curve.n_controls_flagged / m
    room = np.where(chance < 1, 1 - chance, np.nan)
    return (curve.n_flagged / n - chance - slack) / room


def shares_everywhere(
    curve: AlphaCurve, n_members: int, n_non_members: int, level: float = 0.95
) -> tuple[np.ndarray, np.ndarray]:
    """(false-positive limits, detection limits), each (alphas, 2), that hold at every alpha at
    once."""
    limits = []
    for shares, n in ((curve.fpr, n_non_members), (curve.detection, n_members)):
        # Below ten texts no interval is shown anywhere.
        half = dkw_half_width(n, level) if n >= MIN_N else math.nan
        limits.append(np.clip(np.column_stack([shares - half, shares + half]), 0, 1))
    return limits[0], limits[1]


def loss_cutoff(test: LossTest, rule: str) -> float:
    """The line's first place: the smallest D that the rule flags, or just beyond every
    control."""
    cutoff = test.cutoff(rule)
    return cutoff if math.isfinite(cutoff) else float(max(test.d0.max(), test.d.max()))


def binned(values: np.ndarray, edges: np.ndarray) -> list[float]:
    """Share of `values` in each bin."""
    counts = np.histogram(values, edges)[0]
    # Values outside the bins belong to the set all the same.
    return (counts / max(len(values), 1)).tolist()


def edges_of(*groups: np.ndarray, n_bins: int = 60) -> np.ndarray:
    """Common bin edges over the finite values of all groups."""
    values = np.concatenate(groups)
    values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    # A single value gets a bin of its own.
    pad = 0.02 * (high - low) or 0.5
    return np.linspace(low - pad, high + pad, n_bins + 1)


# Every tenth of a point up to 30.
MARGINS = np.round(np.arange(0.0, 0.3001, 0.001), 3)


def packed(values: Sequence[float] | np.ndarray) -> str:
    """Base64 of little-endian 32-bit floats; infinities stay within the largest float."""
    return base64.b64encode(np.asarray(values, dtype="<f4").tobytes()).decode()


def _line(**parts) -> dict:
    defaults: dict = {
        "groups": [],
        "edges": [],
        "rows": None,
        "marks": [],
        "words": {},
        "scale": 1,
        "mirrored": False,
    }
    return defaults | parts


def _group(name: str, colour: str, values: np.ndarray, edges: np.ndarray) -> dict[str, Any]:
    label = f"{name} (n = {len(values):,})"
    return {"label": label, "colour": colour, "shares": binned(values, edges)}


def loss_line(
    test: LossTest,
    start: float,
    unit: str,
    names: tuple[str, str],
    *,
    simultaneous: bool = False,
    withheld: str = "",
    mark: float = math.nan,
) -> dict:
    """The loss test's cut-off over D of the items (up) and of the controls (down). `withheld`: why
    nothing is claimed of the set, and then no lower bound is printed. `mark` is the controls' that
    the verdict counts beyond."""
    curve = cutoff_curve(test.d, test.d0)
    n, m = len(test.d), len(test.d0)
    low = excess_low_everywhere(curve, n, m) if simultaneous else curve.excess_low
    edges = edges_of(test.d, test.d0)
    return _line(
        id=f"loss-{n}-{m}-{test.d.sum():.6g}-{simultaneous}",
        control="loss cut-off",
        name="Flag D from",
        unit=unit,
        side="ge",
        shown="{at|num} nats",
        start=start,
        range=[float(edges[0]), float(edges[-1])],
        # A cut-off that flags nothing is infinite; the browser takes the largest float for it.
        positions=packed(np.minimum(curve.cutoffs, np.finfo("f4").max)),
        edges=edges.tolist(),
        marks=_verdict_mark(mark),
        groups=[
            _group(names[0], "benchmark", test.d, edges),
            _group(names[1], "control", test.d0, edges),
        ],
        tables={
            "flagged": packed(curve.n_flagged),
            "controls": packed(curve.n_controls_flagged),
            "expected": packed(curve.n_expected),
            "excess": packed(curve.excess),
            "low": packed(np.maximum(low, 0.0)),
        },
        lines=[
            (
                f"{{flagged|int}} of {n:,} items are flagged; chance alone would flag"
                " {expected|num}."
            ),
            (
                f"{{controls|int}} of {m:,} controls lie as high. Beyond chance: {{excess|pct}} of"
                f" the items{dragged_bound(is_simultaneous=simultaneous, withheld=withheld)}."
            ),
        ],
    )


def _verdict_mark(mark: float) -> list[dict]:
    """The mark beyond which the verdict on the set counts, which no line moves."""
    return [{"x": mark, "label": "the verdict's mark", "row": 1}] if math.isfinite(mark) else []


def alpha_line(
    pearl: Pearl, start: float, unit: str, *, simultaneous: bool = False, mark: float = math.nan
) -> dict:
    """PEARL's alpha over sensitivities of judged texts (up) and of non-members (down); `mark` as in
    `loss_line`."""
    curve = pearl.curve()
    sensitivity = pearl.sensitivity[~np.isnan(pearl.sensitivity)]
    non_members = pearl.non_members[~np.isnan(pearl.non_members)]
    fpr, detection = curve.fpr_limits, curve.detection_limits
    if simultaneous:
        fpr, detection = shares_everywhere(curve, len(sensitivity), len(non_members))
    edges = edges_of(sensitivity, non_members)
    marks = [
        {"x": pearl.calibration.alpha, "label": f"α by the {pearl.calibration.rule} rule"},
        *_verdict_mark(mark),
    ]
    return _line(
        id=f"alpha-{len(sensitivity)}-{len(non_members)}-{sensitivity.sum():.6g}-{simultaneous}",
        control="alpha",
        name="α",
        unit=unit,
        side="gt",
        shown="{at|fine}",
        start=start,
        range=[float(edges[0]), float(edges[-1])],
        edges=edges.tolist(),
        marks=marks,
        positions=packed(np.maximum(curve.alphas, np.finfo("f4").min)),
        groups=[
            _group("judged", "benchmark", sensitivity, edges),
            _group("non-members", "control", non_members, edges),
        ],
        tables={
            "k": packed(curve.n_detected),
            "false": packed(curve.n_false),
            "detection": packed(curve.detection),
            "fpr": packed(curve.fpr),
            "f0": packed(fpr[:, 0]),
            "f1": packed(fpr[:, 1]),
            "d0": packed(detection[:, 0]),
            "d1": packed(detection[:, 1]),
        },
        lines=[
            (
                f"{{k|int}} of {len(sensitivity):,} texts break off more abruptly than α:"
                f" {{detection|pct}}{_limits_text('d', len(sensitivity))}."
            ),
            f"{{false|int}} of {len(non_members):,} non-members do too: false positives {{fpr|pct}}"
            f"{_limits_text('f', len(non_members))}"
            + (", at any α at once." if simultaneous else "."),
        ],
    )


def _limits_text(name: str, n: int) -> str:
    """The interval's place in a line of text; below ten texts there is none, and that is said."""
    return (
        f" [{{{name}0|pct}}, {{{name}1|pct}}]"
        if n >= MIN_N
        else f" (no interval: {n} texts, at least {MIN_N} are needed)"
    )


def detector_line(
    test: MemoryTest | None,
    analysis: DropGap | LossTest | Pearl,
    unit: str,
    start: float | None = None,
    *,
    simultaneous: bool = False,
) -> dict:
    """The one line of a detector, for page and report: `test` is its verdict, `unit` that of its
    score. It starts at the detector's own cut-off where no `start` is given."""
    if test is not None and isinstance(analysis, DropGap):
        return margin_line(analysis, MARGIN if start is None else start, test)
    evidence = test.measurement.set_test if test and test.measurement else None
    mark = evidence.mark if evidence else math.nan
    if isinstance(analysis, Pearl):
        position = pearl_cutoff(analysis) if start is None else start
        return alpha_line(analysis, position, unit, simultaneous=simultaneous, mark=mark)
    if not isinstance(analysis, LossTest):
        raise TypeError(f"no line is drawn from {type(analysis).__name__}")
    return loss_line(
        analysis,
        loss_cutoff(analysis, DEFAULT_RULE) if start is None else start,
        unit,
        SETS,
        simultaneous=simultaneous,
        withheld=test.claim.withheld if test else "",
        mark=mark,
    )


def margin_line(drop_gap: DropGap, start: float, verdict: MemoryTest) -> dict:
    """The margin within which a gap counts as none, over the gap's intervals by every rule. Its
    sentence at every margin is the verdict's own claim, made here for each position."""
    low, high = drop_gap.equivalence_interval
    adjusted = verdict.numbers["p_adjusted"]
    family_p = None if math.isnan(adjusted) else adjusted
    texts = []
    for margin in MARGINS.tolist():
        claim = gap_claim(drop_gap.decided, margin, family_p, verdict.n_family, verdict.score)
        texts.append(claim.not_claimed(verdict.claim.withheld).text)
    # Most margins give one of a few sentences: each is sent once.
    words = list(dict.fromkeys(texts))
    estimates = [
        ("gap, score interval (ours)", drop_gap.gap, "genuine"),
        ("gap, the source's bootstrap", drop_gap.gap_source, "floor"),
        ("among items answered right before", drop_gap.cond_gap, "broken"),
    ]
    rows, reach = [], 0.12
    for label, estimate, colour in estimates:
        if math.isnan(estimate.value):
            continue
        row = {
            "label": f"{label}: {estimate.text_points()}",
            "value": plain(estimate.value),
            "low": plain(estimate.low),
            "high": plain(estimate.high),
            "colour": colour,
        }
        rows.append(row)
        for end in (estimate.low, estimate.high):
            if not math.isnan(end):
                reach = max(reach, abs(end))
    reach *= 1.05
    decides = "At this size the gap has no interval that could lie within a margin."
    if not math.isnan(low):
        points = f"[{100 * low:+.1f}, {100 * high:+.1f}] points.".replace("-", "−")
        decides = f"The 90% interval that decides the margin is {points}"
    return _line(
        id=f"margin-{drop_gap.gap.value:.6g}-{drop_gap.gap.n}",
        control="margin",
        name="A gap within ± this counts as none:",
        unit="percentage points",
        side="gt",
        scale=100,
        mirrored=True,
        shown="{at|pp}",
        start=start,
        range=[-reach, reach],
        rows=rows,
        positions=packed(MARGINS),
        tables={"claim": packed([words.index(text) for text in texts])},
        words={"claim": words},
        lines=["{claim|word}", decides],
    )


def rule_rows(test: LossTest) -> list[dict]:
    """One row per rule with the items that it flags; no smallest D where a rule flags
    nothing."""
    rows = []
    for rule, title in RULES.items():
        rate, cutoff = test.rate(rule), test.cutoff(rule)
        row = {
            "rule": title,
            "flagged": int(test.flagged[rule].sum()),
            "of": rate.n,
            "share": rate.text(3),
            "smallest D flagged": None if cutoff == math.inf else round(cutoff, 3),
        }
        rows.append(row)
    return rows


def pearl_cutoff(pearl: Pearl) -> float:
    """The first place of alpha's line: alpha, or at the largest sensitivity where non-members
    are too few to set one."""
    alpha = pearl.calibration.alpha
    # With too few non-members alpha is infinite, which no line can stand at.
    if alpha < 2:
        return alpha
    return float(pearl.sensitivity[~np.isnan(pearl.sensitivity)].max(initial=0.0))
