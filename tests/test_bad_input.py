"""What people and machines may do wrong: every case ends in a sentence, nothing is lost, and no text is taken for anything
but text."""

import csv
import json
import re
import subprocess
import sys
import tomllib

import pandas as pd
import pytest

from flipcore import __main__ as command
from flipcore.core.errors import BadInput, FlipscopeError
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.datasets import load_report
from flipcore.datasets.reading.rows import MAX_UPLOAD_MB
from flipcore.datasets.recorded.by_structure import guess_recording
from flipcore.runs import runner
from flipcore.runs.log_import import store_logs
from flipcore.runs.plan import plan
from flipcore.store.connection import Store
from flipcore.store.export import as_meant, export
from flipcore.store.merge import merge
from flipcore.store.queries import studies
from flipcore.store.queries.inspection import inspection
from tests import hostile
from tests.conftest import ROOT
from tests.datasets.files import written
from tests.datasets.recorded.tables import imported

pytestmark = pytest.mark.usefixtures("allowed_folders")

COLUMNS = {
    "question": "question",
    "options": "options",
    "target": "answer",
    "target_as": "index",
    "category": "category",
    "key": "id",
    "solution": "solution",
}
STUDY = """
name = "s"
[[items]]
dataset = "flipscope_choice"
n = 2
[[axes]]
name = "option_order"
[[extractors]]
name = "regex"
[[models]]
name = "simulated-clean"
"""


READ_HERE = (Part("first_token"), Part("regex"))


