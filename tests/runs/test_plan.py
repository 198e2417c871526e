"""The demo must be a study that runs: its plan is what a fresh clone does first."""

import json
import math
from dataclasses import replace
from types import SimpleNamespace

import pytest

from flipcore.axes import AXES
from flipcore.core import bounds
from flipcore.core.errors import BadInput, FlipscopeError
from flipcore.core.paths import DATA
from flipcore.core.records import Call, Item, Prompt, Request, Variant, digest
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.detectors import DETECTORS
from flipcore.runs import plan as planning
from flipcore.runs import runner
from flipcore.runs.cost import NOTHING, Projection
from flipcore.runs.demo import demo_study
from flipcore.runs.origins import origins, study_row
from flipcore.runs.plan import ItemPlan, is_set_aside, plan, priced, projection
from flipcore.store.queries.studies import plugins_text
from tests.plugins.offers import entry, offered
from tests.store.test_harmless import STUDY

pytestmark = pytest.mark.usefixtures("allowed_folders")


@pytest.mark.slow
def test_the_demo_is_large_enough_and_every_part_of_it_exists():
    made = plan(demo_study())
    assert len(made.items) >= 24 and len(made.study.axes) >= 4 and len(made.extractors) >= 3
    assert projection(made).cost_usd == 0 and projection(made).n_calls > 0


def test_the_ground_truth_study_declares_and_feeds_every_detector_but_those_without_a_task_for_it():
    """No passage of the pocket sets has a summary, and no second model is shipped."""
    study = Study.read(DATA / "ground_truth.toml")
    without = {"pearl_summary_rouge_l", "pearl_summary_ncd", "over_reference", "hardness_curve"}
    assert set(study.detectors) == DETECTORS.keys() - without
    axes, extractors = ({part.name for part in parts} for parts in (study.axes, study.extractors))
    for name in study.detectors:
        assert DETECTORS[name].axis in (*axes, "") and DETECTORS[name].measure in (*extractors, "")


def voting(extractor="regex", **rest):
    return Study(
        "votes",
        (ItemSource("flipscope_choice", n=2),),
        (Part("identity"),),
        (Part(extractor),),
        (ModelUse("simulated-clean"),),
        protocol=Part("rotation", {"cap": 10}),
        **rest,
    )


def test_an_adaptive_protocol_is_projected_at_its_most():
    """Two items: the base prompt asked twice, and ten attempts of three forms each."""
    assert projection(plan(voting())).n_calls == 2 * (2 + 10 * 3)


def test_a_judge_is_projected_for_what_extractors_read_and_not_for_votes():
    """Two items: as before, and a judge's reply to each of the two answers to the base prompt."""
    assert projection(plan(voting("judge", judge="simulated-clean"))).n_calls == 2 * (2 + 10 * 3 + 2)


def test_only_a_first_token_after_the_prompt_itself_may_need_a_second_call():
    requests = (
        Request("first_token", "Which?", top_k=5),
        Request("first_token", "Which?", continuation=" ", top_k=5),
        Request("generate", "Which?", max_tokens=5),
        Request("score", "Which?", continuation="oak"),
    )
    first, after_space, generate, score = [Call("m", "r", request) for request in requests]
    calls = [first, *[after_space] * 2, *[generate] * 3, *[score] * 4]
    found = priced(calls, SimpleNamespace(abilities={"score"}), None)
    assert (found.n_calls, found.n_more) == (10, 1)
    assert priced(calls, SimpleNamespace(abilities=set()), None).n_more == 0


def test_a_few_items_that_ask_for_much_are_projected_as_such():
    # 60 problems of one call each (two samples of identity) and 3 passages of 6 levels x 10 samples: 120 + 180 calls.
    study = Study(
        "mixed",
        (ItemSource("pocket_problems", n=60), ItemSource("pocket_prose", n=3)),
        (Part("identity"), Part("bit_flip")),
        (Part("regex"), Part("rouge_l")),
        (ModelUse("pocket"),),
    )
    assert projection(plan(study)).n_calls == 300


@pytest.mark.slow
def test_completion_of_1319_items_says_its_calls_seconds_and_price_before_one_is_bought(tmp_path, store):
    """One call an item: as many as items, at the price of the model's card, and nothing is asked without a budget."""
    question = "A farmer has {} hens and sells the eggs of every day but one. How many eggs does she sell in {} days at most?"
    rows = [{"question": question.format(i, i + 2), "answer": str(i)} for i in range(1_319)]
    path = tmp_path / "items.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    study = Study(
        "completion",
        (ItemSource("file", path=str(path), columns={"question": "question", "target": "answer"}),),
        (Part("completion"),),
        (Part("rouge_l"), Part("word_for_word")),
        (ModelUse("openai-chat"),),
    )
    made = projection(plan(study))
    assert made.n_calls == 1_319 and made.n_tokens_out == 1_319 * 32
    assert made.cost_usd == pytest.approx((0.15 * made.n_tokens_in + 0.60 * made.n_tokens_out) / 1e6, rel=0.02)
    assert made.seconds > 0
    with pytest.raises(FlipscopeError, match="1,319 calls.*Nothing was asked"):
        runner.run(study, store)


