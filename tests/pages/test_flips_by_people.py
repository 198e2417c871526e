"""Pairs of outputs are labelled on Review, and Flips corrects G and A by them; not under a lock."""

import shutil
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from flipcore.annotation.judge_labels import pairs_to_label
from flipcore.store.connection import Store
from flipcore.store.judgements import OUTPUT_LABELS
from flipcore.store.queries import judgements, judges, locks
from tests.annotation.test_pair_labels import STUDY, S, asked, label  # noqa: F401
from tests.pages.opening import opened, quiet, words
from tests.stores import store_with

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.usefixtures("allowed_folders", "allowed_callables"),
]


@pytest.fixture
def path(asked, tmp_path, monkeypatch):  # noqa: F811
    file = tmp_path / "flips.duckdb"
    shutil.copy(asked, file)
    quiet(monkeypatch, file)
    return file


def flips(**link) -> AppTest:
    app = opened("flips/page.py", study=S, show="Parts", **link)
    assert not app.exception
    return app


def table(app: AppTest):
    return next((one.value for one in app.dataframe if "G by people" in one.value.columns), None)


def test_pairs_are_labelled_on_review_and_correct_flips(path):
    assert "Nobody has labelled both outputs of a pair" in words(flips())
    app = opened("paraphrase_review/page.py", part="Outputs", study=S)
    app.text_input(key="labels-name").set_value("Ada")
    app.selectbox(key="labels-order").set_value("pairs")
    next(one for one in app.button if one.label == "Label outputs").click().run()
    assert "Both outputs of random pairs come up" in words(app)
    next(one for one in app.button if one.label == "No single answer").click().run()
    store = Store.open(path)
    (row,) = judgements.standing(store, OUTPUT_LABELS)
    assert (row["by_choice"], row["rule_version"]) == (True, "label-1/pairs")
    label(store, pairs_to_label(judges.pair_sides(store, S), "Ada", judgements.standing(store, OUTPUT_LABELS)), other=30)
    store.close()
    next(one for one in app.button if one.label == "Stop, and see the errors").click().run()
    assert "60 pairs of 60 labelled: the page Flips" in words(app)
    app = flips()
    said = words(app)
    assert "All changes, first token: by 60 labelled pairs" in said and "labels by one person" in said
    assert list(table(app)["axis"])[:2] == ["all changes", "all changes"] and len(table(app)) == 6
    assert "G as read" in table(flips(mode="Simultaneous")).columns


def test_nothing_is_corrected_under_a_lock(tmp_path, monkeypatch):
    study = replace(STUDY, name="aside", confirmatory_share=0.5)
    file = store_with(tmp_path, study)
    quiet(monkeypatch, file)
    store = Store.open(file)
    settings = {"level": 0.95, "reference": "regex", "policy": "own_class", "kind": "default", "rule": "parts"}
    locks.keep_lock(store, study.study_id, "decomposition", settings, "Ada")
    store.close()
    app = opened("flips/page.py", study=study.study_id, show="Parts", mode="Locked")
    assert "Corrections by people are not shown under a lock" in words(app) and table(app) is None
