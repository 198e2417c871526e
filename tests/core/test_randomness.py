"""A seed and names give a stream of their own, the same on every machine."""

import numpy as np
import pytest

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator, world_generator


def test_without_names_it_is_numpys_own_stream():
    assert generator(7).random(3).tolist() == np.random.default_rng(7).random(3).tolist()


def test_names_give_streams_of_their_own_that_stay():
    first, again, other = (generator(0, *names).integers(2**31, size=2).tolist() for names in (("a",), ("a",), ("b",)))
    assert first == again != other
    assert generator(0, "a", "b").random() != generator(0, "ab").random()
    assert generator(0, "sheet", 1).integers(10**6) == 267_000 and generator(0, "a").integers(0, 1000, 3).tolist() == [
        580,
        107,
        24,
    ]
    assert world_generator(0, "words").random() == world_generator(0, "words").random() != world_generator(1, "words").random()


def test_a_negative_seed_is_a_sentence():
    with pytest.raises(BadInput, match="A seed must be 0 or more; got -1"):
        generator(-1)
