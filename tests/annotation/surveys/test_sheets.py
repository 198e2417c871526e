"""Surveys: a sheet follows from the annotator's name, no entry stands on it twice, and answers come back by every way."""

import csv
import io
import json
from collections import Counter

import pytest
from scipy.stats import chisquare

from flipcore.annotation.surveys import sheets
from flipcore.annotation.surveys.sheets import (
    CHECK,
    TRIPLE,
    Survey,
    answer_row,
    most_triples,
    new_survey,
    sheet,
    survey_results,
    tally,
)
from flipcore.claims.holdout import survey_claim
from flipcore.core.errors import BadInput, OverBudget
from flipcore.core.folders import admit
from flipcore.core.records import Item
from flipcore.models import model_cards
from flipcore.stats.holdout.survey import odd_one_out_survey
from flipcore.store.judgements import SURVEY_ANSWERS
from flipcore.store.queries import holdout, judgements

pytestmark = pytest.mark.usefixtures("allowed_folders", "allowed_callables")


def entries(word, n, start=0):
    return [
        Item.make(
            dataset=word,
            key=str(i),
            kind="choice",
            question=f"What does {word} number {i} eat?",
            options=("grass", f"leaf {i}"),
            target="0",
        )
        for i in range(start, start + n)
    ]


TARGET, RETRO = entries("antelope", 40), entries("zebra", 30)
ITEMS = {item.item_id: item for item in TARGET + RETRO}


@pytest.fixture
def survey(store):
    made = new_survey("Which one?", TARGET, RETRO, seed=3)
    holdout.keep_survey(store, made.row("sets"), TARGET + RETRO)
    return made


def test_a_sheet_is_the_same_whenever_its_annotator_comes_and_another_for_others(survey):
    assert sheet(survey, "Ada") == sheet(survey, "Ada") != sheet(survey, "Grace")
    assert Survey.of_design(json.loads(json.dumps(survey.row("sets")["design"]))) == survey


@pytest.mark.slow
@pytest.mark.parametrize("annotator", ["Ada", "Grace", "", "é\n'", "x" * 80])
def test_a_sheet_holds_ten_examples_of_each_set_ten_triples_and_three_checks_with_no_entry_twice(survey, annotator):
    made = sheet(survey, annotator)
    triples = [question for question in made.questions if question.kind == TRIPLE]
    assert (len(made.target_examples), len(made.retro_examples), len(triples), len(made.questions)) == (10, 10, 10, 13)
    shown = [*made.target_examples, *made.retro_examples, *(one for question in triples for one in question.choices)]
    assert len(shown) == len(set(shown)) == 50
    for question in triples:
        assert [one in survey.retro_ids for one in question.choices].count(True) == 1 and question.odd in survey.retro_ids
    for question in made.questions:
        if question.kind == CHECK:
            assert question.odd is None and question.choices[question.right].startswith("Please choose this text")


def test_the_right_place_is_each_of_three_equally_often(survey):
    places = Counter(question.right for i in range(200) for question in sheet(survey, str(i)).questions)
    assert chisquare([places[place] for place in range(3)]).pvalue > 1e-3


def test_every_retro_entry_is_asked_about(survey):
    assert {question.odd for i in range(40) for question in sheet(survey, str(i)).questions} == {None, *survey.retro_ids}


def test_a_text_in_both_sets_is_never_shown_and_one_twice_in_a_set_counts_once():
    both = [
        Item.make(dataset="copy", key=str(i), kind="choice", question=one.question, options=one.options, target="1")
        for i, one in enumerate([*TARGET[:3], RETRO[0], RETRO[0]])
    ]
    made = new_survey("s", TARGET, RETRO + both, n_examples=5)
    hidden = {item.item_id for item in (*TARGET[:3], *both)}
    assert not hidden & {*made.target_ids, *made.retro_ids} and len(made.retro_ids) == 30


def test_a_set_too_small_for_one_sheet_is_refused_with_the_numbers():
    with pytest.raises(BadInput, match="needs 30 different benchmark entries .* there are 29"):
        new_survey("s", TARGET[:29], RETRO)
    with pytest.raises(BadInput, match="needs 20 different holdout entries .* there are 19"):
        new_survey("s", TARGET, RETRO[:19])
    with pytest.raises(BadInput, match="at least one triple"):
        new_survey("s", TARGET, RETRO, n_triples=0)


def test_the_most_triples_is_what_still_fits():
    most = most_triples(TARGET, RETRO, 10)
    assert most == 15 and len(new_survey("s", TARGET, RETRO, n_triples=most).target_ids) == 40
    with pytest.raises(BadInput):
        new_survey("s", TARGET, RETRO, n_triples=most + 1)
    assert most_triples(TARGET, RETRO, 60) == 0


def test_an_answer_that_is_changed_counts_as_changed(store, survey):
    right = sheet(survey, "Ada").questions[0].right
    judgements.keep(store, SURVEY_ANSWERS, [answer_row(survey, "Ada", 0, (right + 1) % 3)])
    judgements.keep(store, SURVEY_ANSWERS, [answer_row(survey, "Ada", 0, right)])
    found = judgements.standing(store, SURVEY_ANSWERS, survey_id=survey.survey_id)
    assert len(found) == 1 and found[0]["is_correct"] and found[0]["chosen"] == sheet(survey, "Ada").questions[0].choices[right]
    assert store.rows("SELECT count(*) FROM survey_answers") == [(2,)]


