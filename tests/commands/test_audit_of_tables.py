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
