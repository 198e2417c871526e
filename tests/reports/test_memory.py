"""The memorization tests of a study as plain values: the same numbers as the estimators give, kind by kind."""

import json

import pandas as pd
import pytest

from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.reports.memory import memory_tests, pearl_setting
from flipcore.reports.study import Report
from tests.reports.test_memory_headline import COLUMNS, rows_of

STUDY = Study(
    "s",
    (ItemSource("pocket_problems"),),
    (Part("bit_flip", {"levels_pct": [0, 5]}),),
    (Part("ncd", {"compressor": "zlib"}),),
    (ModelUse("m"),),
)


def found_in(*rows):
    return memory_tests(pd.DataFrame([row for part in rows for row in part], columns=COLUMNS), STUDY, "m")


def test_items_without_controls_are_tested_by_nothing():
    assert found_in([row for row in rows_of("number", "paraphrase", "question_loss", 1.0, 5.0) if row[3] == "benchmark"]) == []


def test_a_loss_that_separates_is_flagged_with_its_counts():
    (found,) = found_in(rows_of("number", "paraphrase", "question_loss", 1.0, 5.0))
    assert (found.items, found.detector, found.decision) == ("problems", "question loss", "flag")
    assert (found.numbers["n"], found.numbers["n_controls"], found.numbers["n_flagged"]) == (20, 30, 20)
    assert found.numbers["rate"].value == 1.0 and found.numbers["cutoff"] == pytest.approx(4.0)


def test_a_drop_gap_carries_its_intervals():
    (found,) = found_in(rows_of("choice", "entity_rename", "regex", True, False))
    assert (found.items, found.detector) == ("choices", "drop gap, entity_rename")
    assert found.numbers["gap"].value == 1.0 and found.numbers["gap"].low > 0.7
    assert (found.numbers["n_benchmark"], found.numbers["n_control"], found.decision) == (20, 30, "flag")


def test_pearl_with_too_few_non_members_is_not_computed_and_says_why():
    # 30 non-members cannot give 5 % with 95 % confidence: 59 are the fewest (1 - .95^59 > .95)
    (found,) = found_in(rows_of("completion", "bit_flip", "rouge_l", 1.0, 0.1))
    assert found.decision == "not computed" and "59" in found.sentence


def test_pearls_setting_is_the_studys():
    setting = pearl_setting(STUDY, "m", "ncd")
    assert (setting.levels_pct, setting.compressor, setting.task, setting.n_samples) == ((0.0, 5.0), "zlib", "completion", 10)


def test_the_report_is_json_without_numbers_that_json_has_not():
    report = Report({}, {"m": []}, {"m": found_in(rows_of("completion", "bit_flip", "rouge_l", 1.0, 0.1))})
    report.headlines["m"] = type("Said", (), {"sentence": "x"})
    held = json.loads(json.dumps(report.as_dict(), allow_nan=False))["models"]["m"]["memory"][0]
    assert held["alpha"] is None and held["n_non_members"] == 30
    assert "passages, PEARL, rouge_l: " in report.text()
