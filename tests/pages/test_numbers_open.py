"""Every number of every kind of study opens its outputs: all links of all pages are walked, for a
study asked here, an imported log, an imported table and a table of scores; and every item of a study of memory."""

import pytest
from streamlit.testing.v1 import AppTest

from flipcore.core.records import IDENTITY
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.runs import demo, runner
from flipcore.runs.log_import import store_logs
from flipcore.runs.log_survey import survey
from flipcore.store.queries import studies
from pages.memorization.items import PARTS
from tests.datasets.recorded import harness_files
from tests.pages.opening import PAGE_MARKS, opened, quiet, words
from tests.reports.test_findings_open import write_log_of_two_models, write_table
from tests.runs.test_runner import tiny_study
from tests.stores import empty_store

pytestmark = PAGE_MARKS
N_ITEMS = 2  # of each axis and extractor: the others take the same way
CLOSED = ("was not asked under that axis", "Nothing has come back")


def write_scores(path):
    """Two models' scores and nothing else."""
    lines = [f"q{i},{model},{int(i % n == 0)}" for model, n in (("m-1", 2), ("m-2", 3)) for i in range(20)]
    path.write_text("\n".join(["item_id,model,score", *lines]) + "\n", encoding="utf-8")
    return path


def write_log_of_two_tasks(folder):
    """The second task asks other questions, because rows with one hash are one item."""
    harness_files.lm_eval(folder / "one", n=12, n_right=9)
    for path in harness_files.lm_eval(folder / "two", n=8, n_right=3).parent.iterdir():
        text = path.read_text(encoding="utf-8").replace("gsm8k", "asdiv")
        text = text.replace("What is", "How much is").replace('"doc_hash": "0', '"doc_hash": "a')
        (folder / path.name.replace("gsm8k", "asdiv")).write_text(text, encoding="utf-8")
        path.unlink()
    return folder


def imported(store, path):
    return store_logs(survey([str(path)]), store)


def asked_here(store, folder):
    study = tiny_study(axes=(Part(IDENTITY), Part("option_order", {"n": 2}), Part("combined", {"n": 3})))
    runner.run(study, store)
    return study.study_id


STUDIES = {
    "asked here": asked_here,
    "a log": lambda store, folder: imported(store, write_log_of_two_models(folder / "logs")),
    "a table": lambda store, folder: imported(store, write_table(folder / "table.jsonl")),
    "scores": lambda store, folder: imported(store, write_scores(folder / "scores.csv")),
}


