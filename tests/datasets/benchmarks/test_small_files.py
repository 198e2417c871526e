"""The benchmarks from files of their own layout, a few rows each: a smaller namesake of what test_benchmarks.py does with the
public files."""

import json

import pytest

from flipcore.core.study import ItemSource
from flipcore.datasets import load, load_report

pytestmark = pytest.mark.usefixtures("allowed_folders")

GSM8K = [
    {"question": "Ann has 3 pears and buys 4. How many?", "answer": "3+4=<<3+4=7>>7 pears.\n#### 7"},
    {"question": "Ann pays 1,200 cents twice. How many?", "answer": "That is 2*1200=<<2*1200=2400>>2400.\n#### 2,400"},
]


@pytest.fixture
def gsm8k(tmp_path):
    path = tmp_path / "test.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in GSM8K))
    return str(path)


def test_a_file_of_gsm8k_loads_with_its_chains(gsm8k):
    report = load_report(ItemSource("gsm8k", path=gsm8k))
    assert report.refusals == () and [item.target for item in report.items] == ["7", "2400"]
    assert [item.item_id.split("@")[0] for item in report.items] == ["gsm8k/0", "gsm8k/1"]
    assert all("<<" in item.solution for item in report.items)


def test_a_file_of_gsm8k_read_as_a_generic_file_has_the_same_targets(gsm8k):
    assert [item.target for item in load(ItemSource("file", path=gsm8k))] == ["7", "2400"]


def test_a_file_of_truthfulqa_has_its_true_answer_at_no_fixed_place(tmp_path):
    path = tmp_path / "TruthfulQA.csv"
    head = "Type,Category,Question,Best Answer,Correct Answers,Incorrect Answers,Source\n"
    rows = [
        f"Adversarial,Myths,Does stone {i} float?,It sinks,It sinks; It goes down,It floats; It flies; It sings,x\n"
        for i in range(24)
    ]
    path.write_text("\ufeff" + head + "".join(rows) + "Adversarial,Myths,Twice?,No,No,Yes; Yes,x\n", encoding="utf-8")
    report = load_report(ItemSource("truthfulqa", path=str(path)))
    assert len(report.items) == 24 and "same text in options" in report.refusals[0][1]
    assert {item.options[int(item.target)] for item in report.items} == {"It sinks"} and report.items[0].meta[
        "type"
    ] == "Adversarial"
    assert len({item.target for item in report.items}) > 1


def test_a_file_of_mmlu_has_no_header_and_a_folder_names_its_subjects(tmp_path):
    for subject in ("virology", "logic"):
        rows = "".join(f"Which {subject} {i}?,one,two,three,four,{'ABCD'[i]}\n" for i in range(3))
        (tmp_path / f"{subject}_dev.csv").write_text(rows + ("Which dup?,same,same,x,y,A\n" if subject == "logic" else ""))
    one = load(ItemSource("mmlu", path=str(tmp_path / "virology_dev.csv")))
    assert [item.target for item in one] == ["0", "1", "2"] and {item.category for item in one} == {"virology"}
    report = load_report(ItemSource("mmlu", path=str(tmp_path)))
    assert len(report.items) == 6 and {item.category for item in report.items} == {"virology", "logic"}
    ((line, why),) = report.refusals
    assert why.startswith(f"Line {line} of logic_dev.csv has the same text")


def test_a_file_of_mmlu_pro_tells_its_repeated_questions(tmp_path):
    row = {
        "question_id": 1,
        "question": "Which?",
        "options": ["a", "b", "c"],
        "answer": "B",
        "answer_index": 1,
        "category": "law",
    }
    rows = [row, row | {"question_id": 2}, row | {"question_id": 3, "question": "Who?", "options": ["a"]}]
    path = tmp_path / "outputs.json"
    path.write_text(json.dumps(rows))
    report = load_report(ItemSource("mmlu_pro", path=str(path)))
    assert len(report.items) == 2 and {item.category for item in report.items} == {"law"}
    assert report.refusals[0][1].endswith("1 option; a choice needs at least two.")
    assert any("the same as another; kept" in note for note in report.notes)
