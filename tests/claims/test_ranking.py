"""What is said of several models: the sentence of each outcome, and what withholds it."""

import numpy as np
import pytest

from flipcore.claims import ranking
from flipcore.claims.ranking import (
    BETTER,
    FIRST,
    NONE,
    SEPARATED,
    SOME,
    TOO_LITTLE,
    best_claim,
    contest,
    difference,
    lead_claim,
    lead_words,
    n_more_items,
    pair_claim,
    winners,
)
from flipcore.reports.ranking import ranking_report
from flipcore.stats.ranking.order import better_p, order
from flipcore.stats.ranking.ways import scores
from flipcore.text.counts import count_of
from tests.stats.ranking.worlds import readouts

OWN, TOKEN, LOWER = ("identity", "base", "regex"), ("identity", "base", "first_token"), ("label_set", "lower", "regex")
STRONG, MIDDLE, WEAK = "1" * 190 + "0" * 10, "1" * 185 + "0" * 15, "1" * 60 + "0" * 140


def contest_of(right, closed=None, reference="regex"):
    return contest(order(scores(readouts(right))), reference, closed)


def alike(**letters):
    return contest_of({model: {OWN: one, TOKEN: one, LOWER: one} for model, one in letters.items()})


def test_a_model_that_is_better_than_every_other_is_named_with_the_gap_to_the_second():
    claim = best_claim(alike(A=STRONG, B=WEAK))
    assert claim.is_made and claim.assertion is BETTER and claim.outcome == FIRST
    assert claim.text.startswith("A scores higher than B, by 65.0 points (likely ") and claim.text.endswith(").")
    assert claim.detail.startswith("Lead of A over B: p < .001. ")
    claim = best_claim(alike(A=STRONG, B=WEAK, C=WEAK))
    assert claim.text.startswith("A scores higher than every other model, by 65.0 points over B (likely ")


@pytest.mark.parametrize(("level", "text"), [(0.91, "91%"), (0.999, "99.9%")])
def test_a_pair_names_the_level_that_is_set_and_the_headline_follows_it(level, text):
    """At 99.9% sentences said 100%. The slider says the level of the headline."""
    first = alike(A=STRONG, B=WEAK)
    assert f" at {text}" in pair_claim(first, 0, 1, level).text
    headline = best_claim(first, level).text
    assert "%" not in headline and headline != best_claim(first, 0.95).text


def test_no_lead_is_given_where_the_declared_way_was_not_read():
    """The lead of another extractor was shown as that of the one that was asked for."""
    token = ("label_set", "lower", "first_token")
    frame = readouts({model: {OWN: x, LOWER: x, token: y} for model, x, y in (("A", STRONG, WEAK), ("B", WEAK, STRONG))})
    report = ranking_report(frame, reference="first_token")
    assert report.best.text == "No model was read by the reference extractor at the study's own prompt."
    (pair,) = report.pairs
    assert np.isnan([pair.paired.difference.value, pair.joint.value, pair.paired.first, pair.p]).all()
    assert pair.joint.n == 0 and pair.claim.text.startswith("A leads B in 2 of 3 combinations of prompt and extractor")


def test_a_note_counts_the_ways_that_its_own_gate_leaves_out():
    """Each closed gate, also of an axis that was not asked, was given the total."""
    frame = readouts({model: {OWN: x, TOKEN: x, LOWER: x} for model, x in (("A", STRONG), ("B", WEAK))})
    gates = {"label_set": "Not reviewed.", "paraphrase": "Not asked here.", "first_token": "Judge not passed."}
    assert ranking_report(frame, closed_gates=gates).notes == (
        "1 of 3 ways is left out of the claims: Not reviewed.",
        "1 of 3 ways is left out of the claims: Judge not passed.",
    )


def test_two_that_are_not_separated_share_the_first_place():
    claim = best_claim(alike(A=STRONG, B=MIDDLE, C=WEAK))
    assert claim.is_made and claim.outcome == SOME
    assert claim.text == (
        "A or B is best, but which of them is undecided; C is behind. About 220 more items would decide between A and B."
    )
    assert claim.numbers["not_behind"] == ("A", "B")
    assert claim.numbers["best"] == {"A": 1, "B": 1, "C": 3} and claim.numbers["worst"] == {"A": 2, "B": 2, "C": 3}


