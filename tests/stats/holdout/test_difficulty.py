import math

import pandas as pd
import pytest

from flipcore.claims.holdout import outcome_claim
from flipcore.stats.holdout.difficulty import Condition, conditions, pre_release
from flipcore.stats.holdout.verdict import difficulty_test, difficulty_test_paired, inflation, joined


@pytest.mark.parametrize(
    ("cutoff", "published", "state"),
    [
        ("2021-01-01", ["2022-05-08", "2023-01-01"], "before"),
        ("2022-05-08", ["2022-05-08"], "after"),
        ("2024-01-01", ["2022-05-08"], "after"),
        (None, ["2022-05-08"], "unknown"),
        ("2021-01-01", [None], "unknown"),
        ("2021-01-01", [], "unknown"),
        ("2021-01-01", ["2022-05-08", None], "unknown"),
        ("2024-01-01", ["2022-05-08", None], "after"),
        ("2022-05", ["2022-05-08"], "after"),
        ("2022-04", ["2022-05-08"], "before"),
    ],
)
def test_a_model_is_from_before_only_where_every_date_says_so(cutoff, published, state):
    found = pre_release("m", cutoff, published)
    assert found.state == state and found.sentence.startswith("m: ")


def rows(n=12, model="m", extractor="regex", layout="plain", source=None, shares=None, right=lambda i: i % 2 == 0):
    return [
        {
            "model": model,
            "extractor": extractor,
            "layout": layout,
            "item_id": f"{role}{i}",
            "role": role,
            "source_id": source(i) if source and role == "retro" else None,
            "is_correct": right(i),
            "probabilities": shares or [],
            "target": "0",
        }
        for role in ("target", "retro")
        for i in range(n)
    ]


def test_each_model_readout_and_layout_is_a_condition_of_its_own():
    found = conditions(pd.DataFrame(rows() + rows(model="n") + rows(extractor="cloze") + rows(layout="helpful")))
    assert [(one.model, one.extractor, one.layout) for one in found] == [
        ("m", "regex", "plain"),
        ("n", "regex", "plain"),
        ("m", "cloze", "plain"),
        ("m", "regex", "helpful"),
    ]
    assert found[0].counts == (6, 12, 6, 12) and found[0].test(0.1) == difficulty_test(6, 12, 6, 12, 0.1)
    assert found[0].inflation() == inflation(6, 12, 6, 12)


def test_fewer_than_ten_items_of_a_role_are_no_condition():
    assert conditions(pd.DataFrame(rows(9))) == [] and len(conditions(pd.DataFrame(rows(10)))) == 1


def test_among_the_first_k_counts_only_where_more_than_k_options_have_shares():
    # the target "0" is the second likeliest of four: wrong alone, right among the first two and three
    shares = [["1", 0.5], ["0", 0.3], ["2", 0.15], ["3", 0.05]]
    found = conditions(pd.DataFrame(rows(shares=shares, right=lambda i: False)), (2, 3))
    assert [(one.boost, one.counts[0]) for one in found] == [("", 0), ("top 2", 12), ("top 3", 12)]
    assert [one.boost for one in conditions(pd.DataFrame(rows(shares=[["1", 0.6], ["0", 0.4]])), (2,))] == [""]


def test_source_paired_entries_are_compared_entry_by_entry():
    found = conditions(pd.DataFrame(rows(source=lambda i: f"target{i}")))[0]
    assert len(found.pairs) == 12 and found.test(0.1) == difficulty_test_paired(*zip(*found.pairs, strict=True), 0.1)
    assert found.inflation().method == "bonett_price"
    for source in (lambda i: "target0", lambda i: None if i else "target0", lambda i: f"elsewhere{i}"):
        assert conditions(pd.DataFrame(rows(source=source)))[0].pairs == []


def test_a_label_says_model_readout_layout_and_boost():
    one = Condition("gpt", "first_token", "helpful", "top 2", {}, {}, {})
    assert one.label == "gpt, first token, helpful, top 2" and math.isnan(one.inflation().value)


def families(n_target, n_retro, each, right=lambda family, i: i % 2):
    """A condition whose entries come `each` from a template that only one set has."""
    ids = {role: [f"{role}{i}" for i in range(n * each)] for role, n in (("t", n_target), ("r", n_retro))}
    hits = [{one: float(right(i // each, i)) for i, one in enumerate(ids[role])} for role in "tr"]
    templates = {one: f"template {role}{i // each}" for role in "tr" for i, one in enumerate(ids[role])}
    return Condition("m", "regex", "plain", "", *hits, templates)


def test_entries_of_one_template_count_as_one_cluster():
    # 20 templates of 10 equal answers a set: the interval is that of 20 + 20 answers, not of 200 + 200
    found = families(20, 20, 10, right=lambda family, i: family % 2)
    assert found.is_clustered and found.inflation().method == "clt_cluster" and found.inflation().n == 20
    assert found.test(0.1).bound[1] > 2 * difficulty_test(100, 200, 100, 200).bound[1]
    mixed = [families(n, 20, 10, right=lambda family, i: family % 2).test(0.1) for n in (9, 10)]
    assert "at least 10 are needed" in mixed[0].too_few and not mixed[1].too_few and not mixed[0].estimate.has_interval
    assert families(20, 20, 10).test(0.1).too_few == "no answer differs from another"  # half of every family is right
    assert not Condition("m", "regex", "plain", "", {"a": 1.0}, {"b": 0.0}, {}).is_clustered


def test_pairs_whose_sources_share_a_template_are_clusters():
    sources = {f"target{i}": f"template{i // 4}" for i in range(48)} | {f"retro{i}": f"target{i}" for i in range(48)}
    sides = [{f"{role}{i}": float(i % 3 == 0) for i in range(48)} for role in ("target", "retro")]
    found = Condition("m", "regex", "plain", "", *sides, sources)
    assert found.pairs == [] and found.is_clustered and found.inflation().n == 12


@pytest.mark.parametrize(
    ("share", "guess", "state"),
    [(0.25, 0.25, "undecided"), (0.99, 0.0, "undecided"), (0.02, 0.0, "undecided"), (0.5, 0.0, "equivalent")],
)
def test_a_model_that_guesses_or_is_always_right_shows_no_sameness(share, guess, state):
    right = [{f"{side}{i}": float(i < share * 1000) for i in range(1000)} for side in "tr"]
    test = Condition("old", "regex", "plain", "", right[0], right[1], {}, guess=guess).difficulty(0.1)
    assert test.state == state and (
        state == "equivalent" or "one logit of difficulty shows as about" in outcome_claim(test).text
    )


def test_one_model_that_can_tell_is_enough_for_sameness():
    sets = [[{f"{side}{i}": float(i < k) for i in range(1000)} for side in "tr"] for k in (990, 500)]
    tests = [Condition("m", "regex", "plain", "", one, other, {}).difficulty(0.1) for one, other in sets]
    assert joined(tests).state == "equivalent" and joined(tests[:1]).state == "undecided"


def test_a_difference_is_corrected_for_guessing():
    right = [{f"{side}{i}": float(i < k) for i in range(400)} for side, k in (("t", 240), ("r", 220))]
    condition = Condition("m", "regex", "plain", "", right[0], right[1], {}, guess=0.25)
    assert condition.difficulty(0.1).estimate.value == pytest.approx(0.05 / 0.75)
    assert condition.test(0.1).estimate.value == pytest.approx(0.05)
