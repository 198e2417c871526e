"""Import recorded outputs, used: upload, correct, import, and every page opens what came of it."""

import json
import zipfile

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from flipcore.datasets.recorded.columns import COLUMNS
from flipcore.runs import log_import
from pages.studies.import_outputs import FIELDS
from tests.browser.serving import ROOT
from tests.datasets.reading.test_packed import SCORES, write_sheet
from tests.datasets.recorded import harness_files as made
from tests.pages.opening import PAGE_MARKS, quiet, words
from tests.runs.test_importing import ROWS

pytestmark = PAGE_MARKS


@pytest.fixture
def app(tmp_path, monkeypatch):
    st.cache_resource.clear()
    st.cache_data.clear()
    quiet(monkeypatch, tmp_path / "flips.duckdb")
    yield AppTest.from_file(str(ROOT / "pages" / "main.py"), default_timeout=60).run()
    st.cache_resource.clear()


def uploaded(app, content: str, name="mine.jsonl"):
    app.file_uploader(key="log-files").set_value([(name, content.encode("utf-8", "surrogatepass"), "application/json")]).run()
    assert not app.exception
    return app


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def widget(app, kind: str, start: str):
    return next(one for one in getattr(app, kind) if str(one.key).startswith(start))


def test_an_upload_is_guessed_checked_and_becomes_a_study_that_every_page_opens(app):
    uploaded(app, lines(ROWS) + "{half")
    assert "6 rows on 1 task" in words(app) and "Rows that were refused: 1" in words(app)
    widget(app, "text_input", "recorded-model-").set_value("oak-1").run()
    app.button(key="log-import").click().run()
    assert not app.exception and "this log" in words(app)  # a table is audited like a log
    app.switch_page("studies/page.py").run()
    assert not app.exception and "mine, recorded" in words(app) and "oak-1" in words(app)
    for page in ("memorization", "new_study", "flips"):
        app.switch_page(f"{page}/page.py").run()
        assert not app.exception, page
    app.session_state["show"] = "Parts"
    app.switch_page("flips/page.py").run()
    assert "of pairs flip" in words(app)


def test_why_a_table_is_not_read_stands_above_its_corrections(app):
    """The corrections are longer than the screen."""
    rows = [f"{i},Capital number {i}?,c{i},c{i + i % 4}" for i in range(40)]
    uploaded(app, "\n".join(["id,prompt,a,b", *rows]), "mine.csv")
    (error,) = app.error
    assert "those are items" in error.value
    places = [element.key if element.type == "selectbox" else element.type for element in app.main]
    assert places.index("error") < places.index(widget(app, "selectbox", "recorded-prompt-").key)


def test_two_tables_say_which_models_they_hold_before_they_are_imported(app):
    rows = "".join(f"What is {i} plus {i}?,{2 * i},It is {2 * i}\n" for i in range(12))
    files = [(f"{name}.csv", f"question,answer,output\n{rows}".encode(), "text/csv") for name in ("north", "south")]
    app.file_uploader(key="log-files").set_value(files).run()
    assert not app.exception and "2 models: north, south. 24 rows." in words(app)


def test_an_import_that_lost_a_text_says_so_and_leads_nowhere(app, monkeypatch):
    take = log_import._add_row

    def forgetful(batch, row, position, **words):
        take(batch, row, position, **words)
        if position == 3:
            batch.calls.rows.popitem()

    monkeypatch.setattr(log_import, "_add_row", forgetful)
    uploaded(app, lines(ROWS))
    app.button(key="log-import").click().run()
    assert not app.exception and "not stored as the files hold them" in app.error[0].value.replace("\\", "")
    assert "What have we measured" in words(app)


def test_a_sheet_of_an_excel_file_is_chosen(app, tmp_path):
    """The first sheet is an overview, which holds no outputs."""
    path = write_sheet(tmp_path / "scores.xlsx", {"Overview": [["Made by", "Ada"]], "Scores": SCORES})
    app.file_uploader(key="log-files").set_value([("scores.xlsx", path.read_bytes(), "application/octet-stream")]).run()
    assert not app.exception and "no row that can be read" in app.error[0].value
    widget(app, "selectbox", "table-sheet-").set_value("Scores").run()
    assert not app.exception and "Read as 30 questions (id)" in words(app)


