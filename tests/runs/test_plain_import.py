"""A plain table is stored as its records would be: row for row, stopped or not, and beside others."""

import csv
import pickle
import threading
from contextlib import closing
from types import SimpleNamespace

import pytest

from flipcore.core import folders
from flipcore.core.records import Call, Prompt, Request, RequestEncoder
from flipcore.datasets.recorded import grouping
from flipcore.datasets.recorded.hash_table import HashTable
from flipcore.datasets.recorded.log_places import call_number, completion_hash
from flipcore.runs import log_survey, our_readouts, plain_import
from flipcore.runs.log_import import store_logs, study_of
from flipcore.runs.log_survey import survey
from flipcore.runs.origins import study_row
from flipcore.runs.plain_import import PlainImport
from flipcore.store import recorded
from flipcore.store.connection import Store
from flipcore.store.rows import json_text
from flipcore.store.schema import tables

PASSING = {"created_at", "started_at", "ended_at", "message", "code_version"}
N_ITEMS = 40


def write_table(path, *, other_question=False):
    """Three models and 40 questions in the order of the models, with refused rows and gaps."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "model", "question", "answer", "output", "score"])
        for place, model in enumerate(["alpha", "beta", "gamma"]):
            for item in range(N_ITEMS - place):
                is_other = other_question and (place, item) == (1, 3)
                question = f"What is {item} and {8 if is_other else 7}?"
                output = f"<think>Hm.</think>The answer is {item + 7 + (item % 3 == place)}."
                cells = [f"q{item}", model, question, item + 7, output, int(item % 3 != place)]
                writer.writerow(cells)
        writer.writerow(["q1", "delta"])
    return path


def stored(store):
    """All rows but what is of this moment."""
    rows_of_tables = {}
    for table in tables().values():
        if table.name == "store_info":
            continue
        names = ", ".join(name for name in table.names if name not in PASSING)
        rows = store.rows(f"SELECT {names} FROM {table.name}")
        rows_of_tables[table.name] = sorted(map(repr, rows))
    return rows_of_tables


@pytest.fixture
def table(tmp_path):
    folders.admit(tmp_path)
    return write_table(tmp_path / "made.csv")


@pytest.fixture
def by_records(table, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(log_survey, "_count_plain_table", lambda *_: None)
        found = survey([table])
    assert not found.is_plain
    with closing(Store.open(":memory:")) as store:
        store_logs(found, store)
        return found, stored(store)


@pytest.mark.slow
def test_a_plain_table_is_stored_as_its_records_are(table, by_records):
    found = survey([table])
    assert found.is_plain
    with closing(Store.open(":memory:")) as store:
        store_logs(found, store)
        assert stored(store) == by_records[1]
    records = by_records[0]
    for name in ("n_records", "n_rows", "n_refused", "refusals", "kinds", "models", "readouts"):
        assert getattr(found, name) == getattr(records, name), name
    for name in ("axes", "clusters", "scales", "score_counts", "facts", "first", "readouts_in_rows", "has_text"):
        assert getattr(found, name) == getattr(records, name), name


@pytest.mark.slow
def test_a_plain_table_that_was_stopped_goes_on_and_is_read_again(table, by_records, monkeypatch):
    monkeypatch.setattr(recorded, "BATCH", 5)
    stop = threading.Event()
    with closing(Store.open(":memory:")) as store:
        study_id = store_logs(survey([table]), store, lambda _: stop.set(), stop)
        (n_stored,) = store.rows("SELECT count(*) FROM study_calls")[0]
        assert 0 < n_stored < 117
        assert store_logs(survey([table]), store) == study_id
        assert stored(store) == by_records[1]
        assert "stored as written" in store.rows("SELECT message FROM studies")[0][0]


@pytest.mark.slow
def test_a_table_that_records_began_is_begun_anew(table, by_records, monkeypatch):
    monkeypatch.setattr(recorded, "BATCH", 20)
    monkeypatch.setattr(grouping, "IN_MEMORY", 1_000)  # its records come part by part
    stop = threading.Event()
    with closing(Store.open(":memory:")) as store:
        study_id = store_logs(by_records[0], store, lambda _: stop.set(), stop)
        marks = []
        store_logs(survey([table]), store, lambda done: marks.append(done.n_done))
        assert marks[0] == 81  # four batches of records and the refused row
        assert recorded.is_in_file_order(store, study_id)
        rows, rows_of_records = stored(store), dict(by_records[1])
        # Items that were stored first keep the position that they had among the parts.
        assert len(rows.pop("study_items")) == len(rows_of_records.pop("study_items"))
        assert rows == rows_of_records


@pytest.mark.slow
def test_outputs_that_another_study_holds_otherwise_are_calls_of_their_own(table, by_records):
    records = by_records[0]
    # The same file with another column as its output has the same requests.
    words = {"column:text": "score", "column:score": ""}
    counts = []
    for found in (survey([table]), records):
        with closing(Store.open(":memory:")) as store:
            store_logs(survey([table], words), store)
            store_logs(found, store)
            counts.append(stored(store))
    assert counts[0] == counts[1]
    assert len(counts[0]["completions"]) == 2 * 117


def test_what_was_looked_at_can_be_pickled_as_a_pages_cache_does(table):
    """Readers that were closures made every import of a plain table on the page a fault."""
    found = survey([table])
    assert pickle.loads(pickle.dumps(found)).read_as == found.read_as


def test_rows_that_ask_an_item_otherwise_are_records(tmp_path):
    folders.admit(tmp_path)
    path = write_table(tmp_path / "other.csv", other_question=True)
    assert not survey([path], {"column:item": "id"}).is_plain


def test_rows_of_two_models_that_are_one_are_records(table):
    assert not survey([table], {"model:beta": "alpha"}).is_plain


def test_a_request_that_is_written_once_names_its_calls():
    request = Request("generate", "Is it \u00e9?", temperature=0.5, stop=("\n",))
    assert RequestEncoder(request).stored(request.prompt) == json_text(request.declared())
    for model, sample in (("a", 0), ('b "c"', 3)):
        call = Call(model, "recorded-1", request, sample)
        assert RequestEncoder(request).call_ids(request.prompt).call_id(model, "recorded-1", sample) == call.call_id


def test_a_table_is_stored_whole_after_records_of_it_came_in_another_order(table, store, monkeypatch):
    """Which of its rows are stored already could not be told, so its import begins anew."""
    monkeypatch.setattr(grouping, "IN_MEMORY", 100)
    table.write_text("id,model,question,answer,output,score\n", encoding="utf-8")
    with table.open("a", encoding="utf-8") as stream:
        stream.writelines(f"q{i},{model},What is {i}?,{i},It is {i}.,{i % 2}\n" for i in range(3) for model in "ab")
    found = survey([table])
    study = study_of(found)
    recorded.store_columns(store, study.study_id, {}, 3, has_own_order=False).result()
    store.writer.add("studies", [study_row(study, "cancelled", "Stopped.")]).result()
    marks = []
    store_logs(found, store, lambda progress: marks.append(progress.n_done))
    assert marks == [6] and recorded.import_state(store, study.study_id)[1].endswith("all 6 outputs are stored as written.")
    right = store.rows("SELECT model, answer, is_correct FROM readouts WHERE extractor = 'regex' ORDER BY ALL")
    assert right == [(model, str(i), True) for model in "ab" for i in range(3)]
    assert store.rows("SELECT DISTINCT r.sample, c.sample FROM readouts r, completions c") == [(0, 0)]
    scores = store.rows("SELECT model, value, is_correct FROM readouts WHERE extractor = 'score' ORDER BY ALL")
    assert scores == [(model, value, bool(value)) for model in "ab" for value in (0.0, 0.0, 1.0)]


def test_an_output_that_another_study_holds_otherwise_is_the_next_sample(table):
    maker = object.__new__(PlainImport)
    maker.revision = "recorded-1"
    maker._elsewhere = HashTable(1)
    prepared = SimpleNamespace(
        call_ids=RequestEncoder(Request("generate", "")).call_ids("Which?"), record=SimpleNamespace(raw_reply="")
    )

    def output(text):
        return maker.output("m", prepared, text, error="", finish="")

    assert output("A").sample == 0
    for sample, other in enumerate("BC"):
        completion = output(other).completion
        maker._elsewhere.set(call_number(completion.call_id), completion_hash(completion))
        assert output(other).sample == sample
        assert output("A").sample == sample + 1


def test_an_output_that_comes_again_is_read_once(tmp_path, monkeypatch):
    """Here the rows of an item are not beside each other, and two of four models agree."""
    folders.admit(tmp_path)
    path = tmp_path / "agreed.csv"
    with path.open("w", encoding="utf-8") as stream:
        stream.write("id,model,question,answer,output\n")
        stream.writelines(f"q{i},{model},What is {i}?,{i},It is {i + (model > 'b')}.\n" for model in "abcd" for i in range(9))
    read = []

    def read_outputs(extractor, item, variant, completions):
        read.append((item.item_id, completions[0].text))
        return our_readouts.read_outputs(extractor, item, variant, completions)

    monkeypatch.setattr(plain_import, "read_outputs", read_outputs)
    found = survey([path])
    with closing(Store.open(":memory:")) as store:
        store_logs(found, store)
        assert store.rows("SELECT count(*) FROM readouts") == [(36,)]
    assert found.is_plain and len(read) == len(set(read)) == 18


@pytest.mark.parametrize("has_text", [True, False])
@pytest.mark.parametrize(("dataset", "is_scored", "is_mathematics"), [("scored", True, False), ("maths", False, True)])
def test_texts_of_a_plain_table_are_read_as_their_task_needs(monkeypatch, has_text, dataset, is_scored, is_mathematics):
    asked = []
    monkeypatch.setattr(plain_import, "extractor_of", lambda item, **needs: asked.append(needs) or "extractor")
    monkeypatch.setattr(plain_import, "request_of", lambda record, variant: Request("generate", "Which?"))
    maker = object.__new__(PlainImport)
    maker._placed, maker.scored_tasks, maker._encoder = SimpleNamespace(task=""), {"scored"}, None
    maker.survey = SimpleNamespace(has_text=has_text, mathematics=["maths"])
    item = SimpleNamespace(item=SimpleNamespace(dataset=dataset), variant=SimpleNamespace(prompt=Prompt(())))
    maker._builder = SimpleNamespace(asked=lambda record: item)
    prepared = maker._make_item(SimpleNamespace(task="t", sampling={}))
    assert (prepared.extractor, maker._placed.task) == ("extractor" if has_text else None, "t")
    needs = {"has_option_scores": False, "is_scored": is_scored, "is_mathematics": is_mathematics}
    assert asked == ([needs] if has_text else [])
