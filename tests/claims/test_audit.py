"""The audit: each finding where its fault was planted, and none where there is none."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from flipcore.claims import audit as claims_audit
from flipcore.claims.audit import (
    GRADES_DIFFER,
    READOUTS_DIFFER,
    Disagreement,
    GradedPair,
    ReadoutPair,
    _alpha_of,
    _best_extractor_words,
    _clusters,
    _disagreement,
    _flips_of_repeats,
    _grade_words,
    _negated,
    _pairs_of_models,
    _places,
    _reported_rows,
    _undecided_words,
    check_reported_scores,
    check_score_rate,
    compare_grades,
    compare_models,
    compare_readouts,
    find_contradictions,
    find_flips,
    find_lost_calls,
    find_unread_outputs,
    findings,
    graded_pair_claims,
    pair_readouts,
    readout_claims,
)
from flipcore.claims.audit_checks import CHECKS, coverage
from flipcore.claims.audit_input import OWN_PROMPT, AuditInput, scored
from flipcore.claims.claim import Claim
from flipcore.claims.ranking import round_up
from flipcore.core.randomness import generator
from flipcore.core.records import OTHER_PROMPT, WRITTEN_ANSWER
from flipcore.core.study import ItemSource, Part, Study
from flipcore.datasets.tables.graders import pairs_of_one_aspect, says_half_right
from flipcore.reports.audit import audit
from flipcore.reports.ranking import ranking_report
from flipcore.runs import runner
from flipcore.runs.log_corrections import corrections_of
from flipcore.runs.log_import import store_logs
from flipcore.runs.log_survey import survey
from flipcore.stats.audit.paired import largest_flip_rate, n_to_decide
from flipcore.stats.base.estimate import Estimate, p_text
from flipcore.stats.base.guarded import CLUSTERS_LIKE_SEEN
from flipcore.stats.flips.surface import column_means, surface
from flipcore.store.queries import studies
from tests.browser.test_main_job import SIMULATED
from tests.datasets.recorded import harness_files as made
from tests.runs.test_runner import tiny_study
from tests.stats.ranking import worlds as ranking_worlds

pytestmark = pytest.mark.usefixtures("allowed_folders")


def audited(store, *paths):
    return audit(store, store_logs(survey(list(paths), corrections_of(["name=x"])), store))


def about(found, name):
    """The findings of one check; a check that made one was never called impossible."""
    titles = {title for title, _ in found.coverage.lacking}
    assert not [one.about for one in found.findings for check in CHECKS if one.about in check.abouts and check.title in titles]
    return [one for one in found.findings if one.about == name]


@pytest.mark.slow
def test_two_filters_of_one_text_are_the_worst_finding_and_lead_to_the_items(tmp_path, store):
    found = audited(store, made.lm_eval(tmp_path / "run", n=40, n_right=30).parent)
    first = about(found, "readouts")[0]
    assert first.claim.is_made and "scores higher by flexible-extract than by strict-match" in first.claim.text
    assert len(first.items) == 30 and "Unpaired" in first.claim.detail
    (lost,) = about(found, "unreadable")
    assert "finds no answer in 100%" in lost.claim.text and "of the texts (40 of 40)" in lost.claim.text
    assert "reads 40 of these 40, 30 of them right" in lost.claim.detail
    assert about(found, "reported score") == []
    assert [one.rank for one in found.findings] == sorted((one.rank for one in found.findings), reverse=True)


@pytest.mark.slow
def test_a_reported_score_that_does_not_hold_is_said(tmp_path, store):
    rows = made.lm_eval(tmp_path / "run", n=10, n_right=4)
    results = next((tmp_path / "run").glob("results*"))
    results.write_text(results.read_text().replace("0.4", "0.9"))
    (one,) = about(audited(store, rows.parent), "reported score")
    assert "reported 0.900, recomputed 0.400 from all 10 rows" in one.claim.text
    rows.write_text("".join(rows.read_text().splitlines(keepends=True)[:15]))
    assert "is of 10 rows; the log holds 5" in about(audited(store, rows.parent), "reported score")[0].claim.text


@pytest.mark.slow
def test_a_clean_log_has_no_finding(tmp_path, store):
    samples = [made.inspect_sample(i) for i in range(12)]
    found = audited(store, made.inspect_eval(tmp_path / "a.eval", samples, made.inspect_header(1.0, 12)))
    assert found.findings == () and found.headline in found.text()
    assert found.headline == f"7 of {len(CHECKS)} checks could be made; none failed."


@pytest.mark.slow
def test_a_score_against_its_own_answer_failed_and_cut_calls_and_repeats(tmp_path, store):
    samples = [
        made.inspect_sample(i, epoch, "ANSWER: A" if i < 9 else "ANSWER: AB"[: 9 - epoch % 2 + 0] + "AB"[epoch % 2])
        for i in range(12)
        for epoch in (1, 2)
    ]
    samples[0]["scores"]["choice"]["value"] = "I"
    samples[1]["output"]["choices"][0]["stop_reason"] = "max_tokens"
    samples[2] |= {"output": {}, "scores": {}, "error": {"message": "Gone."}}
    found = audited(store, made.inspect_eval(tmp_path / "a.eval", samples))
    assert "1 right answers count as wrong" in about(found, "score against answer")[0].claim.text
    assert "4.2% of its 24 calls failed (1)" in about(found, "failed")[0].claim.text
    assert "(1)" in about(found, "were cut off")[0].claim.text
    assert "of pairs of runs give different answers" in about(found, "repeats")[0].claim.text


@pytest.mark.slow
def test_two_models_are_a_paired_difference(tmp_path, store):
    made.lm_eval(tmp_path / "one", "m-1", n=60, n_right=50)
    made.lm_eval(tmp_path / "two", "m-2", n=60, n_right=30)
    several = about(audited(store, tmp_path / "one", tmp_path / "two"), "two logs")
    # the log's first filter, its score, reads no answer of either model, so that nothing is claimed; the others are described
    assert sorted(finding.extractor for finding in several) == ["flexible-extract", "regex"]
    assert not any(finding.claim.is_made for finding in several)
    other = next(finding.claim for finding in several if finding.extractor == "flexible-extract")
    assert other.text.startswith("m-1 is ahead of m-2 on these 60 items, by flexible-extract: +33.3 points [")


@pytest.mark.slow
def test_an_audit_says_of_models_what_ranking_says_of_them():
    """One of eight models is better: p, interval and verdict of every pair are those of the Ranking page."""
    rng = np.random.default_rng(5)
    letters = {f"m{i}": "".join(rng.choice(list("10"), 80, p=(share, 1 - share))) for i, share in enumerate((0.95, *[0.6] * 7))}
    rows = ranking_worlds.readouts({model: {("identity", "base", "regex"): one} for model, one in letters.items()})
    rows = rows.assign(
        item_id="t/" + rows["item_id"], family=rows["item_id"], position=0, answer=None, value=np.nan, reason=None
    )
    items = pd.DataFrame(
        {"item_id": list(dict.fromkeys(rows["item_id"])), "target": "1", "category": "", "question": "", "options": None}
    )
    log = AuditInput(rows, items, pd.DataFrame(columns=["model", "n", "status", "finish_reason", "max_tokens"]))
    report = ranking_report(rows)
    by_pair = {frozenset((one.first, one.second)): one for one in report.pairs}
    differ = list(compare_models(log, scored(rows)))
    assert len(differ) >= 27
    for finding in differ:
        first, second = (name for name in letters if f"{name} " in finding.claim.text)
        pair = by_pair[frozenset((first, second))]
        gap = finding.claim.numbers["difference"]
        assert finding.claim.is_made == (pair.p <= 0.05) == (gap.low > 0)
        assert (
            gap.text_points() == pair.joint.text_points() and p_text(pair.p) in f"{finding.claim.text} {finding.claim.detail}"
        )


def frame_of(n=4):
    readouts = pd.DataFrame(
        [
            {
                "model": "m",
                "item_id": f"t/{i}",
                "axis": "identity",
                "variant": "base",
                "variant_id": str(i),
                "sample": 0,
                "extractor": "e",
                "status": "ok",
                "answer": "1",
                "value": np.nan,
                "is_correct": True,
            }
            for i in range(n)
        ]
    )
    items = pd.DataFrame(
        {
            "item_id": [f"t/{i}" for i in range(n)],
            "question": [f"Q{i}?" for i in range(n)],
            "options": [[]] * n,
            "target": ["1"] * n,
            "category": [""] * n,
            "source_id": [None] * n,
        }
    )
    calls = pd.DataFrame({"model": ["m"], "status": ["ok"], "finish_reason": ["stop"], "max_tokens": [None], "n": [n]})
    return readouts, items, calls


def test_contradicting_golds_and_repeated_items():
    readouts, items, calls = frame_of()
    assert findings(AuditInput(readouts, items, calls)) == []
    items.loc[1, ["question", "target"]] = ["q0 ?", "2"]
    items.loc[3, "question"] = "Q2?"
    said = {one.about: one.claim.text for one in findings(AuditInput(readouts, items, calls))}
    assert said["contradicting golds"].startswith("1 question stands with contradicting right answers (2 items)")
    assert said["repeated items"].startswith("2 questions occur more than once: 2 of 4 items")


def test_references_of_many_words_contradict_nothing():
    """Three references of one task, written anew, were contradicting right answers."""
    readouts, items, calls = frame_of()
    items["question"] = "Write a test for palindromes."
    items["target"] = [" ".join(["word"] * 12 + [str(i)]) for i in range(len(items))]
    assert "contradicting golds" not in {finding.about for finding in findings(AuditInput(readouts, items, calls))}
    items["target"] = [" ".join(["word"] * 11 + [str(i)]) for i in range(len(items))]
    assert "contradicting golds" in {finding.about for finding in findings(AuditInput(readouts, items, calls))}


def test_an_item_without_a_right_answer_contradicts_no_score():
    readouts, items, calls = frame_of()
    items["target"] = pd.array(["1", "1", None, None], dtype="str")
    readouts["is_correct"] = [True, True, True, False]
    assert "score against answer" not in {one.about for one in findings(AuditInput(readouts, items, calls))}


def read_elsewhere(right_elsewhere, values=(np.nan,) * 4):
    """What is said of three texts of four that one readout lost, or was never asked for, and that another reads; with that count."""
    readouts, items, calls = frame_of()
    mine = readouts.assign(status=["unreadable", "unreadable", "absent", "ok"], is_correct=[False, False, None, True])
    mine["answer"] = mine["answer"].where(mine["status"] == "ok", None)
    other = readouts.assign(extractor="other", is_correct=right_elsewhere, value=values)
    several = findings(AuditInput(pd.concat([mine, other], ignore_index=True), items, calls))
    return next(one.claim for one in several if one.about == "unreadable")


@pytest.mark.parametrize(
    "right, values, detail",
    [
        ([True, False, True, True], [np.nan] * 4, "other reads 2 of these 2, 1 of them right."),
        ([True, None, True, True], [np.nan] * 4, "other reads 2 of these 2; of the 1 with a right answer, 1 right."),
        ([None] * 4, [np.nan] * 4, "other reads 2 of these 2."),  # no right answer is known, so that none is wrong
        ([None] * 4, [7, 8, 9, 7], "other reads 2 of these 2."),  # a grade is not so many right answers
    ],
)
def test_texts_that_another_readout_reads_are_counted_right_only_where_a_right_answer_is_known(right, values, detail):
    claim = read_elsewhere(right, values)
    assert claim.detail == detail
    assert "(2 of 3)" in claim.text  # the text that was never read is none in which nothing was found


def two_models(first, second):
    """Each model's right answers, None where it was not asked."""
    readouts, items, calls = frame_of(len(first))
    several = [
        readouts.assign(model=name, is_correct=right, family=readouts["item_id"], position=0)
        for name, right in (("one", first), ("two", second))
    ]
    frame = pd.concat(several, ignore_index=True).dropna(subset="is_correct")
    return [one.claim.text for one in compare_models(AuditInput(frame, items, calls), scored(frame))]


