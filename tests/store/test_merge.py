"""Merging is a union of every table that replaces nothing good, reads nothing else, and says what it did."""

import dataclasses
import json
from collections import Counter

import duckdb
import pytest

from flipcore.core.errors import BadInput
from flipcore.core.records import Call, Request
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.extractors import EXTRACTORS
from flipcore.models.simulated import Simulated
from flipcore.runs import demo, runner
from flipcore.store import rows
from flipcore.store.connection import Store
from flipcore.store.merge import Merged, merge
from flipcore.store.queries import budgets, planning, studies
from flipcore.store.schema import tables

pytestmark = pytest.mark.usefixtures("allowed_folders")

STUDY = Study(
    "merged",
    (ItemSource("flipscope_choice", n=8),),
    (Part("option_order", {"n": 3}),),
    (Part("regex"),),
    (ModelUse("simulated-noisy", n_samples=2),),
)
_VALUES = {
    "VARCHAR": "x",
    "JSON": "{}",
    "INTEGER": 1,
    "BIGINT": 1,
    "DOUBLE": 0.5,
    "BOOLEAN": True,
    "TIMESTAMP WITH TIME ZONE": rows.now(),
    "VARCHAR[]": ["x"],
    "INTEGER[]": [0],
    "FLOAT[]": [0.5],
}


@pytest.fixture
def store(tmp_path):
    opened = Store.open(tmp_path / "here.duckdb")
    yield opened
    opened.close()


def other(tmp_path, name="other.duckdb"):
    return Store.open(tmp_path / name)


def answers(monkeypatch, words, fails=lambda n: False):
    """Every simulated answer in other words, as a server's would be; some of them fail."""
    answered, n = Simulated.complete, iter(range(10_000))

    async def worded(self, call):
        if fails(next(n)):
            return dataclasses.replace(await answered(self, call), status="failed", text="", error="a planted fault")
        return dataclasses.replace(await answered(self, call), text=words)

    monkeypatch.setattr(Simulated, "complete", worded)
    return lambda: monkeypatch.setattr(Simulated, "complete", answered)


CALL = Call("x", "x", Request("generate", "x"))


def fitting(table):
    """A row of a table, in which every id is that of what it names."""
    values = {one.name: _VALUES.get(one.kind) for one in table.columns} | {"study_id": STUDY.study_id}
    values |= {
        "call_id": CALL.call_id,
        "request": json.dumps(CALL.request.declared()),
        "sample": CALL.sample,
        "parent_id": None,
    }
    values |= {"toml": STUDY.to_toml(), "status": "ok"}
    return {name: values[name] for name in table.names}


@pytest.mark.slow
def test_every_table_is_merged(tmp_path, store):
    there = other(tmp_path)
    for name, table in tables().items():
        if name != "store_info":
            there.writer.add(name, [fitting(table)]).result(10)
    there.close()
    report = merge([tmp_path / "other.duckdb"], store)
    for name in tables():
        if name != "store_info":
            assert store.rows(f"SELECT count(*) FROM {name}") == [(1,)], name
    assert set(+report.added) >= set(tables()) - {"store_info", "readout_sources"} and not +report.skipped
    again = merge([tmp_path / "other.duckdb"], store)
    assert not +again.added and again.duplicates and "were here already" in again.sentences()[0]


UNTRUE = {
    "an answer to another call": ("completions", {"call_id": "0" * 20}, "not the hash of their call"),
    "another answer's request": ("completions", {"request": json.dumps({"prompt": "y"})}, "not the hash of their call"),
    "a request that is no request": ("completions", {"request": "[" * 40 + "]" * 40}, "not the hash of their call"),
    "a declaration under another id": ("studies", {"study_id": "0" * 12}, "not the hash of their declaration"),
    "a readout of an item that is not there": ("readouts", {"item_id": "nowhere"}, "point to no item, variant or completion"),
    "a readout of a variant that is not there": ("readouts", {"variant_id": "nowhere"}, "point to no item, variant"),
    "a readout that was read from nothing": ("readout_sources", {"sample": 7}, "point to no item, variant or completion"),
    **{
        f"{name} of a study that nobody declared": (name, {"study_id": "0" * 12}, "neither here nor in that file")
        for name, table in tables().items()
        if "study_id" in table.key and name not in ("studies", "readout_sources")
    },
}


