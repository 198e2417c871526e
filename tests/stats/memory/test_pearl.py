import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from flipcore.axes import bit_flip
from flipcore.core.randomness import generator
from flipcore.stats.memory import pearl_analysis

MELVILLE = "Call me Ishmael. Some years ago, never mind how long precisely, having little or no money in my purse."


def test_the_number_of_flips_rounds_halves_to_even():
    # 25 bytes are 200 bits: 1.25% is 2.5 -> 2, 1.75% is 3.5 -> 4
    assert [bit_flip.n_flips("x" * 25, pct) for pct in (0, 1.25, 1.75, 5)] == [0, 2, 4, 10] and bit_flip.n_flips("abcd", 1) == 0


def test_the_number_of_flips_counts_bytes_not_characters():
    assert bit_flip.n_flips("é" * 25, 2) == 2 * bit_flip.n_flips("e" * 25, 2) == 8


def test_bits_are_counted_from_the_most_significant_one():
    assert bit_flip.flip_bits(b"\x00\x00", [0, 15]) == [0b1000_0000, 0b0000_0001] and bit_flip.flip_bits(b"A", [7]) == [
        ord("@")
    ]


@given(st.binary(min_size=1, max_size=30), st.data())
def test_flipping_the_same_bits_twice_gives_the_text_back(data, draw):
    positions = draw.draw(st.sets(st.integers(0, 8 * len(data) - 1)))
    assert bytes(bit_flip.flip_bits(bit_flip.flip_bits(data, positions), positions)) == data


def test_a_text_at_level_zero_is_unchanged_and_draws_nothing():
    rng = generator(0)
    assert bit_flip.flipped_text(MELVILLE, 0, rng) == (MELVILLE, 0.0)
    assert rng.random() == generator(0).random()


def test_positions_are_the_sources_single_choice():
    expected = np.random.default_rng(7).choice(8 * 102, 8, replace=False)
    assert bit_flip.flip_positions(102, 8, generator(7)).tolist() == expected.tolist()
    assert bit_flip.flipped_text(MELVILLE, 1, generator(7))[0] == bytes(bit_flip.flip_bits(MELVILLE.encode(), expected)).decode(
        "utf-8", "replace"
    )


def test_ascii7_never_flips_a_top_bit_and_stays_ascii():
    positions = bit_flip.flip_positions(50, 300, generator(1), ascii7=True)
    assert len(set(positions.tolist())) == 300 and not np.any(positions % 8 == 0)
    assert bit_flip.flipped_text(MELVILLE, 5, generator(1), ascii7=True)[0].isascii()


def test_the_shares_of_changed_characters_are_the_stated_ones():
    # 1 - (1 - k)^8: 1% of the bits touches 7.7% of the characters, 5% touches 33.7% (rounded from another computation: 7.8, 33.6)
    text = MELVILLE * 200
    for pct, share in ((1, 1 - 0.99**8), (5, 1 - 0.95**8)):
        assert bit_flip.flipped_text(text, pct, generator(3))[1] == pytest.approx(share, abs=0.01)


def test_a_character_of_three_bytes_counts_once():
    assert bit_flip.share_of_characters_changed("a€b", np.array([8, 16, 31])) == pytest.approx(1 / 3)
    assert math.isnan(bit_flip.share_of_characters_changed("", np.array([])))


def test_sensitivity_is_the_largest_single_drop_and_may_be_negative():
    assert pearl_analysis.sensitivity([0.2, 0.3, 0.5]) == pytest.approx(-0.1)
    assert pearl_analysis.sensitivity_repository([0.2, 0.3, 0.5]) == pytest.approx(0.2)


def test_a_missing_level_is_never_bridged():
    assert math.isnan(pearl_analysis.sensitivity([0.9, math.nan, 0.1]))
    assert math.isnan(pearl_analysis.sensitivity([0.9])) and math.isnan(pearl_analysis.sensitivity([]))


def test_level_means_drop_missing_samples_and_keep_missing_levels():
    means = pearl_analysis.level_means([[1.0, None, 0.5], [None, math.nan], []])
    assert means[0] == 0.75 and math.isnan(means[1]) and math.isnan(means[2])


def test_abruptness_is_one_for_a_cliff_and_a_fifth_for_an_even_decline():
    assert pearl_analysis.abruptness([1, 1, 0, 0, 0, 0]) == 1.0
    assert pearl_analysis.abruptness([1, 0.8, 0.6, 0.4, 0.2, 0]) == pytest.approx(0.2)
    assert math.isnan(pearl_analysis.abruptness([0.5, 0.5, 0.5]))


def test_the_permutation_p_is_that_of_all_regroupings():
    # Two levels of two samples: of the 6 ways to choose the first level's pair only {1, .9} drops by .85.
    scores = [[1.0, 0.9], [0.1, 0.2]]
    pool = [1.0, 0.9, 0.1, 0.2]
    regrouped = [np.mean(pair) - (sum(pool) - sum(pair)) / 2 for pair in itertools.combinations(pool, 2)]
    exact = sum(value >= 0.8 - 1e-12 for value in regrouped) / 6
    result = pearl_analysis.perm_maxdrop(scores, seed=1, m=5_999)
    assert result["sens"] == pytest.approx(0.8)
    assert binomtest(round(result["p"] * 6_000) - 1, 5_999, exact).pvalue > 1e-3


def test_the_permutation_p_counts_ties_so_equal_scores_give_one():
    assert pearl_analysis.perm_maxdrop([[0.5] * 10] * 6, m=99) == {"p": 1.0, "sens": 0.0}


def test_the_permutation_p_of_a_missing_level_is_missing():
    result = pearl_analysis.perm_maxdrop([[0.5, 0.4], [None]])
    assert math.isnan(result["p"]) and math.isnan(result["sens"])


def test_unequal_numbers_of_samples_keep_their_level_sizes():
    # the first level has one sample, so only a regrouping that puts the 1.0 there drops by 1
    result = pearl_analysis.perm_maxdrop([[1.0], [0.0, 0.0, None, 0.0]], seed=3, m=3_999)
    assert binomtest(round(result["p"] * 4_000) - 1, 3_999, 0.25).pvalue > 1e-3


def test_a_text_is_split_at_the_word_boundary_nearest_to_80_percent():
    assert bit_flip.split_text("aaaa bbbb cccc") == ("aaaa bbbb", "cccc")
    assert bit_flip.split_text("oneword") == ("oneword", "")
    prompt, reference = bit_flip.split_text(MELVILLE)
    assert f"{prompt} {reference}" == MELVILLE and len(prompt) == pytest.approx(0.8 * len(MELVILLE), abs=5)
