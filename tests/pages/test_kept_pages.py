"""A fresh server draws the pages of a finished study from what another server computed."""

from dataclasses import replace

import pytest
import streamlit as st

from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.models import model_cards
from flipcore.runs import runner
from flipcore.store import packing
from flipcore.store.connection import Store, results_folder
from tests.pages.opening import opened, quiet, words

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
STUDY = Study(
    "drawn twice",
    (ItemSource("flipscope_choice", n=12),),
    (Part("option_order", {"n": 3}), Part("identity")),
    (Part("regex"), Part("first_token")),
    (ModelUse("simulated-artifact-prone", n_samples=2),),
)
COMPUTING = (
    "pages.common.headline.claimed_headline",
    "flipcore.reports.whole_study.score_report",
    "flipcore.reports.flips.map_claim",
    "pages.flips.map.disagreements",
    "flipcore.reports.browser_data.flip_map.map_arrays",
)


def as_a_fresh_server():
    st.cache_resource.clear()
    st.cache_data.clear()


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv("FLIPSCOPE_HOME", str(tmp_path / "home"))
    path = tmp_path / "flips.duckdb"
    store = Store.open(path)
    assert runner.run(STUDY, store).state == "done"
    assert packing.pack(store, STUDY.study_id)
    store.close()
    quiet(monkeypatch, path)
    as_a_fresh_server()
    yield path
    as_a_fresh_server()


def refuse(*_, **__):
    raise AssertionError("this was computed before")


def close():
    from pages.common import session

    session.store().close()
    as_a_fresh_server()


@pytest.mark.parametrize("page", ["flips/page.py", "score/page.py", "studies/page.py"])
def test_a_fresh_server_computes_nothing_twice(path, monkeypatch, page):
    app = opened(page)
    assert not app.exception and list(results_folder(path).rglob("*.result"))
    first = words(app)
    close()
    for name in COMPUTING:
        monkeypatch.setattr(name, refuse)
    again = opened(page)
    assert not again.exception and words(again) == first
    close()


def test_another_card_of_a_model_is_computed_anew(path, monkeypatch):
    """Its cut-off decides which controls are known to be unseen, and stands in no row."""
    from pages.common import session

    made = []

    def numbers(study_id: str) -> int:
        made.append(study_id)
        return len(made)

    kept = session._kept(numbers)
    opened("studies/page.py")
    assert [kept(STUDY.study_id), kept(STUDY.study_id)] == [1, 1]
    cards = model_cards()
    card = replace(cards["simulated-artifact-prone"], after_rl=True)
    monkeypatch.setattr(session, "model_cards", lambda: cards | {card.name: card})
    assert kept(STUDY.study_id) == 2
    close()
