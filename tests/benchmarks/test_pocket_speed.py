"""The pocket model's times on this machine: printed, not asserted, since a busy machine decides them."""

import time

import numpy as np
import pytest

from flipcore.models.pocket_inference import PocketModel
from tests.lab.pocket.items import read_items


@pytest.mark.soak
def test_scores_one_by_one_equal_those_of_a_batch_and_the_times_are_printed(capsys):
    began = time.perf_counter()
    model = PocketModel.load()
    load_s = time.perf_counter() - began
    pairs = [entry.document for entry in list(read_items("choices"))[:200]]
    model.score(pairs[:3])
    began = time.perf_counter()
    alone = [model.score([pair])[0] for pair in pairs]
    one_ms = 1000 * (time.perf_counter() - began) / len(pairs)
    began = time.perf_counter()
    together = model.score(pairs)
    batch_ms = 1000 * (time.perf_counter() - began) / len(pairs)
    began = time.perf_counter()
    made = model.generate([prompt for prompt, _ in pairs], max_tokens=12, temperature=0.7, seeds=range(len(pairs)))
    rate = sum(one.n_tokens_out for one in made) / (time.perf_counter() - began)
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_allclose([v for _, v in one], [v for _, v in other], atol=1e-4)
    with capsys.disabled():
        print(f"\nload {load_s:.2f} s; a scored prompt {one_ms:.1f} ms alone, {batch_ms:.1f} in a batch; {rate:.0f} tokens/s")
