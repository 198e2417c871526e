import math

import numpy as np
import pandas as pd
import pytest

from flipcore.claims.holdout import inflation_claim, outcome_claim
from flipcore.core.randomness import generator
from flipcore.stats.holdout.difficulty import Condition, conditions, pre_release
from flipcore.stats.holdout.verdict import difficulty_test, difficulty_test_paired, join_tests


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
    assert found[0].counts == (6, 12, 6, 12) and repr(found[0].test(0.1)) == repr(difficulty_test(6, 12, 6, 12, 0.1))
    assert found[0].inflation() == difficulty_test(6, 12, 6, 12).estimate


def test_cut_answers_of_controls_and_without_a_score_do_not_count():
    frame = pd.DataFrame(rows(20)).astype({"is_correct": float})
    other = frame.assign(item_id="c" + frame["item_id"], role="control")
    frame.loc[0, "is_correct"] = math.nan
    frame = pd.concat([frame.assign(is_cut=frame.index < 3), other.assign(is_cut=True)], ignore_index=True)
    (condition,) = conditions(frame)
    assert condition.cut_share == pytest.approx(2 / 39) and condition.cut == {"target1", "target2"}


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
    expected = difficulty_test_paired(*zip(*found.pairs, strict=True), 0.1)
    assert len(found.pairs) == 12 and repr(found.test(0.1)) == repr(expected)  # from 3.13 on a NaN makes it unequal to itself
    assert found.inflation().method == "tango" and found.inflation().n == 12
    for source in (lambda i: "target0", lambda i: None if i else "target0", lambda i: f"elsewhere{i}"):
        assert conditions(pd.DataFrame(rows(source=source)))[0].pairs == []


def test_a_label_says_model_readout_layout_and_boost():
    one = Condition("gpt", "first_token", "helpful", "top 2", {}, {}, {})
    assert one.label == "gpt, first token, helpful, top 2" and math.isnan(one.inflation().value)
    assert one.cut_share == 0


