"""Which pairs count: by their state, by the change that they are, and by a lock's own states."""

import pyarrow as pa
import pytest

from flipcore.store.queries.paraphrase_states import CountedPairs
from flipcore.store.visible import Sight

STATES = ("accepted", "unreviewed", "rejected")
COUNTED = {"accepted": "A", "standing": "AU", "all": "AUR"}


def counted(rows, paraphrases, scope=None, **more):
    """The pairs that count, of those in `rows` and of one that is not stored; "" is a variant without a pair."""
    pairs = [*(pair for pair, _, _ in rows), "not stored", None]
    is_counted = CountedPairs(rows, scope or Sight(), paraphrases, **more).are_counted(pa.array(pairs))
    return [pair or "" for pair, counts in zip(pairs, is_counted, strict=True) if counts]


def rows_of(change):
    return [(state[0].upper(), state, change) for state in STATES]


@pytest.mark.parametrize("paraphrases", COUNTED)
def test_paraphrases_count_in_the_states_asked_for_and_other_changes_once_accepted(paraphrases):
    stored = [] if paraphrases == "accepted" else ["not stored"]
    assert counted(rows_of("paraphrase"), paraphrases) == [*COUNTED[paraphrases], *stored, ""]
    assert counted(rows_of("translation"), paraphrases) == ["A", *stored, ""]
    alike = counted(rows_of("translation"), paraphrases, any_change=True)
    assert alike == [*COUNTED[paraphrases], *stored, ""]


@pytest.mark.parametrize("any_change", [False, True])
def test_a_lock_has_its_own_states_and_no_other_pair(any_change):
    scope = Sight(verdicts={"A": "rejected", "U": "accepted", "not stored": "unreviewed"})
    rows = [("A", "accepted", "typos"), ("U", "unreviewed", "typos"), ("R", "rejected", "typos")]
    for paraphrases, others in (("accepted", []), ("standing", []), ("all", ["A"] if any_change else [])):
        # A pair that is not stored any more is a paraphrase in the state that it had.
        stored = [] if paraphrases == "accepted" else ["not stored"]
        expected = [*others, "U", *stored, ""]
        assert counted(rows, paraphrases, scope, any_change=any_change) == expected


def test_pairs_that_are_read_count_another_change_only_once_it_is_accepted(store):
    """Packed readouts read them so: typos that nobody accepted are no change of the wording."""
    sql = "INSERT INTO paraphrases VALUES ('typos', 'd', 'i', 'o', 'p', 'g', now(), 'typos')"
    store.writer.transact(lambda connection: connection.execute(sql) and None).result()
    with store.own_cursor() as cursor:
        pairs = CountedPairs.read(cursor, Sight(), "standing")
        any_pairs = CountedPairs.read(cursor, Sight(), "standing", any_change=True)
    assert pairs.are_counted(pa.array(["typos"])).tolist() == [False]
    assert any_pairs.are_counted(pa.array(["typos"])).tolist() == [True]
