"""What review asks of stored paraphrases."""

from flipcore.store.queries import review


def test_stored_paraphrases_are_counted_once_each(store):
    assert review.n_pairs(store) == 0
    pair = {"item_id": "i", "dataset": "d", "original": "o", "paraphrase": "p", "generator": "g"}
    for names in ("ab", "bc"):
        review.keep_pairs(store, [pair | {"pair_id": name} for name in names])
    assert review.n_pairs(store) == 3
