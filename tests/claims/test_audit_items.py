"""When subjects are said to differ: at a p of .05 and not above, and only where that widens the interval."""

import math
from dataclasses import replace

import pandas as pd
import pytest

from flipcore.claims.audit_input import OWN_PROMPT, ROUNDING, AuditInput
from flipcore.claims.audit_items import (
    GROUPS_DIFFER,
    GroupedScores,
    find_contradicting_golds,
    find_group_differences,
    find_impossible_rates,
    find_repeated_items,
    group_scores,
    questions_of,
    standard_error_claim,
)
from flipcore.stats.audit.groups import GroupSpread
from flipcore.stats.audit.paired import largest_flip_rate

RATE = GROUPS_DIFFER.error_rate


@pytest.mark.parametrize(
    ("p", "by_group", "is_made"),
    [
        (RATE, 0.0150, True),
        (math.nextafter(RATE, 1), 0.0150, False),
        (0.001, 0.0101, True),  # a hundredth wider is wider
        (0.001, 0.0100, False),
        (0.9, 0.0150, False),
    ],
)
def test_subjects_differ_at_the_error_rate_and_only_where_groups_are_wider(p, by_group, is_made):
    spread = GroupSpread(n_groups=12, by_item=0.01, by_group=by_group, p=p)
    claim = standard_error_claim(GroupedScores("m", "e", "", spread), p)
    assert claim.is_made == is_made
    assert ("are not shown to differ" in claim.text) != is_made


def test_groups_are_said_to_differ_falsely_in_one_of_twenty():
    assert (GROUPS_DIFFER.error_rate, GROUPS_DIFFER.sides) == (0.05, 1)


def log_of(n_groups, models="m", **columns):
    """Each model's scores of two items per group; of each group's items one is right."""
    items = pd.DataFrame({"item_id": [f"t/{i}" for i in range(2 * n_groups)]})
    items["category"] = [f"group {i // 2}" for i in range(2 * n_groups)]
    frame = pd.concat([items[["item_id"]].assign(model=model) for model in models], ignore_index=True)
    frame["score"] = (frame["item_id"].str[2:].astype(int) % 2).astype(float)
    same = {"extractor": "e", "axis": OWN_PROMPT, "is_base": True, "sample": 0, "variant": "base"}
    return AuditInput(frame.assign(**same | columns), items, pd.DataFrame())


def test_models_are_grouped_in_the_order_of_the_log():
    log = log_of(10, models="za")
    spreads = group_scores(log, log.frame)
    assert [scores.model for scores in spreads] == ["z", "a"]
    assert {(scores.extractor, scores.role_words, scores.spread.n_groups) for scores in spreads} == {("e", "", 10)}


def test_groups_are_compared_from_ten_on_and_only_where_each_item_has_one():
    few = log_of(9)
    assert group_scores(few, few.frame) == []
    log = log_of(10)
    assert group_scores(log, log.frame[log.frame["item_id"] != "t/0"])
    assert group_scores(log, log.frame[~log.frame["item_id"].isin(["t/0", "t/1"])]) == []
    for change in ({"axis": "style"}, {"is_base": False}, {"score": None}):
        assert group_scores(log, log.frame.assign(**change)) == []
    unnamed = log_of(11)
    unnamed.items.loc[0, "category"] = ""
    assert group_scores(unnamed, unnamed.frame) == []


def test_a_role_is_named_where_there_are_several():
    log = log_of(10, models="m")
    both_roles = pd.concat([log.frame.assign(role=role) for role in ("benchmark", "control")], ignore_index=True)
    assert len({scores.role_words for scores in group_scores(log, both_roles)} - {""}) == 2
    assert [scores.role_words for scores in group_scores(log, log.frame.assign(role="control"))] == [""]


def items_log(*targets, options=()):
    """Items of one question, with these right answers."""
    items = pd.DataFrame({"item_id": [f"t/{i}" for i in range(len(targets))], "target": targets})
    items["options"] = [list(options)] * len(items)
    return AuditInput(pd.DataFrame(), items, pd.DataFrame()), pd.Series("one question", index=items.index)


@pytest.mark.parametrize(
    ("targets", "options", "is_found"),
    [
        (("0", "1"), ("yes", "no"), True),
        (("1", "1"), ("yes", "no"), False),
        (("1", "no"), ("yes", "no"), False),  # a place and the text that stands there
        (("2", "no"), ("yes", "no"), True),  # there is no third option
        (("1", "no"), (), True),  # without options a number is a number
        (("x\ny", "y\nx"), (), False),  # several right answers, in any order
        (("x\ny", "x"), (), True),
        (("x", None), (), False),
        ((None, None), (), False),
    ],
)
def test_right_answers_contradict_each_other_where_their_words_differ(targets, options, is_found):
    log, questions = items_log(*targets, options=options)
    made = list(find_contradicting_golds(log, questions))
    assert [(finding.about, finding.rank, finding.items) for finding in made] == [
        ("contradicting golds", 85, ("t/0", "t/1"))
    ] * is_found
    if is_found:
        assert made[0].claim.text == "1 question stands with contradicting right answers (2 items)."


