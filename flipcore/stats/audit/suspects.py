"""Items whose key may be wrong, ranked by the answers of many models, or of one model to many
variants.

The score combines two rates: the share of answers that agree on one other answer, and how often
that happens in the item's subject. On MMLU-Redux (14 models, 5,700 items) the ranking has an
average precision of .31 for the 370 items that its authors dispute, and of .41 for the 107 whose
key they call wrong; agreement alone has .24 and .28. Of the first 200 items .44 are disputed
(agreement alone: .41). Half of the 370 are unclear or need an expert, which agreement cannot show.
Weighting answers by how the models do on items of the same subject and difficulty ranks worse
(.10), because models that miss the key also do badly on such items. The weights were chosen on this
set. People decide which items stay.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from flipcore.core.errors import BadInput

AGREEING = 0.8  # an item counts in its subject's rate if a larger share agree on one other answer
SUSPECT_SHARE = 0.5  # of the answers that agree on one other answer
PRIOR = 10  # number of items at the overall rate that are added to each subject
SUBJECT_WEIGHT = 2.0  # weight of the subject's rate; that of the item's own share is 1


@dataclass(frozen=True)
class Suspicion:
    """The signs that the key of one item is wrong; people should look at high scores first.
    `other_answer` is the most frequent of the `n` answers that are not the key, None without one.
    `share` is its share, and `key_share` that of the key."""

    other_answer: Hashable | None
    share: float
    key_share: float
    n: int
    score: float

    @property
    def is_suspect(self) -> bool:
        """True if at least half of the answers agree on one other answer."""
        return self.share >= SUSPECT_SHARE


def suspicions(
    answers: Sequence[Sequence[Hashable]],
    keys: Sequence[Sequence[Hashable]],
    subjects: Sequence[Hashable],
) -> list[Suspicion]:
    """Return one suspicion per item from all its readouts, its right answers and its subject.

    An item without an answer has the score of its subject alone. Raises BadInput for unequal
    lengths.
    """
    if not len(answers) == len(keys) == len(subjects):
        raise BadInput(
            f"{len(answers)} items with answers came with {len(keys)} keys and {len(subjects)} "
            "subjects."
        )
    if not len(subjects):
        return []
    summaries = [
        _answer_summary(item_answers, set(right))
        for item_answers, right in zip(answers, keys, strict=True)
    ]
    shares = np.array([share for _, share, _, _ in summaries], dtype=float)
    agrees = (shares > AGREEING).astype(float)
    subject_of = np.unique([str(subject) for subject in subjects], return_inverse=True)[1]
    sums, sizes = np.bincount(subject_of, agrees), np.bincount(subject_of)
    # Each item is left out of its subject's rate, or its own agreement would count twice.
    n_agreeing = sums[subject_of] - agrees + PRIOR * agrees.mean()
    rate = n_agreeing / (sizes[subject_of] - 1 + PRIOR)
    scores = (shares + SUBJECT_WEIGHT * rate).tolist()
    return [Suspicion(*summary, score) for summary, score in zip(summaries, scores, strict=True)]


def _answer_summary(
    answers: Sequence[Hashable], right: set[Hashable]
) -> tuple[Hashable | None, float, float, int]:
    """Return the most frequent other answer, its share, the share of right answers, and n."""
    counts, n = Counter(answers), len(answers)
    if not n:
        return None, 0.0, 0.0, 0
    wrong = [answer for answer in counts if answer not in right]
    key_share = sum(counts[answer] for answer in counts if answer in right) / n
    if not wrong:
        return None, 0.0, key_share, n
    # Ties are decided by the text, so that the order of answers has no influence.
    other_answer = min(wrong, key=lambda answer: (-counts[answer], str(answer)))
    return other_answer, counts[other_answer] / n, key_share, n
