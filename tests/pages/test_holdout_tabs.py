"""The tabs Map and Look inside: an answer in a sentence, what was chosen, and no traceback for small or odd sets."""

import threading
import time

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from flipcore.core.errors import BadInput
from flipcore.core.records import digest
from flipcore.store.connection import Store
from flipcore.vectors import map_jobs
from flipcore.vectors.embeddings import EMBEDDINGS
from tests.pages.opening import PAGE_MARKS, words
from tests.vectors.embeddings.items import entry, topical

MAP = "import streamlit as st\nfrom pages.holdout import map\nmap.show(*st.session_state['given'])"
INSIDE = MAP.replace("map", "look_inside")
pytestmark = PAGE_MARKS


@pytest.fixture
def store(tmp_path, monkeypatch):
    st.cache_resource.clear()
    monkeypatch.setattr(map_jobs, "umap_places", lambda units, *_, **__: np.asarray(units[:, :2], dtype=np.float32))
    monkeypatch.setattr(map_jobs, "why_no_umap", lambda: "")
    store = Store.open(tmp_path / "flips.duckdb")
    yield store
    store.writer.flush()
    store.close()
    st.cache_resource.clear()


def shown(code, target, retro, store, **state) -> AppTest:
    app = AppTest.from_string(code, default_timeout=60)
    app.session_state["given"] = (target, retro, store)
    for key, value in state.items():
        app.session_state[key.replace("_", "-")] = value
    return app.run()


def chosen(target, retro, rows=(), spans=()) -> dict:
    """What a click on the map or on a bar leaves behind (tests/browser clicks for real)."""
    sets_id = digest(len(target), [item.item_id for item in (*target, *retro)])
    n = min(256, len(target) + len(retro) - 1)
    return {"sets": f"{sets_id}-Word frequencies (LSA), {n} dimensions", "rows": list(rows), "spans": list(spans)}


def test_the_map_answers_in_a_sentence_and_names_its_embedding(store):
    app = shown(MAP, topical("animals", 20), topical("numbers", 20), store)
    assert not app.exception and "more than if the sets were mixed" in words(app)
    assert "Word frequencies (LSA)" in words(app) and "40 entries" in words(app) and "Click a point" in words(app)


def test_a_chosen_entry_is_read_with_its_neighbours_in_both_sets(store):
    target, retro = topical("animals", 20), topical("numbers", 20)
    app = shown(MAP, target, retro, store, entries_chosen=chosen(target, retro, rows=[3]))
    assert "**Benchmark entry** made/animals3" in words(app)
    assert "Nearest in the holdout" in words(app) and "Nearest in its own set (benchmark)" in words(app)
    assert [len(table.value) for table in app.dataframe[:2]] == [5, 5]


def test_a_patch_is_listed_and_let_go(store):
    sets = topical("animals", 20), topical("numbers", 20)
    app = shown(MAP, *sets, store, entries_chosen=chosen(*sets, rows=[0, 1, 25]))
    assert "3 entries: 2 benchmark, 1 holdout" in words(app) and list(app.dataframe[0].value["set"]) == [
        "benchmark",
        "benchmark",
        "holdout",
    ]
    app.button(key="let-go").click().run()
    assert "3 entries" not in words(app) and "Click a point" in words(app)


def test_a_chosen_bar_lists_its_entries(store):
    sets = topical("animals", 20), topical("numbers", 20)
    app = shown(MAP, *sets, store, entries_chosen=chosen(*sets, spans=[(-1.0, 1.0, 1)]))
    assert "20 entries: 0 benchmark, 20 holdout" in words(app)


def test_what_was_chosen_in_other_sets_is_not_shown(store):
    sets = topical("animals", 20), topical("numbers", 20)
    app = shown(MAP, sets[0][:5], sets[1], store, entries_chosen=chosen(*sets, rows=[30]))
    assert not app.exception and "Click a point" in words(app)


@pytest.mark.cell
@pytest.mark.parametrize("colour", ["set", "length", "category", "difficulty", "closest"])
def test_every_colour_draws(store, colour):
    app = shown(MAP, topical("animals", 8, category="pets"), topical("numbers", 8), store)
    app.selectbox(key="map-colour").set_value(colour).run()
    assert not app.exception and len(app.get("plotly_chart")) == 2
    if colour == "difficulty":
        assert "No model has answered these entries yet" in words(app)


