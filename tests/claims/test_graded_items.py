"""What is said where few graded items leave it open which of two is graded higher."""

import numpy as np

from flipcore.claims.audit import GradedPair, graded_pair_claims

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
