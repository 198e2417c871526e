"""The memorization tests of a study as plain values: the same numbers as the estimators give, kind by kind."""

import json
from dataclasses import replace

import pandas as pd
import pytest

from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.reports.memory import fresh_control_warning, memory_headline, memory_tests, pearl_setting
from flipcore.reports.study import Report
from tests.reports.test_memory_headline import COLUMNS, rows_of

STUDY = Study(
    "s",
    (ItemSource("pocket_problems"),),
    (Part("bit_flip", {"levels_pct": [0, 5]}),),
    (Part("ncd", {"compressor": "zlib"}),),
    (ModelUse("m"),),
    control="random",
)


def found_in(*rows):
    return memory_tests(pd.DataFrame([row for part in rows for row in part], columns=COLUMNS), STUDY, "m")


def test_items_without_controls_are_tested_by_nothing():
    assert found_in([row for row in rows_of("number", "paraphrase", "question_loss", 1.0, 5.0) if row[3] == "benchmark"]) == []


def test_a_loss_that_separates_is_flagged_with_its_counts():
    (found,) = found_in(rows_of("number", "paraphrase", "question_loss", 1.0, 5.0))
    assert (found.items, found.detector, found.decision) == ("problems", "question loss", "memory")
    assert (found.numbers["n"], found.numbers["n_controls"], found.numbers["n_flagged"]) == (20, 30, 20)
    assert found.numbers["rate"].value == 1.0 and found.numbers["cutoff"] == pytest.approx(4.0)


def test_a_drop_gap_carries_its_intervals():
    (found,) = found_in(rows_of("choice", "entity_rename", "regex", True, False))
    assert (found.items, found.detector) == ("choices", "drop gap, names changed")
    assert found.numbers["gap"].value == 1.0 and found.numbers["gap"].low > 0.7
    assert (found.numbers["n_benchmark"], found.numbers["n_control"], found.decision) == (20, 30, "memory")


def test_pearl_of_a_set_needs_no_alpha_and_single_texts_do():
    # 30 non-members give no alpha at 5 % with 95 % confidence (59 are the fewest), but they do give a test of the set
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
    assert one[0].n_family == 1 and both[0].n_family == 2
    assert both[0].numbers["p_adjusted"] == pytest.approx(2 * one[0].numbers["p_adjusted"])


def test_another_control_is_never_called_memory():
    frame = pd.DataFrame(rows_of("number", "paraphrase", "question_loss", 1.0, 5.0), columns=COLUMNS)
    (found,) = memory_tests(frame, replace(STUDY, control="other"), "m")
    assert found.decision == "beyond the control" and "emory" not in found.sentence


def test_a_closed_gate_withholds_what_rests_on_paraphrases():
    frame = pd.DataFrame(rows_of("number", "paraphrase", "question_loss", 1.0, 5.0), columns=COLUMNS)
    (found,) = memory_tests(frame, STUDY, "m", closed_gates={"paraphrase": "Nobody has reviewed them."})
    assert (found.decision, found.sentence) == ("not claimed", "Not claimed: Nobody has reviewed them.")
    assert memory_headline(frame, STUDY, closed_gates={"paraphrase": "x"}).outcome == "none shown"


def test_pearls_setting_is_the_studys():
    setting = pearl_setting(STUDY, "m", "ncd")
    assert (setting.levels_pct, setting.compressor, setting.task, setting.n_samples) == ((0.0, 5.0), "zlib", "completion", 10)


def test_the_report_is_json_without_numbers_that_json_has_not():
    report = Report({}, {"m": []}, {"m": found_in(rows_of("completion", "bit_flip", "rouge_l", 1.0, 0.1))})
    report.headlines["m"] = type("Said", (), {"sentence": "x"})
    held = json.loads(json.dumps(report.as_dict(), allow_nan=False))["models"]["m"]["memory"][0]
    assert held["alpha"] is None and held["n_non_members"] == 30 and held["asserted"] is True
    assert "passages, PEARL, ROUGE-L: " in report.text()


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
        assert "12 % of the continuations were cut off" in found.claim.text and not found.further[0].is_made


def test_a_loss_reads_no_completion_so_nothing_of_it_is_cut_off():
    (found,) = found_in(rows_of("number", "paraphrase", "question_loss", 1.0, 5.0))
    assert "Cut off: not applicable, no completion is read." in found.claim.detail
