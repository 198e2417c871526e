"""The memorization tests of a study as plain values: the same numbers as the estimators give, kind by kind."""

import json
import re
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from flipcore.claims.memory_gap import gap_claim
from flipcore.claims.memory_score import score_claim
from flipcore.claims.memory_sets import any_cutoff_claim, set_claim
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.detectors import DETECTORS, analysis_of, family, sees_memory
from flipcore.models.cards import ModelCard
from flipcore.reports.browser_data.cutoffs import detector_line
from flipcore.reports.memory import (
    MemoryReport,
    fresh_control_warning,
    members_of,
    memory_report,
    moved_p,
    pearl_setting,
    summary,
)
from flipcore.runs import runner
from flipcore.stats.base import two_shares
from flipcore.stats.base.two_shares import Counts, difference_limits, p_above
from flipcore.stats.memory.frames import roles_of
from flipcore.stats.memory.gap_decision import Sides, gap_decision
from flipcore.stats.memory.members import Members
from flipcore.stats.memory.published_score import score_gap
from flipcore.stats.memory.rewritten import Rewritten
from flipcore.store.queries import studies
from tests.conftest import ROOT
from tests.lab.claims.memory_scores import score_gap_of
from tests.plugins.offers import entry, offered
from tests.reports.test_memory_headline import COLUMNS, memory_tests, rows_of

STUDY = Study(
    "s",
    (ItemSource("pocket_problems"),),
    (Part("bit_flip", {"levels_pct": [0, 5]}),),
    (Part("ncd", {"compressor": "zlib"}),),
    (ModelUse("m"),),
    control="random",
)


def found_in(*rows):
    return memory_tests(pd.DataFrame([row for part in rows for row in part], columns=COLUMNS), STUDY).get("m", [])


def test_items_without_controls_are_tested_by_nothing():
    assert found_in([row for row in rows_of("number", "paraphrase", "question_loss", 1.0, 5.0) if row[3] == "benchmark"]) == []


def test_a_loss_that_separates_is_flagged_with_its_counts():
    (found,) = found_in(rows_of("number", "paraphrase", "question_loss", 1.0, 5.0))
    assert (found.items, found.detector, found.decision) == ("problems", "question loss", "memory")
    assert (found.numbers["n"], found.numbers["n_controls"], found.numbers["n_flagged"]) == (20, 30, 20)
    assert found.numbers["rate"].value == 1.0 and found.numbers["cutoff"] == pytest.approx(4.0)
    assert (found.effect.value, found.effect.low) == (1.0, found.numbers["share_at_least"]) and 0 < found.chance < 0.1


def test_a_drop_gap_carries_its_intervals():
    found, score = found_in(rows_of("choice", "entity_rename", "regex", True, False))
    assert score.detector == "published score" and score.decision == "none shown"  # all are right as published
    assert (found.items, found.detector) == ("choices", "drop gap, names changed")
    assert found.numbers["gap"].value == 1.0 and found.numbers["gap"].low > 0.7
    assert found.effect.text_points() in found.sentence  # the picture draws the interval that the sentence prints
    assert found.chance == 0 and score.effect.value == 0
    assert (found.numbers["n_benchmark"], found.numbers["n_control"], found.decision) == (20, 30, "memory")


COMPLETED = replace(STUDY, detectors=("completion_rouge_l", "completion_word_for_word"))


def completed(measure, benchmark, controls, status="ok"):
    """A row an item whose continuation of its first half has that score."""
    values = [("benchmark", value) for value in benchmark] + [("control", value) for value in controls]
    return [
        ("m", "text", f"i{i}", role, "completion", "base", 0, 0, measure, status if value is None else "ok", value, None)
        for i, (role, value) in enumerate(values)
    ]