# Which packages a study's plug-ins come from: kept with the study, said on its card, and empty where all is shipped.


def test_a_study_says_the_package_and_version_of_what_is_not_shipped(monkeypatch):
    with offered(monkeypatch, AXES, entry("OPPOSITE")):
        row = {"kind": "axis", "name": "opposite", "package": "flip-lab", "version": "2.1"}
        assert origins(STUDY) == [row] and plugins_text([row]) == "axis opposite of flip-lab 2.1"
        assert "flip-lab" in study_row(STUDY, "planned")["plugins"]


def test_a_study_of_shipped_plug_ins_has_none_nor_has_one_whose_package_is_gone():
    shipped = replace(STUDY, axes=(Part("identity"),))
    assert origins(shipped) == [] and origins(STUDY) == [] and plugins_text([]) == ""


@pytest.mark.parametrize("models", [("simulated-clean",), ("simulated-clean", "simulated-noisy")])
def test_as_many_variants_as_the_bound_are_planned_and_one_more_is_not(monkeypatch, models):
    study = replace(voting(), models=tuple(map(ModelUse, models)))
    n = len(models) * sum(len(item.variants) for item in plan(study).items)
    monkeypatch.setattr(bounds, "MAX_VARIANTS", n)
    assert len(plan(study).items) == 2
    monkeypatch.setattr(bounds, "MAX_VARIANTS", n - 1)
    with pytest.raises(BadInput, match=f"more than {n - 1} variants of its items"):
        plan(study)


def test_variants_of_a_change_that_matters_are_marked_and_the_base_is_not(monkeypatch):
    study = replace(voting(), axes=(Part("option_order", {"n": 2}),), protocol=Part("single_shot"))

    def marks():
        (first, *_) = plan(study).items
        return {(variant.key == "base", variant.params.get("harmless")) for variant in first.variants}

    assert marks() == {(True, None), (False, None)}
    monkeypatch.setattr(type(AXES["option_order"]), "harmless", False)
    assert marks() == {(True, None), (False, False)}


def item_plan(item_id, *variants):
    """An item with variants (axis, key, params)."""
    made = tuple(
        Variant(item_id, axis, key, Prompt((("stem", "Which?"),)), "0", params=params) for axis, key, params in variants
    )
    return ItemPlan(Item(item_id, "d", "choice", "Which?", target="0"), "benchmark", confirmatory=False, variants=made)


def test_items_whose_options_stay_where_they_are_are_noted():
    refused, kept = {"refusal": "refers"}, {"kept_last": True}
    plans = [
        item_plan(
            "i", ("option_order", "base", refused), ("option_order", "rotate-1", refused), ("label_set", "base", refused)
        ),
        item_plan("j", ("option_order", "base", refused), ("label_set", "lower", {"refusal": "other"})),
        item_plan("k", ("option_order", "rotate-1", kept)),
    ]
    texts = [note for note, is_warning in planning._option_notes(plans) if not is_warning]
    assert [text.partition(":")[0] for text in texts[:2]] == [
        "2 of 3 items are not reordered",
        "1 of 3 items are not relabelled",
    ]
    assert texts[2:] == ["1 item keeps an option such as “none of the above” last while the others move."]
    assert planning._option_notes([item_plan("l", ("option_order", "rotate-1", {}))]) == []


def test_that_answers_are_compared_in_pairs_is_a_note_and_no_warning():
    ((note, is_warning),) = planning._comparison_notes(voting("same_meaning", judge="simulated-clean"))
    assert "compares answers in pairs" in note and not is_warning
    assert planning._comparison_notes(voting()) == []


def test_an_axis_without_a_rewording_is_a_warning():
    study = replace(voting(), axes=(Part("paraphrase"), Part("language")))
    plans = [
        item_plan(
            "i", ("paraphrase", "base", {}), ("paraphrase", "p-1", {}), ("paraphrase", "p-2", {}), ("language", "base", {})
        ),
        item_plan("j", ("paraphrase", "base", {}), ("identity", "again", {})),
    ]
    (first, is_first_warning), (second, is_second_warning) = planning._paraphrase_notes(study, plans)
    assert first == "1 of 2 items have a paraphrase that may be asked." and not is_first_warning
    assert second.startswith("No item has an accepted translation: the language axis will be empty.") and is_second_warning
    assert planning._paraphrase_notes(voting(), plans) == []


@pytest.mark.parametrize(("share", "is_aside"), [(0.0, False), (1.0, True)])
def test_a_share_of_none_or_all_is_set_aside(share, is_aside):
    study = replace(voting(), confirmatory_share=share)
    assert {is_set_aside(study, Item(f"i{n}", "d", "choice", "Which?")) for n in range(20)} == {is_aside}


