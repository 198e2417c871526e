"""Recorded outputs: order, scores and text become the pipeline's own records, and what is absent stays absent."""

import json
from dataclasses import replace
from itertools import combinations

import pytest

from flipcore.core.errors import BadInput
from flipcore.core.records import ABSENT, OK, UNREADABLE
from flipcore.datasets.recorded.columns import Recording
from flipcore.datasets.recorded.fields import Field, readout_of, value_at
from flipcore.datasets.recorded.log_answers import reading_of
from flipcore.datasets.recorded.log_records import LogRecord
from flipcore.extractors import EXTRACTORS
from tests.datasets.files import written
from tests.datasets.recorded.tables import recorded
from tests.extractors.asking import choice, number, shown

pytestmark = pytest.mark.usefixtures("allowed_folders")

FIRST = Field("first_token", "scores", "max_first_token", "max_first_token_score")
MISMATCH = Recording(
    "opinionqa",
    "mistral-7b",
    "question",
    (FIRST,),
    nested="shuffle_",
    options="scores",
    question="original_question",
    text="response",
    text_after="[/INST]",
)
ROBUSTNESS = Recording(
    "mmlu",
    "gemma-7b",
    "question",
    nested="shuffle_",
    options="references",
    text="response",
    text_after="\nmodel\n",
    fields=(
        Field("first_token", "content_score_dict", "max_first_token", "max_first_token_score"),
        Field("sequence", "content_score_dict_seq"),
        Field("human", "label"),
        Field("fourth_token", "fourth"),
    ),
)
SHIFTS = Recording(
    "shifts",
    "mistral-small",
    "prompt_used",
    (Field("written", "parsed_answer"),),
    item="question_id",
    option_pattern=r"^ *<[A-Z]>(.*?)</[A-Z]>",
    order="permutation",
    text="raw_response",
)
FLAT = Recording("made", "m", "prompt", (FIRST, Field("said", "said")), item="id", options="shown", text="text")
ROW = {
    "id": "1",
    "prompt": "A. tin B. oak",
    "shown": ["tin", "oak"],
    "scores": {"A": 2.0, "B": 1.0},
    "said": "oak",
    "text": "B",
}


def pair_flips(records, extractor):
    """(pairs that disagree, usable pairs) over all items, by the plain definition."""
    answers = {}
    for record in records:
        for readout in record.readouts:
            if readout.extractor == extractor and readout.reading.status != "absent":
                answers.setdefault(record.item.item_id, []).append(readout.reading.answer)
    pairs = [pair for several in answers.values() for pair in combinations(several, 2)]
    return sum(one != other for one, other in pairs), len(pairs)


def readings(records, extractor):
    return [readout.reading for record in records for readout in record.readouts if readout.extractor == extractor]


def made(tmp_path, *changes, recording=FLAT):
    return recorded(written(tmp_path / "a.jsonl", [ROW | change for change in changes]).path, recording)


@pytest.mark.stand_in("test_options_are_matched_by_their_text_across_orders")
def test_first_token_flips_of_ten_orders_are_those_of_the_source(shared_data):
    report = recorded(str(shared_data / "mcq_mismatch" / "mistral-7b" / "test.first40.json"), MISMATCH)
    assert (len(report.records), report.refusals) == (400, ())
    assert pair_flips(report.records, "first_token") == (1102, 1800)


@pytest.mark.stand_in("test_the_label_mass_is_bounded_only_by_a_likelier_token_that_is_no_label")
def test_the_label_mass_of_scores_alone_is_unknown_and_bounded(shared_data):
    report = recorded(str(shared_data / "mcq_mismatch" / "mistral-7b" / "test.first40.json"), MISMATCH)
    found = readings(report.records, "first_token")
    assert {reading.label_mass for reading in found} == {None}
    # Item 0: labels sum to exp(15.58) + exp(10.90) + ... against exp(25.27) for "Based": about exp(-9.69 + .01) = 6.3e-5
    assert found[0].reason == "Label mass unknown, at most 6.3e-05: the likeliest first token was 'Based'."