def test_completion_is_a_test_of_the_set_in_the_family_of_a_study_that_names_it():
    frame = pd.DataFrame(completed("rouge_l", [1.0] * 40, [1.0] * 15 + [0.5] * 85), columns=COLUMNS)
    (one,) = memory_tests(frame, COMPLETED)["m"]
    assert (one.items, one.detector, one.decision) == ("open questions", "completion, ROUGE-L", "memory")
    # 15 of 100 controls are complete, more than a twentieth: what is complete is counted, and the mark is the best of the others
    assert (one.numbers["k"], one.numbers["n_beyond"]) == (16, 40) and "0.0% of the continuations" in one.claim.detail
    assert "The mark, 0.500, is the 16th largest of 100 controls" in one.claim.detail
    few = pd.DataFrame(completed("rouge_l", [0.6] * 40, [1.0] * 3 + [0.5] * 97), columns=COLUMNS)
    assert memory_tests(few, COMPLETED)["m"][0].numbers["k"] == 5  # the ordinary mark
    (outside,) = memory_tests(frame, STUDY)["m"]  # a study from before keeps its family
    assert outside.decision == "not claimed" and "does not declare this detector" in outside.sentence


@pytest.mark.parametrize(("n_both", "n_control"), [(12, 3), (30, 15), (20, 0), (10, 100)])
def test_word_for_word_is_fishers_exact_test(n_both, n_control):
    from scipy.stats import fisher_exact

    rows = completed("word_for_word", [1.0] * n_both + [0.0] * (30 - n_both), [1.0] * n_control + [0.0] * (100 - n_control))
    (one,) = memory_tests(pd.DataFrame(rows, columns=COLUMNS), COMPLETED)["m"]
    table = [[n_both, 30 - n_both], [n_control, 100 - n_control]]
    expected = fisher_exact(table, "greater").pvalue if n_control < 100 else 1.0
    assert one.numbers["p"] == pytest.approx(expected) and (one.decision == "memory") == (expected <= 0.05)


def test_continuations_that_a_filter_cut_off_can_withhold_the_verdict():
    controls = [0.0] * 40 + [None] * 10
    frame = pd.DataFrame(completed("word_for_word", [1.0] * 8 + [0.0] * 32, controls, "cut"), columns=COLUMNS)
    (one,) = memory_tests(frame, COMPLETED)["m"]
    assert one.decision == "not claimed" and "were cut off, and they could change the verdict" in one.sentence
    whole = pd.DataFrame(completed("word_for_word", [1.0] * 8 + [0.0] * 32, [0.0] * 50), columns=COLUMNS)
    assert memory_tests(whole, COMPLETED)["m"][0].decision == "memory"


def test_a_detector_whose_readouts_are_all_absent_says_why_it_does_not_judge():
    rows = [
        (
            "m",
            "number",
            f"i{i}",
            "benchmark" if i < 20 else "control",
            "identity",
            "base",
            0,
            0,
            "min_k_plus",
            "absent",
            None,
            None,
        )
        for i in range(50)
    ]
    frame = pd.DataFrame(rows, columns=COLUMNS).assign(reason="m gives no vocabulary.")
    (one,) = memory_tests(frame, replace(STUDY, detectors=("min_k_plus",)))["m"]
    assert (one.detector, one.decision) == ("min-k %++", "not claimed")
    assert one.sentence == "Not claimed: m gives no vocabulary."


def test_losses_of_a_model_trained_by_reinforcement_learning_are_no_evidence_of_absence(monkeypatch):
    rows = [*rows_of("number", "paraphrase", "question_loss", 1.0, 1.0), *completed("rouge_l", [0.1] * 20, [0.1] * 30)]
    frame, study = pd.DataFrame(rows, columns=COLUMNS), replace(STUDY, detectors=("question_loss", "completion_rouge_l"))
    card = ModelCard("m", "simulated", after_rl=True)
    monkeypatch.setattr("flipcore.reports.memory.model_cards", lambda: {"m": card})
    loss, completion = memory_tests(frame, study)["m"]
    assert loss.decision == completion.decision == "none shown"
    assert loss.sentence.endswith("After reinforcement learning this is no evidence of absence.")
    assert "arXiv:2510.09259" in loss.claim.detail and "reinforcement" not in completion.sentence  # it reads no loss
    seen = pd.DataFrame(rows_of("number", "paraphrase", "question_loss", 1.0, 5.0), columns=COLUMNS)
    assert "reinforcement" not in memory_tests(seen, study)["m"][0].sentence  # what is shown is shown
    monkeypatch.setattr("flipcore.reports.memory.model_cards", lambda: {"m": replace(card, after_rl=False)})
    assert "reinforcement" not in memory_tests(frame, study)["m"][0].sentence


