"""Items of a retro set are sent to no other model unasked: not to a judge, not to a proposer, not to an annotator."""

import inspect
from dataclasses import replace
from types import SimpleNamespace

import pytest

from flipcore.annotation.proposals.proposing import RECIPES, propose
from flipcore.annotation.surveys.sheets import Survey, ask_model
from flipcore.core.errors import BadInput
from flipcore.core.records import Item
from flipcore.core.study import ItemSource, ModelUse, Part
from flipcore.models.cards import ModelCard
from flipcore.runs.embargo import check_embargo, check_judge, is_sent_away, under_embargo
from flipcore.runs.rereading import judge_again
from flipcore.runs.runner import run
from flipcore.store.rows import item_row
from tests.runs.test_runner import tiny_study

pytestmark = pytest.mark.usefixtures("allowed_folders")

CARDS = {
    "away": ModelCard("away", "openai_compatible", model="m", endpoint="http://localhost:9/v1", price_in=0.0, price_out=0.0)
}
USE = ModelUse("away")


@pytest.fixture(autouse=True)
def away(monkeypatch):
    for module in ("runs.embargo", "runs.rereading", "annotation.proposals.proposing"):
        monkeypatch.setattr(f"flipcore.{module}.model_cards", lambda: CARDS)


@pytest.fixture
def store(tmp_path):
    from flipcore.store.connection import Store

    held = Store.open(tmp_path / "flips.duckdb")
    items = [Item(name, "d", "number", f"What is {name}?", target="1") for name in ("old", "new")]
    items.append(replace(items[0], item_id="secret", meta={"embargo": True}))
    held.writer.add("items", [item_row(item) for item in items])
    row = {"study_id": "s", "position": 0, "confirmatory": False}
    held.writer.add(
        "study_items", [row | {"item_id": "old", "role": "target"}, row | {"item_id": "new", "role": "retro"}]
    ).result(9)
    yield held
    held.close()


def test_which_items_and_which_models(store):
    assert under_embargo(store, ["old", "new", "secret", "unknown"]) == {"new", "secret"} and under_embargo(store, []) == set()
    assert is_sent_away("away") and is_sent_away("no card") and not is_sent_away("module:function")
    check_embargo([], "away", may_send=False, how="")
    check_embargo(["new"], "away", may_send=True, how="")


def test_a_proposer_is_sent_none_of_them_unasked(store):
    items = [Item("old", "d", "number", "What is old?", target="1"), Item("new", "d", "number", "What is new?", target="1")]
    with pytest.raises(BadInput, match="1 of these items belong to a holdout"):
        propose(items, RECIPES["paraphrase"], USE, store)
    assert store.rows("SELECT count(*) FROM completions") == [(0,)]


def test_an_annotator_is_sent_none_of_them_unasked(store):
    survey = Survey("s", ("old",), ("new",), n_examples=0, n_triples=0, n_checks=1)
    with pytest.raises(BadInput, match="so nothing was sent to away"):
        ask_model(store, survey, {}, "away", CARDS)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.0, 0.5])
def test_a_judge_that_reads_a_study_again_is_sent_none_of_them_unasked_whatever_was_set_aside(store, share, monkeypatch):
    study = tiny_study(items=(ItemSource("flipscope_choice", n=6, role="retro"),), confirmatory_share=share)
    assert run(study, store).state == "done"
    if share:  # what is open is no retro item any more: those that were set aside are all the same
        store.writer.transact(lambda c: c.execute("UPDATE study_items SET role = 'target' WHERE NOT confirmatory")).result(9)
    n = store.rows("SELECT count(*) FROM completions")
    with pytest.raises(BadInput, match=r"belong to a holdout.*--send-retro"):
        judge_again(store, study.study_id, "away")
    assert store.rows("SELECT count(*) FROM completions") == n
    monkeypatch.setattr("flipcore.models.openai.retries.FIRST_WAIT_S", 0.01)
    judge_again(store, study.study_id, "away", may_send_retro=True)  # nobody answers there, but it was asked
    assert store.rows("SELECT count(*) FROM completions") > n


def planned(role, item_id, meta=None, **changes):
    study = {"judge": "away", "extractors": (), "models": (ModelUse("m"),), "judge_sees_retro": False} | changes
    item = SimpleNamespace(item_id=item_id, meta=meta or {})
    return SimpleNamespace(study=SimpleNamespace(**study), items=[SimpleNamespace(item=item, role=role)])


@pytest.mark.slow
@pytest.mark.parametrize(
    "role_item_meta",
    [("retro", "nowhere"), ("target", "new"), ("target", "secret"), ("benchmark", "fresh", {"embargo": True})],
    ids=["retro here", "retro in another study", "says so in the store", "says so itself"],
)
def test_the_judge_of_a_study_is_sent_none_of_them_unasked(store, role_item_meta):
    with pytest.raises(BadInput, match="judge_sees_retro = true"):
        check_judge(planned(*role_item_meta), store)
    for changes in ({"judge_sees_retro": True}, {"judge": None}, {"models": (USE,)}, {"judge": "module:function"}):
        other = planned(*role_item_meta, **changes)
        assert check_judge(other, store) is other


def test_a_study_that_a_judge_shall_read_names_one(store):
    with pytest.raises(BadInput, match=r'Judge reads by another model, and the study names none. Write judge = "MODEL"'):
        run(tiny_study(extractors=(Part("judge"),)), store)
    assert not store.rows("SELECT count(*) FROM studies WHERE state = 'done'")[0][0]


def test_the_judge_of_a_study_is_sent_everything_else(store):
    target = planned("target", "old")
    assert check_judge(target, store) is target


@pytest.mark.parametrize("function", [judge_again, propose, ask_model])
def test_nothing_of_a_retro_set_is_sent_unless_it_is_asked_for(function):
    assert inspect.signature(function).parameters["may_send_retro"].default is False


@pytest.mark.parametrize(
    ("judge", "role", "meta", "is_refused"),
    [
        (None, "retro", {}, False),
        ("away", "retro", {}, True),
        ("away", "target", {}, False),
        ("away", "target", {"embargo": True}, True),
        ("away", "target", {"embargo": "true"}, True),
        ("away", "target", {"embargo": "false"}, False),
        ("asked", "retro", {}, False),  # a model of the study reads its items anyway
    ],
)
def test_a_judge_of_another_study_sees_no_holdout(store, judge, role, meta, is_refused):
    item = Item("fresh", "d", "number", "What is fresh?", target="1", meta=meta)
    study = tiny_study(models=(ModelUse("asked"),), judge=judge, extractors=(Part("regex"),))
    study_plan = SimpleNamespace(study=study, items=(SimpleNamespace(item=item, role=role),))
    if is_refused:
        with pytest.raises(BadInput, match="1 of these items belong to a holdout.*Write judge_sees_retro = true in the study"):
            check_judge(study_plan, store)
        study_plan.study = replace(study, judge_sees_retro=True)
    assert check_judge(study_plan, store) is study_plan


@pytest.mark.parametrize("judge", [None, "asked"])
def test_an_extractor_that_reads_by_a_judge_needs_one(store, judge):
    study = tiny_study(models=(ModelUse("asked"),), judge=judge, extractors=(Part("regex"), Part("judge")))
    study_plan = SimpleNamespace(study=study, items=())
    if judge is None:
        with pytest.raises(BadInput, match="reads by another model, and the study names none."):
            check_judge(study_plan, store)
    else:
        assert check_judge(study_plan, store) is study_plan
