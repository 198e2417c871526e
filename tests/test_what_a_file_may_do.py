"""A study, a log and an upload are data: they run nothing and read nothing outside of the folders, on every way in."""

import json
import os
import sys
import types
from dataclasses import replace

import pytest

from flipcore import __main__ as command
from flipcore.core import folders
from flipcore.core.errors import BadInput, FlipscopeError
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.datasets import load_report
from flipcore.datasets.recorded.by_structure import guess_recording
from flipcore.models import open_backend
from flipcore.runs import inbox, runner
from flipcore.runs.background import Registry
from flipcore.runs.plan import plan, projection
from flipcore.store import rows
from flipcore.store.connection import Store
from flipcore.store.queries import studies
from tests.datasets.recorded.tables import imported

STUDY = Study(
    "s", (ItemSource("flipscope_choice", n=2),), (Part("identity"),), (Part("regex"),), (ModelUse("simulated-clean"),)
)


@pytest.fixture
def fresh(monkeypatch, tmp_path):
    """The defaults of a machine where no admin said anything; a database of its own."""
    monkeypatch.delenv("FLIPSCOPE_FOLDERS", raising=False)
    monkeypatch.delenv("FLIPSCOPE_CALLABLES", raising=False)
    monkeypatch.setattr(folders, "_admitted", set())
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("FLIPSCOPE_DB", str(home / "flips.duckdb"))
    monkeypatch.chdir(home)
    monkeypatch.setattr("flipcore.runs.demo.fill_store", lambda store: None)
    return home


@pytest.fixture
def store(fresh):
    opened = Store.open()
    yield opened
    opened.close()


@pytest.fixture
def shell(monkeypatch):
    """What a shell command would have been given."""
    given = []
    monkeypatch.setattr(os, "system", lambda text: given.append(text))
    return given


CODE = ("os:system", "subprocess:getoutput", "builtins:eval", "flipcore.core.randomness:generator", "os.path:join", ":", "os:")


@pytest.mark.slow
@pytest.mark.parametrize("name", CODE)
def test_no_module_is_run_or_imported_that_the_admin_did_not_allow(fresh, shell, store, name, tmp_path):
    study = replace(STUDY, models=(ModelUse(name),))
    judged = replace(STUDY, judge=name)
    path = tmp_path / "study.toml"
    path.write_text(study.to_toml(), encoding="utf-8")
    for asked in (study, judged):
        for way in (
            lambda asked=asked: projection(plan(asked, store)),  # the price preview
            lambda asked=asked: runner.run(asked, store),
            lambda asked=asked: Registry(store).pilot(asked, 1),
            lambda: open_backend(name),
        ):
            with pytest.raises(FlipscopeError, match="FLIPSCOPE_CALLABLES"):
                way()
    store.close()
    assert command.main(["run", str(path)]) == 1
    assert shell == []