def test_the_model_that_is_ahead_on_the_same_items_is_named_first():
    many = [True] * 3 + [False] * 3 + [True] * 30
    (said,) = two_models(
        many, [True] * 4 + [False] * 2 + [None] * 30
    )  # the first has the higher mean over all that it was asked
    assert "whether two and one differ on 6 items" in said and "+16.7 points" in said
    assert two_models([True, True, False], [None, None, True]) == []  # one item alone compares no models


@pytest.mark.parametrize("others", [[], ["text_match"], ["text_match", "match"]])
def test_single_tasks_are_compared_under_our_extractors_unless_the_log_has_its_own(others):
    """One model is ahead on one task and behind on the other, so that only the single tasks differ in favour of one."""
    readouts, items, calls = frame_of(40)
    is_second = np.arange(40) >= 20
    ids = [f"{'second' if second else 'first'}/{i}" for i, second in enumerate(is_second)]
    readouts, items = readouts.assign(item_id=ids, family=ids, position=0), items.assign(item_id=ids)
    models = [readouts.assign(model="m-1", is_correct=~is_second), readouts.assign(model="m-2", is_correct=is_second)]
    frame = pd.concat([answers.assign(extractor=name) for name in ("regex", *others) for answers in models], ignore_index=True)
    found = list(compare_models(AuditInput(frame, items, calls), scored(frame)))
    on_tasks = {finding.extractor for finding in found if re.search("on (first|second)", finding.claim.text)}
    assert on_tasks == ({"match"} if "match" in others else {"regex", *others})


def graded_log(n=60, lead=1.0, scales=None, first="one"):
    """Two models, each graded from 0 to 5 by two readouts; the first is graded `lead` higher, by the second readout half of it."""
    readouts, items, calls = frame_of(n)
    base = np.arange(n) % 4
    parts = []
    for model, more in ((first, lead), ("two", 0.0)):
        for extractor, weight in (("grade", 1.0), ("rubric", 0.5)):
            value = base + weight * more * (np.arange(n) % 2)
            graded = readouts.assign(model=model, extractor=extractor, value=value, is_correct=None, answer=None)
            parts.append(graded.assign(family=readouts["item_id"], position=0))
    one_aspect = [{"grade", "rubric"}]
    return AuditInput(pd.concat(parts, ignore_index=True), items, calls, scales=scales or {}, one_aspect=one_aspect)