def test_a_column_is_corrected(app):
    rows = [{"moon": "Which?\nA. tin\nB. oak", "said": "B", "k": 1}, {"moon": "Or?\nA. oak\nB. tin", "said": "A", "k": 1}]
    uploaded(app, lines(rows))
    assert "names no column for the prompt" in words(app)
    widget(app, "selectbox", "recorded-prompt-").set_value("moon").run()
    widget(app, "text_input", "recorded-pattern-").set_value(r"^[A-Z]\. (.*)$").run()
    widget(app, "multiselect", "recorded-more-").set_value(["said"]).run()
    assert not app.exception and "2 rows on 1 task" in words(app)
    widget(app, "selectbox", "recorded-item-").set_value("k").run()
    assert not app.exception and "2 rows on 1 task" in words(app)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "is empty"),
        ("{half", "half-written"),
        ("[1, 2]", "no row that can be read"),
        ("\x00\x01\n\x02", "no row"),
        (lines([{"prompt": "p"}]), "nothing to read"),
    ],
)
def test_a_file_that_cannot_be_imported_is_a_sentence(app, content, why):
    uploaded(app, content)
    assert why in words(app)
    # Without rows there is nothing to correct: an empty box stood there, unfolded.
    has_columns = why == "nothing to read"
    assert any(box.label == "Correct how it was read" for box in app.expander) == has_columns


def test_an_upload_is_called_by_its_own_name_and_one_row_is_one(app, tmp_path):
    app.file_uploader(key="log-files").set_value([("x.zip", b"PK\x03\x04half", "application/zip")]).run()
    assert not app.exception and "x.zip is a damaged" in words(app) and "logs-" not in words(app)
    log = made.inspect_eval(tmp_path / "a.eval", [made.inspect_sample(0)], made.inspect_header(1.0, 1))
    app.file_uploader(key="log-files").set_value([("a.eval", log.read_bytes(), "application/zip")]).run()
    assert not app.exception and "1 row on 1 task; models" in words(app)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "x.jsonl is empty"),
        ("{half\n", "It may be half-written"),
        ("{half\n{too\n", "x.jsonl has no row that can be read"),
        ("{half\n{too\n", "rows below it. Line 1 "),
        (lines([{"prompt": "p"}]), "nothing to read"),
    ],
)
def test_a_file_that_is_no_log_says_why(app, content, why):
    app.file_uploader(key="log-files").set_value([("x.jsonl", content.encode(), "application/json")]).run()
    assert not app.exception and why in words(app)


def test_a_zip_without_a_log_names_no_folder_of_this_machine(app, tmp_path):
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as packed:
        packed.writestr("notes.txt", "nothing")
    app.file_uploader(key="log-files").set_value([("x.zip", (tmp_path / "x.zip").read_bytes(), "application/zip")]).run()
    assert not app.exception and "is no log that is known here" in words(app) and str(tmp_path) not in words(app)
    assert "Items and texts for a model belong under New study." in words(app)


def test_a_pattern_that_is_none_is_a_sentence(app):
    uploaded(app, lines([{"prompt": "A. tin\nB. oak", "text": "A"}]))
    widget(app, "text_input", "recorded-pattern-").set_value("(").run()
    assert not app.exception and "regular expression" in words(app)