def filled(survey, annotator, n_checks_missed=0):
    """All answers right but some checks."""
    rows = []
    for i, question in enumerate(sheet(survey, annotator).questions):
        miss = question.kind == CHECK and n_checks_missed > 0
        n_checks_missed -= miss
        rows.append(answer_row(survey, annotator, i, (question.right + miss) % 3))
    return rows


def test_who_misses_more_than_one_check_is_not_counted(survey):
    rows = filled(survey, "careful") + filled(survey, "hasty", 1) + filled(survey, "absent", 2)
    found = tally(rows)
    assert found.left_out == ("absent",) and set(found.annotators) == {"careful", "hasty"}
    assert len(found.hits) == 20 and set(found.hits) == {1.0} and set(found.entries) <= set(survey.retro_ids)


def test_a_survey_without_an_answer_is_to_be_sent_and_no_survey_is_to_be_built(store, survey):
    assert survey_results(store, "others") == (None, "Not run: build a survey under Survey.")
    outcome, why = survey_results(store, "sets")
    assert outcome is None and why == "Not run: no survey on these sets has an answer yet. Send its link under Survey."


def test_people_and_models_are_counted_apart_and_unreadable_replies_are_no_answers(survey):
    rows = filled(survey, "Ada")
    model = [row | {"is_model": True} for row in filled(survey, "m")]
    first = next(row for row in model if row["kind"] == TRIPLE)
    first |= {"chosen": None, "is_correct": None}
    people, models = tally(rows + model), tally(rows + model, is_model=True)
    assert set(people.annotators) == {"Ada"} and (len(models.hits), models.n_unreadable) == (9, 1)


def test_one_person_who_finds_all_ten_is_reported_with_an_exact_interval(survey):
    found = tally(filled(survey, "Ada"))
    result = odd_one_out_survey(found.hits, found.entries, found.annotators)
    # (1/3)^10 = 1.7e-5; Clopper and Pearson's lower limit of 10 of 10 is .025^(1/10) = .6915
    assert result.p == pytest.approx(3.0**-10) and result.accuracy.low == pytest.approx(0.025**0.1)
    assert survey_claim(result).text.startswith("One person finds the holdout entry")


def returned(content, survey, folder, kind="csv"):
    path = folder / f"sheets.{kind}"
    path.write_bytes(content)
    admit(folder)
    return sheets.returned(path, {survey.survey_id: survey})


def sent_back(rows, answers, kind="csv", delimiter=","):
    """A downloaded file with the answers filled in by place."""
    made = [dict(row) for row in rows]
    for row in made:
        row["answer"] = answers.get(row["question"], "")
    if kind == "json":
        return json.dumps(made).encode()
    out = io.StringIO()
    table = csv.DictWriter(out, list(made[0]), delimiter=delimiter)
    table.writeheader()
    table.writerows(made)
    return out.getvalue().encode("utf-8-sig")


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "delimiter"), [("csv", ","), ("csv", ";"), ("json", "")])
def test_a_sheet_that_was_filled_in_elsewhere_comes_back_as_the_same_answers(survey, kind, delimiter, tmp_path):
    rows = sheets.sheet_rows(survey, ["Ada"], ITEMS)
    assert len(rows) == 20 + 13 and rows[0]["question"] == "example of set 1"
    right = {str(i + 1): str(question.right + 1) for i, question in enumerate(sheet(survey, "Ada").questions)}
    found = returned(sent_back(rows, right, kind, delimiter), survey, tmp_path, kind)
    assert found.refusals == () and list(found.rows) == filled(survey, "Ada")


def test_the_file_shows_what_the_browser_shows_and_never_which_is_right(survey):
    rows = sheets.sheet_rows(survey, ["Ada"], ITEMS)
    text = sheets.file_text(rows)
    first = next(question for question in sheet(survey, "Ada").questions if question.kind == TRIPLE)
    assert ITEMS[first.odd].question in text and first.odd not in text and {row["answer"] for row in rows} == {""}


def test_bad_rows_are_refused_by_line_and_good_ones_kept(survey, tmp_path):
    text = "\n".join(
        [
            "survey,annotator,question,answer",
            f"{survey.survey_id},Ada,1,2",
            f"{survey.survey_id},Ada,2,4",
            f"{survey.survey_id},Ada,14,1",
            f"{survey.survey_id},Ada,1,3",
            f'{survey.survey_id},"  ",3,1',
            "nothing,Ada,3,1",
            f"{survey.survey_id},Ada,3,",
            f"{survey.survey_id},Ada",
            f"{survey.survey_id},Ada,4,1",
        ]
    )
    found = returned(text.encode(), survey, tmp_path)
    assert [row["position"] for row in found.rows] == [0, 3]
    said = dict(found.refusals)
    assert list(said) == [3, 4, 5, 6, 7, 8, 9]
    assert "the answer '4'; write 1, 2 or 3" in said[3] and "questions 1 to 13" in said[4] and "first in line 2" in said[5]
    assert "names no annotator" in said[6] and "'nothing', which is not stored" in said[7] and "has no answer;" in said[8]
    assert "has 2 columns and the header has 4" in said[9]