@pytest.mark.slow
def test_a_reference_model_costs_no_call_that_is_stored_and_judges_where_the_study_declares_its_detector(
    store, tmp_path, monkeypatch
):
    """The pocket model beside itself under another name: every difference is 0."""
    (tmp_path / "models.toml").write_text('[early]\nbackend = "pocket"\nprice_in = 0.0\nprice_out = 0.0\n', encoding="utf-8")
    monkeypatch.setattr("flipcore.models.cards.own_models_toml", lambda: tmp_path / "models.toml")
    benchmark, control = (
        ItemSource("pocket_prose", where={"dose": [4]}),
        ItemSource("pocket_prose", "control", where={"dose": [0]}),
    )
    parts = {"axes": (Part("identity"),), "extractors": (Part("question_loss"),)}
    alone = replace(STUDY, items=(replace(benchmark, n=24), replace(control, n=24)), models=(ModelUse("early"),), **parts)
    both = replace(alone, models=(ModelUse("pocket"), ModelUse("early")), reference_model="early")
    runner.run(alone, store)
    last = runner.run(both, store)
    assert (last.n_reused, last.n_done, last.n_failed) == (48, 96, 0)
    tests = memory_tests(studies.readouts(store, both.study_id, everything=True), both)
    (one,) = [test for test in tests["pocket"] if test.detector == "loss beside a reference model"]
    assert one.decision == "not claimed" and "does not declare this detector" in one.sentence
    declared = replace(both, detectors=family(both, ["identity"], ["question_loss"]))
    assert declared.detectors == (*both.detectors, "over_reference")
    tests = memory_tests(studies.readouts(store, both.study_id, everything=True), declared)
    (one,) = [test for test in tests["pocket"] if test.detector == "loss beside a reference model"]
    assert one.decision == "none shown"
    assert (one.numbers["n"], one.numbers["n_controls"], one.numbers["n_beyond"]) == (24, 24, 0)
    assert not any(test.detector == "loss beside a reference model" for test in tests["early"])


@pytest.mark.slow
def test_reference_models_expect_a_score_and_too_few_say_what_the_curve_wants():
    """Controls that are harder, as six models show that never read the benchmark; the seventh is better on the benchmark alone."""
    skill = {"m": (0.9, 0.5), **{f"r{k}": (0.3 + 0.08 * k + 0.02 * (k % 2), 0.2 + 0.08 * k) for k in range(6)}}
    rows = [
        (model, "number", f"{role}{i}", role, "identity", "base", 0, 0, "regex", "ok", None, i < 100 * share)
        for model, shares in skill.items()
        for role, share in zip(("benchmark", "control"), shares, strict=True)
        for i in range(100)
    ]
    frame = pd.DataFrame(rows, columns=COLUMNS)
    study = replace(
        STUDY,
        control="other",
        axes=(Part("identity"),),
        extractors=(Part("regex"),),
        models=tuple(map(ModelUse, skill)),
        reference_models=tuple(name for name in skill if name != "m"),
    )
    tests = memory_tests(frame, study)
    (one,) = tests["m"]
    assert (one.detector, one.decision) == ("hardness curve", "not claimed") and not any(
        tests[name] for name in skill if name != "m"
    )
    excess, expected = one.numbers["excess"], one.numbers["expected"]
    assert one.numbers["n_references"] == 6 and 0.5 < expected.value < 0.75 and excess.low > 0.1 and one.numbers["p"] < 0.001
    assert re.search(
        r"lies \+\d+\.\d points \[.*\] from what 6 reference models expect \(p < \.001\)\. .*is a description", one.sentence
    )
    assert "raises their curve and is not seen" in one.claim.detail and one.as_dict()["excess"]["low"] == excess.low
    few = memory_tests(frame, replace(study, reference_models=("r0", "r1")))["m"][0]
    assert few.sentence == "Not claimed: a hardness curve wants at least 5 reference models; 2 answered."
    assert memory_tests(frame, replace(study, reference_models=())) == {name: [] for name in skill}
    assert sees_memory(study, ("benchmark", "control")) and not sees_memory(
        replace(study, reference_models=()), ("benchmark", "control")
    )


