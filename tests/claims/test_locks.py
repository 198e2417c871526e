"""A lock gives back exactly the state that it stored, or is refused; and the word is said only where it is true."""

import json
import shutil
from dataclasses import replace

import pytest

from flipcore.annotation.paraphrases.verdicts import verdict_row
from flipcore.claims.locks import LOCKED, locked_claim
from flipcore.core.errors import BadInput
from flipcore.core.locks import lock_id
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.reports.locks import check, locked
from flipcore.reports.study import study_report
from flipcore.runs import runner
from flipcore.store.connection import Store
from flipcore.store.judgements import PAIR_VERDICTS
from flipcore.store.queries import judgements, locks, paraphrase_states, review, studies
from flipcore.store.rows import now
from tests.annotation.paraphrases.pairs import OTHER
from tests.stores import store_with

pytestmark = pytest.mark.usefixtures("allowed_folders", "allowed_callables")

STUDY = Study(
    name="reworded, half set aside",
    items=(ItemSource("flipscope_choice", n=30),),
    axes=(Part("paraphrase", {"unreviewed": True}),),
    extractors=(Part("first_token"), Part("regex")),
    models=(ModelUse("simulated-brittle"),),
    confirmatory_share=0.5,
)
S = STUDY.study_id
PAGE = "decomposition"


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """The study, run once; every test gets a copy of its own."""
    return store_with(tmp_path_factory.mktemp("locks"), STUDY, shipped=True)


@pytest.fixture
def store(filled, tmp_path):
    opened = Store.open(shutil.copy(filled, tmp_path / "flips.duckdb"))
    yield opened
    opened.close()


def result(store, lock):
    """What the study says under the lock: every number of its report."""
    reports = study_report(studies.readouts(store, S, lock=lock), n_boot=99)
    return json.dumps({model: flips.as_dict() for model, flips in reports.items()}, sort_keys=True, default=str)


def strike(store, reviewer="Ada"):
    rows = store.rows(
        "SELECT DISTINCT material_id FROM study_variants v JOIN study_items i USING (study_id, item_id) "
        "WHERE i.study_id = $one AND i.confirmatory AND material_id IS NOT NULL",
        one=S,
    )
    pairs = review.pairs(store, [pair for (pair,) in rows])
    judgements.keep(store, PAIR_VERDICTS, [verdict_row(pair, reviewer, OTHER, "changes it") for pair in pairs[:-2]])
    return len(pairs) - 2


@pytest.mark.slow
def test_striking_pairs_after_the_lock_moves_nothing_under_it(store):
    lock = locks.keep_lock(store, S, PAGE, {"level": 0.95}, "Ada")
    before, rows = result(store, lock), len(studies.readouts(store, S, lock=lock))
    n = strike(store)
    assert n > 5 and result(store, lock) == before and len(studies.readouts(store, S, lock=lock)) == rows
    claim = locked(store, S, PAGE)
    assert claim.is_made and claim.detail.startswith(f"{n} verdicts have changed since") and claim.numbers["n_items"] > 5
    assert check(store, S, PAGE) == ""


@pytest.mark.slow
def test_a_lock_stored_after_the_strikes_has_them(store):
    lock = locks.keep_lock(store, S, "memorization", {}, "Ada")
    rows = len(studies.readouts(store, S, lock=lock))
    strike(store)
    later = locks.keep_lock(store, S, PAGE, {}, "Bea")
    assert len(studies.readouts(store, S, lock=later)) < rows == len(studies.readouts(store, S, lock=lock))


def changed(store, lock, **settings):
    row = next(one for one in locks.locks(store, S) if one["lock_id"] == lock)
    cursor = store.cursor()
    text = json.dumps(row["settings"] | settings)
    cursor.execute("UPDATE locks SET settings = $text WHERE lock_id = $one", {"text": text, "one": lock})
    cursor.close()


@pytest.mark.slow
def test_a_lock_that_was_changed_is_refused(store):
    lock = locks.keep_lock(store, S, PAGE, {"level": 0.95}, "Ada")
    changed(store, lock, level=0.8)
    with pytest.raises(BadInput, match="changed after it was stored"):
        studies.readouts(store, S, lock=lock)
    assert not locked(store, S, PAGE).is_made and "changed after" in locked(store, S, PAGE).text
    assert "changed after" in check(store, S, PAGE)