def test_models_and_readouts_with_grades_are_compared_on_their_scale():
    scales = {("t", "grade"): (0.0, 5.0), ("t", "rubric"): (0.0, 5.0)}
    log = graded_log(lead=2.0, scales=scales)
    of_models = [finding.claim for finding in compare_grades(log, scored(log.frame))]
    assert [claim.is_made for claim in of_models] == [True, True]
    assert of_models[0].sentence.startswith("one is graded higher than two on the same 60 items by grade: 1.00 [")
    assert of_models[0].detail == "Higher of one: 30; of two: 0. Grades from 0 to 5."
    of_readouts = [one.claim for one in findings(log) if one.about == "readouts"]
    assert [claim.sentence.split(":")[0] for claim in of_readouts] == ["one"]  # they agree on the other model
    assert "grade grades higher than rubric on the same 60 items: 0.50 [" in of_readouts[0].sentence


def test_grades_of_an_unchecked_judge_claim_no_difference():
    log = replace(graded_log(lead=2.0, scales={("t", "grade"): (0.0, 5.0)}), unchecked={"grade": "nobody checked it"})
    (by_judge, by_rubric) = [finding.claim for finding in compare_grades(log, scored(log.frame))]
    assert by_rubric.is_made and not by_judge.is_made and by_judge.assertion is None
    assert by_judge.sentence.startswith("one is graded higher than two on the same 60 items by grade: 1.00 [")
    assert by_judge.sentence.endswith(" (not claimed: nobody checked it).")


def test_a_models_name_stands_in_the_detail_as_it_is():
    log = graded_log(lead=2.0, first="thunder")
    (claim, _) = [finding.claim for finding in compare_grades(log, scored(log.frame))]
    assert claim.detail.startswith("Higher of thunder: 30; of two: 0.")


def test_grades_on_two_scales_are_compared_by_nobody_and_no_check_says_so():
    log = graded_log(scales={("t", "grade"): (0.0, 5.0), ("t", "rubric"): (0.0, 10.0)})
    assert not [one for one in findings(log) if one.about == "readouts"]
    lacking = dict(coverage(log).lacking)
    assert lacking["Two readouts of the same texts"] == "no two readouts of one text count the same thing on one scale"
    assert "Two models on the same items" not in lacking
    assert "Scores against the log's own answers" in lacking  # a grade of 1 or 0 is neither right nor wrong


def test_equal_grades_of_two_models_are_undecided():
    log = graded_log(lead=0.0)
    assert [one.claim.is_made for one in compare_grades(log, scored(log.frame))] == []
    few = graded_log(n=12, lead=0.4)
    assert all(not one.claim.is_made for one in compare_grades(few, scored(few.frame)))


def test_models_are_compared_on_the_items_that_ranking_starts_with():
    """Controls are no part of it: beside the benchmark's pair stood one on 14 items that named no role."""
    readouts, items, calls = frame_of(70)
    role = np.where(np.arange(70) < 14, "control", "benchmark")
    one = readouts.assign(family=readouts["item_id"], position=0, role=role, is_correct=True)
    two = one.assign(model="m-2", is_correct=[i % 2 == 0 for i in range(70)])
    frame = pd.concat([one, two], ignore_index=True)
    (only,) = compare_models(AuditInput(frame, items, calls), scored(frame))
    assert "on the same 56 items" in only.claim.text


@pytest.mark.parametrize(
    "first, second",
    [
        ("not ( True ) and True is", "not True and ( True ) is"),  # brackets
        ("What is x - 1?", "What is x + 1?"),
        (
            "A long passage. " * 100 + "Who came?",
            "A long passage. " * 100 + "Who left?",
        ),  # alike for its first 1,500 characters
    ],
)
def test_questions_that_differ_in_signs_or_far_behind_are_no_repeats(first, second):
    readouts, items, calls = frame_of()
    items["question"] = [first, second, *items["question"][2:]]
    items.loc[1, "target"] = "2"
    assert not {one.about for one in findings(AuditInput(readouts, items, calls))} & {"contradicting golds", "repeated items"}


def test_a_letter_whose_options_nobody_stored_contradicts_no_other():
    readouts, items, calls = frame_of()
    items["question"], items["options"], items["target"] = "Which is true?", [()] * len(items), ["a", "b", "c", "b"]
    assert not {one.about for one in findings(AuditInput(readouts, items, calls))} & {"contradicting golds", "repeated items"}


@pytest.mark.parametrize("apart", [True, False])
def test_a_wider_standard_error_is_said_where_subjects_differ_beyond_chance(apart):
    n, rng = 240, generator(8)
    subject = np.arange(n) % 12
    readouts, items, calls = frame_of(n)
    right = rng.random(n) < (0.2 + 0.6 * (subject % 2) if apart else 0.5)
    readouts = readouts.assign(is_correct=right, answer=np.where(right, "1", "2"))
    items["category"] = [f"subject {one}" for one in subject]
    found = [one for one in findings(AuditInput(readouts, items, calls)) if one.about == "standard error"]
    assert bool(found) == apart
    if apart:
        sentence = found[0].claim.sentence.replace("\xa0", " ")
        assert sentence.startswith(
            "m, e: scores differ by subject or template beyond chance, p = .001: standard error 10.2 points by group"
        )


def test_an_impossible_flip_rate_is_said_and_a_possible_one_is_not():
    readouts, items, calls = frame_of()
    reported = [
        {"model": "m", "task": "t", "readout": name, "metric": name, "value": value}
        for name, value in (("acc", 0.9), ("acc_2", 0.85), ("flip_rate", 0.3))
    ]
    said = [
        one.claim.text
        for one in findings(AuditInput(readouts, items, calls, reported=reported))
        if one.about == "impossible rate"
    ]
    assert said == ["m: a flip rate of 0.300 is impossible with scores 0.900 and 0.850; at most 0.250."]
    reported[2]["value"] = 0.25
    assert not [
        one for one in findings(AuditInput(readouts, items, calls, reported=reported)) if one.about == "impossible rate"
    ]
    assert largest_flip_rate(0.2, 0.3) == 1.0


@pytest.mark.slow
def test_readouts_are_claimed_to_differ_only_where_the_interval_says_so_too():
    """Over all pairs of a log: beside pairs that show nothing the same rows are undecided, and the interval goes with the p."""
    rng = np.random.default_rng(1)
    first = (rng.random(200) < 0.6).astype(float)
    second = first.copy()
    second[np.flatnonzero(first)[:7]] = 0.0
    one = ReadoutPair("m", "a", "b", first, second)
    equal = [ReadoutPair("m", "a", f"c{i}", first, rng.permutation(first)) for i in range(9)]
    alone, among = readout_claims([one])[0], readout_claims([one, *equal])[0]
    assert alone.is_made and alone.text.startswith("m scores higher by a than by b on the same 200 items: +3.5 points [+")
    assert not among.is_made and "+3.5 points [−" in among.text and "p corrected for 10 checks of this log" in among.detail
    for claim in readout_claims([one, *equal]):
        assert (claim.numbers["difference"].low > 0) == claim.is_made


def test_what_differs_in_some_samples_only_is_counted_too():
    """3 items of one of two samples and 2 whole ones make the difference: 3.5 of 40."""
    first = np.ones(40)
    second = np.concatenate([np.zeros(2), np.full(3, 0.5), np.ones(35)])
    claim = readout_claims([ReadoutPair("m", "a", "b", first, second)])[0]
    assert "+8.8 points" in claim.text
    assert claim.detail.startswith("Right only under a: 2; only under b: 0; otherwise in some samples: 3.")