def test_a_draft_declares_the_detectors_that_what_is_new_in_it_feeds():
    axes, extractors = ["bit_flip", "completion"], ["ncd", "rouge_l"]
    assert family(STUDY, axes, extractors) == (*STUDY.detectors, "completion_rouge_l")
    assert family(STUDY, ["bit_flip", "paraphrase"], ["ncd", "question_loss"]) == STUDY.detectors
    chosen = replace(STUDY, axes=(Part("completion"),), extractors=(Part("rouge_l"),))  # left out on purpose
    assert family(chosen, ["completion"], ["rouge_l"]) == STUDY.detectors


def test_pearl_of_a_set_needs_no_alpha_and_single_texts_do():
    # 30 non-members give no alpha at 5% with 95% confidence (59 are the fewest), but they do give a test of the set
    (found,) = found_in(rows_of("completion", "bit_flip", "rouge_l", 1.0, 0.1))
    assert found.decision == "memory" and found.numbers["n_flagged"] == 0 and found.numbers["n_beyond"] == 20


def test_one_text_beyond_its_controls_is_no_memory():
    rows = rows_of("number", "paraphrase", "question_loss", 1.0, 1.0)
    # item 0 rises beyond every control; the other 19 stay where the controls are
    rows = [(*row[:10], row[10] + 9 if row[2] == "number0" and row[5] == "w" else row[10], row[11]) for row in rows]
    (found,) = found_in(rows)
    assert found.numbers["n_beyond"] >= 1 and found.decision == "none shown" and not found.claim.is_made


def test_all_detectors_of_a_model_are_one_family():
    one = found_in(rows_of("number", "paraphrase", "question_loss", 1.0, 5.0))
    both = found_in(
        rows_of("number", "paraphrase", "question_loss", 1.0, 5.0), rows_of("choice", "entity_rename", "regex", True, True)
    )
    assert one[0].n_family == 1 and both[0].n_family == 3  # losses, drop gap, published score
    assert both[0].numbers["p_adjusted"] == pytest.approx(3 * one[0].numbers["p_adjusted"])


@pytest.mark.slow
def test_all_models_of_a_study_are_one_family():
    rows = rows_of("number", "paraphrase", "question_loss", 1.0, 5.0)
    frame = pd.DataFrame([(f"m{i}", *row[1:]) for i in range(8) for row in rows], columns=COLUMNS)
    alone = memory_tests(frame[frame["model"] == "m0"], STUDY)["m0"][0]
    tests = memory_tests(frame, STUDY)
    assert len(tests) == 8 and {one.n_family for mine in tests.values() for one in mine} == {8}
    assert tests["m0"][0].numbers["p_adjusted"] == pytest.approx(8 * alone.numbers["p_adjusted"])


def test_problems_that_were_read_and_survive_rewriting_are_not_called_clean():
    """The pocket model's own answers to the 140 problems that it read 16 to 256 times and to 150 of the same making that it never
    read: (as published, two paraphrases) and how many. Accuracy is .96 and .68, and paraphrases change next to nothing."""
    answers = {
        "benchmark": {(1, 1, 1): 133, (0, 0, 0): 5, (1, 0, 0): 2},
        "control": {
            (1, 1, 1): 93,
            (0, 0, 0): 40,
            (0, 1, 0): 5,
            (1, 0, 0): 4,
            (1, 1, 0): 4,
            (0, 1, 1): 2,
            (0, 0, 1): 1,
            (1, 0, 1): 1,
        },
    }
    rows = []
    for role, counts in answers.items():
        for i, item in enumerate(np.repeat(list(counts), list(counts.values()), axis=0).tolist()):
            for at, (variant, right) in enumerate(zip(("base", "wording-1", "wording-2"), item, strict=True)):
                rows.append(("m", "number", f"{role}{i}", role, "paraphrase", variant, at, 0, "regex", "ok", None, bool(right)))
    gap, score = memory_tests(pd.DataFrame(rows, columns=COLUMNS), STUDY)["m"]
    assert gap.sentence == (
        "Rewriting costs the benchmark at most 4.8 points more than its control (one-sided 95%). Memory that survives rewriting is "
        "not seen by this."
    )
    assert score.decision == "memory" and score.numbers["p"] < 1e-9
    assert score.sentence.startswith(
        "Memory: published questions are answered better than the random control, +28.4 points [+20.0, "
    )


