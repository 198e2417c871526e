"""Items whose key may be wrong, by the answers of many models, or of one model to many variants:
the share that agree on one other answer, and the rate of that in the item's subject.

On MMLU-Redux (14 models, 5,700 items) the order has average precision .31 for the 370 items that
its authors dispute and .41 for the 107 whose key they call wrong, agreement alone .24 and .28; of
its first 200 .44 are disputed (.41). Half of the 370 are unclear or need an expert, which no
agreement shows. Weighing an answer by how its models do on items of the same subject and difficulty
ranks worse (.10): where nearly all miss the key, so do they on such items. The weights were chosen
on that set. Which items stay is for people to say.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from flipcore.core.errors import BadInput

MOST = 0.8  # agree on one other answer: such items make up the subject's rate
PRIOR = 10  # items at the overall rate that a subject starts with
OF_SUBJECT = 2.0  # weight of the subject's rate beside the share of the item itself
HALF = 0.5


@dataclass(frozen=True)
class Suspicion:
    """The suspicion against the key of one item: `other_answer` is the answer that most of the `n`
    answers give of those that are not the key (None without one), `share` the share that give it,
    `of_key` that of the key; the higher the `score`, the sooner people should look."""

    other_answer: Hashable | None
    share: float
    of_key: float
    n: int
    score: float

    @property
    def is_suspect(self) -> bool:
        """True where half of the answers or more agree on one other answer."""
        return self.share >= HALF


def suspicions(
    answers: Sequence[Sequence[Hashable]],
    keys: Sequence[Sequence[Hashable]],
    subjects: Sequence[Hashable],
) -> list[Suspicion]:
    """Return one suspicion per item: `answers` are all readouts of it, `keys` its right answers,
    `subjects` its subject. An item without an answer has the score of its subject alone. Raises
    BadInput for unequal lengths."""
    if not len(answers) == len(keys) == len(subjects):
        raise BadInput(
            f"{len(answers)} items with answers came with {len(keys)} keys and {len(subjects)} "
            "subjects."
        )
    most = [
        _most(item_answers, set(right)) for item_answers, right in zip(answers, keys, strict=True)
    ]
    share = np.array([item_share for _, item_share, _, _ in most], dtype=float)
    against = (share > MOST).astype(float)
    if len(subjects):
        number = np.unique([str(subject) for subject in subjects], return_inverse=True)[1]
    else:
        number = np.zeros(0, dtype=int)
    sums, sizes = np.bincount(number, against), np.bincount(number)
    overall = against.mean() if against.size else 0.0
    # Each item is left out of its subject's rate, or agreement on it would count twice.
    rate = (sums[number] - against + PRIOR * overall) / (sizes[number] - 1 + PRIOR)
    scores = share + OF_SUBJECT * rate
    return [Suspicion(*counts, score) for counts, score in zip(most, scores.tolist(), strict=True)]


def _most(
    answers: Sequence[Hashable], right: set[Hashable]
) -> tuple[Hashable | None, float, float, int]:
    """Return the most given other answer, its share, that of right ones, and n."""
    counts, n = Counter(answers), len(answers)
    if not n:
        return None, 0.0, 0.0, 0
    n_right = sum(k for answer, k in counts.items() if answer in right)
    # The text decides between equals, so that the order of answers does not.
    wrong = sorted(
        (answer for answer in counts if answer not in right),
        key=lambda answer: (-counts[answer], str(answer)),
    )
    if not wrong:
        return None, 0.0, n_right / n, n
    return wrong[0], counts[wrong[0]] / n, n_right / n, n
