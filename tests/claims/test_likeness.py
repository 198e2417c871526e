"""Neighbors, likeness and words of two sets: what is shown, and from how many entries on."""

from types import SimpleNamespace

import pytest

from flipcore.claims.likeness import (
    ASSERTIONS,
    MORE_ALIKE,
    NEIGHBOURS_DIFFER,
    WORDS_DIFFER,
    embedding_claims,
    likeness_claim,
    map_quality_text,
    mixing_claim,
    words_claim,
)
from flipcore.stats.base.estimate import MIN_N, Estimate, missing


def near(value, spread=0.02):
    return Estimate(value, value - spread, value + spread, 0.95, "clt_cluster", 20, None)


def mixing_of(share=0.6, expected=0.5, p=0.01, own_share=None):
    return SimpleNamespace(own_share=own_share or near(share), expected=expected, p=p, k=10)


def table_of(n_different=0, n_rows=1_200, n_target=20, n_retro=30):
    rows = [
        SimpleNamespace(text=f"word {i}", entries_target=12, entries_retro=3, is_different=i < n_different)
        for i in range(n_rows)
    ]
    different = [row for row in rows if row.is_different]
    return SimpleNamespace(n_target=n_target, n_retro=n_retro, rows=rows, fewest=5, different=lambda: different)


def test_each_claim_errs_in_one_of_twenty_on_both_sides_together():
    assert {(assertion.error_rate, assertion.sides) for assertion in ASSERTIONS} == {(0.05, 2)}
    assert "shifted sets of equal likeness" not in WORDS_DIFFER.worlds and len(WORDS_DIFFER.worlds) == 3


@pytest.mark.parametrize(
    ("share", "p", "outcome"), [(0.6, 0.0499, "more"), (0.4, 0.0499, "less"), (0.6, 0.05, "undecided"), (0.4, 0.9, "undecided")]
)
def test_neighbors_keep_to_a_set_where_p_is_below_a_twentieth(share, p, outcome):
    claim = mixing_claim(mixing_of(share, p=p))
    assert claim.outcome == outcome and claim.numbers["p"] == p and claim.numbers["own"].value == share
    if outcome == "undecided":
        assert claim.text == "On the map the two sets mix as chance would mix them." and claim.assertion is None
        assert claim.detail.endswith(
            " of the 10 nearest neighbors are of an entry's own set; 50% are expected (p = "
            f"{f'{p:.3f}'[1:] if p < 0.1 else f'{p:.2f}'[1:]})."
        )
    else:
        assert claim.text.startswith(f"Neighbors keep to their own set {outcome} than if the sets were mixed: ")
        assert claim.is_made and claim.assertion is NEIGHBOURS_DIFFER and " of 10, 50% expected (p = .050)." in claim.text


def test_neighbors_of_few_entries_are_not_tested():
    claim = mixing_claim(mixing_of(own_share=missing()))
    assert claim.text.endswith(f"at least {MIN_N} entries of each set are needed for a test.") and not claim.is_made


@pytest.mark.parametrize(("difference", "outcome"), [(0.1, "more"), (-0.1, "less"), (0.01, "undecided"), (-0.01, "undecided")])
def test_the_interval_of_the_difference_decides_on_likeness(difference, outcome):
    claim = likeness_claim(near(0.2), near(0.3), near(difference))
    assert claim.outcome == outcome and claim.is_made == (outcome != "undecided")
    assert claim.assertion is (MORE_ALIKE if claim.is_made else None)
    means = "mean cosine 0.300 [0.280, 0.320] in the holdout, 0.200 [0.180, 0.220] in the benchmark."
    start = (
        f"Holdout entries are {outcome} alike than benchmark entries" if claim.is_made else "No difference in likeness is shown"
    )
    assert claim.text == f"{start}: {means}" and claim.detail == f"Difference {near(difference).text(3)}."
    assert [claim.numbers[name].value for name in ("target", "retro", "difference")] == [0.2, 0.3, difference]


@pytest.mark.parametrize(
    ("target", "retro", "words"),
    [
        (missing(), near(0.3), "A set of fewer than two entries has no pairs to compare."),
        (near(0.2), missing(), "A set of fewer than two entries has no pairs to compare."),
        (near(0.2), near(0.3), f"; at least {MIN_N} entries of each set are needed to compare."),
    ],
)
def test_likeness_that_cannot_be_compared_says_why(target, retro, words):
    claim = likeness_claim(target, retro, missing())
    assert words in claim.text and claim.assertion is None


def test_one_embedding_is_compared_by_neighbors_and_likeness_without_twins():
    distinct = SimpleNamespace(mixing=mixing_of(0.4), likeness_difference=near(-0.1))
    mixing, likeness = embedding_claims(SimpleNamespace(distinct=distinct, likeness=(near(0.3), near(0.2))))
    assert (mixing.outcome, likeness.outcome) == ("less", "less")


@pytest.mark.parametrize(("n_target", "n_retro"), [(MIN_N - 1, MIN_N), (MIN_N, MIN_N - 1)])
def test_words_of_few_entries_are_not_compared(n_target, n_retro):
    assert words_claim(table_of(n_target=n_target, n_retro=n_retro)).text.startswith(f"Undecided: at least {MIN_N} entries")
    assert not words_claim(table_of(n_target=MIN_N, n_retro=MIN_N)).text.startswith("Undecided")


@pytest.mark.parametrize(
    ("table", "words", "outcome"),
    [
        ({"n_rows": 0}, "No word or word pair is in 5 entries, so there is nothing to compare.", "missing"),
        ({}, "None of 1,200 words and word pairs is shown to be more usual in one set.", "undecided"),
        ({"n_different": 1}, "1 of 1,200 words and word pairs is more usual in one set, most of all “word 0”.", "words differ"),
        (
            {"n_different": 2},
            "2 of 1,200 words and word pairs are more usual in one set, most of all “word 0”.",
            "words differ",
        ),
    ],
)
def test_words_that_are_more_usual_in_one_set_are_counted(table, words, outcome):
    claim = words_claim(table_of(**table))
    assert (claim.text, claim.outcome) == (words, outcome) and claim.is_made == (outcome == "words differ")
    if claim.is_made:
        assert claim.detail.startswith("“word 0” is in 12 of 20 benchmark entries and in 3 of 30 holdout entries. ")
        assert claim.numbers == {"different": table["n_different"], "compared": 1_200}


def test_the_quality_of_a_map_is_said():
    quality = SimpleNamespace(trustworthiness=near(0.91), agreement=near(0.72), k=10)
    assert map_quality_text(quality) == (
        "Trustworthiness 0.91 of 1. With another seed, 0.72 of an entry's 10 neighbors on the map are the same "
        "(n = 20 entries)."
    )
