"""Models, used: add, test, edit and remove; hostile replies are shown as text, problems as sentences."""

import pytest
import streamlit as st

from flipcore.core.paths import POCKET
from flipcore.models import own_models
from flipcore.models.own_models import card_from
from tests.models.manners import MANNERS, Manner, Mannered
from tests.pages.opening import PAGE_MARKS, quiet, words
from tests.pages.opening import opened as opened_page

pytestmark = PAGE_MARKS
BY_NAME = {manner.name: manner for manner in MANNERS}


@pytest.fixture
def opened(tmp_path, monkeypatch):
    st.cache_resource.clear()
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "flips.duckdb"))
    monkeypatch.setenv("FLIPSCOPE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("flipcore.models.openai.retries.FIRST_WAIT_S", 0.01)
    quiet(monkeypatch)
    return lambda page="models/page.py", **link: opened_page(page, **link)


def said(app):
    return " ".join([words(app), *(str(one.value) for one in app.warning)])


def test_a_model_is_added_tested_edited_and_removed(opened, monkeypatch):
    monkeypatch.delenv("LAB_KEY", raising=False)
    app = opened()
    assert not app.exception and "You have added no model yet" in said(app)
    with Mannered(BY_NAME["refuses temperature"]) as server:
        app.selectbox(key="model-preset").set_value("other").run()
        app.text_input(key="new-other-name").set_value("mine")
        app.text_input(key="new-other-endpoint").set_value(server.url).run()
        app.button(key="new-other-list").click().run()
        assert app.selectbox(key="new-other-chosen").options == ["m", "other"]
        app.selectbox(key="new-other-chosen").set_value("m")
        app.button(key="add-and-test").click().run()
        assert not app.exception and "Tested by" in said(app) and "It costs nothing." in said(app)
        assert "New study" in [link.proto.label for link in app.get("page_link")]  # what comes next
        assert own_models.own_cards()["mine"].refuses == ("temperature",)
        app.button(key="test-mine").click().run()
        assert "Nothing changed since the last test." in said(app)
    app.number_input(key="edit-mine-price_in").set_value(0.5)
    app.number_input(key="edit-mine-price_out").set_value(1.0)
    app.text_input(key="edit-mine-variable").set_value("LAB_KEY")
    app.button(key="save-mine").click().run()
    assert "LAB_KEY" in said(app) and "$0.5 a million" in said(app) and own_models.own_cards()["mine"].refuses
    app.button(key="remove-mine").click().run()
    assert not app.exception and own_models.own_cards() == {}


def test_the_link_of_new_study_unfolds_the_form(opened):
    """Whoever comes to add a model need not find and open a fold."""
    app = opened("new_study/page.py")
    (link,) = [link.proto for link in app.get("page_link") if link.proto.label == "Add a model"]
    assert link.query_string == "add=yes"
    is_unfolded = []
    for words_of_link in ({}, {"add": "yes"}):
        app = opened(**words_of_link)
        (form,) = [box for box in app.expander if box.label == "Add a model"]
        is_unfolded.append(form.proto.expanded)
    assert is_unfolded == [False, True]


def test_the_one_model_that_a_server_lists_is_chosen(opened):
    alone = Manner("alone", models={"data": [{"id": "only"}]})
    with Mannered(alone) as server:
        app = opened()
        app.selectbox(key="model-preset").set_value("vllm").run()
        app.text_input(key="new-vllm-name").set_value("mine")
        app.text_input(key="new-vllm-endpoint").set_value(server.url).run()
        app.button(key="new-vllm-list").click().run()
        assert app.selectbox(key="new-vllm-chosen").value == "only" and app.button(key="new-vllm-list")
        app.button(key="add-and-test").click().run()
    assert not app.exception and own_models.own_cards()["mine"].model == "only" and "Say which model" not in said(app)


def test_a_server_that_is_down_and_a_key_in_the_wrong_place_are_sentences(opened):
    app = opened()
    app.selectbox(key="model-preset").set_value("other").run()
    app.text_input(key="new-other-name").set_value("mine")
    app.text_input(key="new-other-endpoint").set_value("http://127.0.0.1:9/v1")
    app.button(key="new-other-list").click().run()
    assert "mine could not be reached" in said(app)
    app.text_input(key="new-other-model").set_value("m")
    app.text_input(key="new-other-variable").set_value("sk-pasted-0123456789")
    app.button(key="add-and-test").click().run()
    assert "no name of an environment variable" in said(app) and own_models.own_cards() == {}
    app.text_input(key="new-other-variable").set_value("")
    app.button(key="add-and-test").click().run()
    assert (
        not app.exception
        and "The model is stored, but its test failed" in said(app)
        and list(own_models.own_cards()) == ["mine"]
    )
    assert "No test has succeeded yet." in said(app) and "Never tested" not in said(app)
    app.button(key="test-mine").click().run()
    assert not app.exception and "Is its server running" in said(app)


def test_what_a_server_says_of_itself_is_shown_as_text(opened):
    hostile = Manner("hostile", reply=lambda reply: reply | {"model": "<script>alert(1)</script> **bold**"})
    with Mannered(hostile) as server:
        own_models.save(card_from("mine", "other", "m", endpoint=server.url))
        app = opened()
        app.button(key="test-mine").click().run()
    assert not app.exception and not any("**bold**" in str(one.value) for one in [*app.markdown, *app.caption])
    (table,) = (one.value for one in app.table)
    assert any("\\<script" in str(one) for one in table["result"])


def test_new_study_leads_to_models_and_names_those_that_were_added(opened):
    own_models.save(card_from("mine", "vllm", "m"))
    app = opened("new_study/page.py")
    assert not app.exception and "mine" in app.multiselect(key="model-names").options
    app.multiselect(key="model-names").set_value(["mine", "pocket"]).run()
    app.selectbox(key="effort-mine").set_value("low").run()
    assert not app.exception and any('effort = "low"' in one.value for one in app.code)
    assert not any(one.key == "effort-pocket" for one in app.selectbox)


def test_open_weights_are_added_without_a_server_and_say_what_they_need(opened, monkeypatch):
    monkeypatch.setattr("flipcore.models.weights.backend.find_spec", lambda name: None)
    app = opened()
    app.selectbox(key="model-preset").set_value("transformers").run()
    assert not any(one.key == "new-transformers-endpoint" for one in app.text_input)
    app.text_input(key="new-transformers-name").set_value("mine")
    app.text_input(key="new-transformers-model").set_value(str(POCKET))
    app.selectbox(key="new-transformers-dtype").set_value("bfloat16")
    app.button(key="add-and-test").click().run()
    assert not app.exception and "requirements-transformers.txt" in said(app)
    card = own_models.own_cards()["mine"]
    assert (card.backend, card.api, card.options["dtype"], card.price_in) == ("transformers", "completions", "bfloat16", 0.0)
    app.selectbox(key="edit-mine-api").set_value("chat")
    app.button(key="save-mine").click().run()
    assert not app.exception and own_models.own_cards()["mine"].api == "chat"
    assert "its chat template, bfloat16" in said(app)