def study_of(path, **changes):
    made = {
        "name": hostile.TEXTS["html"],
        "items": (ItemSource("file", path=str(path), columns=COLUMNS),),
        "axes": (Part("identity"), Part("option_order", {"n": 3})),
        "extractors": (*READ_HERE, Part("judge")),
        "models": (ModelUse("simulated-noisy"),),
        "judge": "simulated-clean",
    }
    return Study(**made | changes)


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "flips.duckdb"))
    opened = Store.open()
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A finished study on hostile items: (store, study id, folder)."""
    folder = tmp_path_factory.mktemp("hostile")
    path = written(folder / "items.jsonl", hostile.rows()).path
    opened = Store.open(folder / "flips.duckdb")
    study = study_of(path)
    assert runner.run(study, opened).state == "done"
    yield opened, study.study_id, folder
    opened.close()


@pytest.mark.slow
def test_hostile_text_is_asked_read_and_stored_letter_by_letter(ran):
    store, study_id, _ = ran
    items = studies.study_items(store, study_id)
    assert sorted(items["question"]) == sorted(row["question"] for row in hostile.rows())
    frame = studies.readouts(store, study_id)
    # the simulated model repeats the option, and the longest text does not fit into its token limit
    assert set(frame["status"]) <= {"ok", "unreadable", "cut"} and frame["item_id"].nunique() == len(hostile.TEXTS)
    assert (frame["status"] == "ok").mean() > 0.9
    for item_id in items["item_id"]:
        seen = inspection(store, study_id, "simulated-noisy", item_id, "option_order")
        assert all(seen.item.options[0] in variant.prompt for variant in seen.variants)


@pytest.mark.slow
def test_a_spreadsheet_runs_no_cell_of_an_export_and_nothing_is_lost(ran):
    store, study_id, folder = ran
    csv.field_size_limit(10_000_000)
    questions: set[str] = set()
    for path in export(store, study_id, folder / "csv", "csv"):
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert rows and not [cell for row in rows for cell in row.values() if re.match(r"[=+@\t\r-]", cell)]
        questions = {as_meant(row["question"]) for row in rows} if "question" in rows[0] else questions
    assert questions == {row["question"] for row in hostile.rows()}
    items = pd.read_parquet(export(store, study_id, folder / "parquet", "parquet")[1])
    assert set(items["question"]) == {row["question"] for row in hostile.rows()}


@pytest.mark.slow
def test_hostile_recordings_are_imported_letter_by_letter(tmp_path, store):
    rows = [
        {
            "id": i,
            "prompt": f"{text}\nA. {i} tin\nB. {i} oak",
            "response": f"B {text}",
            "model": text[:80] or "m",
            "parsed_answer": text,
        }
        for i, text in enumerate(hostile.TEXTS.values())
    ]
    path = written(tmp_path / "out.jsonl", rows).path
    study_id = store_logs(imported(path, [], hostile.TEXTS["html"]), store)
    kept = store.rows("SELECT text FROM completions")
    assert {text for (text,) in kept} == {row["response"] for row in rows}
    assert len(studies.readouts(store, study_id)) == 2 * len(rows)


def test_surrogates_are_refused_by_their_line_and_the_other_rows_load(tmp_path):
    rows = [row | {"question": "half \ud83d"} if i == 1 else row for i, row in enumerate(hostile.rows()[:3])]
    report = load_report(ItemSource("file", path=written(tmp_path / "a.jsonl", rows).path, columns=COLUMNS))
    assert [line for line, _ in report.refusals] == [2] and "not UTF-8" in report.refusals[0][1] and len(report.items) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["tin", "oak", "tin"], "the same text in options 1 and 3"),
        (["tin"], "has 1 option; a choice needs at least two"),
        ([], "none of its 0 options"),
        (["tin", " "], "no text in option 2"),
        ([f"o{i}" for i in range(27)], "there are labels for 26"),
    ],
)
def test_an_item_whose_options_cannot_be_asked_is_left_out_and_the_run_says_so(tmp_path, store, options, why):
    rows = [
        {"question": "Which?", "options": options, "answer": 0, "id": "bad"},
        {"question": "Or?", "options": ["tin", "oak"], "answer": 1, "id": "good"},
    ]
    path = written(tmp_path / "a.jsonl", rows).path
    study = study_of(
        path,
        items=(
            ItemSource(
                "file",
                path=path,
                columns={"question": "question", "options": "options", "target": "answer", "target_as": "index", "key": "id"},
            ),
        ),
    )
    progress = runner.run(study, store)
    assert progress.state == "done" and studies.study_items(store, study.study_id)["question"].tolist() == ["Or?"]
    assert "Rows of file that were refused: 1." in progress.message and "Line 1" in progress.message and why in progress.message
    assert studies.studies(store)["message"].tolist() == [progress.message]


def test_a_label_set_that_is_too_short_leaves_the_item_out_and_says_which_one_would_do(tmp_path, store):
    rows = [{"question": f"Which of {n}?", "options": [f"option {i}" for i in range(n)], "answer": 0, "id": n} for n in (12, 4)]
    path = written(tmp_path / "a.jsonl", rows).path
    columns = {key: value for key, value in COLUMNS.items() if key in ("question", "options", "target", "target_as", "key")}
    study = study_of(
        path, items=(ItemSource("file", path=path, columns=columns),), axes=(Part("label_set", {"sets": ["roman", "digits"]}),)
    )
    made = plan(study)
    assert [len(one.item.options) for one in made.items] == [4]
    assert "Items that are left out: 1." in made.warnings[0]
    assert "'roman' has 10 labels, but an item has 12 options" in made.warnings[0]
    assert "choose a longer set" in runner.run(study, store).message


@pytest.mark.slow
def test_ten_options_under_digits_are_asked_and_a_token_that_begins_two_labels_is_no_answer(tmp_path, store):
    rows = [{"question": "Which of ten?", "options": [f"option {i}" for i in range(10)], "answer": 9, "id": 1}]
    path = written(tmp_path / "a.jsonl", rows).path
    columns = {key: value for key, value in COLUMNS.items() if key in ("question", "options", "target", "target_as", "key")}
    study = study_of(
        path,
        items=(ItemSource("file", path=path, columns=columns),),
        models=(ModelUse("pocket"),),
        judge=None,
        axes=(Part("label_set", {"sets": ["digits"]}),),
        extractors=(Part("first_token"), Part("cloze")),
    )
    assert runner.run(study, store).state == "done"
    frame = studies.readouts(store, study.study_id)
    assert set(frame["variant"]) == {"base", "digits"} and set(frame["status"]) <= {"ok", "unreadable"}


@pytest.mark.slow
def test_without_an_accepted_rewording_the_paraphrase_axis_is_empty_and_the_run_says_so(store):
    study = Study.from_toml(STUDY.replace("option_order", "paraphrase"))
    progress = runner.run(study, store)
    assert progress.state == "done" and "No item has an accepted paraphrase" in progress.message
    assert set(studies.readouts(store, study.study_id)["variant"]) == {"base"}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("option_order", "moon_phase"), "There is no axis called 'moon_phase'; choose one of identity"),
        (('"regex"', '"moon"'), "There is no extractor called 'moon'"),
        (("simulated-clean", "moon"), "There is no model 'moon'"),
        (("flipscope_choice", "moon"), "moon"),
        (("n = 2", 'n = "two"'), "n = 'two'; it must be a whole number"),
        (("n = 2", "n = -1"), "at least 0"),
        (("n = 2", "n = true"), "whole number"),
        (('"s"', "5"), "name = '5'; it must be text"),
        (("n = 2", "m = 2"), "unknown key 'm'"),
        (("n = 2", 'categories = "a"'), "a list of texts"),
        (("[[axes]]", "[[axis]]"), "no axes"),
        (("n = 2", "where = 3"), "a table"),
        (("[[models]]", "[[models]]\nn_samples = 0"), "at least 1"),
        (("[[models]]", "[[models]]\ntemperature = nan"), "at least 0"),
        (('"s"', '"s'), "not valid TOML"),
        (("n = 2", "n = "), "TOML"),
        (('name = "s"', 'name = "s"\nseed = -4'), "at least 0"),
        (("[[items]]", "[items]"), "no items"),
    ],
)
def test_a_study_file_with_a_mistake_is_a_sentence_on_the_command_line(tmp_path, monkeypatch, capsys, change, why):
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "flips.duckdb"))
    monkeypatch.setattr("flipcore.runs.demo.fill_store", lambda store: None)
    path = tmp_path / "study.toml"
    assert change[0] in STUDY
    path.write_text(STUDY.replace(*change), encoding="utf-8")
    assert command.main(["run", str(path)]) == 1
    said = capsys.readouterr().err
    assert why in said and "Traceback" not in said


@pytest.mark.parametrize("content", [b"", b"\x00\xff\xfe", "\U0001f600".encode("utf-16"), b"name", b"\xff" * 1000])
def test_a_study_file_that_is_none_is_a_sentence(tmp_path, content):
    path = tmp_path / "study.toml"
    path.write_bytes(content)
    with pytest.raises(FlipscopeError):
        Study.read(path)


@pytest.mark.parametrize(
    "arguments",
    [["run", "no-such.toml"], ["stats", "moon"], ["export", "moon"], ["merge", "no-such.duckdb"], ["import", "no-such.jsonl"]],
)
def test_a_command_about_something_that_is_not_there_is_a_sentence(tmp_path, monkeypatch, capsys, arguments):
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "flips.duckdb"))
    assert command.main(arguments) == 1
    said = capsys.readouterr().err.strip()
    assert said.endswith((".", "?")) and "Traceback" not in said and len(said) > 20


@pytest.mark.slow
def test_every_command_but_run_says_who_holds_the_database(tmp_path, store):
    """`run` hands its study over; the others name the process and where to find the same."""
    for arguments in (["stats", "s"], ["export", "s"], ["merge", "other.duckdb"]):
        found = subprocess.run([sys.executable, "-m", "flipcore", *arguments], cwd=ROOT, capture_output=True, text=True)
        assert found.returncode == 1 and "is held by process" in found.stderr and "dashboard" in found.stderr
        assert "Traceback" not in found.stderr


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"", b"no database " * 1000])
def test_a_file_that_is_no_database_is_not_merged_and_harms_nothing(tmp_path, store, content):
    runner.run(Study.from_toml(STUDY), store)
    before = store.rows("SELECT count(*) FROM completions")
    path = tmp_path / "other.duckdb"
    path.write_bytes(content)
    with pytest.raises(BadInput, match="other.duckdb"):
        merge([path], store)
    assert store.rows("SELECT count(*) FROM completions") == before
    assert runner.run(Study.from_toml(STUDY), store).state == "done"


@pytest.mark.slow
def test_a_database_of_another_kind_is_not_merged(tmp_path, store):
    other = Store.open(tmp_path / "other.duckdb")
    other.cursor().execute("DELETE FROM store_info")
    other.close()
    with pytest.raises(BadInput, match="schema unknown"):
        merge([tmp_path / "other.duckdb"], store)


def test_the_limit_of_the_browser_is_the_limit_of_the_reader():
    with (ROOT / ".streamlit" / "config.toml").open("rb") as file:
        assert tomllib.load(file)["server"]["maxUploadSize"] == MAX_UPLOAD_MB


@pytest.mark.slow
def test_a_file_over_the_limit_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "big.jsonl"
    with path.open("wb") as file:
        file.truncate(500_000_000)
    with pytest.raises(BadInput, match="500 MB and the limit is 200 MB; split it"):
        load_report(ItemSource("file", path=str(path)))
    with pytest.raises(BadInput, match="big.jsonl is not valid JSON"):
        guess_recording(str(path))
    with path.open("wb") as file:
        file.truncate(25_000_000_000)  # sparse: takes no room on disk
    with pytest.raises(BadInput, match="25,000 MB and the limit is 20,000 MB; split it"):
        guess_recording(str(path))


def test_a_half_written_file_loads_what_is_whole_and_names_the_line_that_is_not(tmp_path):
    text = "".join(json.dumps(row) + "\n" for row in hostile.rows()[:4])
    path = written(tmp_path / "a.jsonl", text[:-40]).path
    report = load_report(ItemSource("file", path=path, columns=COLUMNS))
    assert [line for line, _ in report.refusals] == [4] and len(report.items) == 3