def test_logs_of_a_harness_are_recognised_corrected_and_lead_to_the_audit(tmp_path, monkeypatch):
    from streamlit.testing.v1 import AppTest

    from pages.studies import import_outputs
    from tests.conftest import ROOT

    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "flips.duckdb"))
    monkeypatch.setattr("flipcore.runs.demo.demo_studies", list)
    folder = made.lm_eval(tmp_path / "run", n=30, n_right=20).parent
    corrections = []
    stored = import_outputs.store_survey

    def store_survey(log_survey, *rest):
        corrections.append(dict(log_survey.corrections))
        return stored(log_survey, *rest)

    monkeypatch.setattr(import_outputs, "store_survey", store_survey)
    app = AppTest.from_file(str(ROOT / "pages" / "main.py"), default_timeout=120).run()
    files = [(path.name, path.read_bytes(), "application/json") for path in sorted(folder.iterdir())]
    app.file_uploader(key="log-files").set_value(files).run()
    assert not app.exception
    assert any("1 × lm\\-eval samples" in one.value for one in app.markdown)
    (name,) = [one for one in app.text_input if one.label == "Name of the study"]
    name.set_value("Mine").run()
    widget(app, "text_input", "log-model-").set_value("oak-1").run()
    for start, value in (("role", "control"), ("cluster", "subject"), ("target", "text"), ("join", "id")):
        widget(app, "selectbox", f"log-{start}-").select(value).run()
    widget(app, "multiselect", "log-leave-").select("strict-match").run()
    file = next(path.name for path in folder.glob("*.jsonl"))
    widget(app, "text_input", "log-sample-").set_value("two").run()
    assert any("write sample:FILE=N" in one.value.replace("\\", "") for one in app.error)
    widget(app, "text_input", "log-sample-").set_value("2").run()
    widget(app, "text_input", "log-prompt-").set_value("base").run()
    assert not app.exception and not app.error
    app.button(key="log-import").click().run()
    assert corrections == [  # the words that --map takes
        {"name": "Mine", "leave": "strict-match", "model:m-1": "oak-1", "role:gsm8k": "control"}
        | {"cluster:gsm8k": "subject", "target:gsm8k": "text", "join": "id"}
        | {f"prompt:{file}": "base", f"sample:{file}": "2"}
    ]
    assert not app.exception
    assert any("this log" in one.value for one in app.markdown)  # the readout that was left out is reported


def test_every_column_that_a_table_may_name_has_its_field_and_its_help():
    assert set(FIELDS) == set(COLUMNS) and all(label and about for label, about in FIELDS.values())


def test_tables_whose_folders_name_their_models_are_shown_under_these(app, tmp_path):
    with zipfile.ZipFile(tmp_path / "runs.zip", "w") as packed:
        for model in ("oak-1", "tin-2"):
            rows = [{"id": i, "prompt": f"What grows at {i}?", "response": model, "target": "oak-1"} for i in range(8)]
            packed.writestr(f"{model}/wood.jsonl", lines(rows))
    app.file_uploader(key="log-files").set_value([("runs.zip", (tmp_path / "runs.zip").read_bytes(), "application/zip")]).run()
    field = widget(app, "text_input", "recorded-model-")
    assert (field.value, field.placeholder) == ("", "oak-1, tin-2") and "models: oak-1, tin-2" in words(app).replace("\\", "")
    field.set_value("one").run()
    assert not app.exception and "models: one;" in words(app).replace("\\", "")


def test_a_table_of_scores_alone_is_said_to_flip_in_results_and_offers_no_run(app):
    rows = [
        {"item_id": i, "prompt_id": way, "score": int(i % 3 > k)}
        for i in range(12)
        for k, way in enumerate(("plain", "polite"))
    ]
    uploaded(app, lines(rows))
    app.button(key="log-import").click().run()
    app.switch_page("flips/page.py").run()
    said = words(app).replace("\\", "")
    assert not app.exception and "The result differs between two prompts of one question" in said
    assert "A log that holds the outputs' texts is read here besides." in said and "run it again" not in said


def test_grades_alone_are_shown_by_score_and_no_page_waits_for_answers(app):
    """A grade of 0 or 1 was taken for wrong or right, and those items alone were ranked."""
    rows = [{"item_id": i, "model": model, "score": (i % 5) / 4} for i in range(12) for model in ("oak-1", "tin-2")]
    uploaded(app, lines(rows))
    app.button(key="log-import").click().run()
    for page in ("flips", "ranking"):
        app.switch_page(f"{page}/page.py").run()
        said = words(app).replace("\\", "")
        assert not app.exception and "these are grades. Score shows them." in said and "as answers arrive" not in said