def prompts_of(answers: dict[str, list[str | None]]) -> pd.DataFrame:
    """Readouts of one item: variant -> its samples' answers; None is an answer that was cut off."""
    return pd.DataFrame(
        [
            {
                "model": "m",
                "item_id": "t/0",
                "family": "t/0",
                "axis": "option_order",
                "variant": variant,
                "position": position,
                "sample": sample,
                "extractor": "e",
                "status": "cut" if answer is None else "ok",
                "answer": answer,
                "value": np.nan,
                "is_correct": None,
            }
            for position, (variant, samples) in enumerate(answers.items())
            for sample, answer in enumerate(samples)
        ]
    )


def test_samples_of_one_prompt_and_answers_cut_off_are_in_no_flip_of_prompts():
    readouts, items, calls = frame_of()
    harmless = prompts_of({"base": ["1", "2"], "one": ["1", "2"], "two": ["1", None]})
    (one,) = (one for one in findings(AuditInput(readouts, items, calls, harmless)) if one.about == "prompts")
    assert one.claim.numbers["flips"].value == pytest.approx(
        0.5
    )  # each of three pairs of variants: half of its pairs of samples


@pytest.mark.slow
def test_of_a_table_of_scores_it_is_scores_that_differ(tmp_path, store):
    """Two wrong answers may differ where their scores do not."""
    path = tmp_path / "table.csv"
    rows = [
        f"{i},{prompt},{run},{int((i + 2 * (prompt == 'p1') + run) % 3 > 0)}"
        for i in range(30)
        for prompt in ("p0", "p1")
        for run in (0, 1)
    ]
    path.write_text("\n".join(["item_id,prompt_id,run_idx,correct", *rows]), encoding="utf-8")
    found = audited(store, path)
    said = [one.claim.text for name in ("repeats", "prompts") for one in about(found, name)]
    assert len(said) == 2 and all("different scores" in sentence and "answers" not in sentence for sentence in said)


@pytest.mark.slow
def test_an_extractor_that_reads_few_outputs_contradicts_no_score(tmp_path, store):
    """Long answers hold the right one in every second row, and an exact match reads the short ones alone: 0%."""
    long = "I have thought about this for a long time, and about all that could speak against it, and I settle for"
    rows = []
    for i in range(40):
        said = f"{long} Paris." if i % 2 else f"{long} Rome." if i % 4 else "I say Rome."
        rows.append(
            {"id": f"q{i}", "question": f"Which city is meant in riddle {i}?", "answer": "Paris"}
            | {"response": said, "score": i % 2}
        )
    path = tmp_path / "table.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = audited(store, path)
    assert about(found, "readouts") == [] and "disagree" not in found.headline


def test_a_range_of_scores_names_its_own_items_where_flips_are_of_fewer():
    """An item with an answer that was cut off is in no pair of answers, and wrong in the score."""
    readouts, items, calls = frame_of(4)
    rows = readouts.assign(family=readouts["item_id"], position=0, role="benchmark", axis="label_set", reason=None)
    other = rows.assign(variant="lower", position=1, answer=["9", *rows["answer"][1:]], is_correct=[False, True, True, False])
    other.loc[3, ["status", "answer"]] = "cut", None
    base = rows.assign(is_correct=True)
    harmless = pd.concat([base, other], ignore_index=True)
    (one,) = (one for one in findings(AuditInput(readouts, items, calls, harmless)) if one.about == "prompts")
    assert one.claim.detail == (
        "3 items, counted as on Flips. Scores of 4 items, unread answers as wrong, range from 0.500 to 1.000."
    )


def test_a_loss_is_no_score():
    readouts, items, calls = frame_of(20)
    losses = readouts.assign(extractor="answer_loss", answer=None, is_correct=None, value=np.linspace(1.0, 9.0, 20))
    assert findings(AuditInput(pd.concat([readouts, losses]), items, calls)) == []


@pytest.mark.slow
def test_an_audit_says_the_flip_rates_and_floors_of_the_flip_surface(store):
    study = Study.from_toml(SIMULATED)
    assert runner.run(study, store).state == "done"
    readouts = studies.readouts(store, study.study_id)
    family_of = dict(zip(readouts["item_id"], readouts["family"], strict=True))
    on_map = {}
    for extractor in readouts["extractor"].unique():
        cells = surface(readouts, extractor)
        on_map |= {(extractor, axis): one for axis, one in zip(cells.columns, column_means(cells, family_of), strict=True)}
    said = audit(store, study.study_id)
    numbers = {(one.extractor, one.axis): one.claim.numbers["flips"] for one in about(said, "prompts")}
    numbers |= {(one.extractor, one.axis): one.claim.numbers["floor"] for one in about(said, "repeats")}
    assert len(numbers) >= 2 and numbers == {place: one for place, one in on_map.items() if one.value > 0}


@pytest.mark.slow
def test_an_audit_of_an_own_study_speaks_of_no_log(store):
    """And names what the rotation harness reads as other pages do."""
    study = tiny_study(items=(ItemSource("flipscope_choice", n=12),), protocol=Part("rotation"))
    runner.run(study, store)
    report = audit(store, study.study_id)
    assert not re.search(r"\b(this|the) log\b", report.text()) and "over the study (false-discovery rate)" in report.comparisons
    assert any("checks of this study" in one.claim.detail for one in report.findings)
    assert "rotation single" in report.recognised and "rotation_single" not in report.text()
    assert "Keys and answers by place: too few items have options." in report.text()  # all 12 have some


@pytest.mark.slow
def test_scores_of_several_prompts_are_compared_on_the_same_items(store):
    """Questions of this set have three to eight options, so that most rotations are of some of them."""
    study = tiny_study(items=(ItemSource("flipscope_choice", n=40),))
    runner.run(study, store)
    frame = studies.readouts(store, study.study_id)
    orders = frame[frame["axis"] == "option_order"].assign(score=lambda rows: rows["is_correct"].astype(float))
    details = {one.extractor: one.claim.detail for one in about(audit(store, study.study_id), "prompts")}
    for extractor, part in orders.groupby("extractor", observed=True):
        right = part.groupby(["item_id", "variant"], observed=True)["score"].mean().unstack()
        means = right[["base", "rotate-1"]].mean()
        assert right["rotate-1"].notna().all() and right["rotate-4"].notna().mean() < 0.5
        assert right.mean().max() > means.max()  # of other items
        span = f" Scores range from {means.min():.3f} to {means.max():.3f}." if means.min() < means.max() else ""
        assert details[extractor] == f"40 items, counted as on Flips.{span}"
    assert "Scores range" in details["first_token"]


def test_an_item_without_an_answer_in_one_version_has_no_place_there():
    rows = [("a", "base", "0"), ("a", "right at B", "1"), ("b", "base", "2")]
    frame = pd.DataFrame(rows, columns=["item_id", "variant", "answer"])
    answers, right = _places(frame, ["a", "b"], np.array([0, 2]))
    assert answers.tolist() == [[0, 0], [2, -1]] and right.tolist() == [[0, 1], [2, -1]]


