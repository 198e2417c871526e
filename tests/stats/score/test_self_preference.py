"""A judge that is a contestant: a planted favour is found with its sign, and few labels have no interval."""

import math

import numpy as np
import pytest

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.score.self_preference import self_preference


def test_a_planted_favour_is_found_and_none_is_not():
    rng = generator(8)
    people, own = rng.random(600) < 0.5, np.arange(600) % 2 == 0
    kind = people | (own & (rng.random(600) < 0.2))
    names = np.arange(600) // 2
    found = self_preference(kind, people, own, names)
    assert 0.05 < found.own_outputs.value < 0.2 and found.other_outputs.value == 0
    assert found.difference.value == pytest.approx(found.own_outputs.value) and found.difference.low > 0
    alike = self_preference(people ^ (rng.random(600) < 0.1), people, own, names)
    assert alike.difference.low < 0 < alike.difference.high and alike.difference.n == 300


def test_few_labels_or_one_side_alone_have_no_interval():
    few = self_preference([1, 0, 1, 1], [1, 0, 0, 1], [True, True, False, False], list("abcd"))
    assert few.difference.value == pytest.approx(-0.5) and not few.difference.has_interval
    alone = self_preference([1, 0], [1, 1], [True, True], ["a", "b"])
    assert math.isnan(alone.difference.value) and alone.difference.note == "One side has no label."
    with pytest.raises(BadInput, match="two verdicts"):
        self_preference([1], [1, 0], [True], ["a"])
