"""A resumed run passes over what was asked to its end, asks exactly what is missing, and knows a finished study before it varies
one item."""

import dataclasses
from pathlib import Path

import pytest

import flipcore
from flipcore.core.errors import BadInput
from flipcore.core.records import Completion
from flipcore.core.study import ModelUse, Part
from flipcore.models import model_cards
from flipcore.models.simulated import Simulated
from flipcore.runs import runner
from flipcore.runs.cluster.place import Place
from flipcore.runs.plan import plan_inputs, plan_of
from flipcore.runs.truncation import CutCount
from flipcore.store.queries import planning, review
from tests.runs.test_runner import n_completions, tiny_study

pytestmark = pytest.mark.usefixtures("allowed_folders")


@pytest.fixture
def asked(monkeypatch):
    """The calls that reach the model, and the items that are read."""
    calls, items = [], []
    complete, item = Simulated.complete, runner._Run._ask_item

    async def counted(self, call):
        calls.append(call.call_id)
        return await complete(self, call)

    async def read(self, item_plan, use):
        items.append(item_plan.item.item_id)
        await item(self, item_plan, use)

    monkeypatch.setattr(Simulated, "complete", counted)
    monkeypatch.setattr(runner._Run, "_ask_item", read)
    return calls, items


def sql(store, statement, **params):
    store.writer.transact(lambda connection: connection.execute(statement, params or None)).result(10)


@pytest.mark.slow
def test_a_finished_study_is_known_without_varying_an_item(store, monkeypatch):
    first = runner.run(tiny_study(), store)
    monkeypatch.setattr(runner, "plan_of", None)  # whoever varies an item fails
    told = []
    again = runner.run(tiny_study(), store, on_progress=told.append)
    assert (again.state, again.n_calls, again.n_done, again.n_reused) == ("done", *[first.n_done] * 3)
    assert (again.message, again.cut) == (first.message, first.cut) and told == [again]


def test_what_was_cut_off_is_said_again(store):
    study = tiny_study(models=(ModelUse("simulated-artifact-prone", max_tokens=6),))
    first, again = runner.run(study, store), runner.run(study, store)
    assert "were cut off" in first.cut and again.cut == first.cut and again.message == first.message


@pytest.mark.parametrize("status", ["ok", "failed"])
@pytest.mark.parametrize("is_known", [True, False])
def test_an_item_counts_as_complete_once_all_its_calls_were_answered(store, monkeypatch, status, is_known):
    if not is_known:
        monkeypatch.setattr(runner, "study_hash", lambda study, backends: runner.UNKNOWN)
    study = tiny_study()
    item_plan = next(iter(plan_of(plan_inputs(study, store)).items))
    runs = runner.ItemRuns(plan_inputs(study, store), model_cards(), store, is_whole=True)
    completions = {"a": Completion("a", "ok"), "b": Completion("b", status)}
    cut = CutCount()
    cut.add_counts(study.models[0], 5, 1)
    rows = runs.rows(item_plan, "m", completions, ["a readout"], cut)
    is_complete = is_known and status == "ok"
    assert len(rows) == runs.n_complete == is_complete
    for row in rows:
        counts = [row[name] for name in ("n_calls", "n_readouts", "n_answers", "n_cut")]
        assert counts == [2, 1, 5, 1] and (row["model"], row["item_id"]) == ("m", item_plan.item.item_id)


LOSSES = {
    "a completion": "DELETE FROM completions WHERE call_id = (SELECT min(call_id) FROM readout_sources)",
    "a readout": "DELETE FROM readouts WHERE (item_id, variant_id, sample, extractor) = (SELECT min((item_id, variant_id, sample, "
    "extractor)) FROM readouts)",
    "an answer that failed since": "UPDATE completions SET status = 'failed' WHERE call_id = (SELECT min(call_id) FROM "
    "readout_sources)",
    "what was planned of an item": "UPDATE item_runs SET plan_hash = 'x' WHERE item_id = (SELECT min(item_id) FROM item_runs)",
}


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES)
def test_only_the_item_that_lost_something_is_looked_at(store, asked, loss):
    first = runner.run(tiny_study(), store)
    rows = store.rows("SELECT * FROM readouts ORDER BY ALL")
    calls, items = asked
    calls.clear()
    items.clear()
    sql(store, LOSSES[loss])
    again = runner.run(tiny_study(), store)
    assert (again.state, again.n_done) == ("done", first.n_done)
    assert len(items) == 1 and len(calls) == (loss != "a readout" and "planned" not in loss)
    assert again.n_reused == first.n_done - len(calls)
    assert store.rows("SELECT * FROM readouts ORDER BY ALL") == rows
    items.clear()
    assert runner.run(tiny_study(), store).n_reused == first.n_done and not items  # and it is known again


