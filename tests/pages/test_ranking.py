"""Ranking: the board, the outputs behind a way, the lock, and what a closed gate withholds."""

import re

import pytest
from streamlit.testing.v1 import AppTest

from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.runs.log_import import store_logs
from flipcore.runs.log_survey import survey
from flipcore.store.connection import Store
from flipcore.store.queries import locks
from tests.pages.opening import PAGE_MARKS, new_app, opened, quiet, words
from tests.stores import empty_store, store_with

pytestmark = PAGE_MARKS
STUDY = Study(
    "three models",
    (ItemSource("flipscope_choice", n=36),),
    (Part("identity"), Part("option_order", {"kind": "cyclic", "n": 2}), Part("paraphrase", {"unreviewed": True})),
    (Part("first_token"), Part("regex")),
    tuple(ModelUse(f"simulated-{name}") for name in ("artifact-prone", "clean", "noisy")),
    confirmatory_share=0.4,
)
S, OPEN = STUDY.study_id, 27


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return store_with(tmp_path_factory.mktemp("ranking"), STUDY, shipped=True)


def page(**link) -> AppTest:
    app = opened("ranking/page.py", study=S, **link)
    assert not app.exception
    return app


def test_the_page_counts_winners_pairs_and_the_outputs_behind_a_way(path):
    app = page(way="option_order|rotate-1|first_token")
    said = words(app)
    assert "4 combinations of prompt and extractor" in said  # paraphrases have not passed their gate
    assert "are left out of the claims: Paraphrases of flipscope_choice" in said
    pairs = app.dataframe[0].value
    assert len(pairs) == 3 and set(pairs["items"]) == {OPEN}  # what was set aside is not counted
    assert len(app.selectbox(key="behind-pair").options) == 3
    assert said.count("Right answer:") == 2 and "Sample 1" in said
    app.button(key="behind-close").click().run()
    assert not app.exception and "Right answer:" not in words(app)


def test_the_studys_card_names_every_model_with_its_accuracy(path):
    app = new_app().run()
    said = words(app)
    assert not app.exception and f"Right at the study's own prompt, on {OPEN} benchmark items: simulated-" in said
    for name in ("artifact-prone", "clean", "noisy"):
        assert len(re.findall(rf"simulated-{name} [\d.]+% \[", said)) == 1


def test_what_was_set_aside_is_ranked_under_a_lock_and_not_before(path):
    offer = words(page(mode="Locked"))
    assert "Lock your settings to see the results" in offer and "It cannot be changed or removed" in offer
    assert "level 95%, extractor written answer" in offer and "models simulated" in offer
    store = Store.open(path)
    locks.keep_lock(store, S, "ranking", {"level": 0.9, "reference": "regex", "role": "benchmark"}, "Ada")
    store.close()
    import streamlit

    streamlit.cache_resource.clear()
    app = page(mode="Locked")
    assert set(app.dataframe[0].value["items"]) == {36 - OPEN}
    assert "Only the items that were set aside are counted" in words(app)


def test_a_study_asked_once_has_no_empty_panels(tmp_path, monkeypatch):
    """Both headings stood above a map and a table without a number."""
    table = tmp_path / "scores.csv"
    lines = [f"q{i},{model},{int(i % n == 0)}" for model, n in (("m-1", 2), ("m-2", 3)) for i in range(30)]
    table.write_text("\n".join(["item_id,model,score", *lines]) + "\n", encoding="utf-8")
    store = empty_store(tmp_path / "flips.duckdb")
    study_id = store_logs(survey([str(table)]), store)
    store.close()
    quiet(monkeypatch, tmp_path / "flips.duckdb")
    app = opened("ranking/page.py", study=study_id)
    assert not app.exception and "Every pair on the same items" in words(app)
    assert "Where each model flips" not in words(app) and "What flips, model by model" not in words(app)
