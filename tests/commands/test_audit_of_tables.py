"""`audit FILE` on ordinary tables: what the lines beside the score say about judges, raters and failed calls."""

import csv

import pytest

from flipcore import __main__ as command

pytestmark = pytest.mark.usefixtures("allowed_folders")


@pytest.fixture
def lines_of(tmp_path, monkeypatch, capsys):
    """Return a function that audits rows as a CSV file and returns the printed lines."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "kept" / "flips.duckdb"))

    def audited(rows, *options, name="table.csv"):
        path = tmp_path / name
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        code = command.main(["audit", str(path), *options])
        printed = capsys.readouterr()[0]
        assert code == 0, printed
        return printed.splitlines()

    return audited


def judged_rows(column):
    rows = []
    for i in range(16):
        for model in ("alpha-1", "beta-2"):
            row = {
                "prompt_id": f"p{i}",
                "model": model,
                "prompt": f"Explain topic number {i}.",
                "response": f"It is {model} {i}.",
            }
            rows.append(row | {column: 1 + (i + (model == "beta-2")) % 5})
    return rows


def test_readouts_of_a_judge_that_nobody_checked_name_the_model_and_the_mean(lines_of):
    lines = lines_of(judged_rows("judge_score"))
    (alpha,) = [line for line in lines if line.startswith("alpha-1: ")]
    assert alpha.startswith("alpha-1: 2.88 [")
    assert "] on a scale from 1 to 5 by judge_score (not claimed: this judge has not been compared with people)." in alpha
    assert any(line.startswith("beta-2: 2.94 [") for line in lines)
    assert not any(line.startswith("Not claimed") or "scores" in line.partition(";")[0] for line in lines[1:-1])


def test_a_judge_beside_peoples_labels_is_not_said_to_be_without_them(lines_of):
    rows = [row | {"human_score": 1 + (i // 3) % 5} for i, row in enumerate(judged_rows("judge_score"))]
    lines = lines_of(rows)
    (alpha,) = [line for line in lines if line.startswith("alpha-1: ") and "not claimed" in line]
    assert "(not claimed: this judge has not passed a check against people's labels)." in alpha


@pytest.mark.parametrize(("column", "lead"), [("judge_score", "is graded higher than"), ("judge_correct", "is ahead of")])
def test_two_models_are_not_claimed_to_differ_by_a_judge_that_nobody_checked(lines_of, column, lead):
    rows = judged_rows(column)
    for i, row in enumerate(rows):
        is_beta = row["model"] == "beta-2"
        row[column] = int(is_beta or i % 8 == 0) if column == "judge_correct" else 2 + i // 2 % 3 + is_beta
    lines = lines_of(rows)
    (compared,) = [line for line in lines if line.startswith(f"- beta-2 {lead} alpha-1")]
    assert compared.endswith("(not claimed: this judge has not been compared with people).")
    lines = lines_of([row | {"human_" + column.removeprefix("judge_"): row[column]} for row in rows])
    compared = [line for line in lines if line.startswith(f"- beta-2 {lead} alpha-1") and f"by {column}" in line]
    assert all("(not claimed: this judge has not passed a check against people's labels)." in line for line in compared)
    assert compared


def test_a_score_without_a_judge_is_claimed(lines_of):
    lines = lines_of(judged_rows("score"))
    assert any(line.startswith("alpha-1 scores 2.88 ") for line in lines) and "not claimed" not in "\n".join(lines)


def metric_rows(names):
    rows = []
    for i in range(18):
        row = {"doc_id": f"d{i}", "article": f"Long article number {i}.", "generated_summary": f"Summary of article {i}."}
        rows.append(row | {name: round(0.9 - 0.1 * k - 0.01 * (i % (7 + k)), 3) for k, name in enumerate(names)})
    return rows


def test_metrics_of_different_things_are_no_two_ways_to_count_one(lines_of):
    """ROUGE-1 is at least ROUGE-2 by definition, and "undecided whether they differ" said nothing."""
    lines = lines_of(metric_rows(["rouge1", "rouge2"]), "--all")
    assert any("by rouge1" in line for line in lines) and not any("differ on" in line for line in lines)
    assert any("no two readouts of one text count the same thing on one scale" in line for line in lines)


def rows_with_failed_calls(error="RateLimitError: 429 Too Many Requests", text="", **more):
    """Thirty questions to two models; three calls of the first have no score."""
    rows = []
    for i in range(30):
        for model in ("alpha-1", "beta-2"):
            is_right = (i + (model == "beta-2")) % 3 > 0
            row = {"question_id": i, "model": model, "question": f"Which town is number {i}?", "expected": f"town {i}"}
            row |= {"response": f"town {i}" if is_right else "a village", "correct": int(is_right), "error": ""}
            if model == "alpha-1" and i in (4, 13, 22):
                row |= {"response": text, "correct": "", "error": error if i != 22 else "APITimeoutError"} | more
            rows.append(row)
    return rows


def test_failed_calls_are_named_by_their_error_and_no_extractor_counts_them(lines_of):
    lines = lines_of(rows_with_failed_calls())
    assert "- alpha-1: 10.0% of its 30 calls failed (3): RateLimitError, APITimeoutError." in lines
    assert any(line.startswith("What to do: Run the failed calls again") for line in lines)
    text = "\n".join(lines)
    assert "hold no score" not in text and "are right" not in text
    (alpha,) = [line for line in lines if line.startswith("alpha-1: ")]
    assert alpha.startswith("alpha-1: 63% right;") and "Answers that equal the right one: 63%." in alpha


@pytest.mark.parametrize("rows", [rows_with_failed_calls(error=""), rows_with_failed_calls(error="ok", text="town 99")])
def test_rows_without_a_score_and_an_error_are_told_as_before_and_extractors_agree(lines_of, rows):
    for row in rows:
        row["error"] = "" if row["error"] == "APITimeoutError" else row["error"]
    lines = lines_of(rows)
    text = "\n".join(lines)
    assert "correct: 3 of 60 rows hold no score and count in no mean." in text and "calls failed" not in text
    (alpha,) = [line for line in lines if line.startswith("alpha-1: ")]
    assert "are right" not in text and "Answers that equal the right one: 63%." in alpha
    assert not any("leads in" in line and " to " in line for line in lines)


def test_a_failed_call_that_the_table_scored_is_no_failed_call(lines_of):
    text = "\n".join(lines_of(rows_with_failed_calls(correct=0), "--map", "failed=wrong"))
    assert "calls failed" not in text and "alpha-1: 57% right" in text and "Answers that equal the right one: 57%." in text


def test_extractors_that_disagree_are_compared_on_the_outputs_that_both_scored(lines_of):
    rows = rows_with_failed_calls()
    for row in rows:
        if row["question_id"] < 12 and row["correct"] == 0:
            row["correct"] = 1
    text = "\n".join(lines_of(rows))
    assert "By correct, 78% are right for alpha-1; 63% of the answers equal the right one." in text
    for i, row in enumerate(rows):
        row["exact_match"] = "" if i < 10 else int(row["response"] == row.pop("expected"))
        row.pop("expected", None)
        row["is_correct"] = row.pop("correct") or 0
    text = "\n".join(lines_of(rows, "--map", "failed=wrong", "score=is_correct,exact_match"))
    assert ", on the 25 outputs that both scored, by " in text


def rated_rows(score, *, has_own_output=False):
    rows = []
    for i in range(12):
        for model in ("alpha-1", "beta-2"):
            for k, who in enumerate(("anna", "bilal", "chen")):
                text = f"The summary of document {i} by {model}." + (f" For {who}." if has_own_output else "")
                rows.append({"item_id": f"d{i}", "model": model, "annotator": who, "summary": text, **score(i, k, model)})
    return rows


def rating(i, k, model):
    return {"rating": 1 + (i + 2 * k * (i % 3 == 0) + (model == "beta-2")) % 5}


def verdict(i, k, model):
    return {"correct": int((i + k * (i % 3 == 0) + (model == "beta-2")) % 3 > 0)}


@pytest.mark.parametrize("score", [rating, verdict])
def test_ratings_by_several_people_of_one_output_are_no_reruns(lines_of, score):
    lines = lines_of(rated_rows(score))
    text = "\n".join(lines)
    assert "× 3 raters (annotator)" in lines[0] and "× 1 prompt × 3 raters." in text and "Raters alone: " in text
    assert any("of pairs of ratings of one output differ, by" in line for line in lines)
    for word in ("rerun", "noise floor", "repeated", "3 runs", "pass^", "first run", "ways of counting"):
        assert word not in text


def test_raters_with_names_are_read_beside_prompts(lines_of):
    rows = rated_rows(rating)
    for row in rows:
        row["prompt"] = f"Summarize the long document number {row['item_id'][1:]} in one sentence."
    lines = lines_of(rows)
    assert "× 3 raters (annotator)" in lines[0] and any(" scores " in line for line in lines)


def test_people_who_each_have_an_output_of_their_own_are_runs(lines_of):
    text = "\n".join(lines_of(rated_rows(rating, has_own_output=True)))
    assert "× 3 runs (annotator)" in text and "Reruns alone: " in text and "noise floor" in text


def test_epochs_of_a_model_are_runs(lines_of):
    rows = [{("epoch" if key == "annotator" else key): value for key, value in row.items()} for row in rated_rows(verdict)]
    for row in rows:
        row["epoch"] = {"anna": 1, "bilal": 2, "chen": 3}[row["epoch"]]
        row["summary"] += f" Written again, {row['epoch']}."  # grades of one output are no runs
    text = "\n".join(lines_of(rows))
    assert "× 3 runs (epoch)" in text and "Reruns alone: " in text and "pass^3" in text and "raters" not in text


def epoch_rows(n_epochs, is_right):
    rows = []
    for i in range(12):
        for model in ("alpha-1", "beta-2"):
            for epoch in range(n_epochs):
                right = is_right(i, model, epoch)
                row = {"sample_id": i, "epoch": epoch + 1, "model": model, "input": f"Which town is number {i}?"}
                rows.append(
                    row | {"target": f"Town {i}", "output": f"Town {i}" if right else "Nowhere", "score": "CI"[not right]}
                )
    return rows


def test_a_way_that_counts_the_first_run_alone_is_named(lines_of):
    """Score and text match agree in every row; the second way was the first epoch alone, which nobody said."""
    rows = epoch_rows(3, lambda i, model, epoch: i % 4 < (3 if model == "alpha-1" else 1 + (epoch > 0)))
    (line,) = [line for line in lines_of(rows) if "ways of counting" in line]
    assert line == (
        "- alpha-1 leads in both ways of counting, by 33.3 to 50.0 points (50.0 points where only the first run counts); "
        "none by more than chance."
    )
    alike = epoch_rows(3, lambda i, model, epoch: i % 4 < (3 if model == "alpha-1" else 2))
    (line,) = [line for line in lines_of(alike) if "ways of counting" in line]
    assert "by 25.0 points; none" in line and "where" not in line


def numbered_rows(**columns):
    """Two systems on 24 questions; each column is a function of question and system."""
    rows = []
    for i in range(24):
        for k, model in enumerate(("alpha-1", "beta-2")):
            row = {"id": f"q{i}", "model": model, "question": f"How much is number {i}?", "gold": 100 + i}
            rows.append(row | {name: value(i, k) for name, value in columns.items()})
    return rows


def test_a_score_with_a_tolerance_is_not_contradicted_by_equal_answers(lines_of):
    """ "Extractors disagree: 44 to 88% right" was said of within_1pct and answers that were rounded."""
    rows = numbered_rows(
        pred=lambda i, k: 100 + i + (i % 2) * 0.3 + 50 * (i % 4 == k), within_1pct=lambda i, k: int(i % 4 != k)
    )
    text = "\n".join(lines_of(rows))
    assert "alpha-1: 75% right; " in text and "By within_1pct; " in text
    for word in ("equal the right one", "disagree", "ways of counting", "than by pred"):
        assert word not in text


def test_a_score_of_half_points_has_one_form_for_all_models(lines_of):
    """ "gpt-4: 55% right" stood beside "o1-preview scores 0.95"."""
    lines = lines_of(numbered_rows(points_awarded=lambda i, k: (i % 3 > 0) if k else min(1, (i % 4) / 2)), "--all")
    scores = [line for line in lines if line.startswith(("alpha-1", "beta-2"))]
    assert [line.partition(";")[0] for line in scores] == ["alpha-1 scores 0.62", "beta-2 scores 0.67"]
    (compared,) = [line for line in lines if "points_awarded: 0.04 [" in line]
    assert compared and not any("% right" in line or " points [" in line for line in lines)


def test_models_are_compared_by_the_leading_score_first(lines_of):
    """All comparisons were by empathy, which came first in the alphabet, where overall led."""
    rows = numbered_rows(overall=lambda i, k: 1 + (i + k) % 5, empathy=lambda i, k: 1 + i % 2 + 3 * k)
    lines = [line for line in lines_of(rows, "--map", "score=overall,empathy") if "graded higher" in line]
    assert ["by overall" in line for line in lines] == [True, False]
    assert "beta-2 is graded higher than alpha-1" in lines[1]


def test_with_too_few_items_the_reason_is_said_and_no_range_is_promised(lines_of):
    rows = numbered_rows(correct=lambda i, k: "" if (i, k) == (2, 1) else int(i % 3 > k), seed=lambda i, k: i // 8)
    for row in rows:
        row["id"] = f"q{int(row['id'][1:]) % 8}"
        row["question"], row["gold"] = f"How much is {row['id']}?", 1
    text = "\n".join(lines_of(rows))
    assert "higher than beta-2: 8 items, and at least 10 are needed." in text
    assert "4% of calls have no score. By correct; " in text and "the interval holds" not in text
    assert "- correct: 1 of 48 rows holds no score and counts in no mean." in text