@pytest.mark.stand_in("test_a_recorded_answer_is_read_or_abstained_from")
def test_the_generated_text_of_the_same_rows_is_read_by_the_written_answer(shared_data):
    report = recorded(str(shared_data / "mcq_mismatch" / "mistral-7b" / "test.first40.json"), MISMATCH)
    assert all("[INST]" not in record.completion.text and record.completion.text for record in report.records)
    read = [EXTRACTORS["regex"].read(one.item, one.variant, [one.completion]) for one in report.records]
    assert sum(reading.status == "ok" for reading in read) > 200
    # Row 0 says "the correct answer is C, Rarely; or E, Never": two letters, so no answer.
    assert read[0].status == "unreadable"
    # Row 1 says "the correct answer would be: F. Never", and Never is the item's own option 4 in order 0.
    assert read[1].answer == "4"


@pytest.mark.stand_in("test_options_are_matched_by_their_text_across_orders")
def test_option_shifts_flip_in_content_nine_times_in_150(shared_data):
    report = recorded(str(shared_data / "option_shifts" / "all.jsonl"), SHIFTS)
    assert len(report.records) == 100 and report.refusals == ()
    assert pair_flips(report.records, "written") == (9, 150)
    assert report.records[1].variant.order == (1, 2, 3, 0)


@pytest.mark.stand_in("test_placeholder_scores_are_missing")
def test_an_absent_field_is_missing_and_never_a_disagreement(shared_data):
    folder = shared_data / "mcq_robustness" / "gemma-7b" / "shards"
    report = recorded(str(folder / "shard_0.json_labeled_resolved.json"), ROBUSTNESS)
    gone = readings(report.records, "fourth_token")
    assert {reading.status for reading in gone} == {"absent"}
    assert gone[0].reason == "The record has no field 'fourth'."
    assert pair_flips(report.records, "fourth_token") == (0, 0)


@pytest.mark.stand_in("extractors/test_small_outputs.py::test_a_first_token_that_is_never_a_letter_is_gated_away")
def test_the_first_token_that_is_never_a_letter_disagrees_with_people_more_often_than_not(shared_data):
    folder = shared_data / "mcq_robustness" / "gemma-7b" / "shards"
    found = [recorded(str(folder / f"shard_{k}.json_labeled_resolved.json"), ROBUSTNESS) for k in range(3)]
    records = [record for report in found for record in report.records]
    pairs = [
        (first.answer, human.answer)
        for first, human in zip(readings(records, "first_token"), readings(records, "human"), strict=True)
        if "absent" not in (first.status, human.status)
    ]
    assert abs(sum(one != other for one, other in pairs) / len(pairs) - 0.552) < 0.01  # the published rate
    assert "the likeliest first token was 'The'" in readings(records, "first_token")[0].reason
    assert not [refused for report in found for refused in report.refusals]  # one item has '0.16 N' twice, and stays
    assert {"0.16 N", "0.16 N [2]"} <= {option for record in records for option in record.item.options}


def test_options_are_matched_by_their_text_across_orders(tmp_path):
    base, turned = made(tmp_path, {}, {"shown": ["oak", "tin"], "prompt": "A. oak B. tin"}).records
    assert (base.variant.key, turned.variant.key) == ("base", "variant-1")
    assert (base.variant.order, turned.variant.order) == ((0, 1), (1, 0))
    assert [one.readouts[0].reading.answer for one in (base, turned)] == ["0", "1"]
    assert [one.readouts[1].reading.answer for one in (base, turned)] == ["1", "1"]
    assert base.item == turned.item and base.readouts[0].source_ids == (base.completion.call_id,)