def test_umap_is_swapped_in_when_it_is_there(store, monkeypatch):
    is_shown = threading.Event()  # the first picture, before the map of UMAP comes

    def slow(units, *drawing, **named):
        is_shown.wait(30)
        return np.asarray(units[:, :2], dtype=np.float32)

    monkeypatch.setattr(map_jobs, "umap_places", slow)
    app = shown(MAP, topical("animals", 8), topical("numbers", 8), store)
    assert (
        "principal components" in app.get("progress")[0].proto.text and "component 1" in app.get("plotly_chart")[0].proto.spec
    )
    is_shown.set()
    time.sleep(1.0)
    app.run()
    assert not app.get("progress") and "UMAP: near is alike" in app.get("plotly_chart")[0].proto.spec


def test_without_umap_the_components_are_shown_with_a_sentence(store, monkeypatch):
    def missing(units, *drawing, **named):
        raise BadInput("UMAP is not there.")

    monkeypatch.setattr(map_jobs, "umap_places", missing)
    monkeypatch.setattr(map_jobs, "why_no_umap", lambda: "UMAP is not installed: pip install -r requirements.txt.")
    app = shown(MAP, topical("animals", 8), topical("numbers", 8), store)
    assert not app.exception and "requirements.txt. These are the principal components" in words(app)


@pytest.mark.cell
@pytest.mark.parametrize("code", [MAP, INSIDE])
@pytest.mark.parametrize("n_target, n_retro", [(2, 2), (5, 1), (1, 5), (3, 40)])
def test_small_sets_are_shown_or_explained(store, code, n_target, n_retro):
    app = shown(code, topical("animals", n_target), topical("numbers", n_retro), store)
    assert not app.exception and words(app)


@pytest.mark.parametrize("code", [MAP, INSIDE])
def test_text_that_looks_like_markup_stays_text(store, code):
    nasty = [entry(i, f"<script>alert({i})</script> **bold** $x_{i}$ [a](b)?", "<b>yes</b>", "no") for i in range(8)]
    plain = topical("animals", 8)
    app = shown(code, nasty, plain, store, entries_chosen=chosen(nasty, plain, rows=[0]))
    assert not app.exception
    assert not any(block.allow_html for block in app.markdown)
    assert not any("**bold**" in block.value for kind in ("markdown", "caption", "info") for block in getattr(app, kind))


