"""The table that an import remembers its rows in: it says what a dictionary would, in a tenth of the memory."""

import random
import tracemalloc

import pytest

from flipcore.datasets.recorded.hash_table import HashTable, hash_of


def test_it_holds_what_a_dictionary_holds_over_its_growth():
    rng, table, known = random.Random(1), HashTable(2), {}
    for number in range(20_000):
        key = hash_of(str(rng.randrange(8_000)))
        known[key] = (number, rng.randrange(2**64))
        table.set(key, *known[key])
    assert len(table) == len(known) > 7_000
    assert all(table.get(key) == values for key, values in known.items())
    assert table.get(hash_of("never written")) is None


def test_keys_that_share_a_slot_stay_apart():
    table = HashTable(1)
    for step in range(1, 300):
        table.set(step << 32 | 7, step)
    assert [table.get(step << 32 | 7) for step in range(1, 300)] == [(step,) for step in range(1, 300)]


@pytest.mark.slow
def test_an_entry_takes_some_ten_bytes():
    tracemalloc.start()
    table = HashTable(2)
    for number in range(10_000):
        table.set(hash_of(str(number)), number, number)
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert held / 10_000 < 100


def test_texts_hash_to_one_number_and_are_told_apart_at_their_seams():
    assert hash_of("a", "b") == hash_of("a", "b") != hash_of("ab") != hash_of("a b")
    assert len({hash_of(str(i)) for i in range(10_000)}) == 10_000 and hash_of("\ud800")
