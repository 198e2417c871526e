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
    contested = [cell for cell in cells if not cell.is_reference and not np.isnan(cell.A.value)]
    if not contested:
        return ""
    cell = max(contested, key=lambda contested_cell: contested_cell.A.value)
    t, g, a, floor = (number_text(part.value) for part in (cell.T, cell.G, cell.A, cell.W))
    floor_text = f"noise floor {floor}" if not np.isnan(cell.W.value) else "no noise floor"
    return f"{place(cell)}: T {t} − G {g} = A {a}; {floor_text}; {cell.n_items:,} items."


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
    texts, non_members = (number_text(float(np.median(x))) for x in (scores, never))
    alpha = number_text(pearl.calibration.alpha)
    return (
        f"The median sensitivity is {texts} for {len(scores):,} texts and {non_members} for"
        f" {len(never):,} non-members; α is {alpha}."
    )


def truth_example(truth: GroundTruth) -> str:
    """The first detector at its smallest dose."""
    detector = truth.detectors[0]
    dose = detector.doses[0]
    return (
        f"{detector.name} at dose {dose.dose:,}: AUC {number_text(dose.auc.value)}, flagged"
        f" {share_text(dose.detected)}, false positives {share_text(detector.false_positives)}."
    )


def holdout_example(tests: Mapping[str, HoldoutTest]) -> str:
    """The first test's estimate, margin, and what it could detect; "" before there is one."""
    if not tests:
        return ""
    test = next(iter(tests.values()))
    margin = "no margin is set"
    if test.margin is not None:
        margin = f"margin {margin_text(test.name, test.margin)}"
    numbers = f"{estimate_text(test)}; {margin}; could detect {detectable_text(test)}"
    return f"{TITLES[test.name]}: {numbers}."