@pytest.mark.parametrize(
    ("said", "status", "answer"),
    [
        ("A", "ok", "0"),
        ("B. oak", "ok", "1"),
        ("(B) oak", "ok", "1"),
        ("oak", "ok", "1"),
        ("AB", "unreadable", None),
        ("B. tin", "unreadable", None),
        ("", "unreadable", None),
        (None, "absent", None),
        (float("nan"), "absent", None),
    ],
)
def test_a_recorded_answer_is_read_or_abstained_from(tmp_path, said, status, answer):
    reading = readings(made(tmp_path, {"said": said}).records, "said")[0]
    assert (reading.status, reading.answer) == (status, answer)


@pytest.mark.parametrize(
    ("scores", "status"), [({"A": 0.0, "B": 0.0}, "absent"), ({}, "absent"), (None, "absent"), ({"tin": -1, "oak": -9}, "ok")]
)
def test_placeholder_scores_are_missing(tmp_path, scores, status):
    assert readings(made(tmp_path, {"scores": scores}).records, "first_token")[0].status == status


def test_a_tie_at_the_top_is_no_answer(tmp_path):
    row = {"shown": ["tin", "oak", "ash"], "scores": {"A": 1.0, "B": 1.0, "C": 0.0}}
    assert readings(made(tmp_path, row).records, "first_token")[0].status == "unreadable"


@pytest.mark.parametrize(
    ("token", "top", "said"),
    [("The", 2.0, "at most"), (" A", 2.0, "only the labels' scores"), (None, 2.0, "only"), ("The", None, "only")],
)
def test_the_label_mass_is_bounded_only_by_a_likelier_token_that_is_no_label(tmp_path, token, top, said):
    record = made(tmp_path, {"max_first_token": token, "max_first_token_score": top})
    assert said in readings(record.records, "first_token")[0].reason


def test_a_bound_by_hand(tmp_path):
    # Labels exp(2) + exp(1) against another token exp(3): (7.389 + 2.718) / (10.107 + 20.086) = 0.335
    record = made(tmp_path, {"max_first_token": "The", "max_first_token_score": 3.0})
    assert "at most 0.33:" in readings(record.records, "first_token")[0].reason


def test_a_record_without_text_is_a_failed_completion(tmp_path):
    completion = made(tmp_path, {"text": None}).records[0].completion
    assert (completion.status, completion.error) == ("failed", "The record holds no generated text.")


def test_two_options_of_one_text_stay_two_and_a_right_answer_in_that_text_means_both(tmp_path):
    twice = {"shown": ["tin", "oak", "tin"], "scores": {"A": 1.0, "B": 0.0, "C": 2.0}, "prompt": "A. tin B. oak C. tin"}
    recording = replace(FLAT, target="right")
    report = made(tmp_path, {"id": "0", "right": "C"} | twice, {"id": "1", "right": "tin"} | twice, recording=recording)
    assert report.refusals == () and [one.item.options for one in report.records] == [("tin", "oak", "tin [2]")] * 2
    assert [one.item.target for one in report.records] == ["2", "0\n2"]
    assert [one.answer for one in readings(report.records, "first_token")] == ["2", "2"]
    turned = made(tmp_path, twice, twice | {"shown": ["oak", "tin", "tin"], "prompt": "A. oak B. tin C. tin"})
    ((_, why),) = turned.refusals
    assert "in another order than its first" in why and len(turned.records) == 1


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"shown": 3}, "wrong type"),
        ({"scores": {"A": "x", "B": 1}}, "are no numbers"),
        ({"scores": {"Q": 1.0}}, "belong to no option"),
    ],
)
def test_an_item_that_does_not_fit_is_refused_and_the_others_load(tmp_path, change, why):
    report = made(tmp_path, {"id": "0"} | change, {"id": "1"})
    assert len(report.records) == 1
    ((line, sentence),) = report.refusals
    assert line == 1 and sentence.startswith("Line 1 ") and why in sentence


