"""N-gram frequencies by hand, p-values against scipy, and no discoveries in random halves."""

import math

import numpy as np
import pytest
from scipy.stats import binomtest, fisher_exact

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.base.multiplicity import bh
from flipcore.stats.holdout.ngrams import ngrams


def row(table, text):
    return next(one for one in table.rows if one.text == text)


def test_totals_count_every_occurrence_and_entries_count_once():
    table = ngrams(["the cat, the dog", "a cat"], ["The Cat"], fewest=1)
    the, cat = row(table, "the"), row(table, "cat")
    assert (the.total_target, the.total_retro, the.entries_target, the.entries_retro) == (2, 1, 1, 1)
    assert (cat.total_target, cat.entries_target, cat.entries_retro) == (2, 2, 1)
    assert (row(table, "the cat").entries_target, row(table, "the cat").entries_retro) == (1, 1)
    assert (table.n_words_target, table.n_words_retro) == (7, 2)  # the cat , the dog a cat


def test_pairs_do_not_cross_lines():
    table = ngrams(["yes\nno"], ["yes no"], fewest=1)
    assert (row(table, "yes no").entries_target, row(table, "yes no").entries_retro) == (0, 1)


def test_log_odds_add_half_a_count_to_each_cell():
    # "x" in 3 of 4 benchmark entries and 1 of 6 retro: log(1.5 / 5.5) - log(3.5 / 1.5)
    table = ngrams(["x"] * 3 + ["y"], ["x"] + ["y"] * 5, fewest=1)
    found = row(table, "x")
    se = math.sqrt(1 / 1.5 + 1 / 5.5 + 1 / 3.5 + 1 / 1.5)
    assert found.log_odds.value == pytest.approx(math.log(1.5 / 5.5) - math.log(3.5 / 1.5))
    assert found.log_odds.high - found.log_odds.value == pytest.approx(1.959964 * se, rel=1e-5)


def test_p_is_twice_the_smaller_tail_of_fisher():
    table = ngrams(["x"] * 3 + ["y"] * 9, ["x"] * 9 + ["y"] * 4, fewest=1)
    cells = [[9, 4], [3, 9]]
    tails = [fisher_exact(cells, alternative=side).pvalue for side in ("less", "greater")]
    assert row(table, "x").p == pytest.approx(min(1.0, 2 * min(tails)))


def test_paired_sets_count_the_pairs_in_which_one_alone_has_it():
    # six pairs: "x" in both of two, in the retro alone of three, in neither of one
    table = ngrams(["x", "x", "y", "y", "y", "y"], ["x", "x", "x", "x", "x", "y"], fewest=1, paired=True)
    found = row(table, "x")
    assert found.log_odds.value == pytest.approx(math.log(3.5 / 0.5))
    se = math.sqrt(1 / 3.5 + 1 / 0.5)
    assert found.log_odds.high - found.log_odds.value == pytest.approx(1.959964 * se, rel=1e-5)
    assert found.log_odds.value - found.log_odds.low == pytest.approx(1.959964 * se, rel=1e-5)
    assert found.p == pytest.approx(2 * 0.5**3) == binomtest(3, 3).pvalue


def test_q_is_benjamini_hochberg_over_every_n_gram_that_is_frequent_enough():
    rng = generator(0)
    texts = [" ".join(rng.choice(list("abcdefgh"), 5)) for _ in range(60)]
    table = ngrams(texts[:30], texts[30:], fewest=4)
    assert [one.q for one in table.rows] == pytest.approx(bh([one.p for one in table.rows]))
    assert all(one.entries_target + one.entries_retro >= 4 for one in table.rows)
    assert [one.p for one in table.rows] == sorted(one.p for one in table.rows)


def test_what_differs_is_found_and_said():
    table = ngrams(["how many are there"] * 40, ["what is the number"] * 40)
    assert {one.text for one in table.different()} >= {"how", "what", "how many", "what is"}
    assert (len(table.different()), len(table.rows)) == (14, 14)
    assert all(one.log_odds.value < 0 for one in table.rows if one.text.startswith("how"))


def test_nothing_frequent_enough_leaves_no_row():
    assert ngrams(["a"], ["b"]).rows == ()


def test_sets_that_cannot_be_compared_are_refused():
    with pytest.raises(BadInput, match="got 0 and 1"):
        ngrams([], ["a"])
    with pytest.raises(BadInput, match="equally long: got 1 and 2"):
        ngrams(["a"], ["b", "c"], paired=True)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.5, 0.08])
def test_random_parts_of_one_source_rarely_differ(share):
    rng = generator(1)
    words = [f"w{i}" for i in range(60)]
    frequency = 1 / np.arange(1, 61)
    texts = [" ".join(rng.choice(words, 12, p=frequency / frequency.sum())) for _ in range(300)]
    n, found = int(300 * share), 0
    for i in range(100):
        order = generator(i, "part").permutation(300)
        found += bool(ngrams([texts[j] for j in order[n:]], [texts[j] for j in order[:n]]).different())
    assert binomtest(found, 100, 0.05, alternative="greater").pvalue > 0.01


@pytest.mark.parametrize("paired", [False, True])
def test_a_word_that_is_as_frequent_in_both_sets_has_a_p_of_1(paired):
    table = ngrams(["x", "y"], ["y", "x"], fewest=1, paired=paired)
    found = row(table, "x")
    assert found.p == 1 and found.log_odds.value == 0 and found.log_odds.low == pytest.approx(-found.log_odds.high)