def test_a_lead_that_is_claimed_stands_above_one_that_is_described():
    """40 where a lead is claimed, 30 where it is not, 5 less for what is not of the ranking."""
    rows = ranking_worlds.readouts(
        {
            "good": {("identity", "base", "regex"): "1" * 40},
            "poor": {("identity", "base", "regex"): "0" * 40},
            "fair": {("identity", "base", "regex"): "1" * 38 + "00"},
        }
    )
    part = scored(rows.assign(item_id="t/" + rows["item_id"], family=rows["item_id"], value=np.nan))
    ranked = list(_pairs_of_models(part, "regex", "", is_ranking=True))
    assert {(finding.rank, finding.claim.is_made) for finding in ranked} == {(40, True), (30, False)}
    described = list(_pairs_of_models(part, "regex", "", is_ranking=False))
    assert {(finding.rank, finding.claim.is_made) for finding in described} == {(25, False)}


@pytest.mark.parametrize(("letters", "n_found"), [(("11", "00"), 1), (("11-", "000"), 1), (("1-", "00"), 0), (("11", "11"), 0)])
def test_models_are_compared_from_two_common_items_on(letters, n_found):
    right = {name: {("identity", "base", "regex"): row} for name, row in zip("ab", letters, strict=True)}
    rows = ranking_worlds.readouts(right)
    part = scored(rows.assign(item_id="t/" + rows["item_id"], family=rows["item_id"], value=np.nan))
    found = list(_pairs_of_models(part, "regex", "", is_ranking=False))
    assert [finding.items for finding in found] == [("t/i0", "t/i1")] * n_found


def test_repeats_of_scores_name_the_items_that_differ():
    """One of three items with two runs differs; two runs without a score are equal."""
    scores = {"t/0": (1.0, 0.0), "t/1": (1.0, 1.0), "t/2": (np.nan, np.nan), "t/3": (1.0,)}
    log = base_rows(*[("a", item, run, score) for item, runs in scores.items() for run, score in enumerate(runs)])
    (finding,) = _flips_of_repeats([], log.frame)
    assert finding.items == ("t/0",) and finding.rank == pytest.approx(35 + 20 / 3)
    assert finding.claim.numbers["floor"].value == pytest.approx(1 / 3)
    assert finding.claim.text == "m: noise floor, 33% of pairs of runs give different scores, by a (n = 3 items)."


def test_a_difference_is_turned_with_its_interval():
    turned = _negated(Estimate(0.3, 0.1, 0.6, 0.95, "t", 20, None))
    assert (turned.value, turned.low, turned.high, turned.n) == (-0.3, -0.6, -0.1, 20)


@pytest.mark.parametrize(
    ("p", "adjusted", "alpha"), [(0.01, 0.04, 0.00625), (0.0, 0.0, 0.005), (0.9, 1.0, 0.005), (0.5, 0.5, 0.025)]
)
def test_the_limits_agree_with_the_p_that_is_corrected(p, adjusted, alpha):
    assert _alpha_of(p, adjusted, n_tests=5, rate=0.05) == pytest.approx(alpha)


CALL = {"model": "m", "status": "ok", "finish_reason": "stop", "max_tokens": None, "n": 1_000}


@pytest.mark.parametrize(
    ("more", "about", "words", "rank"),
    [
        ({"status": "failed", "finish_reason": None}, "failed", "m: 20.0% of its 1,250 calls failed (250).", 75 * 0.6),
        ({"status": "failed", "finish_reason": "length"}, "failed", "m: 20.0% of its 1,250 calls failed (250).", 75 * 0.6),
        ({"finish_reason": "length"}, "were cut off", "m: 20.0% of its 1,250 calls were cut off (250).", 70 * 0.6),
        (
            {"finish_reason": "length", "max_tokens": 2},
            "were cut off",
            "m: 20.0% of its 1,250 calls were cut off (250).",
            70 * 0.6,
        ),
    ],
)
def test_calls_that_failed_or_were_cut_off_rank_by_their_share(more, about, words, rank):
    log = AuditInput(pd.DataFrame(), pd.DataFrame(), pd.DataFrame([CALL, CALL | {"n": 250} | more]))
    (finding,) = find_lost_calls(log, log.frame)
    assert (finding.about, finding.claim.text, finding.model) == (about, words, "m") and finding.rank == pytest.approx(rank)


@pytest.mark.parametrize("more", [{}, {"finish_reason": "length", "max_tokens": 1}])
def test_one_token_is_a_whole_letter_and_whole_calls_are_no_finding(more):
    log = AuditInput(pd.DataFrame(), pd.DataFrame(), pd.DataFrame([CALL, CALL | more]))
    assert not list(find_lost_calls(log, log.frame))


def base_rows(*rows):
    columns = ["extractor", "item_id", "sample", "score"]
    frame = pd.DataFrame(rows, columns=columns).assign(model="m", axis="identity", is_base=True, status="ok", task="t")
    return AuditInput(frame, pd.DataFrame(), pd.DataFrame())


def test_readouts_of_the_same_outputs_are_paired():
    """Only two of five outputs are read by both; one text of one item differs."""
    log = base_rows(
        ("a", "t/0", 0, 1.0), ("b", "t/0", 0, 0.0), ("a", "t/1", 0, 1.0), ("b", "t/1", 0, 1.0), ("a", "t/2", 0, 1.0)
    )
    (pair,), (disagreement,) = pair_readouts(log, log.frame)
    assert (pair.model, pair.first, pair.second, pair.low, pair.high) == ("m", "a", "b", 0.0, 1.0)
    assert pair.first_scores.tolist() == [1.0, 1.0] and pair.second_scores.tolist() == [0.0, 1.0]
    assert (disagreement.extractor, disagreement.share, list(disagreement.items)) == ("a", 0.5, ["t/0"])


def test_repeats_of_an_item_are_averaged_and_an_outputs_first_row_counts():
    log = base_rows(*[(name, "t/0", k, float(name == "a" or k)) for name in "ab" for k in (0, 1)], ("a", "t/0", 0, 0.0))
    (pair,), _ = pair_readouts(log, log.frame)
    assert pair.first_scores.tolist() == [1.0] and pair.second_scores.tolist() == [0.5]


@pytest.mark.parametrize("others", [[], [("b", "t/1", 0, 0.0)], [("b", "t/0", 0, 3.0)]])
def test_readouts_without_a_shared_output_or_scale_are_no_pair(others):
    log = base_rows(("a", "t/0", 0, 1.0), *others)
    assert pair_readouts(log, log.frame) == ([], [])


@pytest.mark.parametrize(
    ("first", "second", "scores", "is_pair"),
    [
        ("rouge1", "rouge2", (0.7, 0.6), False),
        ("faithfulness", "context_recall", (0.5, 1.0), False),
        ("judge_clarity", "judge_depth", (0.5, 0.7), False),
        ("exact_match", "f1", (1.0, 0.7), False),
        ("exact_match", "is_correct", (1.0, 0.0), True),
        ("choice", "model_graded_qa", (1.0, 0.5), True),
        ("judge_clarity", "human_clarity", (0.5, 0.7), True),
        ("gpt4o_score", "claude_score", (0.5, 0.7), True),
        ("score", "judge_score", (0.5, 0.7), True),
    ],
)
def test_two_metrics_are_no_pair_and_two_verdicts_or_graders_of_one_aspect_are(first, second, scores, is_pair):
    log = base_rows((first, "t/0", 0, scores[0]), (second, "t/0", 0, scores[1]))
    half_right = [name for name in (first, second) if says_half_right(name)]
    log = replace(log, one_aspect=pairs_of_one_aspect([first, second]), half_right=half_right)
    assert len(pair_readouts(log, log.frame)[0]) == is_pair


