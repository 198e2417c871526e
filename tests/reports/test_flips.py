"""The sentence on a study's card says what the numbers are, and nothing that they are not."""

import pandas as pd
import pytest

from flipcore.core.records import ABSENT, RIGHT, WRONG
from flipcore.datasets import load
from flipcore.reports.flips import (
    asked_once,
    by_wording,
    claimed_headline,
    headline,
    map_claim,
    nothing_to_compare,
    why_nothing_was_read,
    wording_inputs,
)
from flipcore.reports.study import study_report
from flipcore.runs.demo import demo_studies
from flipcore.stats.holdout.difficulty import conditions
from flipcore.stats.holdout.verdict import difficulty_test
from flipcore.text.templates import repeated_templates
from tests.stats.flips.test_surface import asked, frame


def said(rows, right="A"):
    made = frame(rows)
    return headline(made.assign(is_correct=(made["answer"] == right).astype(float), variant_id=made["variant"]))


def two_readouts(first, written, n=12):
    return [row for i in range(n) for row in asked(f"i{i}", first, extractor="first_token") + asked(f"i{i}", written)]


def test_nothing_yet_is_a_sentence():
    assert headline(frame([])).sentence == "No answer has come back yet."
    assert claimed_headline(frame([]), (), is_begun=True).sentence == "No item has all of its answers yet."


def test_what_was_asked_once_is_said_to_be_so():
    found = said([row for i in range(12) for row in asked(f"i{i}", "A")])
    assert found.claims[1].text == "Each item was asked once, in one wording, so nothing could flip."
    again = frame([row for i in range(12) for row in asked(f"i{i}", "A") + asked(f"i{i}", "A", sample=1)])
    assert not asked_once(again) and not asked_once(frame([]))


def failed(rows, reason="mymodel refused the request (HTTP 400)."):
    return frame(rows).assign(status=ABSENT, answer=None, is_correct=None, reason=reason)


def test_a_study_whose_calls_all_failed_says_so():
    once = failed([row for i in range(12) for row in asked(f"i{i}", "A")])
    why = "No answer could be read, so nothing was measured. mymodel refused the request (HTTP 400)."
    assert why_nothing_was_read(once) == why and headline(once).sentence == why
    assert not asked_once(once)
    assert why_nothing_was_read(frame([])) == "" == why_nothing_was_read(frame(two_readouts("ABC", "ABB")))


def test_a_declared_extractor_that_read_nothing_is_named():
    read = frame([row for i in range(12) for row in asked(f"i{i}", "AB")])
    absent = failed([row for i in range(12) for row in asked(f"i{i}", "AB", extractor="first_token")], "It gives none.")
    both = pd.concat([read.assign(reason=""), absent])
    assert nothing_to_compare(both) == (
        "Only written answer read answers, so there is nothing to compare; first token read none. It gives none."
    )
    assert nothing_to_compare(read) == "This study has one extractor, so there is nothing to compare."


def test_the_card_of_a_report_has_the_reference_that_was_chosen():
    """`stats --reference` gave the rows under it, and a card and accuracy under the default."""
    made = frame(two_readouts("ABC", "BBB"))
    made = made.assign(is_correct=(made["answer"] == "A").astype(float), variant_id=made["variant"])
    (chosen,) = study_report(made, "first_token", n_boot=99).values()
    (default,) = study_report(made, n_boot=99).values()
    assert (chosen.headline.flips.extractor, chosen.headline.flips.reference) == ("regex", "first_token")
    assert (default.headline.flips.extractor, default.headline.flips.reference) == ("first_token", "regex")
    assert (chosen.headline.accuracies[""].value, default.headline.accuracies[""].value) == (1.0, 0.0)


def test_the_headline_says_the_verdict_and_its_small_line_the_three_parts():
    # A, B, C under the first token: 3 of 3 pairs differ; written A, B, B: 2 of 3; so a third flips under the first token alone
    found = said(two_readouts("ABC", "ABB"))
    assert (found.flip_rate.value, found.genuine.value) == pytest.approx((1, 2 / 3))
    flips, accuracy = found.claims
    assert (
        flips.text
        == "Option order, first token: undecided, p > .99. 33% [0, 73] of pairs flip only under this extractor, noise included."
    )
    assert flips.detail.startswith(
        "Of all pairs, these flip: 33% [0, 73] only under this extractor, 0% [0, 24] only under the reference extractor, 67% [27, 100] "
        "under both."
    )
    assert accuracy.text == "Right on 100% [71, 100] of 12 items." and accuracy.assertion is None
    assert accuracy.detail == "Intervals are over other questions in the same prompt."


