"""A study's own prompt, from its declaration to what a model is sent: examples, set-aside items, every axis in those words."""

import json
import sys
from dataclasses import replace

import pytest

from flipcore.core import folders
from flipcore.core.contracts import Ask
from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator, nth_sample
from flipcore.core.records import BASE, CONTINUATION, Call, Item, Prompt, Variant
from flipcore.core.study import ItemSource, ModelUse, OwnPrompt, Part, Study
from flipcore.extractors.first_token import FirstToken
from flipcore.extractors.readings import text_request
from flipcore.models.cards import ModelCard
from flipcore.models.openai.replies import body_of
from flipcore.runs import own_prompts
from flipcore.runs.own_prompts import OWN, PromptPlan
from flipcore.runs.plan import is_set_aside, plan
from tests.runs.test_runner import tiny_study

MINE = OwnPrompt(
    template="{{ question }}\n{% for label, text in choices %}[{{ label }}] {{ text }}\n{% endfor %}Reply:",
    system="Be brief.",
    before="Questions about {{ subject }}.\n",
    n_examples=2,
)
STUDY = tiny_study(
    items=(ItemSource("flipscope_choice", n=12),),
    axes=(
        Part("option_order", {"n": 2}),
        Part("label_set", {"sets": ["lower"]}),
        Part("prompt_format", {"layouts": ["paren"]}),
    ),
    prompt=MINE,
)


def variants_of(study, axis, key):
    return {one.item.item_id: v for one in plan(study).items for v in one.variants if (v.axis, v.key) == (axis, key)}


def test_every_variant_is_in_the_users_own_words_behind_the_same_examples():
    planned = plan(STUDY).items
    texts = {(v.axis, v.key): v.prompt for v in planned[0].variants}
    item = planned[0].item
    own, turned, lower = (
        texts[key].text for key in (("option_order", "base"), ("option_order", "rotate-1"), ("label_set", "lower"))
    )
    front = dict(texts["option_order", "base"].parts)["examples"]
    assert front.startswith(f"Questions about {item.category}.\n") and front.count("Reply: ") == 2 and front.endswith("\n\n")
    assert all(text.startswith(front) for text in (own, turned, lower)) and item.question not in front
    assert own.endswith("Reply:") and f"[A] {item.options[0]}\n" in own and f"[A] {item.options[1]}\n" in turned
    assert f"[a] {item.options[0]}\n" in lower
    assert {v.prompt.system for v in planned[0].variants} == {"Be brief."} and {v.layout for v in planned[0].variants} == {OWN}
    assert (
        texts["prompt_format", "paren"].text.startswith(front)
        and f"(A) {item.options[0]}" in texts["prompt_format", "paren"].text
    )


TURNS = replace(STUDY, prompt=replace(MINE, as_turns=True))


def test_examples_as_turns_are_a_conversation_before_the_question():
    one = plan(TURNS).items[0]
    base = next(v for v in one.variants if (v.axis, v.key) == ("option_order", "base"))
    plain = next(v for v in plan(STUDY).items[0].variants if (v.axis, v.key) == ("option_order", "base"))
    said = text_request(base, Ask(max_tokens=16)).messages
    assert [turn["role"] for turn in said] == ["user", "assistant", "user", "assistant", "user"]
    questions, answers = [turn["content"] for turn in said[::2]], [turn["content"] for turn in said[1::2]]
    assert all(text.endswith("Reply:") for text in questions) and one.item.question in questions[-1]
    assert set(answers) <= set("ABCDEFGHIJ") and base.prompt.system == f"Be brief.\n\nQuestions about {one.item.category}.\n"
    # the same words in the same order as in one message, but for what stands between
    assert "".join(plain.prompt.text.split()) == "".join(
        (base.prompt.system.removeprefix("Be brief.") + base.prompt.text).split()
    )
    assert base.prompt.transcript.startswith("[user]\n") and base.variant_id != plain.variant_id
    assert len({v.variant_id for v in one.variants}) > 3 and all(len(v.prompt.turns) == 4 for v in one.variants)
    first_token = FirstToken().needs(one.item, base, Ask(max_tokens=16), ())[0].request
    assert first_token.messages == said


