"""A batch of outputs: when it is full, and what is kept of it once."""

import pytest

from flipcore.runs.import_batch import Batch
from flipcore.store.recorded import BATCH_CHARS


@pytest.mark.parametrize(("n_chars", "is_full"), [(0, False), (BATCH_CHARS, False), (BATCH_CHARS + 1, True)])
def test_a_batch_is_full_once_its_texts_take_more_than_they_may(n_chars, is_full):
    batch = Batch("study", ())
    batch.n_chars = n_chars
    assert batch.is_full is is_full
