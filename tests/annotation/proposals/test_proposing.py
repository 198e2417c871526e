"""Rewordings over real HTTP: a chain of prompts, what is stored, what is refused, and that asking again costs nothing."""

import threading

import pytest

from flipcore.annotation.proposals.proposing import (
    RECIPES,
    cleaned,
    items_to_paraphrase,
    maker,
    projected_cost,
    propose,
    question_sources,
    writers,
)
from flipcore.core.errors import BadInput, OverBudget
from flipcore.core.records import Item
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.datasets import load
from flipcore.models import cards, model_cards
from flipcore.runs import demo, runner
from flipcore.store.connection import Store
from flipcore.store.queries import studies
from tests.models.server import Server

pytestmark = pytest.mark.usefixtures("allowed_folders")

ITEM = Item.make(dataset="t", key="1", kind="number", question="How many legs do 4 horses have?", target="16")
GOOD = "If there are 4 horses, how many legs have they?"


def reply(text):
    return "reply", {
        "choices": [{"message": {"content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 5},
    }


@pytest.fixture
def lab(monkeypatch):
    """Names a server as the model `lab`."""

    def at(server, price=0.0):
        card = cards.ModelCard(
            "lab", "openai_compatible", model="m", endpoint=server.url, price_in=price, price_out=price, n_in_flight=1
        )
        monkeypatch.setattr("flipcore.annotation.proposals.proposing.model_cards", lambda: {"lab": card})
        return ModelUse("lab", max_tokens=60)

    return at


@pytest.mark.slow
def test_what_passes_the_rules_is_stored_as_proposed_and_asking_again_costs_nothing(store, lab):
    with Server(reply(f'Sure, here it is:\n"{GOOD}"')) as server:
        use = lab(server)
        (made,) = propose([ITEM], RECIPES["paraphrase"], use, store)
        (again,) = propose([ITEM], RECIPES["paraphrase"], use, store)
        assert len(server.bodies) == 1 and again == made
    assert made.text == GOOD and all(passed for _, passed, _ in made.checks) and 0 < made.overlap < 1
    row = studies.paraphrase_states(store).iloc[0]
    assert (row["pair_id"], row["paraphrase"], row["generator"], row["state"]) == (
        made.pair_id,
        GOOD,
        "lab: paraphrase",
        "unreviewed",
    )


@pytest.mark.slow
def test_what_breaks_a_rule_is_shown_and_not_stored(store, lab):
    with Server(reply("How many legs do 5 horses have altogether?")) as server:
        (made,) = propose([ITEM], RECIPES["paraphrase"], lab(server), store)
    assert made.pair_id is None and [name for name, passed, _ in made.checks if not passed] == ["numbers"]
    assert studies.paraphrase_states(store).empty


def test_a_chain_rewrites_what_the_step_before_wrote(store, lab):
    with Server(reply("Combien de pattes ont 4 chevaux ?"), reply(GOOD)) as server:
        (made,) = propose([ITEM], RECIPES["back_translation"], lab(server), store)
        prompts = [body["messages"][-1]["content"] for body in server.bodies]
    assert ITEM.question in prompts[0] and "Combien de pattes" in prompts[1] and made.text == GOOD


def test_a_failed_step_says_so_and_the_others_go_on(store, lab):
    other = Item.make(dataset="t", key="2", kind="number", question="How many wheels have 4 cars?", target="16")
    with Server(("status", 400, {}), reply("What number of wheels do 4 cars have?")) as server:
        first, second = propose([ITEM, other], RECIPES["paraphrase"], lab(server), store)
    assert first.error and first.pair_id is None and second.pair_id


def test_a_model_that_costs_money_needs_a_budget(store, lab):
    with Server() as server:
        use = lab(server, price=10.0)
        with pytest.raises(OverBudget, match="no budget"):
            propose([ITEM], RECIPES["chain"], use, store)
        assert projected_cost([ITEM], RECIPES["chain"], use).n_calls == 4 and server.bodies == []


def test_a_cancelled_run_asks_nothing_more(store, lab):
    cancel = threading.Event()
    with Server(reply(GOOD)) as server:
        made = propose([ITEM] * 3, RECIPES["paraphrase"], lab(server), store, lambda done, total: cancel.set(), cancel)
    assert len(made) == 1


def test_an_edited_prompt_needs_its_text_once():
    assert RECIPES["paraphrase"].with_steps(["Say {text} again."]).prompt(0, "a {b}") == "Say a {b} again."
    same, other = (RECIPES["paraphrase"].with_steps([step]) for step in (*RECIPES["paraphrase"].steps, "Say {text} again."))
    assert maker("lab", same) == "lab: paraphrase" and maker("lab", other).startswith("lab: paraphrase, edited ")
    with pytest.raises(BadInput, match="0 times"):
        RECIPES["paraphrase"].with_steps(["Say it again."])


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("  **Two  cats\nsat.** ", "Two cats sat."),
        ("«Deux chats.»", "Deux chats."),
        ("Rewritten: Two cats.", "Two cats."),
        ("Here is the text: Two cats.", "Two cats."),
        ("", ""),
        ('Sure! Here\'s a paraphrased version:\n\n"Two cats."', "Two cats."),
        ("Certainly.\n\nTwo cats.", "Two cats."),
        ("**Rewritten:** Two cats: a, b.", "Two cats: a, b."),
        ("Sure, here you go: Two cats.", "Two cats."),
        ("French: Deux chats.", "Deux chats."),
    ],
)
def test_a_reply_is_cleaned_of_what_is_no_part_of_it(said, text):
    assert cleaned(said) == text


@pytest.mark.parametrize(
    "said",
    [
        "Here is what Tom bought: 4 pens and a cap.",
        "Here are the prices: a pen costs 4.",
        "Rewrite the fraction as a decimal: 3/4.",
        "Which version is older: A or B?",
        "Sure enough, Tom has 4 cats.",
        "The text says: no.",
        "Paraphrases of 4: which is one?",
        "Here is the question Tom asked: how many?",
        "Ratio 3:4",
        "Of course, Tom wins.",
    ],
)
def test_a_rewording_that_starts_like_a_preface_stays_whole(said):
    assert cleaned(said) == said


STUDY = Study(
    "half aside",
    (ItemSource("flipscope_choice", n=12),),
    (Part("identity"),),
    (Part("regex"),),
    (ModelUse("simulated-clean"),),
    confirmatory_share=0.5,
)


def test_writers_leave_out_simulated_models_and_put_the_pocket_model_last():
    names = writers()
    last = {name for name, card in model_cards().items() if card.backend == "pocket"}
    assert "pocket" in last and set(names[-len(last) :]) == last and "simulated-clean" not in names


@pytest.mark.slow
def test_of_a_study_only_open_items_are_offered_and_none_twice(tmp_path):
    store = Store.open(tmp_path / "flips.duckdb")
    demo.fill_store(store)
    runner.run(STUDY, store)
    key = f"study:{STUDY.study_id}"
    assert question_sources(store)[key] == "study: half aside"
    frame = studies.study_items(store, STUDY.study_id)
    ids = {item.item_id for item in items_to_paraphrase(store, key, 50, "nobody")}
    assert ids == set(frame[~frame["confirmatory"]]["item_id"]) and 0 < len(ids) < 12
    states = studies.paraphrase_states(store)
    generator = states[states["item_id"].isin([item.item_id for item in load(ItemSource("flipscope_choice"))])][
        "generator"
    ].iloc[0]
    left = {item.item_id for item in items_to_paraphrase(store, "flipscope_choice", 500, generator)}
    assert not left & set(states[states["generator"] == generator]["item_id"])
    assert len(items_to_paraphrase(store, "flipscope_choice", 2, "nobody")) == 2
    store.close()