def test_turns_reach_a_chat_server_and_calls_without_them_keep_their_ids():
    base = plan(TURNS).items[0].variants[0]
    request = text_request(base, Ask(max_tokens=16))
    for refuses, n_system in (((), 1), (("system",), 0)):
        card = ModelCard("lab", "openai_compatible", "m", "http://lab/v1", refuses=refuses)
        sent = body_of(Call("lab", "r", request), card)["messages"]
        assert [one["role"] for one in sent] == ["system"] * n_system + ["user", "assistant", "user", "assistant", "user"]
        assert sent[0]["content"].startswith("Be brief.") and sent[-1]["content"].endswith("Reply:")
    assert "turns" not in replace(request, turns=()).declared() and request.declared()["turns"] == request.turns
    assert "as_turns" not in STUDY.to_toml() and Study.from_toml(TURNS.to_toml()) == TURNS


def test_a_model_that_is_not_asked_by_turns_is_refused_in_a_sentence():
    with pytest.raises(BadInput, match="pocket is not"):
        plan(replace(TURNS, models=(ModelUse("pocket"),)))
    with pytest.raises(BadInput, match="does not begin with the template of the question"):
        plan(replace(TURNS, prompt=replace(TURNS.prompt, example="{{ answer }} to {{ question }}")))


def test_a_declaration_comes_back_and_an_old_one_keeps_its_id():
    study = replace(STUDY, prompt=replace(MINE, examples_from=ItemSource("pocket_choice", where={"split": "fresh"})))
    assert Study.from_toml(study.to_toml()) == study and Study.from_toml(STUDY.to_toml()) == STUDY
    assert study.study_id != STUDY.study_id and "prompt" not in tiny_study().to_toml()


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ('preset = "nobody"', "no preset of a prompt 'nobody'"),
        ('template = "{{ question"', "mistake in line 1"),
        ('template = "x"\npick = "some"', "pick = 'some'"),
        ('system = "x"', "neither a preset nor a template"),
        ('template = "x"\nn_examples = 99', "at most 20"),
        ('template = "{{ question }}"\nn_examples = 15', "15 examples were asked for"),
        ('template = "x"\nsurprise = 1', "unknown key 'surprise'"),
    ],
)
def test_a_bad_prompt_is_a_sentence(table, why):
    text = tiny_study(items=(ItemSource("flipscope_choice", n=6),)).to_toml() + f"\n[prompt]\n{table}\n"
    with pytest.raises(BadInput, match=why):
        plan(Study.from_toml(text))


def test_an_item_that_is_set_aside_is_nobodys_example():
    study = replace(STUDY, items=(ItemSource("flipscope_choice", n=40),), confirmatory_share=0.5, axes=(Part("identity"),))
    study = replace(study, prompt=replace(MINE, n_examples=9))
    planned = plan(study)
    hidden = [one.item.question for one in planned.items if is_set_aside(study, one.item)]
    fronts = [dict(one.variants[0].prompt.parts)["examples"] for one in planned.items]
    assert len(hidden) > 10 and [question for question in hidden if any(question in front for front in fronts)] == []
    without = plan(replace(study, confirmatory_share=0.0))
    fronts = [dict(one.variants[0].prompt.parts)["examples"] for one in without.items]
    assert any(question in front for question in hidden for front in fronts)  # the walk would see one


def test_examples_come_from_a_split_first_drawn_or_as_lm_eval_takes_them(tmp_path):
    folders.admit(tmp_path)
    rows = [{"question": f"What is {i}?", "answer": f"It is.\n#### {i}"} for i in range(30)]
    path = tmp_path / "train.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    source = ItemSource("gsm8k", path=str(path))
    own = OwnPrompt(template="Q: {{ question }}\nA:", n_examples=3, examples_from=source)

    def shown(**changes):
        study = tiny_study(
            items=(ItemSource("gsm8k", path=str(path), n=4, seed=2),), axes=(Part("identity"),), prompt=replace(own, **changes)
        )
        return {
            one.item.item_id: [
                int(word.rstrip("?")) for word in dict(one.variants[0].prompt.parts)["examples"].split() if word[-1] == "?"
            ]
            for one in plan(study).items
        }

    first, drawn, lm_eval = shown(), shown(pick="drawn"), shown(pick="lm_eval")
    rows_of = {item: int(item.partition("/")[2].partition("@")[0]) for item in first}
    for item, row in rows_of.items():
        assert first[item] == [i for i in range(4) if i != row][:3]
        assert row not in drawn[item] and len(set(drawn[item])) == 3
        assert lm_eval[item] == [i for i in dict.fromkeys([*nth_sample(1234, 30, 3, row), *range(30)]) if i != row][:3]
    assert len({tuple(one) for one in drawn.values()}) == 1 or any(
        row in one for row in rows_of.values() for one in drawn.values()
    )
    assert drawn != first


