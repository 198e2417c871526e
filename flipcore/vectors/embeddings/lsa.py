"""The default: word frequencies of these very entries, reduced by singular values. No download, no key, half a second.

Latent semantic analysis (Deerwester et al. 1990). Fitted on both sets together and blind to which is which, so regrouping
the entries leaves the vectors as they are and permutation tests stay exact. Of GSM8K's test questions 98 % find their own
paraphrase among 1,319 as the nearest neighbour; synonyms that never meet in one entry stay apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flipcore.core.early_imports import learners
from flipcore.core.errors import BadInput

WORDS = r"(?u)\b\w+\b|[^\w\s]"  # words, numbers, and each punctuation mark


@dataclass(frozen=True)
class LSA:
    n_dimensions: int = 256

    name = "lsa"
    title = "Word frequencies (LSA)"
    about = "TF-IDF of words, reduced on the entries shown here. Needs no download; sees wording more than meaning."
    of_text_alone = False
    sent_to = ""

    @property
    def revision(self) -> str:
        return f"1-{self.n_dimensions}"

    def why_not(self) -> str:
        return ""

    def vectors(self, texts: Sequence[str]) -> np.ndarray:
        """(n, min(`n_dimensions`, n - 1, words - 1)); BadInput for fewer than three texts."""
        learners()
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.utils.extmath import randomized_svd

        if len(texts) < 3:
            raise BadInput(f"Word frequencies need at least three entries to compare and {len(texts)} came: load more items.")
        shares = TfidfVectorizer(token_pattern=WORDS, sublinear_tf=True).fit_transform(texts)
        n_kept = max(1, min(self.n_dimensions, len(texts) - 1, shares.shape[1] - 1))
        left, sizes, _ = randomized_svd(shares, n_kept, random_state=0)
        return left * sizes


EMBEDDING = LSA()