@pytest.mark.cell
@pytest.mark.slow
@pytest.mark.parametrize("case", UNTRUE)
def test_what_is_not_what_its_id_says_is_skipped_and_said(tmp_path, store, case):
    changed, change, why = UNTRUE[case]
    there = other(tmp_path)
    for name, table in tables().items():
        if name != "store_info":
            there.writer.add(name, [fitting(table) | (change if name == changed else {})]).result(10)
    there.close()
    report = merge([tmp_path / "other.duckdb"], store)
    table = "readouts" if changed == "readout_sources" else changed
    assert any("1 " in said and " was skipped: " in said and why in said for said in report.sentences()), report.sentences()
    assert report.added[table] == 0 and store.rows(f"SELECT count(*) FROM {table}") == [(0,)]
    assert store.rows("SELECT count(*) FROM readouts") == [
        (0 if changed not in ("study_calls", "item_runs", "late_readouts") else 1,)
    ]  # it hung on what was skipped


@pytest.mark.slow
def test_a_file_does_not_raise_the_budget_of_a_study_that_is_here(tmp_path, store):
    store.writer.add("studies", [rows.study_row(STUDY, "done")]).result(10)
    budgets.set_budget(store, STUDY.study_id, 1.0)
    there = other(tmp_path)
    there.writer.add("studies", [rows.study_row(STUDY, "done")]).result(10)
    budgets.set_budget(there, STUDY.study_id, 900.0)
    there.close()
    report = merge([tmp_path / "other.duckdb"], store)
    assert budgets.budget_usd(store, STUDY) == 1.0 and any("its budget is set here" in said for said in report.sentences())


@pytest.mark.slow
def test_a_true_file_loses_nothing_to_the_checks(tmp_path, store):
    """The shipped studies, with every kind of call and readout that the pocket model serves."""
    there = other(tmp_path)
    demo.fill_store(there)
    for study in demo.demo_studies():
        runner.run(study, there, items_limit=3)
    counts = {name: there.rows(f"SELECT count(*) FROM {name}") for name in tables() if name != "store_info"}
    there.close()
    report = merge([tmp_path / "other.duckdb"], store)
    assert not +report.skipped, report.sentences()
    assert {name: store.rows(f"SELECT count(*) FROM {name}") for name in counts} == counts


def read_anew(store, study_id):
    """(stored answer, answer read now from the stored completion) of every readout."""
    frame = store.rows_of(
        "SELECT r.extractor, r.status, r.answer, r.item_id, r.variant_id, s.call_id, c.text FROM readouts r "
        "JOIN readout_sources s USING (study_id, model, item_id, axis, variant_id, sample, extractor) "
        "JOIN completions c USING (call_id) WHERE r.study_id = $study_id",
        study_id=study_id,
    )
    from flipcore.runs.plan import plan

    made = plan(studies.study(store, study_id), store)
    by_id = {(a.item.item_id, v.variant_id): (a.item, v) for a in made.items for v in a.variants}
    for row in frame:
        item, variant = by_id[row["item_id"], row["variant_id"]]
        (completion,) = planning.completions(store, [row["call_id"]])
        yield row["answer"], EXTRACTORS[row["extractor"]].read(item, variant, [rows.completion_of(completion)]).answer


@pytest.mark.slow
def test_readouts_follow_the_completions_that_are_kept(tmp_path, store, monkeypatch):
    """Two machines asked the same and got other words: what is here stays, and every readout is of what is here."""
    undo = answers(monkeypatch, "The answer is (A).", fails=lambda n: n % 4 == 0)
    assert runner.run(STUDY, store).state == "incomplete"
    undo()
    undo = answers(monkeypatch, "The answer is (B).")
    there = other(tmp_path)
    assert runner.run(STUDY, there).state == "done"
    there.close()
    undo()
    n_ok = store.rows("SELECT count(*) FROM completions WHERE status = 'ok'")[0][0]
    report = merge([tmp_path / "other.duckdb"], store)
    texts = dict(store.rows("SELECT text, count(*) FROM completions GROUP BY text"))
    assert texts == {"The answer is (A).": n_ok, "The answer is (B).": report.replaced} and report.replaced > 0
    pairs = list(read_anew(store, STUDY.study_id))
    assert len(pairs) == n_ok + report.replaced and all(stored == now for stored, now in pairs)
    assert runner.run(STUDY, store).state == "done"


@pytest.mark.slow
def test_a_new_study_whose_answers_differ_here_says_so_and_resume_reads_them(tmp_path, store, monkeypatch):
    undo = answers(monkeypatch, "The answer is (A).")
    runner.run(dataclasses.replace(STUDY, name="another name"), store)
    undo()
    undo = answers(monkeypatch, "The answer is (B).")
    there = other(tmp_path)
    runner.run(STUDY, there)
    there.close()
    report = merge([tmp_path / "other.duckdb"], store)
    assert report.skipped["readouts", "its completion here is another one; Resume reads the one that is kept"] > 0
    assert any("Resume reads the one that is kept" in said for said in report.sentences())
    state = "SELECT state FROM studies WHERE study_id = $study_id"
    assert store.rows(state, study_id=STUDY.study_id) == [("incomplete",)]
    undo()
    last = runner.run(STUDY, store)
    assert (last.state, last.n_done) == ("done", last.n_reused)
    assert all(stored == now for stored, now in read_anew(store, STUDY.study_id))


