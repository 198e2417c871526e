"""Several models in one report: pairs, ways, JSON, and the roles that are not pooled."""

import json

import pandas as pd
import pytest

from flipcore.reports.browser_data.ranking import board
from flipcore.reports.ranking import accuracies_sentence, pair_rows, ranking_report, split_items, way_rows
from flipcore.reports.score import score_report
from flipcore.stats.base.tango import p_two_sided
from tests.stats.ranking.worlds import readouts

OWN, LOWER = ("identity", "base", "regex"), ("label_set", "lower", "regex")
STRONG, WEAK = "1" * 30 + "0" * 10, "0" * 8 + "1" * 10 + "0" * 22
RIGHT = {"B": {OWN: WEAK, LOWER: WEAK}, "A": {OWN: STRONG, LOWER: WEAK}}


@pytest.fixture(scope="module")
def report():
    return ranking_report(readouts(RIGHT))


def test_the_model_that_is_ahead_comes_first_with_tangos_p(report):
    (row,) = pair_rows(report.pairs)
    assert (row["first"], row["second"]) == ("A", "B") and row["difference, pair alone"].startswith("+50.0 points [")
    assert (row["only first right"], row["only second right"], row["differ in part"], row["items"]) == (20, 0, 0, 40)
    assert report.pairs[0].paired.p == pytest.approx(p_two_sided(20, 0, 40)) and row["ways first leads"] == "1 of 2"


def test_a_difference_of_all_pairs_excludes_0_exactly_where_its_p_says_so(report):
    assert report.pairs[0].joint.level == pytest.approx(0.95)  # one pair has no other
    three = ranking_report(readouts(RIGHT | {"C": {OWN: "0" * 20 + "1" * 20, LOWER: WEAK}}))
    assert len(three.pairs) == 3
    for one in three.pairs:
        alone, joint = one.paired.difference, one.joint
        assert joint.value == pytest.approx(alone.value) and joint.level > 0.95 and joint.low < alone.low
        assert (joint.low > 0) == (one.p <= 0.05)


def test_the_table_of_pairs_and_the_ways_hold_at_the_level_that_is_set(report):
    """The slider stood at 91%, and the table below it kept 95%."""
    at_60 = ranking_report(readouts(RIGHT), level=0.6)
    for ours, usual in ((at_60.pairs[0], report.pairs[0]),):
        for name in ("joint", "paired"):
            narrow, wide = getattr(ours, name), getattr(usual, name)
            if name == "paired":
                narrow, wide = narrow.difference, wide.difference
            assert narrow.level == pytest.approx(0.6) and wide.low < narrow.low <= narrow.high < wide.high
    assert at_60.as_dict()["ways"] == way_rows(at_60.contest, 0.6)


def test_p_over_all_pairs_is_adjusted_and_below_the_level_where_the_claim_is_made(report):
    assert report.pairs[0].p <= 0.05 and report.claims[0].is_made


def test_every_way_names_each_models_share_and_rank(report):
    own, lower = way_rows(report.contest)
    assert own["way"] == "own prompt, written answer" and own["rank of A"] == "1 [1, 1]" and own["rank of B"] == "2 [2, 2]"
    assert lower["rank of A"] == lower["rank of B"] == "1 [1, 2]"
    assert own["A"] == "75% [59, 86]"  # Wilson's, as on the study's card


def test_one_way_is_no_ways():
    one_way = ranking_report(readouts({model: {OWN: ways[OWN]} for model, ways in RIGHT.items()}))
    said = [one.text for one in one_way.claims] + [text for _, text in board(one_way, 0.95).lines[0]]
    assert sum("1 combination of prompt and extractor" in one for one in said) == len(said) - 1 and not any(
        "1 combinations" in one for one in said
    )


def test_items_on_which_two_models_differ(report):
    assert split_items(report.contest, 0, "A", "B") == [f"i{i}" for i in [*range(8), *range(18, 30)]]
    assert split_items(report.contest, 1, "A", "B") == []


def test_text_and_json_hold_the_same_claims(report):
    plain = json.loads(json.dumps(report.as_dict(), allow_nan=False))
    assert [one["sentence"] for one in plain["claims"]] == [one.text for one in report.claims]
    assert all(one["sentence"] in "\n".join(report.lines()) for one in plain["claims"])
    assert plain["pairs"][0]["is_claimed"] is True and plain["ways"][0]["rank of A"] == "1 [1, 1]"


def test_roles_are_not_pooled_and_one_model_has_no_ranking():
    other = readouts({model: {OWN: "0" * 40} for model in RIGHT}, role="control").assign(
        item_id=lambda rows: "c" + rows["item_id"]
    )
    both = pd.concat([readouts(RIGHT), other])
    assert ranking_report(both).claims[0].text == ranking_report(readouts(RIGHT)).claims[0].text
    assert ranking_report(both, role="control").claims[0].outcome == "not separated"
    assert ranking_report(readouts({"A": {OWN: STRONG}})) is None and ranking_report(both.iloc[:0]) is None


@pytest.mark.parametrize("role, name", [("target", "benchmark"), ("retro", "holdout"), ("non_member", "non member")])
def test_sets_are_called_as_in_the_headline(role, name):
    rows = readouts(RIGHT, role=role)
    report, score = ranking_report(rows), score_report(rows)
    assert report.role == score.role == role  # an id stays
    assert f"({name} items)" in "\n".join(report.lines()) and f"on 40 {name} items: " in accuracies_sentence(report)
    assert score.lines()[0].startswith(f"Score ({name} items, written answer)")


def test_items_that_lack_an_answer_are_said_and_left_out():
    report = ranking_report(readouts({"A": {OWN: STRONG}, "B": {OWN: "-" * 5 + WEAK[5:]}}))
    assert "Up to 5 items lack an answer" in report.notes[0] and report.contest.order.n.tolist() == [35]


def test_a_model_behind_whose_rank_may_be_the_first_is_explained(report):
    """The headline said that a model is behind, and every row that it may be first."""
    weak = "1" * 6 + "0" * 34
    ahead = weak[:6] + "1" * 8 + "0" * 26
    ways = {OWN: ahead} | {("label_set", f"v{i}", "regex"): weak for i in range(11)}
    many = ranking_report(readouts({"A": ways, "B": dict.fromkeys(ways, weak)}))
    assert many.best.is_made and way_rows(many.contest)[-1]["rank of B"] == "1 [1, 2]"
    assert [row["rank of B"] for row in way_rows(many.contest) if row["way"].startswith("own prompt")] == ["2 [1, 2]"]
    assert many.notes == (
        "The first sentence compares the models at the study's own prompt alone. The intervals of ranks hold for all 12 ways at once, "
        "so they are wider.",
    )
    assert not report.notes


def test_every_model_is_named_with_its_accuracy_the_best_first(report):
    assert (
        accuracies_sentence(report) == "Right at the study's own prompt, on 40 benchmark items: A 75% [59, 86]; B 25% [14, 41]."
    )