def test_models_that_are_not_behind_are_a_set_whatever_their_number():
    claim = best_claim(alike(A=STRONG, B=MIDDLE, C=MIDDLE, D=MIDDLE, E=WEAK))
    assert claim.text.startswith("One of 4 models is best, but which of them is undecided; E is behind. About ")
    assert claim.detail.startswith("Not shown to be behind another: A, B, C, D. ")


def test_as_many_items_as_are_named_decide_four_times_in_five():
    """Two models, right on 75 and 70% of the items, which disagree on a quarter."""
    rng = np.random.default_rng(0)

    def drawn(n):
        first = rng.random(n) < 0.75
        return first, np.where(first, rng.random(n) >= 0.2, rng.random(n) < 0.4)

    # 100 items of exactly these shares
    one = alike(A="1" * 75 + "0" * 25, B="1" * 60 + "0" * 15 + "1" * 10 + "0" * 15)
    n, found = 100 + round(n_more_items(one, 0, 1)), 0
    for _ in range(300):
        values = np.column_stack(drawn(n)).astype(float)
        found += better_p(values, values)[0, 1] <= 0.025  # a pair in both directions
    assert 0.72 < found / 300 < 0.9


def test_nothing_is_asserted_where_no_pair_is_separated_and_below_ten_items():
    claim = best_claim(alike(A=STRONG, B=MIDDLE))
    assert not claim.is_made and claim.outcome == NONE and "A leads B by 2.5 points (likely −" in claim.text
    few = best_claim(alike(A="111111111", B="000000000"))
    assert not few.is_made and few.outcome == TOO_LITTLE and few.text.endswith("too few items for a claim (9).")
    assert not best_claim(alike(A=STRONG)).is_made


def test_a_pair_says_under_how_many_ways_it_leads_and_how_many_separate_it():
    one = contest_of({"A": {OWN: STRONG, TOKEN: WEAK, LOWER: STRONG}, "B": {OWN: MIDDLE, TOKEN: STRONG, LOWER: WEAK}})
    claim = pair_claim(one, 0, 1)
    assert claim.is_made and claim.assertion is SEPARATED
    assert claim.text == (
        "A leads B in 2 of 3 combinations of prompt and extractor, in 1 by more than chance at 95%. "
        "B leads in 1 by more than chance at 95%."
    )
    same = pair_claim(alike(A=STRONG, B=MIDDLE), 0, 1)
    assert (
        not same.is_made
        and same.text == "A leads B in 3 of 3 combinations of prompt and extractor, in none by more than chance at 95%."
    )


def test_the_winner_of_each_way_is_counted():
    one = contest_of({"A": {OWN: STRONG, TOKEN: WEAK, LOWER: STRONG}, "B": {OWN: MIDDLE, TOKEN: STRONG, LOWER: WEAK}})
    claim = winners(one)
    assert not claim.asserted and claim.text == "Best in 3 combinations of prompt and extractor: A in 2, B in 1."
    assert claim.numbers["firsts"]["B"] == ["own prompt, first token"]


@pytest.mark.parametrize("closed", [{"regex": "The judge has not passed."}, {"label_set": "Not reviewed."}])
def test_a_closed_gate_takes_its_ways_out_of_both_families(closed):
    ways = {OWN: STRONG, TOKEN: STRONG, LOWER: STRONG}
    one = contest_of({"A": ways, "B": dict.fromkeys(ways, WEAK)}, closed)
    assert one.may_be_claimed.tolist() == ([False, True, False] if "regex" in closed else [True, True, False])
    best = best_claim(one)
    assert best.is_made is ("regex" not in closed)
    assert "regex" not in closed or best.text == "Not claimed: The judge has not passed."
    assert (
        np.isnan(one.p_by_way[2]).all()
        and f"of {count_of(int(one.may_be_claimed.sum()), 'combination')} of" in pair_claim(one, 0, 1).text
    )


