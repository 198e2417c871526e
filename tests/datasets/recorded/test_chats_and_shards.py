"""Conversations, shards of one table, promptfoo's CSV and names of files, from file to readouts."""

import csv
import json

import pytest

from flipcore.datasets.reading.log_files import sources
from flipcore.datasets.recorded.table_names import names_of_tables
from flipcore.datasets.tables.reading import read_table
from flipcore.reports.audit import LESS_SURE, audit
from flipcore.runs.log_import import store_logs
from flipcore.runs.log_survey import survey
from flipcore.store.queries import studies

pytestmark = pytest.mark.usefixtures("allowed_folders")


def write_lines(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def write_csv(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return str(path)


def conversations(n, **more):
    rows = []
    for i in range(n):
        turns = [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": f"What is {i} plus 1?"},
            {"role": "assistant", "content": f"It is {i + 1 if i % 3 else 70}."},
        ]
        rows.append({"id": i, "messages": turns, "target": str(i + 1)} | more)
    return rows


@pytest.mark.slow
def test_the_assistants_last_turn_is_the_output(tmp_path, store):
    """A list of messages was "not used", and there was no output."""
    path = write_lines(tmp_path / "chat.jsonl", conversations(24))
    reading = read_table(path)
    assert (reading.roles.output, reading.roles.prompts) == ("response", ("prompt",))
    study_id = store_logs(survey([path]), store)
    frame = studies.readouts(store, study_id, everything=True)
    assert frame["item_id"].nunique() == 24
    assert frame[frame["extractor"] == "regex"]["is_correct"].mean() == pytest.approx(2 / 3)


def test_a_conversation_beside_an_output_stays_a_prompt(tmp_path):
    rows = conversations(24, response="It is 3.")
    assert read_table(write_lines(tmp_path / "chat.jsonl", rows)).roles.output == "response"
    rows = [row | {"messages": row["messages"][:2]} for row in conversations(24)]
    assert read_table(write_lines(tmp_path / "asked.jsonl", rows)).roles.output == ""


def sums(start, stop, every=4):
    rows = []
    for i in range(start, stop):
        said = i + 1 if i % every else 3
        rows.append({"id": i, "question": f"What is {i} plus 1?", "answer": i + 1, "response": said})
    return rows


@pytest.mark.parametrize(
    "names",
    [
        ("part_00000.csv", "part_00001.csv", "part_00002.csv"),
        ("train-00000-of-00003.csv", "train-00001-of-00003.csv", "train-00002-of-00003.csv"),
        ("sums.shard1.csv", "sums.shard2.csv", "sums.shard3.csv"),
    ],
)
def test_shards_of_one_table_are_one_task(tmp_path, names):
    for place, name in enumerate(names):
        write_csv(tmp_path / "run" / name, sums(20 * place, 20 * place + 20))
    seen = survey([str(tmp_path / "run")])
    assert len(seen.kinds) == 1 and seen.n_refused == 0
    assert set(seen.kinds) <= {"run", "train", "sums"}


def test_numbered_tables_of_other_columns_are_no_shards(tmp_path):
    write_csv(tmp_path / "run" / "part_1.csv", sums(0, 20))
    others = [{"id": i, "frage": f"Was ist {i}?", "soll": "ja", "antwort": "ja"} for i in range(20)]
    write_csv(tmp_path / "run" / "part_2.csv", others)
    assert len(survey([str(tmp_path / "run")]).kinds) == 2


@pytest.mark.parametrize(
    ("files", "models"),
    [
        (("model_a.csv", "model_b.csv"), {"model_a", "model_b"}),
        (("out_gpt_4.csv", "out_gpt_35.csv"), {"gpt_4", "gpt_35"}),
        (("eval_llama.csv", "eval_qwen.csv"), {"llama", "qwen"}),
    ],
)
def test_a_file_keeps_the_word_that_makes_its_letter_a_name(tmp_path, files, models):
    """`model_a.csv` was the model "a"."""
    for place, name in enumerate(files):
        write_csv(tmp_path / "run" / name, sums(0, 20, every=3 + place))
    names = names_of_tables(sources([str(tmp_path / "run")]))
    assert {name.model for name in names.values()} == models


def exported(verdict, score, text, reason):
    return f"[{verdict}] ({score:.2f})\n\n{text}\n\n{'Pass' if verdict == 'PASS' else 'Fail'} Reason: {reason}"


def test_the_csv_export_of_promptfoo_is_read(tmp_path, store):
    """Its columns were "not used", and nothing was left to read."""
    rows = []
    for i in range(12):
        first = exported("PASS" if i % 4 else "FAIL", float(i % 4 > 0), f"The answer is {i}.", "All passed")
        second = "[ERROR] (0.00)\n\nRate limit." if i == 3 else exported("PASS", 1, f"It is {i}.", "-")
        row = {"topic": f"t{i % 3}", "question": f"What is {i}?"}
        row["[openai:gpt-4o-mini] Answer: {{question}}"] = first
        row["[anthropic:claude-3-haiku] Answer: {{ question }}"] = second
        rows.append(row)
    seen = survey([write_csv(tmp_path / "out.csv", rows)])
    assert seen.n_refused == 0
    frame = studies.readouts(store, store_logs(seen, store), everything=True)
    scored = frame[frame["extractor"] == "success"]
    means = scored.groupby("model")["is_correct"].mean()
    assert means["openai:gpt-4o-mini"] == 0.75 and means["anthropic:claude-3-haiku"] == 1
    assert frame["item_id"].nunique() == 12


def test_an_older_export_of_promptfoo_holds_the_reason_above(tmp_path, store):
    cells = ["[PASS] It is 1.", "[FAIL] Expected output to contain 2\n---\nNo idea."]
    rows = [{"n": i, "[openai:m] What is {{n}}?": cell} for i, cell in enumerate(cells * 4)]
    frame = studies.readouts(store, store_logs(survey([write_csv(tmp_path / "old.csv", rows)]), store), everything=True)
    assert frame[frame["extractor"] == "success"]["is_correct"].mean() == 0.5


@pytest.mark.slow
def test_an_event_log_of_matches_alone_is_read(tmp_path, store):
    """Specification, matches in any order and a final report, without a line of sampling."""
    lines = [{"spec": {"completion_fns": ["m-1"], "base_eval": "sums", "run_id": "r"}}]
    for i in range(24):
        data = {"correct": bool(i % 3), "expected": str(i), "picked": str(i) if i % 3 else None}
        lines.append({"run_id": "r", "event_id": i, "sample_id": f"sums.dev.{i}", "type": "match", "data": data})
    lines.append({"final_report": {"accuracy": 16 / 24}, "run_id": "r"})
    for name, several in (("log", lines), ("moved", [*lines[1:], lines[0]])):
        path = write_lines(tmp_path / f"{name}.jsonl", several)
        seen = survey([path])
        study_id = store_logs(seen, store)
        frame = studies.readouts(store, study_id, everything=True)
        matches = frame[frame["extractor"] == "match"]
        assert len(matches) == 24 and matches["is_correct"].mean() == pytest.approx(2 / 3)
        assert set(matches["model"]) == {"m-1"} and seen.n_refused == 0
        doubts = [finding.claim.text for finding in audit(store, study_id).of_grades(LESS_SURE)]
        assert not any("calls failed" in text for text in doubts)
