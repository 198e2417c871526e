"""Boards of a cut-off that is dragged: the items it flags, with bands for all positions at once."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from flipcore.claims.memory_gap import MARGIN, gap_claim
from flipcore.claims.memory_sets import dragged_bound
from flipcore.reports.browser_data.board import Board, Control, Headline, Row, packed, steps
from flipcore.reports.memory import MemoryTest
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
    """Return half the width of a band around an empirical distribution; NaN where `n` is 0.

    The band holds everywhere at once: sqrt(ln(sides / (1 - level)) / 2n) by Dvoretzky, Kiefer and
    Wolfowitz, with Massart's constant.
    """
    return math.sqrt(math.log(sides / (1 - level)) / (2 * n)) if n else math.nan


def excess_low_everywhere(curve: CutoffCurve, n: int, m: int, level: float = 0.95) -> np.ndarray:
    """Return lower bounds of the excess (cut-offs,) that hold at all cut-offs at once. `n` and `m`
    are the numbers of items and of controls. Each set has a one-sided DKW bound."""
    # Each set gets half the error, so that both bounds hold together.
    slack = dkw_half_width(n, (1 + level) / 2, 1) + dkw_half_width(m, (1 + level) / 2, 1)
    chance = curve.n_controls_flagged / m
    beyond_chance = np.where(chance < 1, 1 - chance, np.nan)
    return (curve.n_flagged / n - chance - slack) / beyond_chance


def shares_everywhere(
    curve: AlphaCurve, n_members: int, n_non_members: int, level: float = 0.95
) -> tuple[np.ndarray, np.ndarray]:
    """Return limits (alphas, 2) of false positives and of detections, for all alphas at once."""
    limits = []
    for shares, n in ((curve.fpr, n_non_members), (curve.detection, n_members)):
        # Below `MIN_N` texts no interval is shown anywhere.
        half = dkw_half_width(n, level) if n >= MIN_N else math.nan
        limits.append(np.clip(np.column_stack([shares - half, shares + half]), 0, 1))
    return limits[0], limits[1]


def loss_cutoff(test: LossTest, rule: str) -> float:
    """Return where the line starts: at the smallest D that a rule flags, else at the largest D."""
    cutoff = test.cutoff(rule)
    return cutoff if math.isfinite(cutoff) else float(max(test.d0.max(), test.d.max()))


def binned(values: np.ndarray, edges: np.ndarray) -> list[float]:
    """Return the share of `values` in each bin."""
    counts = np.histogram(values, edges)[0]
    # Values outside the bins count in the total.
    return (counts / max(len(values), 1)).tolist()


def edges_of(*groups: np.ndarray, n_bins: int = 60) -> np.ndarray:
    """Return common bin edges over the finite values of all groups."""
    values = np.concatenate(groups)
    values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    # Where all values are equal the range needs some width.
    pad = 0.02 * (high - low) or 0.5
    return np.linspace(low - pad, high + pad, n_bins + 1)


MARGINS = np.round(np.arange(0.0, 0.3001, 0.001), 3)  # every tenth of a point up to 30 points
_FLOAT = "<f4"  # the type in which `board.js` and `quoted_sentences` read the numbers of a line


def _line(
    control: Control,
    picture: dict[str, Any],
    lines: Sequence[str | list],
    *,
    shared_as: str,
    numbers: Mapping[str, np.ndarray] | None = None,
    kind: str = "cutoff",
) -> Board:
    """Return the board of a line that is dragged over a picture. `lines` are sentences, as
    templates or steps; the first is the headline."""
    sentences = [line if isinstance(line, list) else [[0, line]] for line in lines]
    marks = [mark for mark in picture.get("marks", []) if math.isfinite(mark["value"])]
    return Board(
        kind,
        [Row(pictures=[picture | {"marks": marks, "name": "Cut-off over the distributions"}])],
        [Headline(sentences[0])],
        [control],
        lines=sentences[1:],
        numbers={name: packed(values, _FLOAT) for name, values in (numbers or {}).items()},
        legend=[(group["label"], group["color"]) for group in picture.get("groups", [])],
        shared_as=shared_as,
    )


def _histogram(groups: dict[str, tuple[str, np.ndarray]], unit: str) -> dict[str, Any]:
    """Return the picture of two sets, name -> (color, values); the first is drawn above."""
    edges = edges_of(*(values for _, values in groups.values()))
    bars = []
    for name, (color, values) in groups.items():
        label = f"{name} (n = {len(values):,})"
        bars.append({"label": label, "color": color, "shares": binned(values, edges)})
    return {
        "kind": "histogram",
        "groups": bars,
        "edges": edges.tolist(),
        "scale": [float(edges[0]), float(edges[-1])],
        "unit": unit,
    }


def loss_line(
    test: LossTest,
    start: float,
    unit: str,
    names: tuple[str, str],
    *,
    simultaneous: bool = False,
    withheld: str = "",
    mark: float = math.nan,
) -> Board:
    """Return the board of the loss test's cut-off over D of items (up) and controls (down).

    `names` are those of items and controls. A `withheld` reason hides the lower bound. `mark` is
    the D of the controls beyond which the verdict counts items, NaN for none.
    """
    curve = cutoff_curve(test.d, test.d0)
    n, m = len(test.d), len(test.d0)
    low = excess_low_everywhere(curve, n, m) if simultaneous else curve.excess_low
    item_name, control_name = names
    sets = {item_name: ("benchmark", test.d), control_name: ("control", test.d0)}
    picture = _histogram(sets, unit) | {"marks": [{"value": mark, **VERDICTS_MARK}]}
    handle = Control(
        "cutoff",
        "Flag D from",
        start,
        logged_as="loss cut-off",
        range=picture["scale"],
        # A cut-off that flags nothing is infinite; the browser gets the largest float instead.
        positions=packed(np.minimum(curve.cutoffs, np.finfo(_FLOAT).max), _FLOAT),
        label="{at|number} nats",
    )
    bound = dragged_bound(is_simultaneous=simultaneous, withheld=withheld)
    lines = [
        (
            f"{{flagged|whole}} of {n:,} items are flagged; chance alone would flag"
            " {expected|number}."
        ),
        (
            f"{{controls|whole}} of {m:,} controls lie as high. Beyond chance: {{excess|percent}}"
            f" of the items{bound}."
        ),
    ]
    numbers = {
        "flagged": curve.n_flagged,
        "controls": curve.n_controls_flagged,
        "expected": curve.n_expected,
        "excess": curve.excess,
        "low": np.maximum(low, 0.0),
    }
    shared_as = f"loss-{n}-{m}-{test.d.sum():.6g}-{simultaneous}"
    return _line(handle, picture, lines, shared_as=shared_as, numbers=numbers)


# The mark beyond which the verdict on the set counts items; it stays where it is.
VERDICTS_MARK = {"label": "the verdict's mark", "row": 1}


def alpha_line(
    pearl: Pearl, start: float, unit: str, *, simultaneous: bool = False, mark: float = math.nan
) -> Board:
    """Return the board of PEARL's alpha over sensitivities of texts (up) and non-members (down).
    `mark` is as in `loss_line`."""
    curve = pearl.curve()
    sensitivity = pearl.sensitivity[~np.isnan(pearl.sensitivity)]
    non_members = pearl.non_members[~np.isnan(pearl.non_members)]
    fpr, detection = curve.fpr_limits, curve.detection_limits
    if simultaneous:
        fpr, detection = shares_everywhere(curve, len(sensitivity), len(non_members))
    n, m, rule = len(sensitivity), len(non_members), pearl.calibration.rule
    sets = {"judged": ("benchmark", sensitivity), "non-members": ("control", non_members)}
    marks = [
        {"value": pearl.calibration.alpha, "label": f"α by the {rule} rule", "row": 0},
        {"value": mark, **VERDICTS_MARK},
    ]
    picture = _histogram(sets, unit) | {"marks": marks}
    handle = Control(
        "cutoff",
        "α",
        start,
        logged_as="alpha",
        range=picture["scale"],
        positions=packed(np.maximum(curve.alphas, np.finfo(_FLOAT).min), _FLOAT),
        is_exceeded=True,
        label="{at|fine}",
    )
    lines = [
        (
            f"{{detected|whole}} of {n:,} texts break off more abruptly than α:"
            f" {{detection|percent}}{_limits_text('detection', n)}."
        ),
        f"{{false|whole}} of {m:,} non-members do too: false positives {{fpr|percent}}"
        f"{_limits_text('fpr', m)}" + (", at any α at once." if simultaneous else "."),
    ]
    numbers = {
        "detected": curve.n_detected,
        "false": curve.n_false,
        "detection": curve.detection,
        "detection_low": detection[:, 0],
        "detection_high": detection[:, 1],
        "fpr": curve.fpr,
        "fpr_low": fpr[:, 0],
        "fpr_high": fpr[:, 1],
    }
    shared_as = f"alpha-{n}-{m}-{sensitivity.sum():.6g}-{simultaneous}"
    return _line(handle, picture, lines, shared_as=shared_as, numbers=numbers)


def _limits_text(name: str, n: int) -> str:
    """Return the template of an interval in a sentence, or that `n` texts are too few for one."""
    if n >= MIN_N:
        return f" [{{{name}_low|percent}}, {{{name}_high|percent}}]"
    return f" (no interval: {n} texts, at least {MIN_N} are needed)"


def detector_line(
    test: MemoryTest | None,
    analysis: DropGap | LossTest | Pearl,
    unit: str,
    start: float | None = None,
    *,
    simultaneous: bool = False,
) -> Board:
    """Return the board of a detector's line, for page and report.

    `test` is the detector's verdict and `unit` that of its score. The line starts at `start`, by
    default at the detector's own cut-off. Raises TypeError for other analyses.
    """
    if test is not None and isinstance(analysis, DropGap):
        return margin_line(analysis, MARGIN if start is None else start, test)
    set_test = test.measurement.set_test if test and test.measurement else None
    mark = set_test.mark if set_test else math.nan
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


def margin_line(drop_gap: DropGap, start: float, verdict: MemoryTest) -> Board:
    """Return the board of the margin within which a gap counts as none.

    The picture has the gap's intervals by every rule. The sentence at each margin is the claim that
    the verdict would make with it.
    """
    low, high = drop_gap.equivalence_interval
    adjusted = verdict.numbers["p_adjusted"]
    family_p = None if math.isnan(adjusted) else adjusted
    texts = []
    for margin in MARGINS.tolist():
        claim = gap_claim(drop_gap.decided, margin, family_p, verdict.n_family, verdict.score)
        texts.append(claim.not_claimed(verdict.claim.withheld).text)
    estimates = [
        ("gap, score interval (ours)", drop_gap.gap, "genuine"),
        ("gap, the source's bootstrap", drop_gap.gap_source, "floor"),
        ("among items answered right before", drop_gap.cond_gap, "broken"),
    ]
    # The axis reaches at least 12 points to both sides.
    rows, reach = [], 0.12
    for label, estimate, color in estimates:
        if math.isnan(estimate.value):
            continue
        row = {
            "label": f"{label}: {estimate.text_points()}",
            "value": estimate.value,
            "low": estimate.low,
            "high": estimate.high,
            "color": color,
        }
        rows.append(row)
        for end in (estimate.low, estimate.high):
            if not math.isnan(end):
                reach = max(reach, abs(end))
    reach *= 1.05  # room beyond the outermost limit
    deciding_interval = "At this size the gap has no interval that could lie within a margin."
    if not math.isnan(low):
        points = f"[{100 * low:+.1f}, {100 * high:+.1f}] points.".replace("-", "−")
        deciding_interval = f"The 90% interval that decides the margin is {points}"
    unit = "percentage points"
    picture = {"kind": "gaps", "rows": rows, "scale": [-reach, reach], "unit": unit, "times": 100}
    handle = Control(
        "cutoff",
        "A gap within ± this counts as none:",
        start,
        logged_as="margin",
        range=[0.0, reach],
        positions=packed(MARGINS, _FLOAT),
        is_exceeded=True,
        label="{at|points}",
    )
    shared_as = f"margin-{drop_gap.gap.value:.6g}-{drop_gap.gap.n}"
    lines: list[str | list] = [list(steps(texts)), deciding_interval]
    return _line(handle, picture, lines, shared_as=shared_as, kind="gap")


def rule_rows(test: LossTest) -> list[dict]:
    """Return one row per rule with the items that it flags. The smallest D is None if a rule
    flags nothing."""
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
    """Return where alpha's line starts: at alpha, or at the largest sensitivity without one."""
    alpha = pearl.calibration.alpha
    # With too few non-members alpha is infinite, where no line can be drawn.
    if alpha < 2:
        return alpha
    return float(pearl.sensitivity[~np.isnan(pearl.sensitivity)].max(initial=0.0))
