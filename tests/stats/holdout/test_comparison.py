"""Two sets in one embedding: rows keep their sets, pairs their order, sentences their direction."""

from dataclasses import replace

import numpy as np
import pytest

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.holdout.comparison import Comparison
from flipcore.stats.holdout.entries import entry_text
from flipcore.vectors.embeddings import comparison
from tests.extractors.asking import choice, number
from tests.vectors.embeddings.items import entry, topical


def planted(target, retro, **sources) -> Comparison:
    """Rows at these angles (degrees)."""
    angles = np.radians([*target, *retro])
    items = [entry(f"t{i}", f"target {i}?") for i in range(len(target))]
    items += [entry(f"r{i}", f"retro {i} of them?", source_id=sources.get(f"r{i}")) for i in range(len(retro))]
    units = np.column_stack([np.cos(angles), np.sin(angles)]).astype(np.float32)
    return Comparison(tuple(items), len(target), units, "planted")


FOUND = planted([0, 10, 90], [12, 80])


def test_the_nearest_of_the_other_set_are_rows_of_the_other_set():
    rows, cosines = FOUND.across
    assert rows[:, 0].tolist() == [3, 3, 4, 1, 2]
    assert cosines[:, 0] == pytest.approx(np.cos(np.radians([12, 2, 10, 2, 10])), abs=1e-6)


def test_the_nearest_of_its_own_set_leave_the_entry_itself_out():
    rows, cosines = FOUND.nearest_own(0)
    assert rows.tolist() == [1, 2] and cosines == pytest.approx(np.cos(np.radians([10, 90])), abs=1e-6)
    assert FOUND.nearest_own(3)[0].tolist() == [4]


def test_bars_hold_the_entries_of_their_set_and_span():
    assert FOUND.within([]) == []
    assert FOUND.within([(np.cos(np.radians(3)), 1.0, 0)]) == [1]
    assert FOUND.within([(-1.0, 1.0, 1)]) == [3, 4] and FOUND.within([(-1, 1, 0), (-1, 1, 1)]) == [0, 1, 2, 3, 4]


def test_the_loneliest_entry_comes_first():
    # angles 0, 2, 5, 100 | 4, 6: the one at 100 degrees is far from all
    assert planted([0, 2, 5, 100], [4, 6]).loneliest[0] == 3


def test_the_most_alike_pairs_are_rows_of_all_items():
    target, retro = FOUND.most_alike(1)
    assert [(i, j) for i, j, _ in target] == [(0, 1)] and [(i, j) for i, j, _ in retro] == [(3, 4)]


def test_the_most_alike_pairs_across_the_sets_are_listed_by_embedding_beside_words():
    near, far = planted([0, 40, 90], [1]), entry("r1", "target 1?")
    items = (*near.items[:3], replace(near.items[3], source_id=near.items[0].item_id), far)
    sets = Comparison(items, 3, np.vstack([near.units, [[-1.0, 0.0]]]), "planted")
    pairs = {(one.target, one.retro): one for one in sets.alike_across}
    assert set(pairs) == {(t, r) for t in range(3) for r in (3, 4)}  # every pair of both, none within a set
    assert list(pairs)[:2] == [(1, 4), (0, 3)]  # the same words, far in this embedding; then the nearest
    assert pairs[1, 4].words == 1.0 and pairs[1, 4].cosine < 0 and not pairs[1, 4].is_declared
    assert pairs[0, 3].cosine == pytest.approx(np.cos(np.radians(1)), abs=1e-6) and pairs[0, 3].is_declared


def test_a_value_is_missing_where_there_is_none():
    values = FOUND.per_item({FOUND.items[1].item_id: 0.5})
    assert values[1] == 0.5 and np.isnan(values[[0, 2, 3, 4]]).all()


def test_a_tighter_set_is_said_to_be_more_alike_inside():
    found = planted(list(range(0, 180, 6)), [i / 10 for i in range(30)])
    assert found.likeness[1].value > found.likeness[0].value
    assert found.likeness_difference.low > 0


def test_source_pairs_are_compared_as_pairs():
    # each holdout entry lies half a degree to either side of its source: nearer than any other, and no difference
    rng = generator(0)
    target = rng.uniform(0, 180, 40)
    retro = target + rng.choice([-0.5, 0.5], 40)
    ids = [entry(f"t{i}", f"target {i}?").item_id for i in range(40)]
    found = planted(target, retro, **{f"r{i}": ids[i] for i in range(40)})
    assert found.pairs.tolist() == list(range(80))
    assert found.mixing.p > 0.05 and found.likeness_difference.excludes_zero() is False
    free = planted(target, retro)
    assert free.pairs is None and free.mixing.p < 0.05 and free.mixing.own_share.value < free.mixing.expected


def test_a_set_of_one_entry_has_no_likeness():
    assert planted([0, 10, 20], [5]).likeness_difference.note == "A set of fewer than two entries has no pairs."


def test_counts_hold_every_pair_of_either_set():
    edges, target, retro = FOUND.likeness_counts
    assert len(edges) == len(target) + 1 and (target.sum(), retro.sum()) == (3, 1)


def test_both_sets_are_embedded_together(store):
    found = comparison(store, topical("animals", 12), topical("numbers", 10))
    assert found.n_target == 12 and found.labels.tolist() == [0] * 12 + [1] * 10
    assert found.mixing.p < 0.05 and found.mixing.own_share.value > found.mixing.expected and "0." in found.coverage_sentence()
    assert found.lengths.tolist() == [len(text.split()) for text in found.texts]


def test_an_empty_set_is_a_sentence(store):
    with pytest.raises(BadInput, match="12 benchmark and 0 holdout"):
        comparison(store, topical("animals", 12), [])


# The text of an entry that is embedded: its question with one question mark, and its options in alphabetical order.


@pytest.mark.parametrize(("question", "text"), [("How many", "How many?"), ("How many ?? ", "How many?"), ("??", "")])
def test_a_question_ends_in_one_question_mark(question, text):
    assert entry_text(number(question=question)) == text


def test_options_stand_in_alphabetical_order_and_a_completion_gets_no_mark():
    assert entry_text(choice()) == "Which of these is a metal?\nbarley\noats\nrye\ntin"
    assert entry_text(replace(number(question="Once upon a time"), kind="completion")) == "Once upon a time"
