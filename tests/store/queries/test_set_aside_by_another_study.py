"""What one study set aside, as later studies over the same items see it: hidden until it is locked or gone."""

from dataclasses import replace
from unittest.mock import patch

import pytest

from flipcore.core.errors import BadInput
from flipcore.core.study import Part
from flipcore.runs import runner
from flipcore.store.export import export
from flipcore.store.queries import holdout, inspection, locks, studies
from tests.store.queries import test_set_aside
from tests.store.queries.test_set_aside import CALLS, NAMES_IDS, READER, STUDY, S, filled, open_ids, store, written  # noqa: F401

pytestmark = pytest.mark.usefixtures("allowed_folders")

EVERYWHERE = replace(STUDY, name="open", confirmatory_share=0.0)
E = EVERYWHERE.study_id


def set_aside_ids(opened):
    return [one for (one,) in opened.rows("SELECT item_id FROM study_items WHERE study_id = $s AND confirmatory", s=S)]


@pytest.mark.slow
def test_a_later_study_over_the_same_items_shows_nothing_that_an_earlier_one_set_aside(store, tmp_path):  # noqa: F811
    """Every query is walked again, asked for the later study, before the earlier one is locked."""
    runner.run(EVERYWHERE, store)
    hidden = set_aside_ids(store)
    for name, call in CALLS.items():
        with patch.object(test_set_aside, "S", E), patch.object(test_set_aside, "STUDY", EVERYWHERE):
            said = written(call(store))
        assert name in NAMES_IDS or not [one for one in hidden if one in said], name
    for path in export(store, E, tmp_path, "csv"):
        text = path.read_text(encoding="utf-8")
        assert not [one for one in hidden if one in text], path.name
    assert "half set aside set them aside" in locks.hidden_sentence(store, E)
    assert "half set aside" not in locks.hidden_sentence(store, S)


@pytest.mark.slow
def test_the_later_study_shows_the_items_once_the_earlier_one_is_locked_or_gone(store):  # noqa: F811
    runner.run(EVERYWHERE, store)
    hidden = set(set_aside_ids(store))
    assert len(studies.study_items(store, E)) == 32 - len(hidden)
    again = replace(STUDY, name="again", axes=(Part("identity"),))
    runner.run(again, store)  # sets the same items aside: they are the earlier study's to open
    with pytest.raises(BadInput, match="nothing to lock here.*half set aside set them aside"):
        locks.keep_lock(store, again.study_id, "decomposition", {"level": 0.95}, "Ada")
    studies.delete_study(store, again.study_id)
    lock = locks.keep_lock(store, S, "decomposition", {"level": 0.95}, "Ada")
    assert len(studies.study_items(store, E)) == 32 and locks.hidden_sentence(store, E) == ""
    assert not locks.locks(store, S)[0]["settings"]["state"]["seen"]
    assert set(studies.readouts(store, S, lock=lock)["item_id"]) == hidden


@pytest.mark.slow
def test_deleting_the_study_that_set_items_aside_gives_them_back(store):  # noqa: F811
    runner.run(EVERYWHERE, store)
    studies.delete_study(store, S)
    assert len(studies.study_items(store, E)) == 32


@pytest.mark.slow
def test_items_that_an_earlier_study_shows_are_no_secret_of_the_items_but_stay_one_of_the_study(store):  # noqa: F811
    """Hiding cannot undo that somebody saw them; the lock says that they were seen."""
    runner.run(EVERYWHERE, store)
    store.writer.transact(
        lambda con: con.execute("UPDATE studies SET created_at = '2020-01-01' WHERE study_id = $s", {"s": E})
    ).result(10)
    hidden = set_aside_ids(store)
    assert len(holdout.items(store, hidden)) == len(hidden)
    assert not set(studies.readouts(store, S)["item_id"]) & set(hidden)
    assert inspection.inspection(store, S, READER, hidden[0], "identity") is None
    locks.keep_lock(store, S, "decomposition", {"level": 0.95}, "Ada")
    assert locks.locks(store, S)[0]["settings"]["state"]["seen"] == [["open", len(hidden), len(hidden)]]


@pytest.mark.slow
def test_two_sets_that_are_no_study_hold_their_items_against_later_studies_alone(store):  # noqa: F811
    chosen = open_ids(store)[:6]
    aside = holdout.keep_aside(store, "two sets", chosen, [], 1.0)
    assert aside == set(chosen) and len(holdout.items(store, chosen)) == 6  # S showed them before
    runner.run(EVERYWHERE, store)
    assert not set(chosen) & set(studies.study_items(store, E)["item_id"])
    assert locks.hidden_by(store, E)["two sets on the Holdout page"] == 6
