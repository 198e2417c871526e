"""The consistency rate of lm-eval's SCORE tasks under moved options (arXiv:2503.00137), as it is
computed and as it is defined.

A SCORE item is asked K times, the right option swapped to each of the K places. To undo the swap
lm-eval maps the label of the original place to the label shown, and in the next line the label
shown back to the original one. The second line undoes the first: an answer at the original place
always counts as the right option, whatever stood there.
"""

import numpy as np


def score_rates(
    answer_places: np.ndarray, right_places: np.ndarray, original: np.ndarray
) -> tuple[float, float]:
    """Return (the rate as SCORE computes it, the true pairwise agreement), means over items.

    `answer_places[i, v]` is the place answered (-1 for none) in version v of item i,
    `right_places[i, v]` the right option's place there (-1 where there is no such version),
    `original[i]` its place in the item's own order.
    """
    answer_places, right_places, original = (
        np.asarray(answer_places),
        np.asarray(right_places),
        np.asarray(original)[:, None],
    )
    harness = np.where(
        (answer_places == original) | (answer_places == right_places), original, answer_places
    )
    # The swap undone: the option at the original place went where the right one came from.
    true = np.where(
        answer_places == right_places,
        original,
        np.where(answer_places == original, right_places, answer_places),
    )
    has_version = right_places >= 0
    return _agreement(harness, has_version), _agreement(true, has_version)


def _agreement(answers: np.ndarray, has_version: np.ndarray) -> float:
    """Return the mean over items of the share of pairs of versions with one answer."""
    i, j = np.triu_indices(answers.shape[1], 1)
    pairs = has_version[:, i] & has_version[:, j]
    same = (answers[:, i] == answers[:, j]) & pairs
    n = pairs.sum(axis=1)
    return float((same.sum(axis=1)[n > 0] / n[n > 0]).mean()) if (n > 0).any() else float("nan")