def test_a_module_that_is_not_allowed_is_not_even_imported(fresh, tmp_path, monkeypatch):
    (tmp_path / "trap.py").write_text("raise SystemExit('imported')", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(BadInput, match="does not run"):
        open_backend("trap:answer")
    assert "trap" not in sys.modules


def test_an_allowed_module_lends_its_own_functions_only(fresh, monkeypatch):
    module = types.ModuleType("lab")
    monkeypatch.setitem(sys.modules, "lab", module)
    exec("from os import system\ndef answer(prompt):\n    return 'A'", module.__dict__)
    monkeypatch.setenv("FLIPSCOPE_CALLABLES", "numpy, lab")
    assert open_backend("lab:answer").name == "lab:answer"
    with pytest.raises(BadInput, match="belongs to"):
        open_backend("lab:system")


def outside(tmp_path):
    """A file, a folder and links that lie outside of every folder that may be read, and a link to them from inside."""
    away = tmp_path / "away"
    away.mkdir()
    secret = away / "secret.jsonl"
    row = {"question": "What is the password?", "answer": "42", "prompt": "p", "response": "hunter2", "model": "m", "id": 1}
    secret.write_text(json.dumps(row), encoding="utf-8")
    (away / "secret.txt").write_text("A secret sentence. " * 80, encoding="utf-8")
    uploads = tmp_path / "home" / "uploads"
    uploads.mkdir(parents=True, exist_ok=True)
    (uploads / "link.jsonl").symlink_to(secret)
    (uploads / "folder").symlink_to(away)
    (uploads / "texts").mkdir()
    (uploads / "texts" / "link.txt").symlink_to(away / "secret.txt")
    return [
        str(secret),
        str(uploads / "link.jsonl"),
        str(uploads / "folder" / "secret.jsonl"),
        str(uploads / ".." / ".." / "away" / "secret.jsonl"),
        "../away/secret.jsonl",
        str(away / "not-there.jsonl"),
        "/etc/passwd",
        "\0",
        "x" * 5_000,
    ]


@pytest.mark.slow
def test_no_file_is_read_outside_of_the_folders_by_a_study_an_inbox_or_an_import(fresh, store, tmp_path):
    for path in outside(tmp_path):
        source = ItemSource("file", path=path, columns={"question": "question", "target": "answer", "key": "id"})
        study = replace(STUDY, items=(source,))
        ways = [lambda source=source: load_report(source), lambda study=study: runner.run(study, store)]
        ways += [lambda path=path: guess_recording(path), lambda path=path: imported(path, _recording())]
        for name in ("mmlu", "gsm8k", "humaneval", "math", "text"):
            ways.append(lambda name=name, path=path: load_report(ItemSource(name, path=path)))
        for way in ways:
            with pytest.raises(FlipscopeError) as caught:
                way()
            assert "hunter2" not in str(caught.value) and "password" not in str(caught.value)
        if "\0" not in path and len(path) < 5_000:
            inbox.hand_over(study)
            registry = Registry(store)
            for taken, _ in inbox.take():
                registry.start(taken)
            while registry.running():
                pass
            state, message = store.rows(
                "SELECT state, message FROM studies WHERE study_id = $study_id", study_id=study.study_id
            )[0]
            assert state == "failed" and "outside of the folders" in message
    with pytest.raises(BadInput, match="outside of the folders"):
        load_report(ItemSource("text", path=str(tmp_path / "home" / "uploads" / "texts")))
    with pytest.raises(FlipscopeError):
        load_report(ItemSource("hub", options={"repo": str(tmp_path / "away")}))
    assert store.rows("SELECT count(*) FROM completions") == [(0,)]


def _recording():
    from flipcore.datasets.recorded.columns import Recording

    return Recording(model="m", prompt="prompt", text="response", dataset="x")


@pytest.mark.slow
def test_a_command_line_reads_where_it_is_called_and_beside_its_file_and_the_admin_decides(
    fresh, tmp_path, monkeypatch, capsys
):
    there = tmp_path / "mine"
    there.mkdir()
    (there / "items.jsonl").write_text(json.dumps({"question": "1 + 1?", "answer": "2", "id": 1}), encoding="utf-8")
    source = ItemSource(
        "file", path=str(there / "items.jsonl"), columns={"question": "question", "target": "answer", "key": "id"}
    )
    (there / "study.toml").write_text(replace(STUDY, items=(source,)).to_toml(), encoding="utf-8")
    assert command.main(["run", str(there / "study.toml")]) == 0
    monkeypatch.setenv("FLIPSCOPE_FOLDERS", str(tmp_path / "elsewhere"))
    assert command.main(["run", str(there / "study.toml")]) == 1
    assert "FLIPSCOPE_FOLDERS" in capsys.readouterr().err
    monkeypatch.setenv("FLIPSCOPE_FOLDERS", f"{tmp_path / 'elsewhere'}{os.pathsep}{there}")
    assert command.main(["run", str(there / "study.toml")]) == 0


NUMBERS = [
    ("models", "n_samples", 10**9),
    ("models", "max_tokens", 10**12),
    ("models", "temperature", float("inf")),
    ("models", "temperature", float("nan")),
    ("models", "temperature", 1e6),
    ("models", "top_p", 1.5),
    ("models", "top_p", float("-inf")),
    ("models", "seed", 2**63),
    ("items", "n", 10**15),
    ("items", "seed", 10**400),
    ("study", "budget_usd", float("inf")),
    ("study", "budget_usd", 1e18),
    ("study", "confirmatory_share", 1.0),
    ("study", "confirmatory_share", float("nan")),
    ("study", "seed", 10**30),
    ("study", "name", "x" * 2_000),
    ("axes", "params", {"n": 10**9}),
    ("axes", "params", {"levels_pct": [float("inf")]}),
    ("axes", "params", {"sets": ["a"] * 100_000}),
    ("protocol", "params", {"cap": 10**9}),
    ("extractors", "params", {"top_k": 10**9}),
    ("items", "where", {"a": [[[[[[[[1]]]]]]]]}),
    ("items", "options", {"n_words": 10**9}),
]


def _with(place, key, value):
    if place == "study":
        return replace(STUDY, **{key: value})
    if place == "protocol":
        return replace(STUDY, protocol=Part("rotation", value))
    return replace(STUDY, **{place: (replace(getattr(STUDY, place)[0], **{key: value}),)})


@pytest.mark.slow
@pytest.mark.parametrize("place, key, value", NUMBERS, ids=lambda value: str(value)[:20])
def test_every_number_length_and_depth_has_a_bound_in_a_file_and_in_a_plan(store, place, key, value):
    study = _with(place, key, value)
    with pytest.raises(BadInput) as caught:
        plan(study, store)  # declared by a page or another program
    assert str(caught.value).endswith(".") and len(str(caught.value)) < 400
    try:
        text = study.to_toml()
    except OverflowError:
        return
    if key != "options":  # a loader's own bound is checked by the loader
        with pytest.raises(BadInput):
            Study.from_toml(text)


def test_a_stored_study_that_is_beyond_the_bounds_is_shown_and_not_run(store):
    beyond = replace(STUDY, models=(ModelUse("simulated-clean", n_samples=10**9),))
    store.writer.add("studies", [rows.study_row(beyond, "running")]).result(10)
    Registry(store).settle()
    (row,) = studies.studies(store).to_dict("records")
    assert "cannot be read here" in row["problem"] and row["models"] == []
    with pytest.raises(BadInput):
        studies.study(store, beyond.study_id)


@pytest.mark.slow
def test_a_study_row_that_cannot_be_read_hurts_nothing_else(store, capsys):
    good = rows.study_row(STUDY, "done")
    broken = {
        "newer": 'name = "n"\nsurprise = 1\n' + STUDY.to_toml().partition("\n")[2],
        "torn": 'name = "t\n[[',
        "empty": "",
        "nul": "\x00",
    }
    store.writer.add("studies", [good] + [good | {"study_id": key, "name": key, "toml": text} for key, text in broken.items()])
    store.writer.add("studies", [good | {"study_id": "run", "name": "run", "toml": "?", "state": "running"}]).result(10)
    registry = Registry(store)
    registry.settle()
    frame = studies.studies(store)
    assert len(frame) == 6 and (frame["problem"] != "").sum() == 5
    assert frame[frame["study_id"] == STUDY.study_id]["problem"].tolist() == [""]
    assert runner.run(STUDY, store).state == "done"
    studies.delete_study(store, "torn")
    assert len(studies.studies(store)) == 5
    store.close()
    assert command.main(["stats", STUDY.study_id]) == 0
    assert command.main(["stats", "newer"]) == 1
    assert "unknown key 'surprise'" in capsys.readouterr().err