def test_questions_with_contradicting_answers_are_counted_and_200_of_their_items_named():
    log, questions = items_log(*[str(i) for i in range(230)])
    questions[:] = ["a"] * 10 + ["b"] * 215 + [f"c{i}" for i in range(5)]
    (finding,) = find_contradicting_golds(log, questions)
    assert finding.claim.text == "2 questions stand with contradicting right answers (225 items)."
    assert finding.items == tuple(f"t/{i}" for i in range(200))


@pytest.mark.parametrize(
    ("questions", "words", "rank", "n_items"),
    [
        ("aabc", "1 question occurs more than once: 1 of 4 items are repeats.", 52, 2),
        ("aabb", "2 questions occur more than once: 2 of 4 items are repeats.", 62, 4),
        ("a" * 400, "1 question occurs more than once: 399 of 400 items are repeats.", 81.9, 200),
    ],
)
def test_repeated_questions_rank_by_the_share_of_repeats(questions, words, rank, n_items):
    log, _ = items_log(*["x"] * len(questions))
    (finding,) = find_repeated_items(log, pd.Series(list(questions)))
    assert (finding.about, finding.claim.text, len(finding.items)) == ("repeated items", words, n_items)
    assert finding.rank == pytest.approx(rank) and finding.items[:2] == ("t/0", "t/1")
    assert not list(find_repeated_items(items_log("x", "x")[0], pd.Series(["a", "b"])))


def test_subjects_that_differ_say_how_much_wider_intervals_would_be():
    wide, narrow = (GroupSpread(n_groups=12, by_item=0.01, by_group=by_group, p=0.001) for by_group in (0.015, 0.009))
    scores = [GroupedScores(model, "e", "", spread) for model, spread in (("z", wide), ("n", narrow), ("a", wide))]
    made = list(find_group_differences(scores, [0.001, 0.001, 0.001]))
    assert [(finding.about, finding.rank, finding.model, finding.extractor) for finding in made] == [
        ("standard error", 38, "z", "e"),
        ("standard error", 38, "a", "e"),
    ]
    claim = made[0].claim
    assert claim.text == (
        "z, e: scores differ by subject or template beyond chance, p = .001: standard error 1.5 points by group, 1.0 by items."
    )
    assert claim.detail.startswith("12 groups.") and claim.detail.endswith("about 1.5 times as wide.")
    assert claim.outcome == "differ" and claim.numbers == {"p": 0.001, "ratio": pytest.approx(1.5)}


def reported(value, metric="", model="m", readout="e"):
    return {"model": model, "task": "t", "readout": readout, "metric": metric, "value": value}


MOST = largest_flip_rate(0.9, 0.8)  # at most one in ten is wrong in one prompt, two in ten in the other
ACCURACIES = [reported(0.9, "acc"), reported(0.8, "exact_match")]


@pytest.mark.parametrize(
    ("rows", "n_found"),
    [
        ([reported(MOST + ROUNDING, "flip rate"), *ACCURACIES], 0),
        ([reported(math.nextafter(MOST + ROUNDING, 1), "flip rate"), *ACCURACIES], 1),
        ([reported(0.9, "", readout="flips"), *ACCURACIES], 1),
        ([reported(0.9, "consistency"), *ACCURACIES], 0),
        ([reported(0.9, "Flip rate"), *ACCURACIES, reported(0.85, "acc_norm")], 1),  # one pair of scores is enough
        ([reported(0.9, "flip rate"), ACCURACIES[0]], 0),
        ([reported(0.9, "flip rate"), ACCURACIES[0], reported(0.8, "acc", model="n")], 0),
        ([reported(0.9, "flip rate"), ACCURACIES[0], reported(0.8, "f1")], 0),
        ([reported(0.9, "flip rate"), reported(0.95, "flip rate"), *ACCURACIES], 2),
    ],
)
def test_a_flip_rate_is_impossible_beyond_what_two_scores_of_its_model_leave(rows, n_found):
    made = list(find_impossible_rates(replace(items_log()[0], reported=rows)))
    assert [(finding.about, finding.rank, finding.model) for finding in made] == [("impossible rate", 95, "m")] * n_found
    assert pytest.approx(0.3) == MOST
    for finding in made:
        assert " is impossible with scores 0.900 and 0.800; at most 0.300." in finding.claim.text


@pytest.mark.parametrize("n_items", [1, 2, 3])
def test_two_tasks_with_the_same_options_throughout_ask_the_same_words_as_other_questions(n_items):
    """Yes and no say nothing of what is asked; the options of a single item may be its own."""
    rows = []
    for task in "ab":
        for number in range(n_items):
            rows.append({"item_id": f"{task}/{number}", "question": f"Text {number}", "options": ["yes", "no"], "target": "0"})
    is_repeated = questions_of(pd.DataFrame(rows)).duplicated()
    assert is_repeated.sum() == (1 if n_items == 1 else 0)