def test_an_item_of_another_role_is_nobodys_example_though_it_stands_in_the_split():
    """The right answers of the target would teach what the retro set is asked, and the other way round."""
    source = ItemSource("flipscope_choice", n=12)
    study = replace(
        STUDY,
        items=(ItemSource("flipscope_choice", n=6, role="target"), ItemSource("pocket_choice", n=2, role="retro")),
        axes=(Part("identity"),),
        prompt=replace(MINE, n_examples=5, examples_from=source),
    )
    planned = plan(study).items
    targets = [one.item.question for one in planned if one.role == "target"]
    fronts = {one.item.item_id: dict(one.variants[0].prompt.parts)["examples"] for one in planned}
    retro = [fronts[one.item.item_id] for one in planned if one.role == "retro"]
    assert len(retro) == 2 and not [question for question in targets if any(question in front for front in retro)]
    own = [fronts[one.item.item_id] for one in planned if one.role == "target"]
    assert any(question in front for question in targets for front in own)  # the walk would see one


def test_a_python_stream_is_reproduced_call_by_call():
    import random

    stream = random.Random(1234)
    assert [stream.sample(range(50), 5) for _ in range(4)] == [nth_sample(1234, 50, 5, place) for place in range(4)]


def naive_examples(plan, item, how):
    """What stands before an item, as it is defined: everything that may be shown, in order, and of it the first or a draw."""
    pool = plan.pools.get(("", ""), plan.pools.get((plan.roles.get(item.item_id, ""), item.kind), ()))
    pool = [one for one in pool if not plan.prompt.same_category or one.category == item.category]
    size, n = len(pool), plan.prompt.n_examples
    front = {
        "first": lambda: range(size),
        "drawn": lambda: generator(plan.seed, "examples").permutation(size),
        "lm_eval": lambda: nth_sample(1234, size, n, int(item.item_id.split("/")[1])),
    }[plan.prompt.pick]()
    role = plan.roles[item.item_id]
    usable = [
        pool[i]
        for i in dict.fromkeys([*map(int, front), *range(size)])
        if pool[i].item_id not in {item.item_id, *plan.hidden} and plan.roles.get(pool[i].item_id, role) == role
    ]
    if how == "choice-1":
        return [usable[i] for i in generator(plan.seed, "example choice", how).permutation(len(usable))[:n]]
    order = generator(plan.seed, "example order", item.item_id, how).permutation(n) if how else range(n)
    return [usable[i] for i in order]


def many_items(n):
    return [Item(f"d/{i}", "d", "number", f"What is {i}?", target="1", category="ab"[i % 2]) for i in range(n)]


@pytest.mark.parametrize("pick", ["first", "drawn", "lm_eval"])
@pytest.mark.parametrize("same_category", [False, True])
@pytest.mark.parametrize("from_split", [False, True])
def test_examples_are_those_of_the_definition(pick, same_category, from_split):
    items = [(item, ("benchmark", "control")[i % 3 == 0]) for i, item in enumerate(many_items(40))]
    own = replace(MINE, n_examples=3, pick=pick, same_category=same_category)
    pools = {("", ""): tuple(item for item, _ in items[:30])} if from_split else {}
    if not from_split:
        for role in ("benchmark", "control"):
            pools[role, "number"] = tuple(item for item, its in items if its == role)
    whole = PromptPlan(own, "plain", 5, pools, {item.item_id: role for item, role in items}, frozenset({"d/4", "d/7"}))
    for item, _ in items:
        for how in ("", "order-1", "choice-1"):
            assert whole.examples(item, how) == naive_examples(whole, item, how), (item.item_id, how)


@pytest.mark.parametrize("how", ["", "order-1", "choice-1"])
def test_an_item_that_stands_twice_in_a_split_is_no_example_of_itself(how):
    items = many_items(8)
    prompt = replace(MINE, n_examples=3, pick="first", same_category=False)
    roles = {item.item_id: "benchmark" for item in items}
    prompt_plan = PromptPlan(prompt, "plain", 5, {("", ""): (*items, items[0])}, roles, frozenset())
    for item in items:
        examples = prompt_plan.examples(item, how)
        assert item not in examples and examples == naive_examples(prompt_plan, item, how)


