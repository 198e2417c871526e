"""People's labels in a table: a random part corrects the judge's score, a chosen one does not."""

import json
import random
import re
from types import SimpleNamespace

import numpy as np
import pytest

from flipcore.reports.people_labels import people_labels, score_range
from flipcore.runs.log_survey import ReadScores, survey

pytestmark = pytest.mark.usefixtures("allowed_folders")

TRUTH = 0.715


def labels_of(tmp_path, is_labelled, n=1_500):
    """One sentence per model of a made table whose judge is too kind."""
    draw = random.Random(7)
    rows = []
    for i in range(n):
        is_right = draw.random() < TRUTH
        judge = is_right or draw.random() < 0.45
        row = {
            "id": f"q{i}",
            "model": "m",
            "response": f"Answer number {i}, in words.",
            "topic": "ab"[i % 2],
            "judge_passed": int(judge),
        }
        rows.append(row | {"human_passed": is_right if is_labelled(i, judge, draw) else None})
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    read = ReadScores({})
    return people_labels(survey([path], scores=read), read)


@pytest.mark.slow
def test_random_labels_correct_the_judge_and_cover_the_truth(tmp_path):
    (labels,) = labels_of(tmp_path, lambda i, judge, draw: draw.random() < 0.25)
    assert labels.corrected == pytest.approx(TRUTH, abs=0.04)
    assert "by judge_passed" in labels.sentence and "of people's labels (human_passed)" in labels.sentence


@pytest.mark.slow
def test_labels_of_passed_rows_alone_correct_nothing(tmp_path):
    (labels,) = labels_of(tmp_path, lambda i, judge, draw: judge and draw.random() < 0.4)
    assert labels.corrected is None and "No row that judge_passed calls wrong has a label" in labels.sentence
    assert "from 67% to 91%" in labels.sentence  # of those called wrong none or all may be right


@pytest.mark.slow
def test_labels_of_complaints_correct_nothing(tmp_path):
    """Users complain about answers that the judge calls wrong, and rarely about others."""
    (labels,) = labels_of(tmp_path, lambda i, judge, draw: draw.random() < (0.03 if judge else 0.35))
    assert labels.corrected is None and "no random part: judge_passed" in labels.sentence


@pytest.mark.slow
def test_labels_of_one_topic_are_no_random_part(tmp_path):
    (labels,) = labels_of(tmp_path, lambda i, judge, draw: draw.random() < (0.4 if i % 2 else 0.1))
    assert labels.corrected is None and "no random part: topic" in labels.sentence


@pytest.mark.slow
def test_rows_of_one_passage_are_labelled_together(tmp_path):
    """Twenty rows of a passage are right or wrong together: the interval is that of 75 passages, not of 1,500 rows."""
    draw = random.Random(5)
    rights = [draw.random() < TRUTH for _ in range(75)]
    widths = {}
    for column in ("passage_id", "remark"):
        rows = []
        for i in range(1_500):
            is_right = rights[i // 20]
            judge = is_right or draw.random() < 0.45
            row = {"id": f"q{i}", "model": "m", "response": f"Answer number {i}, in words.", column: f"p{i // 20}"}
            label = is_right if draw.random() < 0.3 else None
            rows.append(row | {"judge_passed": int(judge), "human_passed": label})
        path = tmp_path / f"{column}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        read = ReadScores({})
        (labels,) = people_labels(survey([path], scores=read), read)
        low, high = re.search(r"\[([\d.]+)%, ([\d.]+)%\]", labels.sentence).groups()
        widths[column] = float(high) - float(low)
    assert widths["passage_id"] > 2 * widths["remark"]


def test_a_range_says_what_chosen_labels_leave_open():
    """Ten rows called right, four of them labelled and three of these right; the others at odds of 3/2 to 6."""
    reader = np.array([1.0] * 10)
    labels = np.array([1.0, 1.0, 1.0, 0.0] + [np.nan] * 6)
    assert score_range(reader, labels) == pytest.approx(((3 + 6 * 0.6) / 10, (3 + 6 * 6 / 7) / 10))


def test_several_grades_of_one_output_are_graders_and_no_reruns(tmp_path):
    draw = random.Random(3)
    rows = [
        {"id": f"q{i}", "response": f"Answer number {i}, in words.", "grade_run": run, "passed": int(draw.random() < 0.7)}
        for i in range(30)
        for run in (1, 2, 3)
    ]
    path = tmp_path / "regrades.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    read = survey([path])
    assert sorted(read.readouts) == ["1", "2", "3"] and read.n_samples == 1
    assert any("no reruns" in sentence for sentence in read.sentences())


def test_labels_beside_a_score_on_a_scale_correct_nothing(tmp_path):
    """A judge of 1.3 to 4.8 was "337.6%", and 75 labels were "too few"."""
    rows = []
    for i in range(40):
        row = {"id": f"q{i}", "response": f"Answer {i}, in words.", "judge_quality": 1.5 + i % 5}
        rows.append(row | {"human_quality": 1.0 + i % 4})
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    read = ReadScores({})
    (labels,) = people_labels(survey([path], scores=read), read)
    assert labels.sentence.startswith("recorded model: 3.5 by judge_quality; 40 of 40 rows")
    assert labels.sentence.endswith(" Labels correct a score of right and wrong, but no grades.")


def test_labels_of_many_rows_need_no_table_of_all_their_combinations():
    """3,000 rows of as many tasks and families were a table of 27,000,000,000 cells."""
    rows = []
    for i in range(3_000):
        key = ("m", f"t{i}", i, "benchmark", f"f{i}", "")
        rows += [(*key, "judge", None, i % 3 > 0), (*key, "human", None, i % 4 > 0 if i % 10 == 0 else None)]
    about = SimpleNamespace(columns={"people": "human"}, labelled={})
    read = SimpleNamespace(rows=rows, is_whole=True)
    (result,) = people_labels(SimpleNamespace(files=[SimpleNamespace(about=about)]), read)
    assert result.sentence.startswith("m: 66.7% by judge; corrected by 300 of people's labels (human)")