def test_with_every_gate_closed_no_pair_is_claimed():
    one = contest_of({"A": {OWN: STRONG}, "B": {OWN: WEAK}}, {"regex": "The judge has not passed."})
    assert pair_claim(one, 0, 1).text == "Not claimed: The judge has not passed."


@pytest.mark.parametrize("lost", ["c", "u", "-"])
def test_what_one_model_was_not_read_in_is_held_against_whoever_would_lead(lost):
    """A tenth that nobody read takes no way from anybody; it moves the limits and the p, and stands in the sentence."""
    part = lost * 20 + WEAK[20:]
    one = contest_of({"A": {OWN: STRONG, TOKEN: STRONG}, "B": {OWN: part, TOKEN: WEAK}, "C": {OWN: STRONG, TOKEN: STRONG}})
    assert one.may_be_claimed.tolist() == [True, True]
    claim = best_claim(one)
    assert claim.is_made and claim.text.endswith("B is behind; up to 10.0% of answers unread or failed.")
    asked = " on the 200 items asked" if lost == "-" else ""  # of 180 the accuracy, which a failed call is not in
    assert f"failed{asked}, whatever they were: B 10.0% (accuracy 20 to 30%)." in claim.detail


def test_what_was_not_read_is_of_the_items_that_the_sentence_is_of():
    """B was asked two items more than A, which it answers right: they are in no share and no limit of a sentence about the others."""
    rows = readouts({"A": {OWN: "1" * 20}, "B": {OWN: "1" * 5 + "0" * 10 + "u" * 5 + "11"}, "C": {OWN: "u" * 22}})
    one = contest(order(scores(rows)), "regex")
    best, pair = best_claim(one), lead_claim(one, 0, 1, "written answer")
    said = "p corrected for 3 pairs of models in both directions (Holm). Unreadable, cut off or failed, whatever they were: B 25.0%"
    assert f"{said} (accuracy 25 to 50%), C 100.0% (never read)." in best.detail
    assert f"{said} (accuracy 25 to 50%)." in pair.detail


def test_only_ways_that_unread_answers_leave_open_say_how_many_they_are():
    ways = {OWN: "1" * 100 + "0" * 100, TOKEN: "1" * 190 + "u" * 10, LOWER: STRONG}
    other = {OWN: "1" * 95 + "u" * 10 + "0" * 95, TOKEN: "u" * 200, LOWER: "0" * 100 + "u" * 100}
    said = pair_claim(contest_of({"A": ways, "B": other}), 0, 1)
    assert "Unread or failed answers, up to 5.0%, leave open who leads in 1." in said.detail


def test_a_model_of_which_half_was_not_read_is_behind_nobody():
    """Four equal models; half of one's answers are unreadable, and counted as wrong it would be far behind."""
    rng = np.random.default_rng(4)
    letters = {name: rng.choice(list("10"), 200, p=(0.7, 0.3)) for name in "ABCD"}
    letters["D"][rng.random(200) < 0.5] = "u"
    one = alike(**{name: "".join(part) for name, part in letters.items()})
    assert not best_claim(one).is_made and not any(pair_claim(one, j, 3).is_made for j in range(3))
    said = pair_claim(one, 0, 3)
    assert said.text.startswith("A leads D in 0 of 3 combinations") and "leave open who leads in 3" in said.detail


def test_a_way_in_which_one_model_was_never_read_is_not_compared():
    """Not a tie, and nothing that anybody is behind in: of three ways the terse model is read in, it leads in all."""
    ways = {OWN: STRONG, TOKEN: STRONG, LOWER: STRONG}
    verbose = {OWN: "u" * 200, TOKEN: WEAK, LOWER: "c" * 200}
    said = pair_claim(contest_of({"verbose": verbose, "terse": ways}), 0, 1)
    assert said.text == (
        "verbose leads terse in 0 of 1 combination of prompt and extractor, in none by more than chance at 95%. "
        "terse leads in 1 by more than chance at 95%."
    )
    assert said.detail.startswith("terse leads in 1, they tie in 0. 2 more are not compared: one of them was never read there.")


