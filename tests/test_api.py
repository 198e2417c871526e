"""The lines of docs/notebook.md, run as they stand, and what they give back."""

import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import flipcore
from flipcore.__main__ import main
from flipcore.charts.theme import DARK, LIGHT
from flipcore.core.errors import BadInput
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.reports.plugins import tables
from flipcore.runs import demo, runner
from flipcore.store.connection import Store
from tests.conftest import ROOT
from tests.stores import copy_of

pytestmark = pytest.mark.usefixtures("allowed_folders", "few_permutations")

NOTEBOOK, PARTS = ((ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in ("notebook", "parts"))
STUDY = Study(
    "Demo of notebooks",
    (ItemSource("flipscope_choice", "target", 12), ItemSource("pocket_choice", "retro", 12)),
    (Part("identity"), Part("option_order", {"n": 2}), Part("paraphrase", {"unreviewed": True})),
    (Part("regex"), Part("first_token")),
    (ModelUse("simulated-noisy"),),
)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    place = tmp_path_factory.mktemp("api") / "flips.duckdb"
    store = Store.open(place)
    demo.fill_store(store)
    runner.run(STUDY, store)
    store.close()
    return place


@pytest.mark.slow
def test_the_readmes_lines_run_as_they_stand(path, monkeypatch, tmp_path, capsys):
    (lines,) = re.findall(r"# In a notebook\n\n```python\n(.*?)```", NOTEBOOK, re.DOTALL)
    assert len([line for line in lines.splitlines() if line.strip()]) <= 12
    monkeypatch.setenv("FLIPSCOPE_DB", str(path))
    monkeypatch.chdir(tmp_path)
    exec(compile(lines, "notebook.md", "exec"), {})
    out = capsys.readouterr().out
    assert "Demo of notebooks" in out and "option_order" in out and "A_minus_G" in out and "on the benchmark" in out
    assert "plotly" in Path("decomposition.html").read_text(encoding="utf-8")


SHOWN = """
with fs.open() as flipscope:
    study = flipscope.study("Demo")
    for view in (study.decomposition(), study.memory(), study.holdout()):
        display(view.figure())
"""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the notebook's own machinery
def test_the_readmes_lines_run_in_a_notebook_that_shows_the_figures(path, monkeypatch, tmp_path):
    nbformat, nbclient = (
        pytest.importorskip(name, reason="requirements-dev.txt installs it") for name in ("nbformat", "nbclient")
    )
    pytest.importorskip("ipykernel", reason="requirements-dev.txt installs it")
    (lines,) = re.findall(r"# In a notebook\n\n```python\n(.*?)```", NOTEBOOK, re.DOTALL)
    for name, value in {
        "FLIPSCOPE_DB": path,
        "PYTHONPATH": ROOT,
        "IPYTHONDIR": tmp_path,
        "JUPYTER_RUNTIME_DIR": tmp_path,
    }.items():
        monkeypatch.setenv(name, str(value))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in (lines, SHOWN)])
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    first, second = (cell.outputs for cell in notebook.cells)
    said = "".join(one.text for one in first if one.output_type == "stream" and one.name == "stdout")
    assert "Demo of notebooks" in said and "option_order" in said and "A_minus_G" in said and "on the benchmark" in said
    figures = [one.data["application/vnd.plotly.v1+json"] for one in second if one.output_type == "display_data"]
    assert [bool(one["data"]) for one in figures] == [True] * 3
    assert [one for one in [*first, *second] if one.output_type == "error" or one.get("name") == "stderr"] == []


@pytest.fixture(scope="module")
def study(path, allowed_folders, few_permutations, tmp_path_factory):
    """A copy of the study, opened once for the tests that only read it."""
    with flipcore.open(copy_of(path, tmp_path_factory.mktemp("copy"))) as flipscope:
        yield flipscope.study("Demo")


@pytest.mark.slow
def test_every_estimate_has_its_interval_method_n_and_seed_and_the_same_value_as_stats(study):
    split = study.decomposition()
    (cell,) = [
        one
        for one in study.whole.flips["simulated-noisy"].cells
        if (one.axis, one.extractor) == ("option_order", "first_token")
    ]
    frame = split.frame.set_index(["axis", "extractor", "quantity"])
    row = frame.loc[("option_order", "first_token", "T")]
    assert (row["value"], row["low"], row["high"], row["n"]) == (cell.T.value, cell.T.low, cell.T.high, cell.T.n)
    assert {"level", "method", "seed", "claim", "is_claimed"} <= set(frame.columns)
    assert study.name.startswith("Demo")
    light, dark = split.figure().layout, split.figure(dark=True).layout
    assert len(split.figure().data) == 5 and dark.height == 420
    assert (light.paper_bgcolor, dark.paper_bgcolor) == (LIGHT.page, DARK.page) != (DARK.page, LIGHT.page)
    rates = study.flips("regex")
    assert isinstance(rates, pd.DataFrame) and rates.shape[0] == 24 and "option_order" in rates.columns
    memory = study.memory()  # the target is compared with the retro set
    assert set(memory.frame["detector"]) == {"drop gap, paraphrased"} and memory.figure().data
    assert "as a share" in memory.figure().layout.xaxis.title.text
    assert study.holdout().frame["n"].iloc[-1] == 24 and study.holdout().figure().data