def families(n_target, n_retro, each, right=lambda family, i: i % 2):
    """A condition whose entries come `each` from a template that only one set has."""
    ids = {role: [f"{role}{i}" for i in range(n * each)] for role, n in (("t", n_target), ("r", n_retro))}
    hits = [{one: float(right(i // each, i)) for i, one in enumerate(ids[role])} for role in "tr"]
    templates = {one: f"template {role}{i // each}" for role in "tr" for i, one in enumerate(ids[role])}
    return Condition("m", "regex", "plain", "", *hits, templates)


def test_entries_of_one_template_count_as_one_cluster():
    # 20 templates of 10 equal answers a set: the interval is that of 20 + 20 answers, not of 200 + 200
    found = families(20, 20, 10, right=lambda family, i: family % 2)
    assert found.is_clustered and found.inflation().method == "families" and found.inflation().n == 20
    assert found.test(0.1).bound[1] > 2 * difficulty_test(100, 200, 100, 200).bound[1]
    mixed = [families(n, 20, 10, right=lambda family, i: family % 2).test(0.1) for n in (2, 5, 6)]
    assert ["at least 6 are needed" in one.too_few for one in mixed] == [True, True, False]
    assert [one.estimate.has_interval for one in mixed] == [False, True, True]
    assert (
        families(20, 20, 10).test(0.1).too_few == "nothing varies between sources or templates"
    )  # half of every family is right
    assert not Condition("m", "regex", "plain", "", {"a": 1.0}, {"b": 0.0}, {}).is_clustered


@pytest.mark.parametrize("cut_side", ["t", "r"])
def test_a_worst_case_without_limits_leaves_no_limits(cut_side):
    # Templates span both sets. With all cut answers right nothing varies, so that case has no limits.
    sides = {side: {f"{side}{i}": 1.0 for i in range(200)} for side in "tr"}
    cut = frozenset(f"{cut_side}{i}" for i in range(40))
    sides[cut_side] |= dict.fromkeys(cut, 0.0)
    sources = {f"{side}{i}": f"template {i // 10}" for side in "tr" for i in range(200)}
    condition = Condition("m", "regex", "plain", "", sides["t"], sides["r"], sources, cut=cut)
    test = condition.test(0.1)
    inflation = condition.inflation()
    assert not inflation.has_interval and inflation.note == "No interval: nothing varies between sources or templates."
    assert np.isnan(test.outer).all()
    assert test.state == "undecided" and test.too_few == "nothing varies between sources or templates"


def test_joined_tests_have_no_bound_where_one_has_none():
    known = difficulty_test(50, 100, 50, 100)
    unknown = difficulty_test(0, 0, 1, 1)
    for tests in ([known, unknown], [unknown, known]):
        assert np.isnan(join_tests(tests).bound).all()


@pytest.mark.slow
def test_families_of_unequal_size_make_no_inflation():
    # one template of 40 and 20 single entries a set, the models equal: the large one counts as one draw
    rng, found, runs = generator(29), 0, 200
    names = [np.concatenate([np.zeros(40), np.arange(1, 21)]) + shift for shift in (0, 100)]
    for _ in range(runs):
        rates = rng.beta(1, 1, 200)
        hits = [(rng.random(60) < rates[one.astype(int)]).astype(float) for one in names]
        ids = [[f"{role}{i}" for i in range(60)] for role in "tr"]
        sources = {
            one: f"template {name:g}"
            for side, part in zip(ids, names, strict=True)
            for one, name in zip(side, part, strict=True)
        }
        sides = [dict(zip(side, hit.tolist(), strict=True)) for side, hit in zip(ids, hits, strict=True)]
        found += inflation_claim([Condition("m", "regex", "plain", "", *sides, sources)]).is_made
    assert found <= 0.07 * runs


def test_below_ten_answers_a_set_there_is_no_interval():
    few = Condition(
        "m", "regex", "plain", "", {f"t{i}": 1.0 for i in range(9)}, {f"r{i}": 0.0 for i in range(200)}, {}
    ).inflation()
    assert not few.has_interval and few.note == "No interval: 9 answers in one set." and few.value == 1.0


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
    assert test.state == state and (state == "equivalent" or "one logit of difficulty moves about" in outcome_claim(test).text)


def test_one_model_that_can_tell_is_enough_for_sameness():
    sets = [[{f"{side}{i}": float(i < k) for i in range(1000)} for side in "tr"] for k in (990, 500)]
    tests = [Condition("m", "regex", "plain", "", one, other, {}).difficulty(0.1) for one, other in sets]
    assert join_tests(tests).state == "equivalent" and join_tests(tests[:1]).state == "undecided"


def test_a_difference_is_corrected_for_guessing():
    right = [{f"{side}{i}": float(i < k) for i in range(400)} for side, k in (("t", 240), ("r", 220))]
    condition = Condition("m", "regex", "plain", "", right[0], right[1], {}, guess=0.25)
    assert condition.difficulty(0.1).estimate.value == pytest.approx(0.05 / 0.75)
    assert condition.test(0.1).estimate.value == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("guess", "n_right", "blind"),
    [
        # 5 of 75 are known beyond guessing: 75 · 1/15 · 14/15 points a logit.
        (0.25, 30, "m guesses (30% right), where one logit of difficulty moves about 4.7 points"),
        (0.0, 99, "m is nearly always right (99% right), where one logit of difficulty moves about 1.0 points"),
        (0.25, 60, ""),
    ],
)
def test_a_model_that_guesses_or_knows_all_says_what_a_logit_moves(guess, n_right, blind):
    target, retro = ({f"{role}{i}": float(i < n_right) for i in range(100)} for role in "tr")
    condition = Condition("m", "regex", "plain", "", target, retro, {}, guess=guess)
    assert condition.difficulty(0.1).blind == blind