def test_graders_that_a_column_names_are_a_pair():
    log = base_rows(("Ann", "t/0", 0, 0.2), ("Ben", "t/0", 0, 0.7))
    assert pair_readouts(log, log.frame) == ([], [])
    log = replace(log, one_aspect=pairs_of_one_aspect(["Ann", "Ben"], graders=["Ann", "Ben", "Cem"]))
    assert len(pair_readouts(log, log.frame)[0]) == 1


@pytest.mark.parametrize("change", [{"is_base": False}, {"axis": "style"}, {"score": np.nan}])
def test_only_scores_of_the_logs_own_prompt_are_paired(change):
    log = base_rows(("a", "t/0", 0, 1.0), ("b", "t/0", 0, 0.0))
    assert pair_readouts(log, log.frame.assign(**change)) == ([], [])


@pytest.mark.parametrize(
    ("readouts", "words"),
    [
        ([], ""),
        ([("other", 1.0, True)] * 2 + [("other", 0.0, False)], "other reads 3 of these 1,200, 2 of them right."),
        ([("other", 1.0, True), ("other", 3.0, None)], "other reads 2 of these 1,200; of the 1 with a right answer, 1 right."),
        ([("other", 3.0, None)], "other reads 1 of these 1,200."),
        ([("few", 1.0, True), ("many", 0.0, False), ("many", 0.0, False)], "many reads 2 of these 1,200, 0 of them right."),
        ([("first", 1.0, True), ("last", 0.0, False)], "last reads 1 of these 1,200, 0 of them right."),
        ([("regex", 1.0, True)], "The written answer reads 1 of these 1,200, 1 of them right."),
    ],
)
def test_the_extractor_that_reads_most_of_the_lost_texts_is_named(readouts, words):
    frame = pd.DataFrame(readouts, columns=["extractor", "score", "is_correct"])
    assert _best_extractor_words(frame, 1_200) == words


def graded(first, second, clusters=None):
    return ReadoutPair("m", "a", "b", np.asarray(first, float), np.asarray(second, float), clusters, low=1.0, high=5.0)


def test_items_with_a_higher_grade_are_counted_on_each_side():
    words = _grade_words(graded([1, 2, 3, 3], [2, 3, 1, 3]), "under a", "under b")
    assert words == "Higher under a: 1; under b: 2. Grades from 1 to 5."


def test_undecided_grades_say_how_many_items_would_decide():
    alternating = graded([3, 4] * 50, [3, 3, 4, 4, 3, 3, 3, 4] * 12 + [3, 4] * 2)
    words = _undecided_words(alternating, 0.025)
    needed = n_to_decide((alternating.first_scores - alternating.second_scores) / 4, 0.025)
    assert 100 < needed < np.inf and words == (
        f"With 100 graded items only a large difference can be shown; about {round_up(needed):,} would decide it, should the "
        "difference stay what it is. "
    )
    assert _undecided_words(graded([3, 4] * 50, [3, 4] * 50), 0.025) == ""  # no number of items decides
    assert _undecided_words(graded([3, 4] * 50, [1, 2] * 50), 0.025) == ""  # it is decided
    assert _undecided_words(graded([3, 4] * 50, [3, 3] * 50, clusters=np.arange(100)), 0.025) == ""


def test_a_score_against_the_logs_own_answer_is_counted_for_one_right_answer():
    """Ten scores: one right answer counts as wrong, and one wrong answer as right."""
    readouts, items, calls = frame_of(10)
    readouts["answer"] = ["1"] * 9 + ["2"]
    readouts["is_correct"] = [False] + [True] * 9
    frame = scored(readouts)
    (finding,) = find_contradictions(AuditInput(readouts, items, calls), frame)
    assert finding.claim.text == ("m, e: 2 of 10 scores contradict the log's own answer; 1 right answers count as wrong.")
    assert finding.rank == pytest.approx(84) and finding.items == ("t/0", "t/9")
    many = items.assign(target="1\n2", options=[["x", "y"]] * 10)  # both may have been wanted
    assert not list(find_contradictions(AuditInput(readouts, many, calls), frame))
    either = items.assign(target="1\n2")
    (other,) = find_contradictions(AuditInput(readouts, either, calls), frame)
    assert other.items == ("t/0",)
    for change in (
        {"status": "unreadable"},
        {"extractor": WRITTEN_ANSWER},
        {"is_base": False},
        {"score": 0.5},
        {"answer": None},
    ):
        assert not list(find_contradictions(AuditInput(readouts, items, calls), frame.assign(**change)))


@pytest.mark.parametrize(("share_lost", "share"), [(1, "10%"), (5, "50%")])
def test_lost_texts_rank_by_their_share(share_lost, share):
    readouts, items, calls = frame_of(10)
    frame = scored(readouts.assign(status=["unreadable"] * share_lost + ["ok"] * (10 - share_lost)))
    (finding,) = find_unread_outputs(AuditInput(frame, items, calls), frame)
    assert finding.claim.text.startswith(f"m: e finds no answer in {share}")
    assert finding.claim.text.endswith(f" of the texts ({share_lost} of 10).") and finding.claim.detail == ""
    assert finding.rank == pytest.approx(50 + 4.5 * share_lost) and len(finding.items) == share_lost
    assert not list(find_unread_outputs(AuditInput(frame, items, calls), frame.assign(extractor=WRITTEN_ANSWER)))
    assert not list(find_unread_outputs(AuditInput(frame, items, calls), frame.assign(is_base=False)))


def test_a_reported_score_is_of_the_rows_of_its_log_and_task():
    rows = pd.DataFrame(
        [
            ("m", "e", "one", "t", OWN_PROMPT, "base"),
            ("m", "e", "two", "t", OWN_PROMPT, "base"),
            ("m", "e (log)", "two", "t", OTHER_PROMPT, "u"),
            ("m", "e", "two", "t", "wording", "v"),
            ("m", "f", "two", "t", OWN_PROMPT, "base"),
            ("n", "e", "two", "t", OWN_PROMPT, "base"),
        ],
        columns=["model", "extractor", "file", "task", "axis", "variant"],
    )

    def found(frame=rows, **reported):
        return _reported_rows(frame, {"model": "m", "readout": "e", "task": "t"} | reported).index.tolist()

    assert found() == [0, 1] and found(file="one") == [0] and found(file="two") == [1, 2]
    assert found(task="u") == [2] and found(task="v") == [3] and found(task="unknown") == [0, 1]
    assert found(rows.drop(columns="file"), file="one") == [0, 1]


def test_pairs_of_readouts_stand_in_the_order_of_the_log():
    rows = [(name, f"t/{k}", 0, float(name != "b")) for name in "cab" for k in (1, 0)]
    log = base_rows(*rows)
    frame = pd.concat([log.frame.assign(model=model) for model in ("z", "m")], ignore_index=True)
    pairs, disagreements = pair_readouts(log, frame)
    assert [(pair.model, pair.first, pair.second) for pair in pairs] == [
        (model, *names) for model in "zm" for names in (("c", "a"), ("c", "b"), ("a", "b"))
    ]
    assert [disagreement.share for disagreement in disagreements] == [0, 1, 1] * 2 and list(disagreements[1].items) == [
        "t/1",
        "t/0",
    ]


