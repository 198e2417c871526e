"""Worked examples for "How to read this": a page's own numbers put into its definitions.

They describe numbers and claim nothing.
"""

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
from flipcore.text.counts import count_of


def flips_example(cells: Sequence[Decomposition]) -> str:
    """Show T, G, A and floor of the cell with the largest artifact; "" without a compared cell."""
    compared = [cell for cell in cells if not cell.is_reference and not np.isnan(cell.A.value)]
    if not compared:
        return ""
    cell = max(compared, key=lambda compared_cell: compared_cell.A.value)
    t, g, a, floor = (number_text(100 * part.value, 0) for part in (cell.T, cell.G, cell.A, cell.W))
    floor_text = f"noise floor {floor}%" if not np.isnan(cell.W.value) else "no noise floor"
    return f"{place(cell)}: T {t}% − G {g}% = A {a} points; {floor_text}; {cell.n_items:,} items."


def gap_example(gap: DropGap) -> str:
    """Show both drops and their difference, in percentage points."""
    benchmark, control = gap.benchmark.drop.value, gap.control.drop.value
    return (
        f"The drop is {_points(benchmark)} on the benchmark and {_points(control)} on the control:"
        f" gap {_points(gap.gap.value)}."
    )


def _points(share: float) -> str:
    return f"{number_text(100 * share, 1, sign=True)} points"


def loss_example(test: LossTest, unit: str = "nats") -> str:
    """Show the median D of items and of controls; "" if either has none. `unit` is that of D, ""
    for none."""
    if not len(test.d) or not len(test.d0):
        return ""
    unit = f" {unit}" if unit else ""
    return (
        f"The median D is {_median(test.d)}{unit} for {len(test.d):,} items and"
        f" {_median(test.d0)} for {len(test.d0):,} controls."
    )


def _median(values: np.ndarray) -> str:
    return number_text(float(np.median(values)))


def pearl_example(pearl: Pearl) -> str:
    """Show alpha and the median sensitivity of texts and non-members; "" without either."""
    texts = pearl.sensitivity[~np.isnan(pearl.sensitivity)]
    non_members = pearl.non_members[~np.isnan(pearl.non_members)]
    if not len(texts) or not len(non_members):
        return ""
    return (
        f"The median sensitivity is {_median(texts)} for {len(texts):,} texts and"
        f" {_median(non_members)} for {len(non_members):,} non-members; α is"
        f" {number_text(pearl.calibration.alpha)}."
    )


def truth_example(truth: GroundTruth) -> str:
    """Show the first detector at its smallest dose."""
    detector = truth.detectors[0]
    dose = detector.doses[0]
    return (
        f"{detector.name} on items read {count_of(dose.dose, 'time')}:"
        f" AUC {number_text(dose.auc.value)},"
        f" flagged {share_text(dose.detected)}, false positives"
        f" {share_text(detector.false_positives)}."
    )


def holdout_example(tests: Mapping[str, HoldoutTest]) -> str:
    """Show the first test's estimate, margin and detectable effect; "" without tests."""
    if not tests:
        return ""
    test = next(iter(tests.values()))
    margin = "no margin is set"
    if test.margin is not None:
        margin = f"margin {margin_text(test.name, test.margin)}"
    numbers = f"{estimate_text(test)}; {margin}; could detect {detectable_text(test)}"
    return f"{TITLES[test.name]}: {numbers}."
