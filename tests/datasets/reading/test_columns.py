"""Guessing which column is what, saying so, and being corrected."""

import pytest

from flipcore.core.errors import BadInput
from flipcore.core.study import ItemSource
from flipcore.datasets import load_report
from flipcore.datasets.reading.columns import explain, guess_columns, options_in
from tests.datasets.files import written

pytestmark = pytest.mark.usefixtures("allowed_folders")

LISTED = ["tin", "oak"]
OWN = {"Prompt text": "Which is a metal?", "Choice 1": "tin", "Choice 2": "oak", "Choice 3": "ash", "Topic": "metals"}


@pytest.mark.parametrize(
    ("rows", "mapping"),
    [
        (
            [{"question": "?", "options": LISTED, "answer": "B"}],
            {"question": "question", "options": "options", "target": "answer", "target_as": "letter"},
        ),
        (
            [{"Prompt": "?", "choices": '["tin", "oak"]', "label": 1, "Subject": "s"}],
            {"question": "Prompt", "options": "choices", "target": "label", "category": "Subject", "target_as": "index"},
        ),
        (
            [{"id": 7, "question": "?", "A": "tin", "B": "oak", "answer": "oak"}],
            {"key": "id", "question": "question", "options": ["A", "B"], "target": "answer", "target_as": "text"},
        ),
        (
            [{"question": "?", "option_a": "tin", "option_b": "oak", "option_c": "ash", "target": "a"}],
            {
                "question": "question",
                "options": ["option_a", "option_b", "option_c"],
                "target": "target",
                "target_as": "letter",
            },
        ),
        (
            [
                {"question": "?", "choice1": "tin", "choice2": "oak", "correct": 1},
                {"question": "?", "choice1": "tin", "choice2": "oak", "correct": 2},
            ],
            {"question": "question", "options": ["choice1", "choice2"], "target": "correct", "target_as": "index1"},
        ),
        (
            [{"question": "?", "choices": {"text": LISTED, "label": ["1", "2"]}, "answerKey": "2"}],
            {"question": "question", "options": "choices", "target": "answerKey", "target_as": "letter"},
        ),
        ([{"question": "2 + 2?", "answer": "4"}], {"question": "question", "target": "answer"}),
        (
            [{"qid": "a1", "question text": "2 + 2?", "right answer": "4", "topic": "sums"}],
            {"key": "qid", "question": "question text", "target": "right answer", "category": "topic"},
        ),
        ([{"text": "The harbour wakes."}], {"question": "text"}),
        (
            [OWN | {"Nr": i, "Key": letter} for i, letter in enumerate("BBADC")],
            {
                "key": "Nr",
                "question": "Prompt text",
                "options": ["Choice 1", "Choice 2", "Choice 3"],
                "target": "Key",
                "target_as": "letter",
                "category": "Topic",
            },
        ),
        (
            [
                {"Item no": i, "The question asked": "Which is it now?", "A": "tin", "B": "oak", "Right one": i % 2}
                for i in range(4)
            ],
            {
                "key": "Item no",
                "question": "The question asked",
                "options": ["A", "B"],
                "target": "Right one",
                "target_as": "index",
            },
        ),
        (  # numbers that never repeat are ids, whatever options there are
            [{"key": i, "question": "?", "A": "tin", "B": "oak", "C": "ash", "D": "elm"} for i in range(4)],
            {"key": "key", "question": "question", "options": ["A", "B", "C", "D"]},
        ),
        ([{"id": "a", "question": "one"}, {"id": "a", "question": "two"}], {"question": "question"}),
        ([{"x": 1}], {}),
    ],
)
def test_mappings_are_guessed(rows, mapping):
    assert guess_columns(rows) == mapping


@pytest.mark.parametrize(
    "cell",
    [
        LISTED,
        '["tin", "oak"]',
        "['tin', 'oak']",
        "tin|oak",
        "tin; oak",
        "tin\noak",
        {"text": LISTED, "label": ["A", "B"]},
        [{"text": "tin"}, {"text": "oak"}],
    ],
)
def test_options_are_read_however_they_are_written(cell):
    assert options_in({"o": cell}, "o") == ("tin", "oak")


@pytest.mark.parametrize("cell", [None, "", "one", 3, "[broken", float("nan")])
def test_a_cell_without_a_list_has_no_options(cell):
    assert options_in({"o": cell}, "o") == ()


@pytest.mark.parametrize(
    ("written_as", "answers"),
    [
        ("index", [0, 1, 2]),
        ("index1", [1, 2, 3]),
        ("index", ["0", "1", "2"]),
        ("letter", ["A", "b", "(C)"]),
        ("text", ["4", "2", "3"]),
    ],
)
def test_the_right_answer_is_mapped_to_its_option(tmp_path, written_as, answers):
    rows = [
        {"question": f"q{i}", "options": ["4", "2", "3"] if written_as == "text" else ["x", "y", "z"], "answer": answer}
        for i, answer in enumerate(answers)
    ]
    report = load_report(written(tmp_path / "a.jsonl", rows))
    assert [item.target for item in report.items] == ["0", "1", "2"]


