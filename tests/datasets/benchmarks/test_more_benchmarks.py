"""ARC, MATH and TriviaQA from local copies in the hub's columns and in the originals'."""

import json

import pytest

from flipcore.axes import axis_of as axis
from flipcore.core.contracts import Ask, Material, Paraphrase
from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.core.study import ItemSource
from flipcore.datasets import load, load_report
from flipcore.datasets.benchmarks.competition_math import boxed, number
from flipcore.extractors import extractor_of as extractor
from flipcore.text.prompts import prompt

pytestmark = pytest.mark.usefixtures("allowed_folders")


def written(tmp_path, *rows, name="rows.jsonl"):
    path = tmp_path / name
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return str(path)


def test_arc_in_the_hubs_columns_and_in_the_originals(tmp_path):
    hub = {
        "id": "M1",
        "question": "Which is a metal?",
        "answerKey": "2",
        "choices": {"text": ["rye", "tin"], "label": ["1", "2"]},
    }
    original = {
        "id": "M1",
        "answerKey": "B",
        "question": {"stem": "Which is a metal?", "choices": [{"text": "rye", "label": "A"}, {"text": "tin", "label": "B"}]},
    }
    first, second = (load(ItemSource("arc", path=written(tmp_path, row)))[0] for row in (hub, original))
    assert first == second and (first.options, first.target, first.published) == (("rye", "tin"), "1", "2018-03-14")


def test_an_answer_that_names_no_choice_is_refused_by_line(tmp_path):
    good = {"id": "1", "question": "?", "choices": {"text": ["a", "b"], "label": ["A", "B"]}, "answerKey": "A"}
    report = load_report(ItemSource("arc", path=written(tmp_path, good, good | {"id": "2", "answerKey": "E"})))
    assert len(report.items) == 1 and report.refusals[0][0] == 2 and "labelled A, B" in report.refusals[0][1]


def test_trivia_has_its_answer_as_solution_and_every_spelling_as_a_right_answer(tmp_path):
    row = {"question": "Who was he?", "question_id": "tc_1", "answer": {"value": "Ada", "aliases": ["Ada", "A. L."]}}
    (item,) = load(ItemSource("trivia_qa", path=written(tmp_path, row)))
    assert (item.kind, item.solution, item.target) == ("text", "Ada", "Ada\nA. L.")
    assert (item.question, prompt(item).text) == ("Who was he?", "Question: Who was he?\nAnswer:")
    with pytest.raises(BadInput, match="no answer value"):
        load(ItemSource("trivia_qa", path=written(tmp_path, row | {"answer": {"value": ""}})))
    with pytest.raises(BadInput, match="hides its answers"):
        load(ItemSource("trivia_qa", path=written(tmp_path, row | {"answer": {"value": "<unk>"}})))


def test_trivia_as_it_was_published_is_the_same_item(tmp_path):
    hub = {"question": "Who was he?", "question_id": "tc_1", "answer": {"value": "Ada", "aliases": ["Ada", "A. L."]}}
    original = {
        "Data": [
            {
                "Question": "Who was he?",
                "QuestionId": "tc_1",
                "Answer": {"Value": "Ada", "Aliases": ["Ada", "A. L."], "NormalizedValue": "ada"},
            }
        ],
        "Domain": "Web",
        "VerifiedEval": False,
    }
    first = load(ItemSource("trivia_qa", path=written(tmp_path, hub)))
    second = load(ItemSource("trivia_qa", path=written(tmp_path, original, name="dev.json")))
    assert first == second and len(first) == 1 and first[0].meta == second[0].meta


def test_the_losses_of_a_question_in_free_words_follow_the_same_cue_under_every_wording(tmp_path):
    """A rewording replaces the question and nothing else, or the missing cue would be measured instead of the wording."""
    row = {"question": "Who was he?", "question_id": "tc_1", "answer": {"value": "Ada"}}
    (item,) = load(ItemSource("trivia_qa", path=written(tmp_path, row)))
    pair = Paraphrase("p", "What was his name?", "accepted", "hand")
    base, other = axis("paraphrase").variants(item, "plain", generator(0, "t"), Material({item.item_id: [pair]}))
    assert (base.prompt.text, other.prompt.text) == ("Question: Who was he?\nAnswer:", "Question: What was his name?\nAnswer:")
    (need,) = extractor("answer_loss").needs(item, other, Ask(), ())
    assert (need.request.prompt, need.request.continuation) == (other.prompt.text, " Ada")


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ("42", "42"),
        ("-7", "-7"),
        ("3.50", "7/2"),
        ("\\frac{3}{4}", "3/4"),
        ("-\\frac{10}{4}", "-5/2"),
        ("\\dfrac12", "1/2"),
        ("1,\\!200", "1200"),
        ("\\$18.90", "189/10"),
        ("90^\\circ", "90"),
        ("25\\%", "25"),
        ("12\\text{ cm}", "12"),
        ("x+1", None),
        ("(2,3)", None),
        ("\\sqrt{2}", None),
        ("\\text{Evelyn}", None),
        ("\\frac{1}{0}", None),
        ("", None),
    ],
)
def test_a_boxed_answer_is_a_number_only_where_it_is_one(answer, value):
    assert number(answer) == value


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("so \\boxed{\\frac{1}{2}}.", "\\frac{1}{2}"),
        ("\\boxed{1} then \\boxed{2}", "2"),
        ("none", None),
        ("\\boxed{half", None),
    ],
)
def test_the_last_box_counts_with_its_braces_matched(text, inner):
    assert boxed(text) == inner


def test_math_from_a_file_and_from_the_originals_folder(tmp_path):
    rows = [
        {"problem": "2+2?", "level": "Level 1", "type": "Algebra", "solution": "It is $\\boxed{4}$."},
        {"problem": "Factor.", "level": "Level 2", "type": "Algebra", "solution": "$\\boxed{(x+1)^2}$"},
    ]
    items = load(ItemSource("math", path=written(tmp_path, *rows)))
    assert [(item.kind, item.target) for item in items] == [("number", "4"), ("text", "(x+1)^2")]
    assert items[0].meta["level"] == "Level 1" and items[0].category == "Algebra"
    folder = tmp_path / "test" / "algebra"
    folder.mkdir(parents=True)
    for i, row in enumerate(rows):
        (folder / f"{i}.json").write_text(json.dumps(row))
    assert [item.kind for item in load(ItemSource("math", path=str(tmp_path / "test")))] == ["number", "text"]
    with pytest.raises(BadInput, match="no \\\\boxed answer"):
        load(ItemSource("math", path=written(tmp_path, rows[0] | {"solution": "4"})))