def test_about_the_share_is_set_aside_and_a_larger_share_holds_a_smaller_one():
    items = [Item(f"i{n}", "d", "choice", "Which?") for n in range(200)]
    quarter, half = (
        {item.item_id for item in items if is_set_aside(replace(voting(), confirmatory_share=share), item)}
        for share in (0.25, 0.5)
    )
    assert 25 < len(quarter) < 75 < len(half) < 125 and quarter < half


def test_examples_have_the_items_own_role_and_kind_and_a_right_answer():
    items = [(Item(f"i{n}", "d", "choice", "Which?", target="0"), "benchmark") for n in range(3)]
    items += [
        (Item("keyless", "d", "choice", "Which?"), "benchmark"),
        (Item("number", "d", "number", "Which?", target="0"), "benchmark"),
    ]
    items += [(Item("other", "d", "choice", "Which?", target="0"), "control")]
    examples = planning._examples(items, frozenset({"i1", "other"}))
    ids = {item_id: [item.item_id for item in shown] for item_id, shown in examples.items()}
    own = ["i0", "i2"]
    assert ids == {"i0": own, "i1": own, "i2": own, "keyless": own, "number": ["number"], "other": []}


ALL_CALLS = Projection(100, 1_000, 500, 2.0, 7.0)


@pytest.mark.parametrize(
    ("all_calls", "n_stored", "left"),
    [
        (ALL_CALLS, 0, (40, 400, 200, 0.75)),
        (ALL_CALLS, 10, (30, 300, 150, 0.5625)),
        (ALL_CALLS, 40, (0, 0, 0, 0.0)),
        (ALL_CALLS, 50, (0, 0, 0, 0.0)),
        (replace(ALL_CALLS, cost_usd=None), 10, (30, 300, 150, None)),
        (Projection(60, 500, 200, 1.0, 7.0), 0, (1, 0, 0, 0.0)),  # an item more than was counted at first
    ],
)
def test_what_a_judge_is_still_asked_is_the_share_without_a_reply(monkeypatch, all_calls, n_stored, left):
    of_models = Projection(60, 600, 300, 1.25, 3.0)
    stored = SimpleNamespace(
        n_answers_of=lambda *words: 1, stored_ids=lambda store, ids: set(ids), n_stored_of=lambda *words: n_stored
    )
    monkeypatch.setattr(planning, "studies", stored)
    monkeypatch.setattr(planning, "projection", lambda study_plan: all_calls)
    monkeypatch.setattr(planning, "priced", lambda calls, backend, card: of_models if calls else NOTHING)
    found = planning.remaining(plan(voting("judge", judge="simulated-clean")), None)
    assert (found.n_calls, found.n_tokens_in, found.n_tokens_out, found.cost_usd) == left
    assert found.seconds == pytest.approx(left[0] / 3_000)


def test_programs_are_run_for_each_output(monkeypatch):
    study_plan = plan(voting())
    before = projection(study_plan)
    n_calls = before.n_calls
    monkeypatch.setattr(type(study_plan), "n_programs", 2)
    found = projection(study_plan)
    assert (found.n_tokens_in, found.n_tokens_out) == (before.n_tokens_in, before.n_tokens_out)
    assert found.n_calls == 3 * n_calls and found.cost_usd == 0.0
    assert found.seconds - 2 * n_calls / 4 == pytest.approx(n_calls / 3_000)


def test_an_item_is_set_aside_where_its_hash_is_below_the_share():
    study, item = voting(), Item("i", "d", "choice", "Which?")
    uniform = int(digest(study.seed, "confirmatory", "i")[:8], 16) / 16**8
    for share, is_aside in ((uniform, False), (math.nextafter(uniform, 1), True)):
        assert is_set_aside(replace(study, confirmatory_share=share), item) is is_aside


def test_an_axis_may_choose_among_ten_examples_besides_the_item_itself():
    items = [(Item(f"i{n}", "d", "choice", "Which?", target="0"), "benchmark") for n in range(12)]
    examples = planning._examples(items, frozenset())
    assert (
        [item.item_id for item in examples["i0"]] == [f"i{n}" for n in range(11)] == [item.item_id for item in examples["i11"]]
    )


def test_items_with_the_question_of_one_that_is_set_aside_are_hidden_too(monkeypatch):
    questions = {"a": "Which  IS it?", "b": "which is it?", "c": "Another?", "d": "An earlier one?"}
    items = [(Item(item_id, "d", "choice", question), "benchmark") for item_id, question in questions.items()]
    monkeypatch.setattr(planning, "is_set_aside", lambda study, item: item.item_id == "a")
    assert planning._hidden_ids(voting(), items, None) == {"a", "b"}
    before = SimpleNamespace(questions_set_aside_before=lambda store, study_id: {"AN earlier one?"})
    monkeypatch.setattr(planning, "planning", before)
    assert planning._hidden_ids(voting(), items, "a store") == {"a", "b", "d"}