@pytest.mark.parametrize(
    ("order", "shown", "line", "why"),
    [
        ([[0, 1], [0, 1]], ["oak", "tin"], 2, "says the order [0, 1], but the prompt shows another"),
        ([[0, 0], [1, 0]], ["oak", "tin"], 1, "has the order [0, 0] for 2 options"),
        ([[0, 1], [1, 0]], ["oak", "ash"], 2, "shows other options"),
    ],
)
def test_a_permutation_that_contradicts_the_prompt_is_refused(tmp_path, order, shown, line, why):
    good = ROW | {"id": "2", "order": [0, 1]}
    rows = [ROW | {"order": order[0]}, ROW | {"order": order[1], "shown": shown}, good]
    recording = Recording("made", "m", "prompt", item="id", options="shown", order="order")
    report = recorded(written(tmp_path / "a.jsonl", rows).path, recording)
    assert report.refusals[0][0] == line and why in report.refusals[0][1]
    # without its base an item is refused whole, else only the row that does not fit
    assert len(report.records) == (1 if line == 1 else 2)
    assert line == 2 or report.refusals[1] == (2, "Line 2 of a.jsonl belongs to the base of line 1, which is refused.")


def test_a_line_that_is_no_row_is_refused_by_its_number(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(ROW) + "\n{half\n[1]\n" + json.dumps(ROW | {"id": "2", "shown": 3}) + "\n", encoding="utf-8")
    report = recorded(str(path), FLAT)
    assert [line for line, _ in report.refusals] == [2, 3, 4] and len(report.records) == 1
    assert "not valid JSON" in report.refusals[0][1] and "wrong type" in report.refusals[2][1]


def test_the_same_prompt_again_is_a_further_sample(tmp_path):
    records = made(tmp_path, {}, {"text": "A"}, {"shown": ["oak", "tin"], "prompt": "A. oak B. tin"}).records
    assert [(one.variant.key, one.readouts[0].sample) for one in records] == [("base", 0), ("base", 1), ("variant-1", 0)]
    assert len({one.completion.call_id for one in records}) == 3 and len({one.variant.variant_id for one in records}) == 2


def test_a_column_can_number_the_samples(tmp_path):
    rows = [{"n": 1}, {"n": 0, "text": "A"}, {"n": 1, "text": "B"}, {"n": "x"}]
    report = made(tmp_path, *rows, recording=replace(FLAT, sample="n"))
    # two rows say that they are sample 1: both outputs are kept, the later one as the next
    assert [one.readouts[0].sample for one in report.records] == [1, 0, 2]
    assert "the sample 'x', which is no whole number" in report.refusals[0][1]


def test_one_prompt_under_two_names_stays_two_variants(tmp_path):
    rows = [{"v": "base"}, {"v": "turned", "said": "tin"}, {"v": "turned", "said": "oak"}]
    report = made(tmp_path, *rows, recording=replace(FLAT, variant="v"))
    assert [(one.variant.key, one.readouts[0].sample) for one in report.records] == [("base", 0), ("turned", 0), ("turned", 1)]
    assert len({one.variant.variant_id for one in report.records}) == 2 and report.n_repeated == 2


def test_the_first_prompt_by_its_own_name_again_is_a_further_sample_of_the_base(tmp_path):
    rows = [{"v": "plain", "n": 1}, {"v": "plain", "n": 2, "said": "tin"}, {"v": "turned", "n": 1}, {"v": "turned", "n": 2}]
    report = made(tmp_path, *rows, recording=replace(FLAT, variant="v", sample="n"))
    places = [(one.variant.key, one.readouts[0].sample) for one in report.records]
    assert places == [("base", 1), ("base", 2), ("turned", 1), ("turned", 2)]


def test_a_variant_called_base_is_the_base_wherever_it_stands(tmp_path):
    report = made(tmp_path, {"v": "turned", "prompt": "other"}, {"v": "base"}, recording=replace(FLAT, variant="v"))
    assert [one.variant.key for one in report.records] == ["base", "turned"]


@pytest.mark.parametrize(("target", "canonical"), [("oak", "1"), ("B", "1"), (1, "1"), (None, None), ("", None)])
def test_a_target_is_an_options_text_label_or_place(tmp_path, target, canonical):
    (record,) = made(tmp_path, {"gold": target}, recording=replace(FLAT, target="gold")).records
    assert record.item.target == record.variant.target == canonical
    assert record.readouts[1].is_correct == (None if canonical is None else True)  # it said oak