@pytest.mark.slow
def test_no_memory_beyond_a_margin_needs_both_upper_limits():
    rows = [
        ("m", "number", f"{role}{i}", role, "paraphrase", variant, at, 0, "regex", "ok", None, i < n)
        for role, n in (("benchmark", 700), ("control", 700))
        for i in range(1000)
        for at, variant in enumerate(("base", "wording-1"))
    ]
    frame = pd.DataFrame(rows, columns=COLUMNS)
    gap, score = memory_tests(frame, replace(STUDY, unpublished_control=True))["m"]
    assert score.decision == "none shown" and gap.decision == "none beyond the margin"
    assert gap.sentence.startswith(
        "No memory beyond 5 points, against a control that was never published: at most 0.4 points more lost by rewriting, "
        "at most 3.5 points higher as published"
    )
    other = memory_tests(frame, replace(STUDY, control="other", unpublished_control=True))["m"]
    assert [one.detector for one in other] == ["drop gap, paraphrased"]  # unequal difficulty moves a published score
    assert "No memory" not in other[0].sentence and "unequal difficulty hides" in other[0].sentence


def test_half_of_a_published_set_bounds_no_memory():
    """What was read of both halves raises both scores alike: "no memory" of it was false in .45 of studies."""
    rows = [
        ("m", "number", f"{role}{i}", role, "paraphrase", variant, at, 0, "regex", "ok", None, i < 700)
        for role in ("benchmark", "control")
        for i in range(1000)
        for at, variant in enumerate(("base", "wording-1"))
    ]
    gap, _ = memory_tests(pd.DataFrame(rows, columns=COLUMNS), STUDY)["m"]
    assert gap.decision == "loss within the margin"
    assert gap.sentence.endswith("Memory of both sets is not seen: the control may have been published too.")


def test_controls_count_as_unpublished_where_study_dates_or_known_training_say_so():
    assert Members(is_unpublished=True).never_published(["a"])
    assert Members(newer=frozenset("a"), unread=frozenset("b")).never_published(["a", "b"])
    assert not Members(newer=frozenset("a")).never_published(["a", "b"]) and not Members().never_published([])
    items = pd.DataFrame(
        {
            "item_id": ["pocket_problems/1", "pocket_problems/2", "mine/3"],
            "question": ["One?", "Two?", "Three?"],
            "options": [[], [], []],
            "published": None,
            "meta": ['{"dose": 0}', '{"dose": 16}', '{"dose": 0}'],
        }
    )
    assert members_of(STUDY, items, model="pocket").unread == {"pocket_problems/1"}
    assert not members_of(STUDY, items, model="gpt-4o").unread