def test_nothing_is_said_to_be_part_of_a_rate_that_it_exceeds():
    found = said(two_readouts("ABB", "ABC"))
    assert "of which" not in found.sentence and "33% only under the reference extractor" in found.claims[0].detail.replace(
        " [0, 73]", ""
    )


def test_one_extractor_alone_names_no_genuine_part():
    assert (
        "The answer differs between two prompts of one question in"
        in said([row for i in range(12) for row in asked(f"i{i}", "AAB")]).sentence
    )


def test_what_a_scorer_that_only_judges_gives_are_results_and_no_answers():
    rows = [row for i in range(12) for row in asked(f"i{i}", [RIGHT, RIGHT, WRONG])]
    assert "The result differs between two prompts of one question in" in said(rows, RIGHT).sentence
    made = frame(rows).assign(is_correct=lambda every: every["answer"] == RIGHT)
    assert "The result differs" in map_claim(made, "regex", "regex").text
    assert "The answer differs" in map_claim(made.assign(answer="B"), "regex", "regex").text


def test_asking_again_is_no_change():
    again = [row for i in range(12) for sample in (0, 1) for row in asked(f"i{i}", "A", axis="identity", sample=sample)]
    assert said(again).sentence.endswith(" Nothing was changed, so there is no flip rate.")


def test_sets_in_different_roles_are_not_pooled():
    made = frame([row for i in range(24) for row in asked(f"i{i}", "AA" if i < 12 else "BB")])
    made = made.assign(
        is_correct=(made["answer"] == "A").astype(float),
        variant_id=made["variant"],
        role=["benchmark" if int(item[1:]) < 12 else "control" for item in made["item_id"]],
    )
    assert headline(made).sentence.endswith(" Right on 100% [71, 100] of 12 benchmark items, 0% [0, 29] of 12 control items.")
    assert {role: one.value for role, one in headline(made).accuracies.items()} == {"benchmark": 1.0, "control": 0.0}


def test_a_holdout_study_says_its_inflation():
    # 12 of 12 against 6 of 12: +50 points
    made = frame([row for i in range(24) for row in asked(f"i{i}", "A" if i < 18 else "B", axis="identity")])
    made = made.assign(
        is_correct=(made["answer"] == "A").astype(float),
        variant_id=made["variant"],
        role=["target" if int(item[1:]) < 12 else "retro" for item in made["item_id"]],
    )
    assert ", 50% [22, 78] of 12 holdout items: +50.0 points [" in headline(made).sentence
    twice = pd.concat([made, made.assign(sample=1, is_correct=0.0)])
    assert "inflation" not in headline(twice).sentence


