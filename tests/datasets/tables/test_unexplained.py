"""Columns without a role: asked about if they could change a number, and not otherwise."""

import json

import pytest

from flipcore.datasets.tables.load import Table
from flipcore.datasets.tables.reading import read_table

pytestmark = pytest.mark.usefixtures("allowed_folders")


def read(tmp_path, rows, words=None):
    path = tmp_path / "table.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return read_table(path, words)


def graded(**more):
    """Return 40 rows of texts with grades from 1 to 5, and further columns: name → value of row i."""
    rows = []
    for i in range(40):
        row = {"id": i, "prompt": f"Write about {i}.", "response": f"Once upon a time there was {i}.", "tone_score": 1 + i % 5}
        rows.append(row | {name: value(i) for name, value in more.items()})
    return rows


def right_or_wrong(**more):
    """Return 40 rows of letters and right letters, and further columns."""
    rows = []
    for i in range(40):
        row = {"id": i, "question": f"Which of {i}?", "answer": "ABCD"[i % 4], "prediction": "ABCD"[i * i % 4]}
        rows.append(row | {name: value(i) for name, value in more.items()})
    return rows


def seen(reading):
    return [question.seen for question in reading.questions]


def test_a_table_without_further_columns_is_not_asked_about(tmp_path):
    assert not seen(read(tmp_path, graded())) and not seen(read(tmp_path, right_or_wrong()))


HARMLESS = {
    "latency_ms": lambda i: 100 + i % 7,
    "created_at": lambda i: f"2026-01-{1 + i % 9:02}",
    "tokens": lambda i: i % 9,
    "difficulty": lambda i: ["easy", "hard"][i % 2],
    "category": lambda i: ["law", "art"][i % 2],
    "title": lambda i: ["Emma", "Ulysses", "Faust"][i * i % 3],
    "confidence": lambda i: i / 40,
    "image_width": lambda i: 3 + i % 4,
    "row": lambda i: i,
    "file": lambda i: ["a", "b"][i % 2],
}


@pytest.mark.parametrize("name", HARMLESS)
def test_what_changes_no_number_is_not_asked_about(tmp_path, name):
    assert not seen(read(tmp_path, graded(**{name: HARMLESS[name]})))


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("brevity", lambda i: i % 7 / 7, "score=brevity"),
        ("wit", lambda i: 1 + i % 4, "score=wit"),
        ("polite", lambda i: i % 3 > 0, "score=polite"),
        ("outlet", lambda i: ["Post", "Times", "Sun"][i * i % 3], "models=outlet"),
    ],
)
def test_what_could_change_a_number_is_asked_about(tmp_path, name, value, words):
    reading = read(tmp_path, graded(**{name: value}))
    (question,) = reading.questions
    assert question.seen == f"{name} has no role in this reading." and question.about == "unused"
    assert question.first.words == ("unused=yes",) and question.second.words == (words,)
    assert question.first.score == pytest.approx(3.0)  # the reading's own
    assert not seen(read(tmp_path, graded(**{name: value}), {"unused": "yes"}))
    assert seen(read(tmp_path, graded(**{name: value}), {"unused": "maybe"}))


def test_a_second_right_answer_is_asked_about(tmp_path):
    rows = graded(reference=lambda i: f"A tale of the {i}.", gold_text=lambda i: f"Old and slow, for {i} lines.")
    (question,) = read(tmp_path, rows).questions
    assert question.second.words in (("target=gold_text",), ("target=reference",))


def test_a_user_who_names_a_column_has_seen_the_others(tmp_path):
    rows = graded(brevity=lambda i: i % 7 / 7)
    assert not seen(read(tmp_path, rows, {"score": "tone_score"}))
    assert seen(read(tmp_path, rows, {"sheet": "", "dataset": "tones"}))  # they name no column


def test_a_plain_score_stands_beside_other_scores(tmp_path):
    """Right or wrong by its name, or letters compared with letters: the other numbers are details."""
    assert not seen(read(tmp_path, right_or_wrong(brevity=lambda i: i % 7 / 7)))
    assert not seen(read(tmp_path, right_or_wrong(correct=lambda i: i % 3 == 0, brevity=lambda i: i % 7 / 7)))
    # but not beside what may be a system
    assert seen(read(tmp_path, right_or_wrong(outlet=lambda i: ["Post", "Times", "Sun"][i * i % 3])))


def test_several_columns_are_one_question_and_a_score_comes_first(tmp_path):
    more = {f"trait{k}": (lambda i, k=k: ["Bern", "Rome", "Oslo"][i * (k + i) % 3]) for k in range(5)}
    reading = read(tmp_path, graded(**more, brevity=lambda i: i % 7 / 7))
    (question,) = reading.questions
    assert question.seen.endswith(" … have no role in this reading.") and question.second.words == ("score=brevity",)


def test_facts_about_questions_and_systems_are_explained(tmp_path):
    rows = []
    for i in range(30):
        for model, host in (("alpha-1", "here"), ("beta-2", "there")):
            grade = {"tone_score": 1 + (i + len(host)) % 5, "host": host, "outlet": ["Post", "Sun"][i % 2]}
            rows.append({"id": i, "prompt": f"Write about {i}.", "model": model, "response": f"It was {i} {host}."} | grade)
    assert not seen(read(tmp_path, rows))
    varied = [row | {"outlet": ["Post", "Sun"][place * place % 3 % 2]} for place, row in enumerate(rows)]
    assert seen(read(tmp_path, varied)) == ["outlet has no role in this reading."]


def test_another_spelling_of_the_output_is_explained(tmp_path):
    rows = right_or_wrong(label_said=lambda i: {"A": "yes it is", "B": "no", "C": "maybe", "D": "never"}["ABCD"[i * i % 4]])
    assert not seen(read(tmp_path, rows))
    assert not seen(read(tmp_path, graded(raw_output=lambda i: f"<s>Once upon a time there was {i}.</s>")))


def test_cells_that_are_too_long_to_compare_are_refused_in_a_sentence(tmp_path, monkeypatch):
    import duckdb

    from flipcore.core.errors import BadInput

    class Full:
        def execute(self, *_):
            raise duckdb.OutOfMemoryException("Out of Memory Error: failed to allocate")

    with pytest.raises(BadInput, match="12 rows need more than 700MB"):
        Table(Full(), "t", ("a",), 12).rows("SELECT 1")