def test_a_fresh_control_makes_a_higher_score_and_never_memory(monkeypatch):
    rows = [
        ("m", "number", f"{role}{i}", role, "identity", "base", 0, 0, "regex", "ok", None, i < n)
        for role, n in (("benchmark", 90), ("control", 50))
        for i in range(100)
    ]
    dates = {"benchmark": "2020-01-01", "control": "2026-01-01"}
    items = pd.DataFrame({"item_id": [row[2] for row in rows], "published": pd.to_datetime([dates[row[3]] for row in rows])})
    words = [chr(97 + i // 26) + chr(97 + i % 26) for i in range(len(items))]  # another number alone is the same template
    items = items.assign(question=words, options=None, meta=None, family=items["item_id"])
    card = ModelCard("m", "simulated", cutoff="2025-06")
    monkeypatch.setattr("flipcore.reports.memory.model_cards", lambda: {"m": card})
    (score,) = memory_tests(pd.DataFrame(rows, columns=COLUMNS), replace(STUDY, control="other"), items)["m"]
    assert score.decision == "higher than fresh" and "emory" not in score.sentence
    assert score.sentence.startswith("Published questions are answered better than fresh questions, +40.0 points [")
    assert score.sentence.endswith("Unequal difficulty can do the same.")
    frame = pd.DataFrame([*rows_of("number", "paraphrase", "question_loss", 1.0, 1.0), *rows], columns=COLUMNS)
    tests = memory_tests(frame, replace(STUDY, control="other"), items)["m"]
    line = summary(tests, frame)
    assert line.outcome == "none shown" and not line.is_made  # it was "1 of 2 detectors sees a difference"
    assert line.text.startswith("No memory shown in the 120 problems.") and line.text.endswith(
        "The published score is higher than on fresh questions; unequal difficulty can do the same."
    )


def test_a_published_score_counts_families_not_their_items():
    """Six of twenty templates are wrong throughout on one side: by items p is .001, and there are twenty templates."""
    rows = [
        ("m", "number", f"{role}{i}-{k}", role, "identity", "base", 0, 0, "regex", "ok", None, i < n)
        for role, n in (("benchmark", 14), ("control", 9))
        for i in range(20)
        for k in range(4)
    ]
    items = pd.DataFrame({"item_id": [row[2] for row in rows]})
    items = items.assign(
        question=items["item_id"], options=None, meta=None, family=items["item_id"].str.split("-").str[0], published=None
    )
    (bare,) = memory_tests(pd.DataFrame(rows, columns=COLUMNS), STUDY)["m"]
    (score,) = memory_tests(pd.DataFrame(rows, columns=COLUMNS), STUDY, items)["m"]
    assert bare.decision == "memory" and bare.numbers["p"] < 0.002
    assert score.decision == "none shown" and score.numbers["p"] == pytest.approx(0.06, abs=0.03)
    assert score.numbers["score_gap"].low < 0 < bare.numbers["score_gap"].low


def test_few_large_families_make_no_claim_of_a_published_score():
    gap = score_gap(np.ones(100), np.zeros(100), "random", (np.repeat([0, 1, 2], [90, 5, 5]), np.arange(100)))
    assert not gap.is_higher and gap.withheld.startswith("the families of the benchmark items weigh as much as 1.2 equal ones")


def test_another_control_is_never_called_memory():
    frame = pd.DataFrame(rows_of("number", "paraphrase", "question_loss", 1.0, 5.0), columns=COLUMNS)
    (found,) = memory_tests(frame, replace(STUDY, control="other"))["m"]
    assert found.decision == "beyond the control" and "emory" not in found.sentence


def test_a_closed_gate_withholds_what_rests_on_paraphrases():
    frame = pd.DataFrame(rows_of("number", "paraphrase", "question_loss", 1.0, 5.0), columns=COLUMNS)
    (found,) = memory_tests(frame, STUDY, closed_gates={"paraphrase": "Nobody has reviewed them."})["m"]
    assert (found.decision, found.sentence) == ("not claimed", "Not claimed: Nobody has reviewed them.")
    report = memory_report(memory_tests(frame, STUDY, closed_gates={"paraphrase": "x"}), frame, STUDY)
    assert report.summaries["m"].outcome == "none shown"


def test_pearls_setting_is_the_studys():
    setting = pearl_setting(STUDY, "m", "ncd")
    assert (setting.levels_pct, setting.compressor, setting.task, setting.n_samples) == ((0.0, 5.0), "zlib", "completion", 10)


def test_the_report_is_json_without_numbers_that_json_has_not():
    report = MemoryReport({"m": found_in(rows_of("completion", "bit_flip", "rouge_l", 1.0, 0.1))}, {})
    held = json.loads(json.dumps(report.as_dict(), allow_nan=False))["memory"][0]
    assert held["alpha"] is None and held["n_non_members"] == 30 and held["asserted"] is True
    assert "passages, PEARL, ROUGE-L: " in report.lines()[0]


def test_a_loss_test_without_fresh_controls_is_warned_about():
    ids = [f"i{i}" for i in range(30)]
    newer = pd.DataFrame({"item_id": ids, "published": pd.to_datetime(["2025-03-02"] * 30)})
    undated = newer.assign(published=pd.NaT)
    assert fresh_control_warning(newer, ids, {}, "2025-02") == ""
    assert "0 of 30 controls are known to be newer" in fresh_control_warning(newer, ids, {}, "2025-03")
    assert "0 of 30" in fresh_control_warning(newer, ids, {}, None) and "0 of 30" in fresh_control_warning(
        undated, ids, {}, "2025"
    )
    assert fresh_control_warning(undated, ids, dict.fromkeys(ids, 0), None) == ""
    assert "9 of 30" in fresh_control_warning(undated, ids, dict.fromkeys(ids[:9], 0) | {ids[20]: 64}, None)


def with_cut_samples(n, role):
    """Two samples a level; of the first `n` items of a role the second one was stopped by a filter."""
    rows = rows_of("completion", "bit_flip", "rouge_l", 1.0, 0.1)
    first = 0 if role == "benchmark" else 20
    ids = {f"completion{i}" for i in range(first, first + n)}
    more = [(*row[:7], 1, row[8], "cut", None, row[11]) if row[2] in ids else (*row[:7], 1, *row[8:]) for row in rows]
    return [*rows, *more]


@pytest.mark.parametrize(
    ("n", "role", "decision"), [(4, "control", "memory"), (12, "benchmark", "memory"), (12, "control", "not claimed")]
)
def test_continuations_that_a_filter_ended_count_against_a_claim_of_pearl(n, role, decision):
    """Of 200 continuations 4 are few; 12 of the benchmark leave 8 items beyond the mark; 12 controls may all lie beyond it."""
    (found,) = found_in(with_cut_samples(n, role))
    assert found.decision == decision and "Cut off by a filter" in found.claim.detail
    if decision == "not claimed":
        assert "12% of the continuations were cut off" in found.claim.text and not found.further[0].is_made


def test_a_loss_reads_no_completion_so_nothing_of_it_is_cut_off():
    (found,) = found_in(rows_of("number", "paraphrase", "question_loss", 1.0, 5.0))
    assert "Cut off: not applicable, no completion is read." in found.claim.detail


def test_a_moved_cutoff_stands_among_all_tests_of_all_models():
    """Its p is that of the largest excess over all cut-offs, in the place of its own: .04 alone is no claim among three."""
    rows = [
        *rows_of("number", "paraphrase", "question_loss", 1.0, 5.0),
        *rows_of("number", "paraphrase", "answer_loss", 1.0, 5.0),
    ]
    one = pd.DataFrame(rows, columns=COLUMNS)
    family = memory_tests(pd.concat([one, one.assign(model="n")]), STUDY)
    moved, other = family["m"]
    assert {test.measurement.detector_name for test in (moved, other)} == {
        "question_loss",
        "answer_loss",
    } and moved.n_family == 4
    p = max(test.numbers["p"] for test in family["n"])
    assert moved_p(family, moved, 0.04) == pytest.approx(max(0.04, 4 * p)) and p < 0.01
    assert moved_p({"m": [moved]}, moved, 0.04) == 0.04
    said = any_cutoff_claim(moved_p(family, moved, p / 2), "random", n_family=moved.n_family)
    assert said.is_made and "all cut-offs and 4 tests at once" in said.text
    assert not any_cutoff_claim(0.051, "random", n_family=4).is_made


def test_a_verdict_on_a_set_names_one_p_and_its_line_shows_the_mark_that_it_counts_from():
    frame = pd.DataFrame(rows_of("number", "paraphrase", "question_loss", 1.0, 5.0), columns=COLUMNS)
    (test,) = memory_tests(frame, STUDY)["m"]
    several = set_claim(test.measurement.set_test, "problems", "random", 0.012, 11)
    assert several.text.endswith("(p = .012).") and several.detail.endswith("p is corrected for all 11 tests (Holm).")
    assert len(re.findall(r"p [=<>]", f"{several.text} {several.detail}")) == 1
    analysis = analysis_of(DETECTORS["question_loss"], frame, *roles_of(frame), members_of(STUDY, None))
    (row,) = detector_line(test, analysis, "nats").rows
    (mark,) = row.pictures[0]["marks"]
    assert mark["value"] == test.measurement.set_test.mark and mark["label"] == "the verdict's mark"


RATIO = "loss_ratio"  # the detector of tests/plugins/wheels/flip-ratio, read from the losses that the others read


@contextmanager
def with_ratio(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tests/plugins/wheels/flip-ratio")
    with offered(monkeypatch, DETECTORS, entry("flip_ratio:DETECTOR", RATIO, "flip-ratio", "1.0")):
        yield


def verdicts(study=STUDY):
    frame = pd.DataFrame(rows_of("number", "paraphrase", "question_loss", 1.0, 5.0), columns=COLUMNS)
    tests = memory_tests(frame, study)["m"]
    return {test.measurement.detector_name: test for test in tests}, summary(tests, frame).detail


def test_installing_a_detector_changes_no_verdict_of_a_study_that_does_not_declare_it(monkeypatch):
    alone, line = verdicts()
    with with_ratio(monkeypatch):
        beside, same_line = verdicts()
    assert list(beside) == ["question_loss", RATIO] and line == same_line and "1 of 1 detectors" in line
    first, again = alone["question_loss"], beside["question_loss"]
    assert (first.claim, first.n_family, first.numbers) == (again.claim, again.n_family, again.numbers)
    outside = beside[RATIO]
    assert outside.decision == "not claimed" and "outside the family" in outside.sentence
    assert outside.numbers["p"] < 0.05 and np.isnan(outside.numbers["p_adjusted"])


def test_a_declared_detector_is_in_the_family_wherever_the_study_is_read(monkeypatch):
    study = replace(STUDY, detectors=(*STUDY.detectors, RATIO))
    alone = verdicts()[0]["question_loss"].numbers["p_adjusted"]
    with with_ratio(monkeypatch):
        declared, line = verdicts(study)
    assert declared[RATIO].decision == "memory" and "2 of 2 detectors" in line
    assert declared["question_loss"].numbers["p_adjusted"] == pytest.approx(2 * alone)
    lacking, line = verdicts(study)  # its package is not installed: the others are corrected for it all the same
    assert lacking["question_loss"].numbers["p_adjusted"] == pytest.approx(2 * alone)
    assert lacking[RATIO].decision == "not claimed" and "no package here offers it" in lacking[RATIO].sentence


def test_a_study_that_names_no_detectors_keeps_its_id_and_its_file():
    assert STUDY.study_id == "3d3c5f2bedd5" and "detectors" not in STUDY.to_toml()
    assert set(STUDY.detectors) <= set(DETECTORS) and Study.from_toml(STUDY.to_toml()) == STUDY
    more = replace(STUDY, detectors=(*STUDY.detectors, RATIO))
    assert more.study_id != STUDY.study_id and Study.from_toml(more.to_toml()) == more


def test_memorization_opened_bare_prefers_a_study_that_some_detector_can_read():
    """`data/holdout.toml` has target and retro items, one prompt and no loss: Memorization opened on it and was empty."""
    declared = {
        path.stem: Study.from_toml(path.read_text(encoding="utf-8"))
        for path in (ROOT / "data").glob("*.toml")
        if path.stem != "models"
    }
    assert {name for name, study in declared.items() if sees_memory(study)} == {"memory", "ground_truth"}
    assert sees_memory(replace(declared["holdout"], axes=(Part("paraphrase"),)))
    assert sees_memory(replace(declared["holdout"], control="random"))


def test_a_published_score_and_two_sets_of_a_holdout_are_one_statistic():
    """It had limits of its own, MOVER of two exact ones, beside the exact score test of two shares."""
    for counts in (Counts(22, 24, 14, 24), Counts(140, 150, 118, 150), Counts(40, 80, 66, 120)):
        score = score_gap_of(counts[:2], counts[2:], "random")
        assert [score.gap.low, score.gap.high] == difference_limits(counts) and score.gap.method == "two_shares"
        assert score.p == p_above(counts) and (score.p <= 0.025) == (score.gap.low > 0)
        assert score.high == difference_limits(counts, 0.90)[1]


def test_limits_of_1319_items_a_side_are_exact():
    """By the normal z a set was called better in .0265 of 500 v 500, and the upper limit lay below the truth in .0532."""
    assert two_shares.MAX_EXACT >= 1_319


def test_a_difference_that_holm_does_not_reach_is_undecided_and_names_its_size():
    score = score_gap(np.repeat([1.0, 0.0], [22, 2]), np.repeat([1.0, 0.0], [14, 10]), "random")
    claim = score_claim(score, 0.10, 11)
    assert score.is_higher and claim.outcome == "undecided" and not claim.is_made  # it was "No memory shown"
    assert (
        claim.text.startswith("Undecided: the published score is +33.3 points [")
        and "p = .10 by Holm over 11 tests" in claim.text
    )
    sides = Sides(
        *(
            Rewritten.make([f"{s}{i}" for i in range(40)], [1.0] * 40, [1.0] * n + [0.0] * (40 - n))
            for s, n in (("b", 24), ("c", 34))
        )
    )
    decision = gap_decision(sides, "random", m=999)
    claim = gap_claim(decision, adjusted=0.2, n_family=11)
    assert (
        decision.is_larger
        and claim.outcome == "undecided"
        and "+25.0 points [" in claim.text
        and "p = .20 by Holm" in claim.text
    )