@pytest.fixture(scope="module", params=STUDIES)
def kind(request, tmp_path_factory):
    """(path of the store, the study's id, its readouts) of one kind of study."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp(request.param.replace(" ", "-"))
        patch.setenv("FLIPSCOPE_FOLDERS", str(folder))
        (folder / "logs").mkdir()
        store = empty_store(folder / "flips.duckdb")
        study_id = STUDIES[request.param](store, folder)
        frame = studies.readouts(store, study_id)
        store.close()
    return folder / "flips.duckdb", study_id, frame


@pytest.fixture
def study(kind, monkeypatch):
    quiet(monkeypatch, kind[0])
    return kind[1]


def assert_opened(app: AppTest, where) -> None:
    """The page shows what is behind the number, and lets it be closed again."""
    said = words(app)
    assert not app.exception and not app.error, where
    assert "Right answer:" in said and not any(sentence in said for sentence in CLOSED), (where, said[-400:])
    tables = [one for one in app.dataframe if "Extractor" in one.value.columns]
    assert "Sample 1: " in said or tables, (where, said[-400:])
    assert any(button.key in ("inspect-close", "behind-close") for button in app.button), where


def draw_of(monkeypatch, clicked=None) -> list[dict]:
    """The boards that a page draws from now on; the first one answers as if `clicked` had been."""
    boards, answers = [], [clicked]

    def draw(board, **rest):
        boards.append(board)
        return None, None, answers.pop() if answers else None

    monkeypatch.setattr("pages.components.boards.draw", draw)
    monkeypatch.setattr("streamlit.rerun", lambda **scope: None)  # a click runs the fragment alone
    return boards


def test_every_dot_of_the_score_opens_its_outputs(study, monkeypatch):
    boards = draw_of(monkeypatch)
    app = opened("score/page.py", study=study)
    assert not app.exception
    pictures = [picture for row in boards[0]["rows"] for picture in row.get("pictures", ())]
    dots = [dot for picture in pictures for dot in picture.get("dots", ()) if dot["opens"]]
    assert dots or not any(picture.get("dots") for picture in pictures)
    for dot in dots:
        draw_of(monkeypatch, dot["opens"])
        assert_opened(opened("score/page.py", study=study), (dot["opens"]["model"], dot["title"]))


def test_every_way_of_the_ranking_opens_outputs_on_which_models_differ(study, monkeypatch, kind):
    if kind[2]["model"].nunique() < 2:
        pytest.skip("one model is not ranked")
    boards = draw_of(monkeypatch)
    assert not opened("ranking/page.py", study=study).exception
    assert boards[0]["rows"]
    for way in boards[0]["rows"]:
        app = opened("ranking/page.py", study=study, way=way["id"])
        if "right and wrong on the same items" not in words(app):
            assert_opened(app, way["id"])


def test_every_kind_of_cell_of_flips_opens_its_outputs(study, kind):
    frame = kind[2]
    for (model, axis, readout), part in frame.groupby(["model", "axis", "extractor"]):
        for item in part["item_id"].unique()[:N_ITEMS]:
            link = {"item": item, "axis": axis, "readout": readout, "of": model}
            assert_opened(opened("flips/page.py", study=study, **link), link)


def test_every_finding_of_the_audit_opens_its_outputs(study):
    app = opened("audit/page.py", study=study)
    assert not app.exception
    looks = [button.key for button in app.button if (button.key or "").startswith("look-")]
    for key in looks:
        page = opened("audit/page.py", study=study)
        assert_opened(page.button(key=key).click().run(), key)


def test_every_score_of_a_log_of_two_tasks_opens_its_outputs(tmp_path, monkeypatch):
    """The scores stood there without a link, because tasks are not pooled."""
    monkeypatch.setenv("FLIPSCOPE_FOLDERS", str(tmp_path))
    (tmp_path / "logs").mkdir()
    store = empty_store(tmp_path / "flips.duckdb")
    study = imported(store, write_log_of_two_tasks(tmp_path / "logs"))
    store.close()
    quiet(monkeypatch, tmp_path / "flips.duckdb")
    app = opened("audit/page.py", study=study)
    labels = {button.key: button.label for button in app.button if (button.key or "").startswith("look-task-")}
    assert sorted(labels.values()) == ["Look at 12", "Look at 8"]
    for key in labels:
        page = opened("audit/page.py", study=study)
        assert_opened(page.button(key=key).click().run(), key)
    assert not opened("audit/page.py", study=study, finding="task-99", item="gsm8k/0").exception


MEMORY = Study(
    "memory",
    tuple(
        ItemSource("pocket_problems", role, 20, 3, where=where)
        for role, where in (("benchmark", {"dose": [256]}), ("control", {"split": "control"}))
    ),
    (Part(IDENTITY), Part("paraphrase"), Part("numeric_resample")),
    (Part("regex"), Part("question_loss")),
    (ModelUse("pocket", max_tokens=96),),
    control="random",
)


@pytest.fixture(scope="module")
def memory(tmp_path_factory):
    path = tmp_path_factory.mktemp("memory") / "flips.duckdb"
    store = empty_store(path)
    demo.fill_store(store)
    runner.run(MEMORY, store)
    store.close()
    return path


@pytest.mark.parametrize("row", [0, 19])
@pytest.mark.parametrize("tab", ["gap", "loss", "agreement"])
def test_every_item_of_memory_opens_its_outputs(memory, monkeypatch, tab, row):
    quiet(monkeypatch, memory)
    sizes = []

    def click(name, table, **options):
        sizes.append(len(table))
        return {"selection": {"rows": [row]}}

    monkeypatch.setattr("pages.memorization.items.show_table", click)
    link = {"study": MEMORY.study_id, "tab": PARTS[tab]}
    assert_opened(opened("memorization/page.py", **link), (tab, row))
    assert sizes and min(sizes) > row
