"""Other names for the people of a problem: consistent, one to one, of the same gender, and never inside other words."""

import json
import re

import numpy as np
import pytest

from flipcore.axes import axis_of
from flipcore.axes.entity_rename import AXIS, Refusal, Renaming, renaming
from flipcore.axes.names.people import EITHER, MAN, WOMAN, gender, listed, people, pool
from flipcore.core.contracts import Material
from flipcore.core.errors import BadInput
from flipcore.core.records import Item
from flipcore.core.study import ItemSource
from flipcore.datasets import load
from tests.axes.coverage import coverage, refusal_table

pytestmark = pytest.mark.usefixtures("allowed_folders")


def item(question, options=(), target="1"):
    return Item.make(
        dataset="t", key="1", kind="choice" if options else "number", question=question, options=tuple(options), target=target
    )


def renamed(question, seed=0, **rest) -> Renaming | Refusal:
    return renaming(item(question, **rest), np.random.default_rng(seed))


def test_every_mention_is_renamed_alike_and_nobody_shares_a_name():
    for seed in range(30):
        one = renamed("Tom and Mary share Tom's 12 plums. Mary gives 3 of hers to James' sister Ann.", seed)
        new = dict(one.names)
        assert list(new) == ["Tom", "Mary", "James", "Ann"] and len(set(new.values())) == 4
        tom, mary, james, ann = new.values()
        assert one.question == f"{tom} and {mary} share {tom}'s 12 plums. {mary} gives 3 of hers to {james}'s sister {ann}."


def test_a_name_inside_another_word_stays():
    one = renamed("Ann has an Annex and 4 Annual passes. Tom owns a tomcat called Tomcat.")
    assert " Annex and 4 Annual passes." in one.question and "tomcat called Tomcat." in one.question


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("Mary has 3 cats.", "Mary", WOMAN),
        ("Peter has 3 cats.", "Peter", MAN),
        ("Taylor ate 3 of her pies.", "Taylor", WOMAN),
        ("Taylor ate 3 of his pies.", "Taylor", MAN),
        ("Taylor ate 3 pies.", "Taylor", EITHER),
        ("The Quill family has 3 cats.", "Quill", EITHER),
        ("Prince Uriel has 3 cats.", "Uriel", EITHER),
        ("Her brother Alex met Tina. She paid 3 dollars.", "Alex", MAN),
        ("Zorbo has 4 hats. He buys 2.", "Zorbo", MAN),
    ],
)
def test_gender_follows_the_list_the_pronoun_or_the_relation(text, name, kind):
    assert {one.name: one.gender for one in people(text)}[name] == kind
    if kind != EITHER:
        assert gender(dict(renamed(text).names)[name]) == kind


def test_a_surname_after_a_title_or_a_given_name_is_replaced_by_a_surname():
    one = renamed("Mr. Rylan and Nora Quill plant 5 trees. The Quills own 3 and Nora 2.")
    new = dict(one.names)
    assert set(new) == {"Rylan", "Nora", "Quill"} and new["Rylan"] in listed("surnames") and new["Quill"] in listed("surnames")
    assert f"The {new['Quill']}s own" in one.question


@pytest.mark.parametrize(
    "text",
    [
        "In May and April the shop in Paris sold 30 cakes.",
        "The Madison bridge is 30 m long.",
        "Will they have 20 apples?",
        "Monday was warm. Bill by bill she counted 20 dollars.",
        "Mark the 3 longest lines.",
        "A Victoria sponge takes 4 eggs.",
        "A tram leaves with 34 passengers.",
    ],
)
def test_words_months_and_places_are_no_people(text):
    assert renamed(text).kind == "no person named"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("How many letters of Anna are vowels?", "the name itself matters"),
        ("Samantha has 3 cats. Sam has 2.", "two forms of one name"),
        ("Michael has 3 cats. Micheal buys 2.", "two forms of one name"),
        ("Robert has 3 cats. His friends call him Bob.", "two forms of one name"),
        ("Nora has 3 cats. How many has nora?", "name in another form"),
    ],
)
def test_what_is_not_certain_is_refused_with_a_class(text, kind):
    one = renamed(text)
    assert one.kind == kind and one.reason.endswith(".")