def hostile(path, *statements):
    """A Flipscope database after these statements."""
    Store.open(path).close()
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)
    return path


@pytest.mark.slow
def test_a_view_in_a_merged_file_reads_no_file(tmp_path, store):
    secret = tmp_path / "secret.txt"
    secret.write_text("hunter2", encoding="utf-8")
    view = f"""CREATE VIEW paraphrases AS SELECT content AS pair_id, 'd' AS dataset, 'i' AS item_id, content AS original,
               content AS paraphrase, 'g' AS generator, now() AS created_at FROM read_text('{secret}')"""
    path = hostile(tmp_path / "view.duckdb", "DROP TABLE paraphrases", view)
    report = merge([path], store)
    assert store.rows("SELECT count(*) FROM paraphrases") == [(0,)] and not +report.added
    macros = [
        "CREATE MACRO duckdb_tables() AS TABLE SELECT 'evil' AS table_name, '' AS sql",
        "CREATE MACRO count(x) AS 7",
        "CREATE SCHEMA system2",
    ]
    assert not +merge([hostile(tmp_path / "macros.duckdb", *macros)], store).added


@pytest.mark.slow
def test_a_running_study_is_merged_as_one_that_was_cut_off(tmp_path, store):
    there = other(tmp_path)
    there.writer.add("studies", [rows.study_row(STUDY, "running")]).result(10)
    there.close()
    merge([tmp_path / "other.duckdb"], store)
    assert store.rows("SELECT state FROM studies") == [("cancelled",)]


@pytest.mark.slow
def test_what_does_not_fit_is_skipped_with_its_number_and_reason(tmp_path, store):
    path = hostile(
        tmp_path / "odd.duckdb",
        "DROP TABLE decisions",
        "CREATE TABLE decisions AS SELECT i::VARCHAR AS decision_id, 's' AS study_id, 'p' AS page, 'x' AS sentence, 'm' AS mode, "
        "CASE WHEN i = 1 THEN 'no json' ELSE '{}' END AS settings, NULL AS came_from, 'r' AS reviewer, "
        "CASE WHEN i = 2 THEN 'no time' ELSE '2026-01-01' END AS created_at FROM range(5) t(i)",
        "INSERT INTO decisions SELECT * FROM decisions WHERE decision_id = '4'",
    )
    report = merge([path], store)
    assert report.added["decisions"] == 3 and report.skipped.total() == 3
    assert any("3 decisions were skipped" in said for said in report.sentences())


def test_one_row_is_said_in_the_singular():
    report = Merged(Counter(readouts=1, studies=2), Counter(), 1, Counter({("studies", "no"): 1, ("readouts", "why"): 1}))
    assert report.sentences() == [
        "1 readout, 2 studies added.",
        "1 failed call got their answer.",
        "1 study was skipped: no.",
        "1 readout was skipped: why.",
    ]


@pytest.mark.slow
def test_a_file_without_a_needed_column_or_of_a_newer_schema_changes_nothing(tmp_path, store):
    cases = {
        "lacks": "ALTER TABLE decisions DROP COLUMN sentence",
        "computed": "DROP TABLE items; CREATE TABLE items(item_id TEXT, x INTEGER GENERATED ALWAYS AS (1))",
        "newer": "UPDATE store_info SET value = '999' WHERE key = 'schema'",
        "words": "UPDATE store_info SET value = 'eleven' WHERE key = 'schema'",
    }
    for name, statement in cases.items():
        path = hostile(tmp_path / f"{name}.duckdb", *statement.split("; "))
        with pytest.raises(BadInput, match=f"{name}.duckdb"):
            merge([path], store)
    assert store.rows("SELECT count(*) FROM studies") == [(0,)]
    assert runner.run(STUDY, store).state == "done"


def test_a_study_is_not_deleted_while_it_runs(store):
    store.writer.add("studies", [rows.study_row(STUDY, "running")]).result(10)
    with pytest.raises(BadInput, match="running.*Cancel it first"):
        studies.delete_study(store, STUDY.study_id)
    store.writer.add("studies", [rows.study_row(STUDY, "cancelled")]).result(10)
    studies.delete_study(store, STUDY.study_id)
    assert studies.studies(store).empty