@pytest.mark.parametrize("code", [MAP, INSIDE])
def test_nothing_is_sent_away_before_somebody_agrees(store, code, monkeypatch):
    monkeypatch.setenv("FLIPSCOPE_EMBEDDINGS_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("FLIPSCOPE_EMBEDDINGS_MODEL", "tiny")
    sent = []
    monkeypatch.setattr("flipcore.vectors.embeddings.kinds.Server.vectors", lambda self, texts: sent.append(texts) or 1 / 0)
    app = shown(code, topical("animals", 8), topical("numbers", 8), store, embedding="server")
    assert not app.exception and "This sends 16 entries to http:\u2060//127.0.0.1:9/v1" in words(app) and sent == []


def test_an_embedding_that_is_missing_says_how_to_have_it(store, monkeypatch):
    monkeypatch.setattr("flipcore.vectors.embeddings.kinds.find_spec", lambda name: None)
    assert EMBEDDINGS[1].name == "mpnet"
    app = shown(MAP, topical("animals", 8), topical("numbers", 8), store, embedding="mpnet")
    assert not app.exception and "requirements-bert.txt" in words(app)


def test_looking_inside_finds_duplicates_first(store):
    copy = entry("copy", "Is the DOG before the cat in row 0", "no", "yes")
    app = shown(INSIDE, topical("animals", 20), [*topical("numbers", 20), copy], store)
    said = words(app)
    assert not app.exception and "1 across the sets" in said and "word for word the same" in said
    assert said.index("1 across the sets") < said.index("mean cosine")
    across = next(one.value for one in app.dataframe if "declared source" in one.value)
    assert "The most alike pairs across the sets" in said and len(across) >= 10
    assert across["words in common (%)"].iloc[0] == 100.0 and "DOG" in across["second"].iloc[0]


def test_looking_inside_names_what_differs(store):
    app = shown(INSIDE, topical("animals", 30), topical("numbers", 30), store)
    said = words(app)
    assert not app.exception and "words and word pairs are more usual in one set" in said
    assert "What does the classifier rely on?" in said and len(app.get("plotly_chart")) == 3


def test_halves_of_one_set_have_no_such_words(store):
    items = topical("animals", 64)
    app = shown(INSIDE, items[:32], items[32:], store)
    assert not app.exception and "None of" in words(app)


def test_bert_is_not_trained_before_it_is_asked_for(store, monkeypatch):
    monkeypatch.setattr("flipcore.vectors.classifiers.kinds.Bert.why_not", lambda self: "")
    monkeypatch.setattr("flipcore.vectors.classifiers.kinds.Bert.giveaways", lambda self, *given: 1 / 0)
    app = shown(INSIDE, topical("animals", 12), topical("numbers", 12), store)
    app.selectbox(key="giveaway-classifier").set_value("bert").run()
    assert not app.exception and [one.key for one in app.toggle] == ["giveaway-run"]


def crowd() -> tuple[list, list]:
    """Two sets in which one holdout entry has a benchmark entry's words, so that both lie at one place."""
    target, retro = topical("animals", 20), topical("numbers", 20)
    return target, [*retro, entry("twin", target[3].question + " ", *target[3].options)]


def test_a_click_where_entries_cover_each_other_offers_the_others(store):
    sets = crowd()
    app = shown(MAP, *sets, store, entries_chosen=chosen(*sets, rows=[3]))
    (here,) = [box for box in app.selectbox if box.key == "entries-here-3"]
    assert "2 entries lie at this place" in here.label and [one.split(":")[0] for one in here.options] == [
        "● benchmark",
        "◇ holdout",
    ]
    here.set_value(40).run()
    assert not app.exception and "**Holdout entry** made/twin" in words(app)


def test_entries_are_labelled_and_the_labels_colour_the_map(store):
    sets = topical("animals", 20), topical("numbers", 20)
    app = shown(MAP, *sets, store, entries_chosen=chosen(*sets, rows=[0, 1, 25]))
    next(one for one in app.text_input if one.label == "Label of the selected entries").input("odd <b>ones</b>")
    next(one for one in app.button if one.label == "Label them").click().run()
    app.run()
    assert not app.exception and app.selectbox(key="map-colour").value == "label"
    assert app.session_state["entry-labels"] == {sets[0][i].item_id: "odd <b>ones</b>" for i in (0, 1)} | {
        sets[1][5].item_id: "odd <b>ones</b>"
    }
    spec = app.get("plotly_chart")[0].proto.spec
    assert "&lt;b&gt;ones" in spec and "<b>ones" not in spec


def test_excluded_entries_are_crossed_and_leave_the_sentence(store):
    sets = topical("animals", 20), topical("numbers", 20)
    app = shown(MAP, *sets, store, entries_chosen=chosen(*sets, rows=[0, 1]))
    before = [block.value for block in app.markdown if block.value.startswith("## ")]
    app.button(key="exclude-entries").click().run()
    assert app.session_state["entries-excluded"] == {"": sorted(sets[0][i].item_id for i in (0, 1))}
    assert '"excluded"' in app.get("plotly_chart")[0].proto.spec and app.button(key="exclude-entries").disabled
    assert [block.value for block in app.markdown if block.value.startswith("## ")] != before


def test_a_set_keeps_the_entries_that_a_comparison_needs(store):
    sets = topical("animals", 20), topical("numbers", 8)
    app = shown(MAP, *sets, store, entries_chosen=chosen(*sets, rows=range(20, 24)))
    assert app.button(key="exclude-entries").disabled
    app = shown(MAP, *sets, store, entries_chosen=chosen(*sets, rows=range(20, 23)))
    assert not app.button(key="exclude-entries").disabled


def test_looking_inside_can_keep_to_the_entries_selected_on_the_map(store):
    target, retro = crowd()
    copies = [entry("copy", "Is the DOG before the cat in row 0", "no", "yes")]
    ids = [retro[-1].item_id]
    app = shown(INSIDE, target, [*retro, *copies], store, entries_chosen={"ids": ids})
    assert "2 across the sets" in words(app)
    app.toggle(key="only-selected-duplicates").set_value(True).run()
    assert not app.exception and "1 across the sets" in words(app)