@pytest.mark.slow
def test_two_sets_get_the_verdict_and_its_four_tests_before_inflation_everywhere(study):
    verdict, *tests, inflation = study.holdout().claims
    assert verdict.text.startswith(("Undecided", "The sets"))
    assert len(tests) == 4 and any(one.text.startswith("Human odd-one-out: Not run") for one in tests)
    assert "higher on the benchmark" in inflation.text
    text, whole = study.text(), study.whole.as_dict()
    places = [text.index(one.text) for one in (verdict, *tests, inflation)]
    assert places == sorted(places)
    assert whole["holdout"]["sentence"] == verdict.text and set(whole["holdout"]["tests"]) == {
        "difficulty",
        "semantic",
        "prediction",
        "odd one out",
    }
    assert whole["inflation"]["sentence"] == inflation.text


@pytest.mark.slow
def test_a_study_without_a_test_of_memory_says_why(path, tmp_path):
    store = Store.open(tmp_path / "flips.duckdb")
    items = (ItemSource("flipscope_choice", n=12),)
    runner.run(Study("alone", items, (Part("identity"),), (Part("regex"),), (ModelUse("simulated-noisy"),)), store)
    store.close()
    with flipcore.open(tmp_path / "flips.duckdb") as flipscope:
        memory = flipscope.study("alone").memory()
        assert memory.frame.empty and memory.text().startswith("No detector was run: no item has the role control, ")


@pytest.mark.slow
def test_inflation_that_a_judge_read_is_withheld_behind_its_gate(path, monkeypatch):
    monkeypatch.setattr("flipcore.reports.whole_study.reasons", lambda *_: {"regex": "Nobody has labelled a text."})
    with flipcore.open(path) as flipscope:
        inflation = flipscope.study("Demo").holdout()
        assert inflation.claims[-1].text == "Not claimed: Nobody has labelled a text."
        rows = inflation.frame[inflation.frame["quantity"] == "inflation"]
        assert len(rows) and not rows["is_claimed"].any()


@pytest.mark.slow
def test_a_closed_gate_withholds_its_claim_here_too(path):
    """Nobody has reviewed the paraphrases of this study."""
    with flipcore.open(path) as flipscope:
        study = flipscope.study(STUDY.name)
        if "paraphrase" not in study.whole.closed_gates:
            pytest.skip("no paraphrase of these items is shipped")
        rows = study.decomposition().frame
        mine = rows[rows["axis"] == "paraphrase"]
        assert len(mine) and not mine["is_claimed"].any() and mine["claim"].str.startswith("Not claimed").all()


@pytest.mark.slow
def test_what_is_not_there_is_a_sentence(path, tmp_path):
    with pytest.raises(BadInput, match="There is no database at"):
        flipcore.open(tmp_path / "nothing.duckdb")
    with flipcore.open(path) as flipscope:
        with pytest.raises(BadInput, match="No study matches 'Other'"):
            flipscope.study("Other")
        study = flipscope.study("Demo")
        with pytest.raises(BadInput, match="it has simulated-noisy"):
            study.decomposition("gpt")
        with pytest.raises(BadInput, match="choose one of"):
            study.flips("cloze")


def test_importing_the_package_loads_nothing_heavy():
    code = "import sys, flipcore; assert not {'numpy', 'pandas', 'duckdb', 'plotly'} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True).returncode == 0


def test_the_readmes_tables_are_those_of_the_plug_ins():
    (shown,) = re.findall(r"<!-- plug-ins -->\n(.*?)\n<!-- end of plug-ins -->", PARTS, re.DOTALL)
    assert shown == tables(), "run `python -m flipcore plugins --tables` and put what it prints into docs/parts.md"


@pytest.mark.slow
def test_models_are_ranked_as_the_command_line_ranks_them(tmp_path):
    store = Store.open(tmp_path / "flips.duckdb")
    two = Study(
        "two models",
        (ItemSource("flipscope_choice", n=12),),
        (Part("identity"),),
        (Part("regex"),),
        (ModelUse("simulated-noisy"), ModelUse("simulated-clean")),
    )
    runner.run(two, store)
    store.close()
    with flipcore.open(tmp_path / "flips.duckdb") as flipscope:
        view = flipscope.study("two models")
        result = view.ranking()
        assert [one.text for one in result.claims if one.text not in view.text()] == []
        assert list(result.frame["quantity"]) == ["difference"] and result.frame["n"].iloc[0] == 12


@pytest.mark.slow
def test_flips_are_counted_in_every_way_as_by_the_command(path, study, monkeypatch, capsys):
    answer = study.flip_choices("option_order")
    said = (
        "Flips by option order: more pairs flip under first token alone than under both extractors in the only way of counting"
    )
    assert answer.claims[0].text.startswith(said) and "; not by more than chance." in answer.text()
    with pytest.raises(BadInput, match="No flips by 'typo' can be compared here"):
        study.flip_choices("typo")
    monkeypatch.setenv("FLIPSCOPE_DB", str(path))
    assert main(["choices", STUDY.study_id, "--flips", "option_order"]) == 0
    assert answer.lines() == capsys.readouterr().out.splitlines()
