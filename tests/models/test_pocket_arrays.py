"""Arrays of the pocket model: rows of tokens filled up, and batches of like length."""

import numpy as np

from flipcore.models.pocket_arrays import batches, log_softmax, padded, softmax


def test_rows_are_filled_to_the_longest():
    tokens, lengths = padded([[1, 2, 3], [4]])
    assert tokens.tolist() == [[1, 2, 3], [4, 0, 0]] and lengths.tolist() == [3, 1]


def test_batches_hold_every_row_once_and_like_lengths_together():
    lengths = [5, 1, 9, 3] * 40
    groups = list(batches(lengths))
    assert sorted(place for group in groups for place in group) == list(range(160))
    ordered = [lengths[place] for group in groups for place in group]
    assert ordered == sorted(lengths)


def test_probabilities_sum_to_one_and_large_numbers_do_not_overflow():
    x = np.array([[1000.0, 1000.0], [0.0, np.log(3.0)]])
    assert np.allclose(softmax(x.copy()), [[0.5, 0.5], [0.25, 0.75]])
    assert np.allclose(np.exp(log_softmax(x.copy())), [[0.5, 0.5], [0.25, 0.75]])
