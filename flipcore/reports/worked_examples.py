"""The page's own numbers put into its definitions: one line under "How to read this". It describes
and asserts nothing."""

from collections.abc import Mapping, Sequence

import numpy as np

from flipcore.claims.flips import place
from flipcore.stats.base.estimate import number_text
from flipcore.stats.flips.decomposition import Decomposition
from flipcore.stats.holdout.units import TITLES, detectable_text, estimate_text, margin_text
from flipcore.stats.holdout.verdict import HoldoutTest
from flipcore.stats.memory.drop_gap_analysis import DropGap
from flipcore.stats.memory.ground_truth import GroundTruth, share_text
from flipcore.stats.memory.loss_analysis import LossTest
from flipcore.stats.memory.pearl_analysis import Pearl


def flips_example(cells: Sequence[Decomposition]) -> str:
    """T, G, A and the floor of the cell with the largest artifact; "" where only the reference was
    read."""
    contested = [one for one in cells if not one.is_reference and not np.isnan(one.A.value)]
    if not contested:
        return ""
    one = max(contested, key=lambda cell: cell.A.value)
    t, g, a, floor = (number_text(estimate.value) for estimate in (one.T, one.G, one.A, one.W))
    floor_text = f"noise floor {floor}" if not np.isnan(one.W.value) else "no noise floor"
    return f"{place(one)}: T {t} − G {g} = A {a}; {floor_text}; {one.n_items:,} items."


def gap_example(gap: DropGap) -> str:
    """Both drops and their difference, in percentage points."""
    benchmark, control, difference = (
        f"{number_text(100 * estimate.value, 1, sign=True)} points"
        for estimate in (gap.benchmark.drop, gap.control.drop, gap.gap)
    )
    return (
        f"The drop is {benchmark} on the benchmark and {control} on the control: gap {difference}."
    )


def loss_example(test: LossTest, unit: str = "nats") -> str:
    """The median D of items and controls in its `unit` (none: ""); "" without either."""
    if not len(test.d) or not len(test.d0):
        return ""
    items, controls = (number_text(float(np.median(d))) for d in (test.d, test.d0))
    unit = f" {unit}" if unit else ""
    return (
        f"The median D is {items}{unit} for {len(test.d):,} items and {controls} for"
        f" {len(test.d0):,} controls."
    )


def pearl_example(pearl: Pearl) -> str:
    """The median sensitivity of texts and non-members, and alpha; "" without either."""
    scores, never = (x[~np.isnan(x)] for x in (pearl.sensitivity, pearl.non_members))
    if not len(scores) or not len(never):
        return ""
    texts, others = (number_text(float(np.median(x))) for x in (scores, never))
    alpha = number_text(pearl.calibration.alpha)
    return (
        f"The median sensitivity is {texts} for {len(scores):,} texts and {others} for"
        f" {len(never):,} non-members; α is {alpha}."
    )


def truth_example(truth: GroundTruth) -> str:
    """The first detector at its smallest dose."""
    one = truth.detectors[0]
    at = one.at[0]
    return (
        f"{one.name} at dose {at.dose:,}: AUC {number_text(at.auc.value)}, flagged"
        f" {share_text(at.detected)}, false positives {share_text(one.false_positives)}."
    )


def holdout_example(tests: Mapping[str, HoldoutTest]) -> str:
    """The first test's estimate, margin, and what it could detect; "" before there is one."""
    if not tests:
        return ""
    one = next(iter(tests.values()))
    margin = (
        "no margin is set" if one.margin is None else f"margin {margin_text(one.name, one.margin)}"
    )
    return (
        f"{TITLES[one.name]}: {estimate_text(one)}; {margin}; could detect {detectable_text(one)}."
    )