@pytest.mark.parametrize(
    ("text", "options", "kind"),
    [
        ("Nora pays for what Tom broke. What may she claim?", ("All", "None"), None),
        ("Nora owes Tom 5 dollars. Who is the debtor?", ("Nora", "Tom"), "name in an option"),
        ("Which king was beheaded after Charles lost?", ("I", "II"), "may be a real person"),
        ("What did John Locke hold?", ("a", "b"), "may be a real person"),
        ("What does the Henry's law constant say?", ("a", "b"), "may be a real person"),
        ("Which is a Lewis acid?", ("a", "b"), "may be a real person"),
        ("Translate: if Nora sings, then Tom sings.", ("N > T", "T > N"), "the name itself matters"),
    ],
)
def test_a_choice_is_renamed_only_if_nobody_who_lived_can_be_meant_and_no_option_names_anybody(text, options, kind):
    one = renamed(text, options=options)
    assert isinstance(one, Renaming) if kind is None else one.kind == kind


def test_new_names_are_no_words_and_like_no_word_of_the_text():
    for kind in (WOMAN, MAN, EITHER, "surname"):
        assert len(pool(kind)) > 50 and not set(pool(kind)) & listed("also_words")
    for seed in range(20):
        ((_, new),) = renamed("Nora has 3 cats.", seed).names
        assert new not in ("Norah", "Nora") and new[0] != "N"


def test_a_variant_keeps_the_target_and_says_who_became_whom():
    rng = np.random.default_rng(0)
    base, *changed = axis_of("entity_rename", {"n": 2}).variants(item("Nora has 3 cats."), "plain", rng, Material())
    assert [one.key for one in changed] == ["rename-1", "rename-2"] and {one.target for one in changed} == {base.target}
    assert all(one.params["names"][0][0] == "Nora" and one.params["names"][0][1] in one.prompt.text for one in changed)
    refused = AXIS.variants(item("A tram has 3 doors."), "plain", np.random.default_rng(0), Material())
    assert len(refused) == 1 and refused[0].params["refusal"] == "no person named"


def test_the_number_of_renamings_is_bounded():
    with pytest.raises(BadInput, match="from 1 to 100"):
        axis_of("entity_rename", {"n": 101})


def test_the_shipped_problems_are_renamed_where_they_name_somebody():
    names = listed("women") | listed("men")
    for one in load(ItemSource("flipscope_problems")):
        made_of = renaming(one, np.random.default_rng(0))
        named = set(re.findall(r"\b[A-Z][a-z]+\b", one.question)) & names
        assert isinstance(made_of, Renaming) == bool(named), one.question


@pytest.mark.stand_in("test_the_shipped_problems_are_renamed_where_they_name_somebody")
@pytest.mark.simulation
@pytest.mark.slow
def test_coverage_of_the_real_test_split_and_its_table_of_refusals(shared_data, capsys):
    rows = [json.loads(line) for line in (shared_data / "gsm8k" / "test.jsonl").read_text(encoding="utf-8").splitlines()]
    found = coverage(
        AXIS,
        [
            Item.make(dataset="gsm8k", key=str(i), kind="number", question=row["question"], target="1")
            for i, row in enumerate(rows)
        ],
        seed=0,
    )
    covered = sum(one.is_covered for one in found)
    with capsys.disabled():
        print(f"\n{covered:,} of {len(found):,} renamed; refused: {dict(refusal_table(found))}")
    assert len(found) == 1_319 and covered >= 950


# Who is a person in a problem: a name that is also a word counts where it acts.


def test_a_name_that_is_also_a_word_counts_where_it_acts():
    assert [one.name for one in people("Mark and Rose baked 12 pies. Rose's pies sold for $3.")] == ["Mark", "Rose"]