@pytest.mark.slow
def test_the_items_that_a_stopped_run_left_are_asked_and_no_other(store, asked, monkeypatch):
    calls, items = asked
    monkeypatch.setattr(Place, "n_items_at_once", lambda self, uses, cards, n_calls: 1)
    one_item = runner._Run._ask_or_skip

    async def at_most_four_items(self, job):
        if len(items) < 4:
            await one_item(self, job)
        else:
            self.asking.stop("cancelled")

    monkeypatch.setattr(runner._Run, "_ask_or_skip", at_most_four_items)
    assert runner.run(tiny_study(), store).state == "cancelled"
    monkeypatch.setattr(runner._Run, "_ask_or_skip", one_item)
    asked_before, read_before = set(calls), set(items)
    calls.clear()
    items.clear()
    again = runner.run(tiny_study(), store)
    assert again.state == "done" and not set(calls) & asked_before and not set(items) & read_before
    assert len(read_before) == 4 and len(items) == 6 and again.n_done == n_completions(store) == len(calls) + again.n_reused


def _other_revision(self, *words, made=Simulated.__init__, **more):
    made(self, *words, **more)
    self.revision = "other"


CHANGES = {
    "the code": lambda patch: patch.setattr(runner, "code_hash", lambda: "other"),
    "the model": lambda patch: patch.setattr(Simulated, "__init__", _other_revision),
    "an axis of another package": lambda patch: patch.setattr(runner, "origins", lambda study: [{"name": "x"}]),
}


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_every_item_is_looked_at_where_something_else_would_be_asked_or_read(store, asked, monkeypatch, change):
    runner.run(tiny_study(), store)
    asked[1].clear()
    CHANGES[change](monkeypatch)
    assert runner.run(tiny_study(), store).state == "done" and len(asked[1]) == 10


@pytest.mark.slow
def test_a_paraphrase_that_came_since_has_its_item_looked_at(store, asked):
    study = tiny_study(axes=(Part("identity"), Part("paraphrase", {"unreviewed": True})))
    runner.run(study, store)
    item_id, question = store.rows("SELECT item_id, question FROM items ORDER BY item_id LIMIT 1")[0]
    pair = {"item_id": item_id, "dataset": "d", "original": question, "paraphrase": f"Say: {question}", "generator": "me"}
    asked[0].clear()
    asked[1].clear()
    review.keep_pairs(store, [pair | {"pair_id": "p"}])
    assert runner.run(study, store).state == "done"
    assert asked[1] == [item_id] and asked[0]


def test_a_pilot_says_nothing_of_the_whole(store):
    runner.run(tiny_study(), store, items_limit=3, record=False)
    assert store.rows("SELECT count(*) FROM item_runs") == [(0,)]
    runner.run(tiny_study(), store, items_limit=3)
    assert planning.study_end(store, tiny_study().study_id)[3] == runner.UNKNOWN


@pytest.mark.slow
def test_a_failed_call_leaves_its_item_open(store, asked, monkeypatch):
    complete, n = Simulated.complete, iter(range(1_000))

    async def failing(self, call):
        answer = await complete(self, call)
        return dataclasses.replace(answer, status="failed", text="", error="planted") if next(n) == 3 else answer

    monkeypatch.setattr(Simulated, "complete", failing)
    assert runner.run(tiny_study(), store).state == "incomplete"
    assert store.rows("SELECT count(*) FROM item_runs") == [(9,)]
    asked[1].clear()
    assert runner.run(tiny_study(), store).state == "done" and len(asked[1]) == 1


@pytest.mark.parametrize("is_whole", [True, False])
def test_a_run_that_would_write_to_an_archived_study_is_refused(store, is_whole):
    """A pilot writes to no study."""
    study = tiny_study()
    store.archives = {study.study_id: None}
    runs = runner.ItemRuns(plan_inputs(study, store), model_cards(), store, is_whole=is_whole)
    if is_whole:
        with pytest.raises(BadInput, match=f"The study {study.study_id} is archived, so nothing is written to it"):
            runs.stored_end()
    else:
        assert runs.stored_end() is None


def test_only_a_study_that_is_done_is_known_as_a_whole(store):
    runs = runner.ItemRuns(plan_inputs(tiny_study(), store), model_cards(), store, is_whole=True)
    assert len(runs.whole_hash("done")) == 20 and runs.whole_hash("incomplete") == runner.UNKNOWN
    runs.n_complete = 1  # beside what the store holds
    assert runs.whole_hash("done") == runner.UNKNOWN


def test_the_hash_reads_the_code_of_the_package_and_its_words(tmp_path, monkeypatch):
    assert len(runner.code_hash()) == 20 and runner.UNKNOWN == ""
    monkeypatch.setattr(runner, "_CODE", tmp_path)
    hashes = {runner.code_hash.__wrapped__()}
    for name in ("asked.py", "names.toml", "names.toml", "card.txt", "drawing.svg"):
        (tmp_path / name).write_text(f"{len(hashes)}")
        hashes.add(runner.code_hash.__wrapped__())
    assert len(hashes) == 5  # a drawing changes nothing that is asked


def test_the_code_that_is_hashed_is_the_package_and_no_more():
    assert Path(flipcore.__file__).parent == runner._CODE