def test_whole_numbers_are_places_even_where_options_are_numbers(tmp_path):
    rows = [{"question": f"q{i}", "options": ["1", "0", "2"], "answer": i} for i in range(3)]
    assert [item.target for item in load_report(written(tmp_path / "a.jsonl", rows)).items] == ["0", "1", "2"]


def test_a_guess_is_explained_in_sentences_and_can_be_corrected(tmp_path):
    rows = [{"question": "q", "q2": "the real one", "options": LISTED, "answer": 1}]
    source = written(tmp_path / "a.jsonl", rows)
    report = load_report(source)
    assert report.notes[0] == "The question is read from column 'question'."
    assert "The right answer is written as a number counted from 0." in report.notes
    corrected = {"question": "q2", "options": "options", "target": "answer", "target_as": "index1"}
    item = load_report(ItemSource("file", path=source.path, columns=corrected)).items[0]
    assert (item.question, item.target) == ("the real one", "0")


def test_several_option_columns_are_explained_and_that_there_is_no_right_answer():
    assert explain({"options": ["A", "B"], "key": "Nr"}) == [
        "The options are read from columns A, B.",
        "The id is read from column 'Nr'.",
        "No column holds a right answer: no score, flips only.",
    ]


def test_one_id_for_different_rows_is_refused_with_a_sentence(tmp_path):
    rows = [{"Nr": i, "question": f"Which is {i}?", "A": "tin", "B": "oak", "Key": "AB"[i % 2]} for i in range(5)]
    path = written(tmp_path / "a.jsonl", rows).path
    columns = {"question": "question", "options": ["A", "B"], "key": "Key"}
    with pytest.raises(
        BadInput, match="The id should be in the column 'Key', but line 1 and line 3 both have 'A' there. Choose"
    ):
        load_report(ItemSource("file", path=path, columns=columns))


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ({"question": "moon"}, "in the column 'moon', which the file does not have; it has answer, options, question"),
        ({"question": "question", "options": ["A", "B"]}, "in the column 'A'"),
        ({"question": "question", "speed": "x"}, "unknown field 'speed'"),
        ({"question": "question", "options": "options", "target": "answer", "target_as": "guess"}, "written as 'guess'"),
        ({"target": "answer"}, "No column looks like the question"),
        ({"question": "options"}, "list instead of text as its question"),
    ],
)
def test_a_mapping_that_does_not_fit_gets_a_sentence(tmp_path, columns, why):
    path = written(tmp_path / "a.jsonl", [{"question": "q", "options": LISTED, "answer": 1}]).path
    with pytest.raises(BadInput, match=why):
        load_report(ItemSource("file", path=path, columns=columns))


@pytest.mark.parametrize(
    "answer, kind, target",
    [
        ("18", "number", "18"),
        ("William Shakespeare", "text", "William Shakespeare"),
        (["The Hague", "the hague", "Den Haag"], "text", "The Hague\nDen Haag"),
        ({"text": ["Paris", "paris"], "answer_start": [3, 3]}, "text", "Paris"),
        ('["Paris", "Lutetia"]', "text", "Paris\nLutetia"),
        ("[1, 2]", "text", "[1, 2]"),  # an interval, no list
        ("$\\frac{k-8}{k+4}$", "text", "$\\frac{k-8}{k+4}$"),
        ([5, 6], "number", "5\n6"),
    ],
)
def test_a_right_answer_without_options_is_a_number_or_a_short_text_in_every_spelling(tmp_path, answer, kind, target):
    (item,) = load_report(written(tmp_path / "x.jsonl", [{"question": "?", "answer": answer}])).items
    assert (item.kind, item.target) == (kind, target)


def test_squads_answers_are_right_answers_and_no_options(tmp_path):
    (item,) = load_report(
        written(tmp_path / "x.jsonl", [{"question": "?", "answers": {"text": ["Paris"], "answer_start": [3]}}])
    ).items
    assert (item.kind, item.target, item.options) == ("text", "Paris", ())


def test_a_long_text_is_no_short_answer(tmp_path):
    rows = [{"question": "?", "answer": "1"}, {"question": "?", "answer": "word " * 80}]
    report = load_report(written(tmp_path / "x.jsonl", rows))
    assert len(report.items) == 1 and "right answer of 399 characters" in report.refusals[0][1]


def test_questions_with_a_short_answer_may_lack_a_key(tmp_path):
    rows = [
        {"question": "Who wrote Hamlet?", "answer": "Shakespeare"},
        {"question": "How many?", "answer": "12"},
        {"question": "Why?", "answer": None},
    ]
    path = written(tmp_path / "x.jsonl", rows).path
    for columns, targets in (
        ({"question": "question", "kind": "text"}, [None, None, None]),
        ({"question": "question", "target": "answer", "kind": "text"}, ["Shakespeare", "12", None]),
    ):
        report = load_report(ItemSource("file", path=path, columns=columns))
        assert [(item.kind, item.target) for item in report.items] == [("text", one) for one in targets]
    assert "No column holds a right answer: no score, flips only." in explain({"question": "question", "kind": "text"})
    for columns in ({"question": "question", "kind": "number"}, {"question": "question", "options": "answer", "kind": "text"}):
        with pytest.raises(BadInput, match="where there are no options"):
            load_report(ItemSource("file", path=path, columns=columns))