@pytest.mark.slow
def test_models_and_items_that_came_later_are_not_in_it(store):
    lock = locks.keep_lock(store, S, PAGE, {}, "Ada")
    before = result(store, lock)
    cursor = store.cursor()
    cursor.execute("INSERT INTO readouts SELECT study_id, 'another', * EXCLUDE (study_id, model) FROM readouts")
    cursor.execute("UPDATE study_items SET confirmatory = true WHERE study_id = $one", {"one": S})
    cursor.close()
    assert result(store, lock) == before


@pytest.mark.slow
def test_the_first_lock_of_a_page_holds_and_a_second_is_refused(store):
    locks.keep_lock(store, S, PAGE, {"level": 0.95}, "Ada")
    with pytest.raises(BadInput, match="locked already"):
        locks.keep_lock(store, S, PAGE, {"level": 0.8}, "Ada")
    with pytest.raises(BadInput, match="needs the name"):
        locks.keep_lock(store, S, "memorization", {}, " ")
    with pytest.raises(BadInput, match="nothing to lock"):
        locks.keep_lock(store, "no study", PAGE, {}, "Ada")


def test_the_word_is_withheld_where_another_lock_had_opened_the_items(store):
    locks.keep_lock(store, S, "memorization", {}, "Ada")
    locks.keep_lock(store, S, PAGE, {}, "Ada")
    assert locked(store, S, "memorization").is_made and not locked(store, S, PAGE).is_made
    assert locked(store, S, PAGE).text.startswith("Not claimed: a lock on memorization had opened")
    assert locked(store, S, "holdout") is None


@pytest.mark.slow
@pytest.mark.parametrize("is_earlier", [True, False])
def test_the_word_is_withheld_where_an_earlier_study_shows_the_answers(store, is_earlier):
    """A later one shows nothing of them before the lock."""
    other = replace(STUDY, name="all of it", confirmatory_share=0.0)
    runner.run(other, store)
    if is_earlier:
        sql = "UPDATE studies SET created_at = '2020-01-01' WHERE study_id = $other"
        store.writer.transact(lambda connection: connection.execute(sql, {"other": other.study_id})).result(10)
    locks.keep_lock(store, S, PAGE, {}, "Ada")
    if not is_earlier:
        assert locked(store, S, PAGE).is_made
        return
    n = len(locks.locks(store, S)[0]["settings"]["state"]["items"])
    assert f"could be read before: all of it shows them for {n} of the {n} items" in locked(store, S, PAGE).text


def test_a_lock_of_an_earlier_release_holds_while_its_verdicts_do(store):
    row = {"lock_id": "old", "study_id": S, "reviewer": "Ada", "created_at": now()}
    store.writer.add("locks", [row | {"settings": {"page": PAGE, "verdicts": paraphrase_states.verdict_state(store)}}]).result(
        10
    )
    assert len(studies.readouts(store, S, lock="old")) and "stored no state" in locked(store, S, PAGE).text
    strike(store)
    with pytest.raises(BadInput, match="Verdicts have changed"):
        studies.readouts(store, S, lock="old")


def test_the_claim_is_of_the_lock_alone():
    settings = {"page": PAGE, "state": {"items": [["a", "benchmark"]], "seen_before": 0}}
    lock = {"lock_id": lock_id(settings), "settings": settings, "created_at": now()}
    assert locked_claim(lock, [lock]).is_made


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        ({"seen": [["older", 2, 1], ["other", 2, 0]]}, "older shows them for 1 of the 2 items"),
        ({"seen_before": 2}, "another study shows them for 2 of the 2 items"),
        ({"seen": [["older", 2, 0]]}, ""),
    ],
)
def test_the_word_is_withheld_where_either_release_saw_answers_before(seen, words):
    """Earlier releases stored a number alone, later ones the studies by name."""
    settings = {"page": PAGE, "state": {"items": [["a", "benchmark"], ["b", "benchmark"]]} | seen}
    lock = {"lock_id": lock_id(settings), "settings": settings, "created_at": now()}
    claim = locked_claim(lock, [lock])
    assert claim.is_made == (not words)
    assert f"could be read before: {words}" in claim.text or not words


def test_a_lock_is_never_wrong():
    assert (LOCKED.error_rate, LOCKED.sides) == (0, 1)
