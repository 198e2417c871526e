"""A lock fixes the readouts: whatever is asked, read or merged later stands apart, is named, and moves no number under it."""

import json
from dataclasses import replace

import pytest

from flipcore.commands import verify
from flipcore.core.errors import BadInput
from flipcore.core.locks import MANIFEST
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.models.simulated import Simulated
from flipcore.reports.decision_record import entries
from flipcore.reports.locks import locked
from flipcore.runs import runner
from flipcore.runs.rereading import reread
from flipcore.store.archiving import problems
from flipcore.store.connection import Store
from flipcore.store.merge import merge
from flipcore.store.queries import locks, studies
from flipcore.store.queries.decisions import LOCKED, keep_decision
from tests.stores import copy_of, store_with

STUDY = Study(
    name="half set aside",
    items=(ItemSource("flipscope_choice", n=24),),
    axes=(Part("identity"),),
    extractors=(Part("regex"),),
    models=(ModelUse("simulated-brittle"),),
    confirmatory_share=0.5,
)
S, PAGE = STUDY.study_id, "decomposition"


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The closed file of the study, run to its end once for all tests here."""
    return store_with(tmp_path_factory.mktemp("finished"), STUDY)


@pytest.fixture
def ran(finished, tmp_path):
    """A copy of it, open."""
    opened = Store.open(copy_of(finished, tmp_path))
    yield opened
    opened.close()


def under(store, lock):
    return studies.readouts(store, S, lock=lock).astype(str).to_csv()


def some_fail(monkeypatch, every=3):
    """Every third simulated call fails."""
    answered, n = Simulated.complete, iter(range(100_000))

    async def faulty(self, call):
        completion = await answered(self, call)
        return replace(completion, status="failed", text="", error="a planted fault") if next(n) % every == 0 else completion

    monkeypatch.setattr(Simulated, "complete", faulty)


@pytest.mark.slow
def test_a_lock_is_refused_while_calls_are_outstanding(ran):
    for state in ("planned", "running", "cancelled", "over_budget", "failed"):
        sql = "UPDATE studies SET state = $state, n_calls = 180 WHERE study_id = $s"
        ran.writer.transact(lambda c, sql=sql, state=state: c.execute(sql, {"state": state, "s": S})).result(10)
        with pytest.raises(BadInput, match="has not ended .*of its 180 planned calls.*Resume it to its end, then lock"):
            locks.keep_lock(ran, S, PAGE, {}, "Ada")
    assert locks.locks(ran, S) == []


@pytest.mark.slow
def test_failed_calls_that_are_asked_again_after_the_lock_stand_apart(store, monkeypatch):
    with monkeypatch.context() as patch:
        some_fail(patch)
        runner.run(STUDY, store)
    lock = locks.keep_lock(store, S, PAGE, {}, "Ada")
    before = under(store, lock)
    assert "absent" in before
    runner.run(STUDY, store)
    assert under(store, lock) == before
    claim = locked(store, S, PAGE)
    assert claim.is_made and "readouts of these items came after the lock" in claim.detail and "not counted" in claim.detail
    assert "absent" not in studies.readouts(store, S).astype(str).to_csv()  # the open ones are asked again as ever
    assert problems(store) == []


@pytest.mark.slow
def test_another_reading_after_the_lock_stands_apart(ran):
    lock = locks.keep_lock(ran, S, PAGE, {}, "Ada")
    before = under(ran, lock)
    reread(ran, S, "pattern", {"expression": r"([A-D])"})
    assert under(ran, lock) == before and "came after the lock" in locked(ran, S, PAGE).detail
    assert studies.readouts(ran, S)["extractor"].nunique() == 2


@pytest.mark.slow
def test_what_a_merge_brings_after_the_lock_stands_apart(store, finished, monkeypatch):
    with monkeypatch.context() as patch:
        some_fail(patch)
        runner.run(STUDY, store)
    lock = locks.keep_lock(store, S, PAGE, {}, "Ada")
    before = under(store, lock)
    report = merge([finished], store)
    assert under(store, lock) == before and "came after the lock" in locked(store, S, PAGE).detail
    assert report.replaced > 0


@pytest.mark.slow
def test_a_file_that_gets_lock_and_readouts_together_shows_the_same(ran, tmp_path):
    lock = locks.keep_lock(ran, S, PAGE, {}, "Ada")
    before = under(ran, lock)
    ran.close()
    other = Store.open(tmp_path / "other.duckdb")
    merge([tmp_path / "flips.duckdb"], other)
    assert under(other, lock) == before and problems(other) == []
    other.close()


@pytest.mark.slow
def test_readouts_that_are_not_those_of_the_lock_are_refused_and_said_by_verify(ran, tmp_path, capsys, monkeypatch):
    lock = locks.keep_lock(ran, S, PAGE, {}, "Ada")
    row = locks.locks(ran, S)[0]
    file = tmp_path / "lock.json"
    file.write_text(json.dumps({name: row[name] for name in MANIFEST}), encoding="utf-8")
    assert locks.differences(ran, row) == []
    keep_decision(ran, S, PAGE, LOCKED, "We go on.", {}, "Ada")
    assert entries(ran)[0].is_current
    sql = "UPDATE readouts SET answer = '0' WHERE item_id IN (SELECT item_id FROM study_items WHERE confirmatory)"
    ran.writer.transact(lambda c: c.execute(sql)).result(10)
    with pytest.raises(BadInput, match="not those that it was stored over"):
        studies.readouts(ran, S, lock=lock)
    assert [one for one in problems(ran) if "another state of the readouts" in one]
    entry = entries(ran)[0]
    assert entry.sentence == "We go on." and entry.is_changed and "not those that it was stored over" in entry.since
    monkeypatch.setattr("flipcore.commands.verify.open_store", lambda: _Open(ran))
    assert verify.act(_Options([str(file)])) == 1
    assert "another state of the readouts" in capsys.readouterr().out


class _Open:
    def __init__(self, store):
        self.store = store

    def __enter__(self):
        return self.store

    def __exit__(self, *_):
        return None


class _Options:
    def __init__(self, manifest):
        self.manifest = manifest


@pytest.mark.parametrize(
    ("text", "why"), [("{", "no JSON"), ("[]", "no manifest"), (None, "cannot be read"), ("other", "was changed")]
)
def test_a_manifest_that_is_none_or_was_changed_is_refused(ran, tmp_path, text, why):
    locks.keep_lock(ran, S, PAGE, {"level": 0.95}, "Ada")
    row = locks.locks(ran, S)[0]
    if text == "other":
        text = json.dumps({**{name: row[name] for name in MANIFEST}, "settings": row["settings"] | {"level": 0.8}})
    if text is not None:
        (tmp_path / "lock.json").write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=why):
        verify.act(_Options([str(tmp_path / "lock.json")]))


def test_a_lock_of_another_database_is_named(ran, tmp_path):
    locks.keep_lock(ran, S, PAGE, {}, "Ada")
    (row,) = locks.locks(ran, S)
    other = Store.open(tmp_path / "other.duckdb")
    assert "is not in this file" in problems(other, [row])[0]
    other.close()
