"""The consistency rate of lm-eval's SCORE tasks under moved options (arXiv:2503.00137), as lm-eval
computes it and as it is defined.

A SCORE item is asked K times, with the right option swapped to each of the K places. To undo the
swap, lm-eval maps the label of the original place to the label shown, and in the next line the
label shown back to the original one. The second line undoes the first. So an answer at the original
place always counts as the right option, whichever option was there.
"""

import numpy as np


def score_rates(
    answer_places: np.ndarray, right_places: np.ndarray, original_places: np.ndarray
) -> tuple[float, float]:
    """Return the rate as SCORE computes it and the true pairwise agreement, means over items.

    `answer_places[i, v]` is the place answered in version v of item i, -1 for no answer.
    `right_places[i, v]` is the place of the right option there, -1 where there is no such version.
    `original_places[i]` is its place in the item's own order.
    """
    answer_places, right_places = np.asarray(answer_places), np.asarray(right_places)
    original = np.asarray(original_places)[:, None]
    is_original, is_right = answer_places == original, answer_places == right_places
    as_computed = np.where(is_original | is_right, original, answer_places)
    # The right option and the one at its original place were swapped, so both are moved back.
    as_defined = np.where(is_right, original, np.where(is_original, right_places, answer_places))
    has_version = right_places >= 0
    return _agreement(as_computed, has_version), _agreement(as_defined, has_version)


def _agreement(answers: np.ndarray, has_version: np.ndarray) -> float:
    """Return the mean over items of the share of pairs of versions with the same answer."""
    i, j = np.triu_indices(answers.shape[1], 1)
    is_pair = has_version[:, i] & has_version[:, j]
    is_same = (answers[:, i] == answers[:, j]) & is_pair
    n_pairs = is_pair.sum(axis=1)
    has_pairs = n_pairs > 0
    if not has_pairs.any():
        return float("nan")
    return float((is_same.sum(axis=1)[has_pairs] / n_pairs[has_pairs]).mean())
