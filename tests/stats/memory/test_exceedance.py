"""Every cut-off at once: the table behind its Monte Carlo p, and that a drag cannot buy a verdict."""

import numpy as np

from flipcore.claims.memory_sets import any_cutoff_claim
from flipcore.stats.memory import exceedance
from flipcore.stats.memory.gap_decision import OTHER, RANDOM


def test_the_table_of_tails_holds_the_exact_p_of_every_count():
    table = exceedance._tail_table(25, 40)
    assert table.shape == (20, 26)
    for k, c in ((1, 0), (1, 3), (5, 9), (20, 25)):
        assert np.isclose(table[k - 1, c], exceedance.set_p(c, 25, k, 40), rtol=1e-9)


def test_blocks_of_permutations_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    d, d0 = rng.normal(0.3, 1, 40), rng.normal(size=60)
    whole = exceedance.largest_excess_p(d, d0, 3)
    monkeypatch.setattr(exceedance, "_CELLS", 100 * 300)
    assert abs(exceedance.largest_excess_p(d, d0, 3).p - whole.p) < 0.03


def test_a_set_that_is_shifted_is_beyond_at_some_cut_off_and_a_clean_one_is_not():
    rng = np.random.default_rng(1)
    d, d0 = rng.normal(size=60), rng.normal(size=90)
    shifted, clean = (any_cutoff_claim(exceedance.largest_excess_p(x, d0).p, RANDOM) for x in (d + 1.5, d0[:60]))
    assert shifted.is_made and "all cut-offs at once" in shifted.text
    assert not clean.is_made and clean.text.startswith("After a drag: at no cut-off is it shown")
    assert "Controls of another kind" in any_cutoff_claim(0.01, OTHER).text
    assert not any_cutoff_claim(0.001, RANDOM, withheld="Templates.").is_made


def test_a_set_without_items_or_without_controls_has_no_p():
    for items, controls in (([], [1.0, 2.0]), ([1.0, 2.0], []), ([], [])):
        test = exceedance.set_test(items, controls)
        assert (test.n, test.m, test.n_beyond, test.n_least) == (len(items), len(controls), 0, 0) and np.isnan(test.p)