def test_items_of_one_template_are_one_in_every_interval_of_a_card():
    # 30 templates of four items, each right or wrong as a whole; retro takes the last twelve
    made = frame([row for i in range(120) for row in asked(f"i{i}", "A" if i // 4 % 3 else "B", axis="identity")])
    template = [f"t{int(item[1:]) // 4}" for item in made["item_id"]]
    made = made.assign(is_correct=(made["answer"] == "A").astype(float), variant_id=made["variant"], family=template)
    assert headline(made).sentence.startswith("Right on 67% [48, 81] of 120 items in 30 clusters. ")
    sides = made.assign(role=["target" if int(item[1:]) < 72 else "retro" for item in made["item_id"]])
    base = sides[sides["variant"] == "base"].drop_duplicates("item_id")
    (one,) = conditions(base.assign(layout="", source_id=base["family"]))
    assert one.is_clustered and f": {one.inflation().text_points()} (inflation if" in headline(sides).sentence
    assert (
        one.inflation().low < difficulty_test(*one.counts).estimate.low - 0.1
    )  # as wide as 30 templates make it, not 120 items


def test_what_is_not_reviewed_enough_is_named_instead_of_a_flip_rate():
    rows = [row for i in range(12) for row in asked(f"i{i}", "AB", axis="paraphrase")]
    made = frame(rows)
    made = made.assign(is_correct=(made["answer"] == "A").astype(float), variant_id=made["variant"])
    found = claimed_headline(made, {"paraphrase"})
    assert found.sentence == ("Not claimed: too little was reviewed of paraphrase. Right on 100% [71, 100] of 12 items.")
    assert not found.claims[0].is_made
    assert claimed_headline(made, set()).flip_rate.value == 1.0


def test_an_accuracy_of_many_items_keeps_within_what_was_seen():
    # 38 of 40: Wilson's [0.835, 0.986]; Student's interval would reach past .99
    made = frame([row for i in range(40) for row in asked(f"i{i}", "A" if i < 38 else "B", axis="identity")])
    made = made.assign(is_correct=(made["answer"] == "A").astype(float), variant_id=made["variant"])
    assert headline(made).sentence.startswith("Right on 95% [83, 99] of 40 items")
    assert headline(made.head(3)).sentence.startswith("Right on 100% of 3 items, too few for an interval. ")


def test_unreadable_base_answers_are_wrong_and_absent_ones_left_out():
    rows = asked("i", "AA") + asked("j", [None, "A"]) + asked("k", ["absent", "A"])
    made = frame(rows)
    made = made.assign(
        is_correct=[
            None if status == "absent" else float(answer == "A")
            for status, answer in zip(made["status"], made["answer"], strict=True)
        ],
        variant_id=made["variant"],
    )
    assert (headline(made).accuracies[""].value, headline(made).accuracies[""].n) == (0.5, 2)


def test_templates_that_nobody_declared_give_a_second_interval():
    # 30 wordings of four items, each right or wrong as a whole: as wide as 30 units make it
    made = frame([row for i in range(120) for row in asked(f"i{i}", "A" if i // 4 % 3 else "B", axis="identity")])
    made = made.assign(is_correct=(made["answer"] == "A").astype(float), variant_id=made["variant"])
    themes = [f"{chr(97 + i)}{chr(98 + i % 7)}{'e' * (i % 5)}{chr(97 + i // 3)}" for i in range(26)] + ["ww", "xx", "yy", "zz"]
    items = pd.DataFrame({"item_id": [f"i{i}" for i in range(120)], "family": [f"i{i}" for i in range(120)]}).assign(
        question=[f"How many {themes[i // 4]} does a farmer bring home with {i} of them in every bag?" for i in range(120)],
        options=[()] * 120,
        dataset="file",
    )
    declared = headline(made.assign(family=[f"t{int(one[1:]) // 4}" for one in made["item_id"]]))
    found = by_wording(made, items, {"m": None})["m"]
    assert found.startswith(f"With each wording as one unit, m: accuracy {declared.accuracies[''].text_percent()}")
    assert by_wording(made, items.assign(family=[f"t{i // 4}" for i in range(120)]), {}) == {}
    assert by_wording(made, items.assign(dataset="pocket_problems"), {}) == {}  # each drawn alone, its wording too
    # a run at its beginning: of each wording one item was asked, and the store hands out categories
    begun = made[made["item_id"].isin([f"i{4 * i}" for i in range(20)])].astype({"item_id": "category"})
    begun = begun.assign(role=["target" if int(one[1:]) % 8 else "retro" for one in begun["item_id"]])
    assert "accuracy target" in by_wording(begun, items, {})["m"]


@pytest.mark.parametrize("number", range(len(demo_studies())))
def test_a_demo_warns_of_no_repeated_wordings(number):
    """Its items were drawn one by one, so that a wording which comes again makes no family."""
    every = [item for source in demo_studies()[number].items for item in load(source)]
    rows = [(one.dataset, one.question, one.item_id, one.options) for one in every]
    items = pd.DataFrame(rows, columns=["dataset", "question", "family", "options"])
    assert repeated_templates(*wording_inputs(items)) == ""
    of_a_file = repeated_templates(*wording_inputs(items.assign(dataset="file")))
    assert ("repeat another item's wording" in of_a_file) is (sum(one.kind == "number" for one in every) > 100)
