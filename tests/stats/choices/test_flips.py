"""Flips in every way of counting: by hand, and by the test of the page Flips."""

import numpy as np
import pytest

from flipcore.claims.choices import survives_claim
from flipcore.claims.decisions import Flips
from flipcore.stats.choices.choice import selected
from flipcore.stats.choices.flips import flip_curve, flip_material
from flipcore.stats.choices.readouts import ItemFacts
from flipcore.stats.flips.coded_answers import CodedAnswers
from flipcore.stats.flips.contrast import parts_test
from flipcore.stats.flips.decomposition import decompositions
from flipcore.stats.flips.disagreement import NULL

# Four items with two answers each, base and changed; then reruns are asked of none.
FIRST, REGEX = [[0, 1], [0, 1], [0, 1], [0, NULL]], [[0, 0], [0, 0], [0, 1], [0, 0]]


def coded(first, regex, axis="order", copies=1):
    n = len(first) * copies
    codes = {}
    for name, rows in (("first", first), ("regex", regex)):
        read = np.tile(np.array(rows, dtype=np.int32), (copies, 1))
        codes[axis, name] = read if read.ndim == 3 else read[:, :, None]
    base = np.zeros(codes[axis, "first"].shape[:2], dtype=bool)
    base[:, 0] = True
    items = np.array([f"q{i}" for i in range(n)], dtype=object)
    return CodedAnswers(items, (axis,), ("first", "regex"), codes, {axis: base}, {}, np.arange(3))


def test_flips_by_hand_with_unread_answers_of_their_own_and_left_out():
    material = flip_material(coded(FIRST, REGEX, copies=5), "first", ["order"], ["regex"], ItemFacts())
    assert [choice.name for choice in material.choices] == ["reference", "null"]
    curve = flip_curve(material, selected(material.choices, also=["null"]))
    # Alone under the first: two and the unread one; under both: one.
    assert curve.estimate[curve.find({})] == pytest.approx((2 + 1 - 1) / 4)
    assert curve.estimate[curve.find({"null": "drop"})] == pytest.approx((2 - 1) / 3)
    assert curve.n_items[curve.find({"null": "drop"})] == 15


def test_an_extractor_that_reads_too_little_closes_every_way():
    first = [[0, 1], [NULL, NULL], [0, 1], [0, NULL]]
    material = flip_material(coded(first, REGEX, copies=5), "first", ["order"], ["regex"], ItemFacts())
    curve = flip_curve(material)
    assert set(curve.closed) == {"first reads 62%"}
    claim = survives_claim(curve, Flips("order", "first"))
    assert claim.text.startswith("Not claimed: that flips by order are mostly those of the extractor first. 0 of ")


@pytest.mark.parametrize("n_samples", [1, 2])
def test_the_declared_way_has_the_p_of_the_page_flips(n_samples):
    """With reruns, of both conditions beyond the floor: the larger p."""
    rng = np.random.default_rng(2)
    regex = (rng.random((80, 3, 1)) < 0.2) * np.ones((1, 1, n_samples), dtype=int)
    first = np.where(rng.random((80, 3, 1)) < 0.3, 2, regex)
    first, regex = (np.where(rng.random((80, 3, n_samples)) < 0.05, 3, read) for read in (first, regex))
    answers = coded(first, regex)
    curve = flip_curve(flip_material(answers, "first", ["order"], ["regex"], ItemFacts()))
    cell = next(cell for cell in decompositions(answers, "regex", tests=False) if cell.extractor == "first")
    test = parts_test(cell)
    assert test.is_floor_known == (n_samples > 1)
    assert curve.tests.p(0.0)[0] == pytest.approx(test.p[0], abs=1e-12)
