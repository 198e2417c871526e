"""A change that is not harmless makes no flip, whoever asks: statistics, page, command line, inspector and export."""

from types import SimpleNamespace

import pandas as pd
import pytest
import streamlit as st

from flipcore import __main__ as command_line
from flipcore.axes import AXES
from flipcore.core.errors import BadInput
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.reports.compared_pairs import flips, sides, why_no_flip
from flipcore.reports.study import study_report
from flipcore.runs import runner
from flipcore.runs.plan import plan
from flipcore.store import harmless
from flipcore.store.connection import Store
from flipcore.store.export import export
from flipcore.store.queries import studies
from flipcore.store.queries.inspection import inspection
from tests.pages.opening import opened, quiet
from tests.plugins.offers import entry, offered

pytestmark = pytest.mark.usefixtures("allowed_folders")

MODEL = "simulated-noisy"
STUDY = Study(
    "harm",
    (ItemSource("flipscope_choice", n=12),),
    (Part("identity"), Part("option_order"), Part("opposite")),
    (Part("regex"), Part("first_token")),
    (ModelUse(MODEL),),
)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    patch = pytest.MonkeyPatch()
    place = tmp_path_factory.mktemp("harm") / "flips.duckdb"
    with offered(patch, AXES, entry("OPPOSITE")):
        store = Store.open(place)
        runner.run(STUDY, store)
        store.close()
    return place


@pytest.fixture
def store(path):
    store = Store.open(path)
    yield store
    store.close()


@pytest.mark.slow
def test_statistics_and_their_table_hold_no_pair_of_it_also_without_the_package(store):
    """The package is gone when the numbers are read: what is stored says it."""
    assert "opposite" not in AXES
    frame, whole = (studies.readouts(store, STUDY.study_id, everything=one) for one in (False, True))
    assert set(frame[frame["axis"] == "opposite"]["variant"]) == {"base"}
    asked = whole[whole["axis"] == "opposite"].pivot_table(
        index=["item_id", "extractor"], columns="variant", values="answer", aggfunc="first"
    )
    assert (asked["base"] != asked["opposite"]).any()  # there are other answers, which would have been flips
    cells = [one for one in study_report(frame)[MODEL].cells if one.axis == "opposite"]
    assert all(one.n_items == 0 for one in cells)
    shaken = [one for one in study_report(frame)[MODEL].cells if one.axis == "option_order"]
    assert shaken and all(one.n_items > 0 for one in shaken)


@pytest.mark.slow
def test_the_inspector_calls_nothing_of_it_a_flip(store):
    for item_id in studies.study_items(store, STUDY.study_id)["item_id"]:
        view = inspection(store, STUDY.study_id, MODEL, item_id, "opposite")
        (pair,) = sides(view, "regex").values()
        assert "may move the right answer" in why_no_flip(view, pair) and not flips(pair)
        view = inspection(store, STUDY.study_id, MODEL, item_id, "option_order")
        assert {why_no_flip(view, pair) for pair in sides(view, "regex").values()} == {""}


@pytest.mark.slow
def test_the_command_line_says_no_flip_rate_of_it(path, monkeypatch, capsys):
    monkeypatch.setenv("FLIPSCOPE_DB", str(path))
    assert command_line.main(["stats", STUDY.study_id]) == 0
    text = capsys.readouterr().out
    assert "Option order" in text and "Opposite" not in text


@pytest.mark.slow
def test_the_export_marks_none_of_it_as_what_flips_are_made_of(store, tmp_path):
    (readouts,) = [one for one in export(store, STUDY.study_id, tmp_path, "csv") if "-readouts." in one.name]
    rows = pd.read_csv(readouts)
    changed = rows[(rows["axis"] == "opposite") & (rows["variant"] != "base")]
    assert len(changed) == 24 and not changed["in_flips"].any()
    assert rows[rows["axis"] == "option_order"]["in_flips"].all()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_flip_surface_opens_no_column_of_it(path, monkeypatch):
    st.cache_resource.clear()
    quiet(monkeypatch, path)
    app = opened("flips/page.py")
    st.cache_resource.clear()
    assert not app.exception
    (columns,) = [one for one in app.multiselect if one.label == "Axes with their variants"]
    assert columns.options == ["option order"]


@pytest.mark.parametrize(
    ("axis", "key", "params", "is_harmless"),
    [
        ("identity", "x", {}, True),
        ("identity", "x", {"harmless": False}, False),
        ("identity", "x", '{"harmless": false}', False),
        ("identity", "x", {"harmless": True}, True),
        ("identity", "base", {"harmless": False}, True),
        ("numeric_resample", "x", {}, False),
        ("numeric_resample", "x", '{"harmless": true}', False),
        ("numeric_resample", "base", "{}", True),
        ("of another package", "x", {}, True),
        ("of another package", "x", {"harmless": False}, False),
    ],
)
def test_a_variant_is_harmless_if_neither_it_nor_its_axis_says_otherwise(axis, key, params, is_harmless):
    assert harmless.is_harmless(axis, key, params) == is_harmless


def test_an_axis_of_a_package_that_falls_over_is_a_sentence(monkeypatch):
    from dataclasses import replace

    with offered(monkeypatch, AXES, entry("FALLING")), pytest.raises(BadInput) as caught:
        plan(replace(STUDY, axes=(Part("falling"),)))
    assert "The axis 'falling' of flip-lab 2.1 failed: ZeroDivisionError: nothing to divide by" in str(caught.value)


def test_the_axes_that_matter_are_named_in_their_order_or_none_is(monkeypatch):
    axes = {name: SimpleNamespace(harmless=name == "b") for name in "cba"}
    monkeypatch.setattr(harmless, "AXES", axes)
    assert harmless.comparable_params()["changing"] == ["a", "c"]
    monkeypatch.setattr(harmless, "AXES", {"b": axes["b"]})
    assert harmless.comparable_params()["changing"] == [""]


@pytest.mark.parametrize(
    ("axis", "key", "params", "is_so"),
    [
        ("harmful", "base", "{}", True),
        ("harmful", "v", "{}", False),
        ("harmless", "v", "{}", True),
        ("harmless", "v", '{"harmless": false}', False),
        ("unknown", "v", {"harmless": True}, True),
        ("unknown", "v", {"harmless": False}, False),
        ("unknown", "base", {"harmless": False}, True),
        ("harmful", "v", {"harmless": True}, False),
    ],
)
def test_a_variant_is_harmless_unless_its_axis_or_its_log_says_otherwise(monkeypatch, axis, key, params, is_so):
    axes = {name: SimpleNamespace(harmless=name == "harmless") for name in ("harmless", "harmful")}
    monkeypatch.setattr(harmless, "AXES", axes)
    assert harmless.is_harmless(axis, key, params) == is_so