def test_of_models_that_are_level_the_first_is_named_first():
    rows = ranking_worlds.readouts({name: {("identity", "base", "regex"): row} for name, row in (("z", "1100"), ("a", "0011"))})
    part = scored(rows.assign(item_id="t/" + rows["item_id"], family=rows["item_id"], value=np.nan))
    (found,) = _pairs_of_models(part, "regex", "", is_ranking=False)
    assert (found.model, found.other_model) == ("z", "a") and "whether z or a is ahead on these 4 items" in found.claim.text


def reported_of(values, reported, **more):
    """What is said of a score that a log reports and the rows that it holds, two per item."""
    log = base_rows(*[("e", f"t/{k // 2}", k % 2, value) for k, value in enumerate(values)])
    entry = {"model": "m", "task": "t", "readout": "e", "value": reported} | more
    findings = list(
        check_reported_scores(replace(log, reported=[entry]), log.frame.assign(variant="base", **more.pop("rows", {})))
    )
    return [(finding.claim.outcome, finding.rank, finding.claim.text) for finding in findings]


@pytest.mark.parametrize(
    ("values", "reported", "more", "outcome", "rank", "words"),
    [
        ([1, 0, 1, 0], 0.6, {}, "does not hold", 100, "m on t, e: reported 0.600, recomputed 0.500 from all 4 rows."),
        (
            [1, 0, 1, 0],
            0.6,
            {"reducer": "max"},
            "does not hold",
            100,
            "m on t, e (max): reported 0.600, recomputed 1.000 from all 4 rows.",
        ),
        (
            [1, 0, 1, 0],
            0.5007,
            {"reducer": "mean"},
            "does not hold",
            100,
            "m on t, e: reported 0.501, recomputed 0.500 from all 4 rows.",
        ),
        ([1, 0, 1, 0], 0.4993, {"n": 4}, "does not hold", 100, "m on t, e: reported 0.499, recomputed 0.500 from all 4 rows."),
        (
            [1, 0, 1, 0],
            0.6,
            {"n": 5},
            "rows missing",
            60,
            "m on t, e: the reported 0.600 is of 5 rows; the log holds 4, with mean 0.500.",
        ),
        (
            [1, 0, 1, 0],
            0.6,
            {"n": 5, "reducer": "own"},
            "rows missing",
            60,
            "m on t, e (own): the reported 0.600 is of 5 rows; the log holds 4, with mean –.",
        ),
        ([], 0.6, {"n": 5}, "no rows", 40, "m on t, e: the log reports 0.600, and holds no row of it."),
        ([np.nan] * 4, 0.6, {}, "no rows", 40, "m on t, e: the log reports 0.600, and holds no row of it."),
    ],
)
def test_a_reported_score_is_compared_with_the_rows_by_its_reducer(values, reported, more, outcome, rank, words):
    assert reported_of(values, reported, **more) == [(outcome, rank, words)]


@pytest.mark.parametrize(
    ("reported", "more"),
    [(0.5, {}), (0.5005, {}), (0.4995, {"n": 4}), (1.0, {"reducer": "max"}), (0.7, {"reducer": "own"}), (0.5, {"n": 2})],
)
def test_a_reported_score_that_holds_or_cannot_be_recomputed_is_no_finding(reported, more):
    assert reported_of([1, 0, 1, 0], reported, **more) == []


def test_a_metric_of_all_rows_together_is_not_compared():
    log = base_rows(("e", "t/0", 0, np.nan), ("e", "t/1", 0, np.nan))
    log = replace(log, reported=[{"model": "m", "task": "t", "readout": "e", "value": 0.6}])
    frame = log.frame.assign(variant="base")
    assert list(check_reported_scores(log, frame.assign(status="absent"))) == []
    some = frame.assign(status=["absent", "unreadable"])
    assert [finding.claim.outcome for finding in check_reported_scores(log, some)] == ["no rows"]


def test_readouts_and_grades_are_said_to_differ_falsely_in_one_of_twenty():
    assert {(assertion.error_rate, assertion.sides) for assertion in (READOUTS_DIFFER, GRADES_DIFFER)} == {(0.05, 2)}


@pytest.mark.parametrize(
    ("is_asserted", "share", "rank"), [(True, 0.5, 75), (False, 0.5, 50), (True, 1.0, 95), (False, 0.0, None)]
)
def test_readouts_that_differ_rank_by_the_share_of_outputs(monkeypatch, is_asserted, share, rank):
    claim = Claim(None, "differ", "They differ.", asserted=is_asserted)
    asked = []
    monkeypatch.setattr(claims_audit, "readout_claims", lambda pairs, other_ps: asked.append(other_ps) or [claim])
    items = pd.Index(["t/1", "t/0", "t/1"])
    findings = list(compare_readouts([graded([1, 2], [2, 2])], [Disagreement("a", share, items)], [0.5]))
    assert [(finding.rank, finding.items, finding.model, finding.extractor) for finding in findings] == [
        (rank, ("t/1", "t/0"), "m", "a")
    ] * (rank is not None)
    assert asked == [[0.5]]


