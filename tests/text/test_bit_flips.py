"""Bits of a text inverted, and a text cut into what is shown and what is left."""

import math

import numpy as np
import pytest

from flipcore.core.randomness import generator
from flipcore.text import bit_flips


def test_a_bit_counts_from_the_most_significant_and_twice_is_never():
    assert bit_flips.flip_bits(b"A", [7]) == [ord("@")] and bit_flips.flip_bits(b"A", [1]) == [1]
    assert bytes(bit_flips.flip_bits(bit_flips.flip_bits(b"text", [3, 9]), [3, 9])) == b"text"


def test_a_share_of_bits_is_rounded_and_the_top_bit_can_be_spared():
    assert bit_flips.n_flips("ä", 50) == 8 and bit_flips.n_flips("abcd", 1) == 0
    positions = bit_flips.flip_positions(40, 100, generator(0), ascii7=True)
    assert len(set(positions.tolist())) == 100 and not (positions % 8 == 0).any()


def test_nothing_changes_at_no_flips_and_the_touched_characters_are_counted():
    assert bit_flips.flipped_text("unchanged", 0, generator(0)) == ("unchanged", 0.0)
    assert bit_flips.share_of_characters_changed("aäb", np.array([0, 8, 16])) == pytest.approx(2 / 3)  # ä has two bytes
    assert math.isnan(bit_flips.share_of_characters_changed("", np.array([])))


def test_a_text_is_cut_at_the_word_boundary_nearest_to_four_fifths():
    assert bit_flips.split_80_20("one two three four five") == ("one two three four", "five")
    assert bit_flips.split_80_20("undivided") == ("undivided", "")
