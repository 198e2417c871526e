"""Two models or two readouts that give grades: what is said where few items leave it open which is higher."""

import numpy as np
import pytest

from flipcore.claims.audit import GradedPair, ReadoutPair, graded_pair_claims, readout_claims

AHEAD = np.array([3.0, 4, 4, 5, 4, 3, 5, 4, 2, 4, 5, 3])


def test_few_graded_items_say_how_many_would_decide():
    (claim,) = graded_pair_claims([GradedPair("A", "B", AHEAD, np.full(12, 3.0), 1, 5)], "helpful")
    assert not claim.is_made and claim.text.startswith("Undecided whether A or B is graded higher")
    assert claim.detail.startswith("With 12 graded items only a large difference can be shown; about ")
    assert " would decide it, should the difference stay what it is. Higher of A: " in claim.detail


def test_a_decided_pair_and_clusters_name_no_number():
    many = GradedPair("A", "B", np.tile(AHEAD, 9), np.full(108, 3.0), 1, 5)
    in_clusters = GradedPair("A", "B", AHEAD, np.full(12, 3.0), 1, 5, np.repeat(np.arange(6), 2))
    for pair in (many, in_clusters):
        assert "would decide" not in graded_pair_claims([pair], "helpful")[0].detail


@pytest.mark.parametrize(("first", "second", "gap"), [(AHEAD, AHEAD[::-1], 0.0), (AHEAD, np.append(AHEAD[:-1], 2), 1 / 12)])
def test_the_higher_of_two_is_named_first_and_of_equals_the_first(first, second, gap):
    (of_models,) = graded_pair_claims([GradedPair("A", "B", first, second, 1, 5)], "helpful")
    (of_turned,) = graded_pair_claims([GradedPair("B", "A", second, first, 1, 5)], "helpful")
    ahead = ("A or B", "A or B") if gap else ("A or B", "B or A")
    for claim, names in zip((of_models, of_turned), ahead, strict=True):
        assert claim.text.startswith(f"Undecided whether {names} is graded higher by helpful: {gap:.2f} [")
        assert claim.numbers["difference"].value == pytest.approx(gap)
    (of_readouts,) = readout_claims([ReadoutPair("m", "A", "B", first, second, low=1, high=5)])
    assert ("(A − B)" if gap else "(B − A)") in of_readouts.text
    assert of_readouts.numbers["difference"].value == pytest.approx(gap)


def test_the_level_of_an_interval_follows_the_correction_of_its_p():
    """An interval excludes 0 exactly where the corrected p is .05 or less, so its level is 1 − .05 p / adjusted."""
    many = np.tile(AHEAD, 9)
    shown = ReadoutPair("m", "A", "B", np.full(108, 3.0), many, low=1, high=5)
    open_pair = ReadoutPair("m", "A", "B", np.full(12, 3.0), AHEAD, low=1, high=5)
    equal = ReadoutPair("m", "A", "B", AHEAD, AHEAD, low=1, high=5)
    for pairs in ([shown], [shown, open_pair], [shown, open_pair, equal]):
        for pair, claim in zip(pairs, readout_claims(pairs), strict=True):
            adjusted, difference = claim.numbers["p"], claim.numbers["difference"]
            share = 1 / len(pairs) if adjusted == 1 else pair.p / adjusted
            assert difference.level == pytest.approx(1 - 0.05 * share)
            assert claim.is_made == (pair is shown) == (difference.low > 0)
    assert equal.p == 1 and 0.05 < open_pair.p < 1