@pytest.mark.parametrize("is_second_higher", [True, False])
def test_the_readout_that_scores_higher_is_named_first_with_a_positive_difference(is_second_higher):
    low, high = np.r_[np.zeros(30), np.ones(30)], np.r_[np.zeros(10), np.ones(50)]
    scores = (low, high) if is_second_higher else (high, low)
    (claim,) = readout_claims([ReadoutPair("m", "a", "b", *scores)])
    higher, lower = ("b", "a") if is_second_higher else ("a", "b")
    assert claim.is_made and claim.text.startswith(
        f"m scores higher by {higher} than by {lower} on the same 60 items: +33.3 points [+"
    )
    assert claim.numbers["difference"].level == pytest.approx(0.95)
    only = (0, 20) if is_second_higher else (20, 0)
    assert (
        f"Right only under a: {only[0]}; only under b: {only[1]}. Unpaired, as harnesses print it: +33.3 points [+"
        in claim.detail
    )
    assert "p corrected" not in claim.detail and CLUSTERS_LIKE_SEEN not in claim.detail
    (clustered,) = readout_claims([ReadoutPair("m", "a", "b", *scores, clusters=np.arange(60) // 2)])
    assert clustered.detail.endswith(CLUSTERS_LIKE_SEEN)


@pytest.mark.parametrize("is_second_higher", [True, False])
def test_the_readout_that_grades_higher_is_named_first(is_second_higher):
    low, high = np.tile([1.0, 2, 3, 4], 15), np.tile([2.0, 3, 4, 4], 15)
    (claim,) = readout_claims([graded(*((low, high) if is_second_higher else (high, low)))])
    higher, lower = ("b", "a") if is_second_higher else ("a", "b")
    assert claim.is_made and claim.text.startswith(f"m: {higher} grades higher than {lower} on the same 60 items: 0.75 [0.")
    alike, other = np.tile([1.0, 2, 3, 4], 3), np.tile([1.0, 2, 4, 4], 3)
    (undecided,) = readout_claims([graded(alike, other) if is_second_higher else graded(other, alike)])
    assert (
        undecided.text.startswith("m: undecided whether a and b differ on 12 items: 0.25 [")
        and f"({higher} − {lower})." in undecided.text
    )
    assert not undecided.is_made and undecided.outcome == "undecided"


@pytest.mark.parametrize("is_second_higher", [True, False])
def test_the_model_that_is_graded_higher_is_named_first(is_second_higher):
    low, high = np.tile([1.0, 2, 3, 4], 15), np.tile([2.0, 3, 4, 4], 15)
    scores = (low, high) if is_second_higher else (high, low)
    pair = GradedPair("one", "two", *scores, low=1.0, high=5.0)
    equal = GradedPair("one", "three", low, low[::-1], low=1.0, high=5.0)
    ahead, behind = ("two", "one") if is_second_higher else ("one", "two")
    alone, (claim, undecided) = graded_pair_claims([pair], "e"), graded_pair_claims([pair, equal], "e")
    assert claim.is_made and claim.text.startswith(
        f"{ahead} is graded higher than {behind} on the same 60 items by e: 0.75 [0."
    )
    assert "p corrected for 2 pairs of models (Holm)." in claim.detail and "p corrected" not in alone[0].detail
    assert not undecided.is_made and undecided.text.startswith("Undecided whether one or three is graded higher by e: ")


@pytest.mark.parametrize(
    ("values", "share"),
    [
        ([1, 0], 1.0),
        ([1, 1], 0.0),
        ([1, 1, 0], 2 / 3),
        ([1, 0, 0.5], 1.0),
        ([1, 1, 0, 0], 2 / 3),
        ([np.nan, np.nan], 0.0),
        ([1], np.nan),
    ],
)
def test_the_share_of_pairs_of_runs_that_differ(values, share):
    assert _disagreement(pd.Series(values, dtype=float)) == pytest.approx(share, nan_ok=True)


def moved_options(*answers):
    """One item per row, whose right option 0 stands at its own place, then at B, then at C."""
    rows = [
        {"model": "m", "extractor": "e", "item_id": f"t/{item}", "axis": "option_order", "variant": variant, "answer": answer}
        for item, by_variant in enumerate(answers)
        for variant, answer in zip(("base", "right at B", "right at C"), by_variant, strict=True)
    ]
    items = pd.DataFrame({"item_id": [f"t/{item}" for item in range(len(answers))], "target": ["0"] * len(answers)})
    return AuditInput(pd.DataFrame(rows), items, pd.DataFrame())


def test_a_consistency_that_counts_places_for_answers_is_said():
    """Always the first place is an answer that changes with its order."""
    log = moved_options(("0", "1", "2"), ("0", "0", "0"))
    (finding,) = check_score_rate(log, log.frame)
    assert (finding.about, finding.rank, finding.items, finding.axis) == ("SCORE rate", 82, ("t/0", "t/1"), "option_order")
    assert (
        finding.claim.text.startswith("m, e: lm-eval's SCORE consistency is ")
        and " of the pairs of answers agree." in finding.claim.text
    )
    same = moved_options(("0", "0", "0"), ("0", "0", "0"))
    assert not list(check_score_rate(same, same.frame))
    for change in ({"axis": "style"}, {"variant": "other"}, {"answer": None}, {"variant": "base"}):
        assert not list(check_score_rate(log, log.frame.assign(**change)))
    letters = replace(log, items=log.items.assign(target="A"))
    assert not list(check_score_rate(letters, letters.frame))
    models = pd.concat([log.frame.assign(model=model) for model in ("z", "a")], ignore_index=True)
    assert [finding.model for finding in check_score_rate(log, models)] == ["z", "a"]  # in the order of the log


def test_clusters_are_families_that_several_items_share():
    log = base_rows(("a", "t/0", 0, 1.0))
    index = pd.Index(["t/0", "t/1", "t/2"])
    assert _clusters(log, index) is None
    families = pd.DataFrame({"item_id": ["t/0", "t/1"], "family": ["f", "f"]})
    assert _clusters(replace(log, items=families), index).tolist() == ["f", "f", "t/2"]
    assert _clusters(replace(log, items=families.assign(family=["f", "g"])), index) is None


def prompts_log(right, other=None):
    """Two prompts of the same items with these answers, right where they are "1"."""
    rows = []
    for position, answers in enumerate((right, other or right)):
        for item, answer in enumerate(answers):
            row = {"item_id": f"t/{item}", "family": f"t/{item}", "variant": ("base", "v")[position], "position": position}
            rows.append(row | {"answer": answer, "is_correct": answer == "1"})
    same = {"model": "m", "axis": "option_order", "sample": 0, "extractor": "e", "status": "ok", "value": np.nan}
    return pd.DataFrame(rows).assign(**same)


def test_prompts_that_get_different_answers_rank_by_their_share_and_name_their_items():
    harmless = prompts_log("1111", "1122")
    log = AuditInput(harmless, pd.DataFrame(), pd.DataFrame(), harmless)
    (finding,) = find_flips(log, scored(harmless))
    assert finding.about == "prompts" and finding.items == ("t/2", "t/3") and finding.axis == "option_order"
    assert finding.rank == pytest.approx(45 + 30 * 0.5)
    assert finding.claim.text == "m: 50% of pairs of variants get different answers under option order, by e."
    assert finding.claim.detail == "4 items, counted as on Flips. Scores range from 0.500 to 1.000."
    (level,) = find_flips(replace(log, harmless=prompts_log("1122", "2211")), scored(harmless))
    assert level.claim.detail == "4 items, counted as on Flips."
    same = prompts_log("1111")
    assert not list(find_flips(replace(log, harmless=same), scored(same)))
    once = harmless[harmless["variant"] == "base"]
    assert not list(find_flips(replace(log, harmless=once), scored(once)))


@pytest.mark.parametrize(("stated", "is_found"), [(0.01, True), (0.05, False)])
def test_a_reported_standard_error_is_said_beside_that_of_the_rows(stated, is_found):
    log = base_rows(*[("e", f"t/{k}", 0, float(k % 2)) for k in range(100)])
    entry = {"model": "m", "task": "t", "readout": "e", "value": 0.5, "stderr": stated}
    findings = list(check_reported_scores(replace(log, reported=[entry]), log.frame.assign(variant="base")))
    words = "m on t, e: reported standard error 0.0100, recomputed 0.0503 from 100 items."
    assert [(finding.about, finding.rank, finding.claim.text, finding.extractor) for finding in findings] == [
        ("reported error", 86, words, "e")
    ] * is_found


def test_right_answers_that_count_as_wrong_are_counted_apart():
    readouts, items, calls = frame_of(4)
    readouts["answer"] = ["1", "1", "2", "1"]
    readouts["is_correct"] = [False, False, True, True]
    (finding,) = find_contradictions(AuditInput(readouts, items, calls), scored(readouts))
    assert finding.claim.text == "m, e: 3 of 4 scores contradict the log's own answer; 2 right answers count as wrong."
    assert finding.rank == pytest.approx(95)


@pytest.mark.parametrize(
    ("scale", "ranks"),
    [(None, []), ((0.0, 1.0), []), ((0.0, 5.0), [30]), ((-1.0, 1.0), [40])],  # undecided, and claimed
    ids=["none", "shares", "to 5", "from -1"],
)
def test_grades_are_compared_on_any_scale_but_that_of_shares(scale, ranks):
    log = base_rows(*[("e", f"t/{k}", 0, float(k % 2)) for k in range(20)])
    frame = pd.concat([log.frame, log.frame.assign(model="n", score=1.0)], ignore_index=True)
    findings = list(compare_grades(replace(log, scales={("t", "e"): scale} if scale else {}), frame))
    assert [(finding.model, finding.other_model, len(finding.items), finding.extractor) for finding in findings] == [
        ("m", "n", 10, "e")
    ] * len(ranks)
    assert [finding.rank for finding in findings] == ranks