def test_a_target_that_names_no_option_is_refused(tmp_path):
    with pytest.raises(BadInput, match="'ash', which names none of the options"):
        made(tmp_path, {"gold": "ash"}, recording=replace(FLAT, target="gold"))


def test_without_options_the_answers_are_numbers(tmp_path):
    rows = [
        {"prompt": "2 and 2?", "said": "4", "gold": 4},
        {"prompt": "Two and two?", "said": "four"},
        {"said": "1,000", "id": 2},
    ]
    recording = Recording("made", "m", "prompt", (Field("written", "said"),), item="id", target="gold")
    report = made(tmp_path, *rows, recording=recording)
    assert [(one.item.kind, one.readouts[0].reading.answer, one.readouts[0].is_correct) for one in report.records] == [
        ("number", "4", True),
        ("number", None, False),
        ("number", "1000", None),
    ]


def test_two_models_in_one_file_are_asked_the_same_item(tmp_path):
    turned = {"shown": ["oak", "tin"], "prompt": "A. oak B. tin"}
    records = made(tmp_path, {"m": "one"}, {"m": "two"} | turned, recording=replace(FLAT, models="m")).records
    assert [one.call.model for one in records] == ["one", "two"] and len({one.item.item_id for one in records}) == 1
    assert [one.variant.order for one in records] == [(0, 1), (1, 0)]


def test_a_recording_that_names_absent_columns_gets_a_sentence(tmp_path):
    with pytest.raises(BadInput, match="Line 1 of a.jsonl has no column 'moon'; correct the recording's columns"):
        made(tmp_path, {}, recording=Recording("made", "m", "moon", options="shown"))
    with pytest.raises(BadInput, match="no column that begins with 'shuffle_'"):
        made(tmp_path, {}, recording=MISMATCH)


# A row's field as a reading: scores, labels, texts, numbers; a column inside of columns.


def read(item, variant, values, field):
    """A row's field by way of what logs say."""
    record = LogRecord("row", "t", item.item_id, item.question, "p", options=item.options)
    return reading_of(item, variant, record, readout_of(field, values, item.kind, item.options, variant.order))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("doc.options[1]", "b"),
        ("resps[0][-1]", 3),
        ("doc.missing", None),
        ("resps[9]", None),
        ("doc.options.x", None),
        ("a.b", "own"),
    ],
)
def test_a_path_leads_to_what_stands_there(path, value):
    row = {"doc": {"options": ["a", "b"]}, "resps": [[1, 2, 3]], "a.b": "own"}
    assert value_at(row, path) == value


@pytest.mark.parametrize(
    ("recorded", "status", "answer"),
    [
        ("C", OK, "2"),
        ("tin", OK, "2"),
        ("none of them", UNREADABLE, None),
        (None, ABSENT, None),
        ({"A": -2.0, "B": -1.0, "C": -0.5, "D": -3.0}, OK, "2"),
        ({"A": -1.0, "B": -1.0, "C": -1.0, "D": -1.0}, ABSENT, None),
        ({"A": -1.0, "B": -1.0, "C": -2.0, "D": -2.0}, UNREADABLE, None),
    ],
)
def test_a_choice_is_read_from_its_label_its_text_or_its_scores(recorded, status, answer):
    reading = read(choice(), shown(choice()), {"field": recorded}, Field("x", "field"))
    assert (reading.status, reading.answer) == (status, answer)


def test_right_or_wrong_without_an_answer_is_a_value_and_a_number_is_read_as_one():
    assert read(choice(), shown(choice()), {"f": True}, Field("x", "f")).value == 1.0
    assert read(number(), shown(number()), {"f": "1,450"}, Field("x", "f")).answer == "1450"


def test_scores_of_no_option_are_a_sentence():
    with pytest.raises(BadInput, match="belong to no option"):
        read(choice(), shown(choice()), {"f": {"Z": 1.0}}, Field("x", "f"))