def lines_run(work):
    """How many lines of Python the call runs: the same on a busy machine, unlike its seconds."""
    count = 0

    def counted(frame, event, arg):
        nonlocal count
        count += event == "line"
        return counted

    before = sys.gettrace()
    sys.settrace(counted)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("pick", ["first", "drawn", "lm_eval"])
def test_examples_of_ten_times_the_items_take_about_ten_times_the_work(pick):
    lines = []
    for n in (100, 1_000):
        items = many_items(n)
        roles = {item.item_id: "benchmark" for item in items}
        whole = PromptPlan(replace(MINE, n_examples=5, pick=pick), "plain", 5, {("", ""): tuple(items)}, roles, frozenset())
        lines.append(lines_run(lambda whole=whole, items=items: [whole.examples(item) for item in items]))
    assert lines[1] < 15 * lines[0]  # ten times where it is linear, a hundred where every item looks at all


def test_as_many_examples_as_may_be_shown_are_shown_and_one_more_is_refused():
    items = many_items(4)
    roles = {item.item_id: "benchmark" for item in items}
    pools = {("benchmark", "number"): tuple(items)}

    def shown(n_examples, **changes):
        own = replace(MINE, n_examples=n_examples, pick="first", **changes)
        return PromptPlan(own, "plain", 5, pools, roles, frozenset({"d/2"})).examples(items[0])

    assert shown(2) == [items[1], items[3]]
    with pytest.raises(BadInput, match="3 examples were asked for, and 2 may be shown"):
        shown(3)
    assert shown(0, same_category=True) == []
    with pytest.raises(BadInput, match="1 examples of the category 'a' were asked for, and 0 may be shown"):
        shown(1, same_category=True)


def test_only_prompts_with_a_question_are_rewritten_and_what_an_axis_adds_stays():
    item = many_items(1)[0]
    own = replace(MINE, n_examples=0, before="", template="{{ question }} Reply:")
    prompt_plan = PromptPlan(own, "plain", 5, {}, {item.item_id: "benchmark"}, frozenset())

    def written(*parts, layout="plain"):
        variant = Variant(item.item_id, "identity", BASE, Prompt(parts), "1", layout=layout)
        return variant, prompt_plan.write_variants([variant], item)[0]

    stem = ("stem", item.question)
    for before, after in (written(stem, layout=CONTINUATION), written(("text", "It goes on"))):
        assert after == before
    _, plain = written(stem, ("cue", " A:"))
    assert plain.prompt.parts == (stem, ("cue", " Reply:")) and plain.layout == OWN
    _, longer = written(("hint", " Take care.\n"), stem, ("cue", " A:"))
    assert longer.prompt.parts == (("hint", "Take care.\n\n"), stem, ("cue", " Reply:"))
    options = ("options", "A. 1\n")
    _, turned = written(options, stem)  # the question after its options keeps its own words
    assert turned.prompt.parts == (options, stem)
    _, usual = written(stem, options)
    assert usual.prompt.parts == (stem, ("cue", " Reply:"))


@pytest.mark.parametrize(("item_id", "row"), [("d/7", 7), ("d/12@v2", 12), ("d/x", None), ("7", None)])
def test_the_row_of_an_item_in_its_split_is_in_its_id(item_id, row):
    item = replace(many_items(1)[0], item_id=item_id)
    if row is None:
        with pytest.raises(BadInput, match="holds none. Choose pick = first"):
            own_prompts._row_in_split(item)
    else:
        assert own_prompts._row_in_split(item) == row


@pytest.mark.parametrize(
    ("kind", "solution", "is_kept"), [("completion", "", True), ("completion", "So.", False), ("number", "", False)]
)
def test_a_passage_that_is_continued_keeps_its_own_prompt(kind, solution, is_kept):
    item = replace(many_items(1)[0], kind=kind, solution=solution)
    own = replace(MINE, n_examples=0, before="", template="{{ question }} Reply:")
    prompt_plan = PromptPlan(own, "plain", 5, {}, {item.item_id: "benchmark"}, frozenset())
    variant = Variant(item.item_id, "identity", BASE, Prompt((("stem", item.question),)), "1")
    assert (prompt_plan.write_variants([variant], item) == [variant]) == is_kept