def test_where_every_way_is_compared_nothing_is_said_of_ways_that_are_not():
    said = pair_claim(alike(A=STRONG, B=WEAK), 0, 1)
    assert said.text.startswith("A leads B in 3 of 3 combinations of prompt and extractor, in 3 by more")
    assert "B leads" not in said.text and said.detail == "B leads in 0, they tie in 0."
    for claim in (said, pair_claim(alike(A=STRONG, B=WEAK), 1, 0)):  # one of the two separates them
        assert claim.is_made and claim.outcome == SOME


def test_the_declared_way_is_the_own_prompt_by_the_reference_and_without_it_there_is_none():
    right = {"A": {LOWER: STRONG, OWN: STRONG, TOKEN: STRONG}, "B": {LOWER: WEAK, OWN: WEAK, TOKEN: WEAK}}
    for reference in ("regex", "first_token"):
        declared = contest_of(right, reference=reference)
        way = declared.order.scores.ways[declared.declared_way]
        assert way.is_base and way.extractor == reference and not np.isnan(declared.p_declared[0, 1])
    missing = contest_of(right, closed={"regex": "Too little is read."}, reference="judge")
    assert missing.declared_way == -1 and np.isnan(missing.p_declared).all()
    assert missing.declared_gate_reason == ""


@pytest.mark.slow
def test_no_sentence_says_undecided_beside_an_interval_that_excludes_0():
    """The interval is the one that agrees with the p over all pairs."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        one = alike(
            **{
                name: "".join(rng.choice(list("10"), 60, p=(share, 1 - share)))
                for name, share in zip("ABC", (0.9, 0.75, 0.7), strict=True)
            }
        )
        claim = best_claim(one)
        gap = claim.numbers["difference"]
        if claim.outcome in (FIRST, NONE):
            assert (gap.low > 0) == (claim.outcome == FIRST), claim.text


def test_a_missing_reference_extractor_is_said():
    assert "reference extractor" in best_claim(contest_of({"A": {OWN: STRONG}, "B": {OWN: WEAK}}, reference="judge")).text


def test_models_that_answered_no_item_together_have_no_order():
    """Two hundred items of which each model answered a half: "only one model has answers" stood there."""
    half = len(STRONG) // 2
    rows = readouts({"A": {OWN: STRONG[:half] + "-" * half}, "B": {OWN: "-" * half + STRONG[:half]}})
    one = contest(order(scores(rows[rows["status"] != "absent"])), "regex")
    claim = best_claim(one)
    assert not claim.is_made and "No item was answered by every model" in claim.text
    assert pair_claim(one, 0, 1).text == "Not claimed: A and B answered no item in common."


@pytest.mark.parametrize(
    ("first", "start"),
    [("1" * 30 + "0" * 10, "a is ahead of b on"), ("1" * 11 + "0" * 29, "Undecided whether a or b is ahead on")],
)
def test_a_lead_that_may_be_none_is_described_as_undecided(first, start):
    """A finding under "Undecided" read "is ahead … [0.0, +59.6]"."""
    found = alike(a=first, b="1" * 10 + "0" * 30)
    assert lead_words(found, 0, 1, "regex").startswith(start)


def test_models_are_listed_in_the_detail_only_where_the_sentence_does_not_name_them():
    for claim in (best_claim(alike(A=STRONG, B=MIDDLE, C=WEAK)), best_claim(alike(A=STRONG, B=STRONG, C=STRONG, D=STRONG))):
        assert "Not shown to be behind another" not in claim.detail


def test_a_pair_whose_p_is_1_has_bonferronis_share_of_alpha():
    three = alike(A=STRONG, B=STRONG[::-1], C=MIDDLE)
    assert three.p_declared[0, 1] == 1
    wanted = three.order.difference(three.declared_way, 0, 1, 0.05 / 6)
    found = difference(three, 0, 1)
    assert (found.low, found.high) == (wanted.low, wanted.high)
    assert found.high > three.order.difference(three.declared_way, 0, 1, 0.025).high


def test_each_claim_errs_in_one_of_twenty():
    assert {(assertion.error_rate, assertion.sides) for assertion in ranking.ASSERTIONS} == {(0.05, 1)}
