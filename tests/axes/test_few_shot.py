"""Other questions of the same set stand before the question, itself never among them."""

from dataclasses import replace

import numpy as np
import pytest

from flipcore.axes import axis_of
from flipcore.core.contracts import Material
from flipcore.core.errors import BadInput
from flipcore.core.records import Item
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.runs import runner
from flipcore.runs.plan import plan
from flipcore.store.connection import Store

pytestmark = pytest.mark.usefixtures("allowed_folders")

CHOICES = [
    Item.make(dataset="t", key=str(i), kind="choice", question=f"Which is {i}?", options=("tin", f"oak {i}"), target="1")
    for i in range(4)
]
PROBLEMS = [
    Item.make(
        dataset="t",
        key=f"p{i}",
        kind="number",
        question=f"{i} + 1?",
        target=str(i + 1),
        solution=f"<<{i}+1={i + 1}>>\n#### {i + 1}" if i else "",
    )
    for i in range(3)
]


def asked(item, pool, n, layout="plain"):
    material = Material(examples={item.item_id: tuple(pool)})
    return axis_of("few_shot", {"n": n}).variants(item, layout, np.random.default_rng(0), material)


def test_examples_carry_their_answers_and_the_question_comes_last():
    base, changed = asked(CHOICES[0], CHOICES, 2)
    assert changed.prompt.text == (
        "Question: Which is 1?\nA. tin\nB. oak 1\nAnswer: B\n\n"
        "Question: Which is 2?\nA. tin\nB. oak 2\nAnswer: B\n\n" + base.prompt.text
    )
    assert (changed.key, changed.target, changed.order, changed.layout) == ("2-shot", base.target, base.order, "plain")
    assert dict(changed.prompt.parts)["shots"].endswith("\n\n") and "shots" not in dict(base.prompt.parts)


def test_a_problem_is_shown_worked_out_where_its_solution_is_known():
    _, changed = asked(PROBLEMS[2], PROBLEMS, 2, "bare")
    assert changed.prompt.text == (
        "0 + 1?\nThe answer is 1\n\n1 + 1?\nThe answer is <<1+1=2>>\n#### 2\n\n2 + 1?\nThe answer is"
    )


@pytest.mark.parametrize("pool", [[], CHOICES[:2], PROBLEMS, [CHOICES[0]] * 5])
def test_too_few_others_of_the_kind_leave_the_base_alone(pool):
    assert [one.key for one in asked(CHOICES[0], pool, 2)] == ["base"]


def test_the_number_of_examples_is_bounded():
    for n, said in ((0, "at least 1"), (11, "from 1 to 10 examples")):
        with pytest.raises(BadInput, match=said):
            axis_of("few_shot", {"n": n})


def test_a_study_shows_examples_of_the_items_own_role_only():
    study = Study(
        "s",
        (
            ItemSource("flipscope_choice", role="target", categories=("logic",)),
            ItemSource("flipscope_choice", role="retro", categories=("science",)),
            ItemSource("flipscope_problems", role="retro", n=8),
        ),
        (Part("few_shot", {"n": 5}),),
        (Part("regex"),),
        (ModelUse("simulated-clean"),),
    )
    questions = {item.question: (role, item.kind) for asked in plan(study).items for item, role in [(asked.item, asked.role)]}
    for one in plan(study).items:
        shots = dict(one.variants[1].prompt.parts)["shots"]
        shown = {where for question, where in questions.items() if question in shots}
        assert shown == {(one.role, one.item.kind)} and one.item.question not in shots
    # a pilot of a few items shows the same examples as the study
    assert plan(study, items_limit=3).items == plan(study).items[:3]


@pytest.mark.slow
def test_no_example_was_set_aside_by_the_study_or_by_an_earlier_one(tmp_path):
    """The prompts of open items are shown, and with them their examples."""
    items = (ItemSource("flipscope_choice", n=30),)
    own = Study("s", items, (Part("few_shot", {"n": 5}),), (Part("regex"),), (ModelUse("simulated-clean"),))
    halved = replace(own, name="halved", confirmatory_share=0.5)
    store = Store.open(tmp_path / "flips.duckdb")
    runner.run(replace(halved, axes=(Part("identity"),)), store)
    for study, place in ((halved, None), (own, store)):
        hidden = [one.item.question for one in plan(halved).items if one.confirmatory]
        shots = [dict(variant.prompt.parts).get("shots", "") for one in plan(study, place).items for variant in one.variants]
        assert hidden and any(shots) and [one for one in hidden if any(one in text for text in shots)] == []
    assert plan(own, store).items[0].variants != plan(own).items[0].variants
    store.close()
