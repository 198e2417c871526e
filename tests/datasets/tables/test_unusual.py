"""Readings that are not of an ordinary kind are asked about; those of an ordinary kind are not."""

import json

import pytest

from flipcore.datasets.tables.reading import read_table
from flipcore.datasets.tables.sentence import sentence

pytestmark = pytest.mark.usefixtures("allowed_folders")


def read(tmp_path, rows, words=None):
    path = tmp_path / "table.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return read_table(path, words)


def rows_with(columns, n=24):
    """Return `n` rows; `columns` are name → value of row i."""
    return [{name: value(i) for name, value in columns.items()} for i in range(n)]


def choices(*systems):
    """Return columns of questions with a right letter, and of the letters that each system chose."""
    columns = {"id": lambda i: i, "question": lambda i: f"Which tree is {i}?", "right_answer": lambda i: "ABCD"[i % 4]}
    for place, system in enumerate(systems, start=2):
        columns[system] = lambda i, place=place: "ABCD"[i % 4 if i % place else 0]
    return columns


def replies(**more):
    """Return columns of questions and replies, and further columns."""
    columns = {"id": lambda i: i, "question": lambda i: f"What is a tree of {i}?", "response": lambda i: f"It has leaves, {i}."}
    return columns | more


def verdict(share):
    return lambda i: int(i % share > 0)


UNUSUAL = {
    "systems that no list knows": (choices("red", "blue"), "Columns are read as those of 2 systems, red, blue.", "text=red"),
    "right or wrong in all rows": (
        replies(relevance=lambda i: 1),
        "relevance is the score, and it is 1 in every row.",
        "score=",
    ),
    "people's ratings of pictures": (
        {"filename": lambda i: f"{i}.png", "human_quality": lambda i: 1 + i % 5},
        "human_quality is the score by its name, and no column holds an output or a system.",
        "people=",
    ),
    "numbers that may be runs": (
        {"task": lambda i: f"T{i % 6}", "model": lambda i: ["gpt-6", "opus"][i // 6 % 2]}
        | {"phase": lambda i: 1 + i // 12, "score": lambda i: i % 5},
        "Rows of one question differ in phase (1, 2).",
        "models=model,phase",
    ),
    "numbers beyond a hundred": (
        replies(score=lambda i: 90 + 3 * i),
        "score is the score, with numbers from 90 to 159.",
        "score=",
    ),
    "numbers below zero": (replies(score=lambda i: i - 12), "score is the score, with numbers from -12 to 11.", "score="),
    "a search beside the output": (
        replies(recall=lambda i: (i % 5) / 7, faithfulness=lambda i: (i % 4) / 9),
        "recall, faithfulness are scores of several kinds.",
        "score=faithfulness",
    ),
    "scores on two scales": (
        replies(faithfulness=lambda i: (i % 4) / 9, quality_score=lambda i: 1 + i % 5),
        "faithfulness, quality_score are scores of several kinds.",
        "score=quality_score",
    ),
    "right and wrong behind a number": (
        replies(faithfulness=lambda i: (i % 4) / 9, is_correct=verdict(3)),
        "faithfulness, is_correct are scores of several kinds.",
        "score=is_correct",
    ),
}


@pytest.mark.parametrize("case", UNUSUAL)
def test_what_is_unusual_is_asked_about(tmp_path, case):
    columns, seen, second = UNUSUAL[case]
    reading = read(tmp_path, rows_with(columns))
    (question,) = reading.questions
    assert question.seen == seen
    assert second in question.second.words
    for choice in question.choices:
        words = dict(word.split("=", 1) for word in choice.words)
        answered = read(tmp_path, rows_with(columns), words)
        assert not answered.questions and not answered.refusal


ORDINARY = {
    "models": choices("gpt-4o", "claude-3"),
    "a contrast": choices("baseline", "tuned"),
    "a method that no list knows beside a known one": choices("baseline", "blue"),
    "ways of asking": choices("cot_pred", "fast_pred"),
    "right in all rows": replies(correct=lambda i: 1),
    "aspects on one scale": replies(fluency=lambda i: 1 + i % 5, coherence=lambda i: 1 + i % 4),
    "Ragas' scores": replies(faithfulness=lambda i: (i % 4) / 9, context_recall=lambda i: (i % 5) / 7),
    "right and wrong before a number": replies(is_correct=verdict(3), similarity=lambda i: (i % 5) / 7),
    "people's ratings of outputs": replies(human_rating=lambda i: 1 + i % 5),
    "numbers that are called runs": {"task": lambda i: f"T{i % 6}", "model": lambda i: ["gpt-6", "opus"][i // 6 % 2]}
    | {"run": lambda i: 1 + i // 12, "score": lambda i: i % 5},
    "percentages": replies(score=lambda i: 4 * i),
}


@pytest.mark.parametrize("case", ORDINARY)
def test_what_is_ordinary_is_not_asked_about(tmp_path, case):
    reading = read(tmp_path, rows_with(ORDINARY[case]))
    assert reading.scores and not reading.questions


def test_arms_of_two_settings_are_listed_apart(tmp_path):
    """ "8 arms (fixed, semantic, recursive, semantic …)" could be read as eight names."""
    rows = []
    for i in range(6):
        for prompt in ("cot", "plain"):
            for shots in ("few", "zero"):
                rows.append({"id": i, "prompt_type": prompt, "method": shots, "correct": (i + len(prompt)) % 2})
    assert "4 arms (few, cot; zero, cot; few, plain; zero, plain)" in sentence(read(tmp_path, rows))


@pytest.mark.parametrize(("right", "wrong"), [("sí", "no"), ("sim", "não"), ("Resolved", "Not resolved")])
def test_words_for_right_and_wrong_keep_their_accents(tmp_path, right, wrong):
    """Names lost their accents, and cells no longer matched the words without them."""
    rows = rows_with(replies(outcome=lambda i: right if i % 3 else wrong))
    reading = read(tmp_path, rows)
    assert reading.roles.scores == ("outcome",) and reading.scores["", "outcome"] == 2 / 3