def test_a_cell_of_several_lines_moves_the_number_of_the_line(survey, tmp_path):
    text = f'survey,annotator,question,text_1,answer\n{survey.survey_id},Ada,1,"two\nlines",2\n{survey.survey_id},Ada,2,x,9\n'
    assert returned(text.encode(), survey, tmp_path).refusals[0][0] == 4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff\xfe\x00", "is UTF-16; save it as UTF-8"),
        (b"", "is empty"),
        (b"[1, 2", "not valid JSON"),
        (b"[]", "no rows"),
        (b'{"a": 1}', ""),
        (b"[" * 100_000, "nested too deeply"),
        (b'survey,answer\n"a\x00b",2\n"', ""),
    ],
)
def test_a_file_that_is_none_is_a_sentence(content, said, survey, tmp_path):
    try:
        found = returned(content, survey, tmp_path, "csv" if content.startswith(b"survey") else "json")
    except BadInput as error:
        assert said in str(error)
    else:
        assert said == "" and found.rows == () and found.refusals


def test_what_a_spreadsheet_would_run_is_neutralised_and_read_back(survey, tmp_path):
    rows = sheets.sheet_rows(survey, ["=HYPERLINK(1)"], ITEMS)
    assert "'=HYPERLINK(1)" in sheets.file_text(rows)
    row = {"survey": survey.survey_id, "annotator": "'=HYPERLINK(1)", "question": "1", "answer": "1"}
    assert returned(json.dumps([row]).encode(), survey, tmp_path, "json").rows[0]["annotator"] == "=HYPERLINK(1)"


def test_a_model_that_sees_the_difference_finds_every_entry_and_is_asked_once(store, survey):
    asked = sheets.ask_model(store, survey, ITEMS, "tests.annotation.surveys.annotating:knows", {}, n_sheets=2)
    assert (asked.n_answers, asked.n_unreadable, asked.n_failed, asked.n_reused) == (26, 0, 0, 0)
    found = tally(judgements.standing(store, SURVEY_ANSWERS, survey_id=survey.survey_id), is_model=True)
    assert len(found.hits) == 20 and set(found.hits) == {1.0} and len(set(found.annotators)) == 2
    n_calls = store.rows("SELECT count(*) FROM completions")  # fewer than 26: a check may come twice word for word
    again = sheets.ask_model(store, survey, ITEMS, "tests.annotation.surveys.annotating:knows", {}, n_sheets=2)
    assert again.n_reused == 26 and store.rows("SELECT count(*) FROM completions") == n_calls
    linked = store.rows("SELECT count(*) FROM survey_answers JOIN completions USING (call_id)")
    assert linked[0][0] >= 26


@pytest.mark.slow
def test_a_model_that_always_says_two_misses_the_checks_and_is_left_out(store, survey):
    sheets.ask_model(store, survey, ITEMS, "tests.annotation.surveys.annotating:second", {}, n_sheets=30)
    rows = judgements.standing(store, SURVEY_ANSWERS, survey_id=survey.survey_id)
    found = tally(rows, is_model=True)
    # a check is right one time in three, so at most one of three is missed with probability 7/27
    assert {row["chosen"] is None for row in rows} == {False} and 10 <= len(found.left_out) < 30


def test_replies_that_name_no_text_and_calls_that_fail_are_told(store, survey):
    asked = sheets.ask_model(store, survey, ITEMS, "tests.annotation.surveys.annotating:silent", {})
    assert (asked.n_answers, asked.n_unreadable) == (13, 13) and "13 replies named no single text" in asked.sentence()
    failed = sheets.ask_model(store, survey, ITEMS, "tests.annotation.surveys.annotating:broken", {})
    assert (failed.n_answers, failed.n_failed) == (0, 13) and "no connection" in failed.sentence()


def test_a_model_that_costs_money_is_not_asked_without_a_budget(store, survey):
    with pytest.raises(OverBudget, match="costs money"):
        sheets.ask_model(store, survey, ITEMS, "openai-chat", model_cards())
    with pytest.raises(OverBudget, match="more than its budget"):
        sheets.ask_model(store, survey, ITEMS, "openai-chat", model_cards(), n_sheets=50, budget_usd=0.001)
    assert store.rows("SELECT count(*) FROM completions") == [(0,)]


# A model's reply to a triple counts when it names one text.


@pytest.mark.parametrize(
    ("reply", "place"),
    [
        ("2", 1),
        (" Text 3.", 2),
        ("**1**", 0),
        ("1 or 2", None),
        ("", None),
        ("12", None),
        ("none", None),
        ("2.5", None),
        ("The answer is 2. Yes, 2.", 1),
        ("v1", None),
    ],
)
def test_a_reply_counts_when_it_names_one_text(reply, place):
    assert sheets.place_in(reply) == place
