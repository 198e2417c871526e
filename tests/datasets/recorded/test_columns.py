"""What is guessed about a recording's columns, on real files and made ones, and how it is corrected."""

import json
from dataclasses import replace

import pytest

from flipcore.core.errors import BadInput
from flipcore.core.study import REMARKS
from flipcore.datasets.recorded.by_structure import guess_recording
from flipcore.datasets.recorded.columns import (
    Recording,
    columns_of,
    corrected,
    find_unused,
    first_good_rows,
    mapping_of,
    scored_field,
)
from flipcore.datasets.recorded.fields import Field
from flipcore.datasets.tables.roles import OUTPUT, PROMPT, TARGET, part_of
from flipcore.extractors import mathematics
from flipcore.reports.audit import LESS_SURE, audit
from flipcore.runs.log_corrections import corrections_of
from flipcore.runs.log_import import store_logs, study_of
from flipcore.runs.log_survey import survey
from flipcore.store.connection import Store
from flipcore.store.queries import studies
from tests.datasets.files import written
from tests.datasets.recorded import harness_files as made
from tests.datasets.recorded.tables import recorded

pytestmark = pytest.mark.usefixtures("allowed_folders")

FIRST = Field("first_token", "scores", "max_first_token", "max_first_token_score")


@pytest.mark.slow
@pytest.mark.stand_in("test_columns_of_nested_variants_stand_beside_those_of_their_row")
def test_ten_orders_in_numbered_columns_are_found(shared_data):
    found = guess_recording(str(shared_data / "mcq_mismatch" / "mistral-7b" / "test.first40.json"))
    # `references` lists the item's own order, so the options of a prompt are the keys of its scores
    assert found == Recording(
        "test.first40",
        "recorded model",
        "question",
        (FIRST,),
        nested="shuffle_",
        options="scores",
        question="original_question",
        text="response",
        text_after="[/INST]",
    )


@pytest.mark.stand_in("test_a_guess_keeps_to_what_the_rows_bear_out")
def test_a_row_a_variant_with_options_inside_of_the_prompt_is_found(shared_data):
    path = str(shared_data / "option_shifts" / "all.jsonl")
    found = guess_recording(path)
    assert (found.item, found.order, found.prompt, found.text, found.models, found.model) == (
        "question_id",
        "permutation",
        "prompt_used",
        "raw_response",
        "model",
        "mistral-small-latest",
    )
    assert len(recorded(path, found).records) == 100


@pytest.mark.stand_in("test_the_first_tokens_bound_is_asked_for_only_where_its_columns_are")
def test_scores_and_labels_of_people_are_found_beside_each_other(shared_data):
    path = str(shared_data / "mcq_robustness" / "gemma-7b" / "shards" / "shard_0.json_labeled_resolved.json")
    found = guess_recording(path)
    assert [field.extractor for field in found.fields] == ["first_token", "label"] and found.text_after == "\nmodel\n"
    assert recorded(path, found).refusals == ()


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([{"prompt": "2+2?", "output": "4"}], {"prompt": "prompt", "text": "output", "axis": "recorded"}),
        (
            [{"input": "x\n(A) tin\n(B) oak", "completion": "B"}],
            {"prompt": "input", "option_pattern": r"^ *\(?[A-Z][.):](.+)$"},
        ),
        ([{"prompt": "A. tin B. oak", "choices": ["tin", "oak"], "response": "B"}], {"options": "choices"}),
        ([{"prompt": "A. oak B. tin", "choices": ["tin", "oak"], "response": "B"}], {"options": ""}),  # not the order shown
        ([{"prompt": "p", "order": [3, 4]}], {"order": ""}),
        ([{"prompt": 5}], {"prompt": ""}),
        ([{}], {"prompt": "", "text": ""}),
    ],
)
def test_a_guess_keeps_to_what_the_rows_bear_out(tmp_path, rows, expected):
    found = guess_recording(written(tmp_path / "a.jsonl", rows).path)
    assert {key: getattr(found, key) for key in expected} == expected


def test_options_in_a_text_that_no_prompt_shows_are_taken_in_their_own_order(tmp_path):
    fixed = {"options": "red|blue|green", "answer": "blue", "model": "m", "price": 1}
    rows = [
        {"question": question, "variant": variant, "output": said, **fixed}
        for question in ("Sky?", "Sea?")
        for variant, said in (("base", "Answer: B"), ("other", "Answer: A"))
    ]
    path = written(tmp_path / "a.jsonl", rows).path
    found = guess_recording(path)
    assert (found.options, found.target, found.item, found.kind) == ("options", "answer", "question", "choice")
    assert found.axis == "recorded"  # nothing says that the order was changed
    assert find_unused(found, columns_of(first_good_rows(path))) == ["price"]
    records = recorded(path, found).records
    assert len({record.item.item_id for record in records}) == 2 and {record.item.target for record in records} == {"1"}


def test_questions_that_differ_are_items_of_their_own(tmp_path):
    rows = [{"prompt": f"{i}+1?", "variant": "base", "output": "2"} for i in (1, 2)]
    found = guess_recording(written(tmp_path / "a.jsonl", rows).path)
    assert found.item == ""


def test_words_correct_a_guess_and_new_readouts_replace_its_own():
    found = corrected(Recording("d", "m", "p", (FIRST,), text="t"), ["prompt=x", "text=", "text_after=a\\nb"], ["said=word"])
    assert found == Recording("d", "m", "x", (Field("said", "word"),), text_after="a\nb")
    assert corrected(found, [], None) == found


@pytest.mark.parametrize(
    ("words", "read", "why"),
    [
        (["prompt"], None, "'prompt' maps nothing"),
        (["moon=x"], None, "one of the keys model, prompt"),
        (["fields=x"], None, "maps nothing"),
        ([], ["scores"], "names no readout"),
        ([], ["=scores"], "names no readout"),
    ],
)
def test_a_word_that_maps_nothing_is_refused(words, read, why):
    with pytest.raises(BadInput, match=why):
        corrected(Recording("d", "m", "p"), words, read)


def test_columns_of_nested_variants_stand_beside_those_of_their_row():
    rows = [{"question": "q", "v_0": {"prompt": "p"}, "v_1": {"text": "t"}}]
    assert columns_of(rows, "v_") == ["question", "prompt", "text"] and columns_of(rows) == ["question", "v_0", "v_1"]


def test_the_first_tokens_bound_is_asked_for_only_where_its_columns_are():
    assert scored_field("first_token", "scores", ["scores"]) == Field("first_token", "scores")
    assert scored_field("first_token", "scores", ["scores", "max_first_token", "max_first_token_score"]) == FIRST
    assert scored_field("human", "label") == Field("human", "label")


def test_a_mapping_is_plain_data_without_what_is_empty():
    assert mapping_of(Recording("d", "m", "p", (Field("a", "b"),))) == {
        "dataset": "d",
        "model": "m",
        "prompt": "p",
        "axis": "option_order",
        "fields": [{"extractor": "a", "column": "b"}],
    }


@pytest.mark.parametrize("content", ["{half", "[1]\n", "\n"])
def test_a_file_without_a_row_gets_a_sentence(tmp_path, content):
    with pytest.raises(BadInput, match="a.jsonl"):
        first_good_rows(written(tmp_path / "a.jsonl", content).path)


@pytest.mark.parametrize("in_prompt", [True, False])
def test_a_column_an_option_and_a_letter_as_key_make_a_choice(tmp_path, in_prompt):
    """The usual table of multiple choice: id, question, A, B, C, D, target, output, finish_reason."""
    rows = [
        {
            "id": str(i),
            "question": f"Which comes first, {i}?" + "\nA. one\nB. two\nC. three\nD. four" * in_prompt,
            **dict(zip("ABCD", ("one", "two", "three", "four"), strict=True)),
            "target": "ABCD"[i % 4],
            "output": "The answer is B." if i else "Let me think",
            "finish_reason": "stop" if i else "length",
        }
        for i in range(12)
    ]
    path = written(tmp_path / "choice.jsonl", rows).path
    found = guess_recording(path)
    assert (found.options, found.finish, found.kind, found.target) == ("A,B,C,D", "finish_reason", "choice", "target")
    there = {"prompt": "question", "text": "output", "item": "id"}
    assert not find_unused(found, columns_of(first_good_rows(path))) and all(
        getattr(found, key) == name for key, name in there.items()
    )
    records = recorded(path, found).records
    assert records[0].item.options == ("one", "two", "three", "four") and records[0].completion.finish_reason == "length"
    assert [one.item.target for one in records[:5]] == ["0", "1", "2", "3", "0"] and records[
        1
    ].completion.finish_reason == "stop"


def test_numbered_columns_that_hold_no_key_are_no_options(tmp_path):
    rows = [{"id": str(i), "question": f"{i} + 1?", "answer_1": "x", "answer_2": "y", "target": str(i + 1)} for i in range(12)]
    assert guess_recording(written(tmp_path / "sums.jsonl", rows).path).options == ""


# Several answers in one row: a column a model, or a list with an entry a sample.


def accuracies(path, store):
    frame = studies.readouts(store, store_logs(survey([path]), store), everything=True)
    return {key: part["is_correct"].astype(float).mean() for key, part in frame.groupby(["model", "extractor"])}


SUMS = [(k, k + 1, 2 * k + 1) for k in range(12)]


@pytest.mark.slow
def test_an_object_a_model_is_a_row_a_model(tmp_path, store):
    rows = [
        {
            "question": f"What is {a} + {b}?",
            "ground_truth": f"{a} and {b} make {c}.\nA: {c}",
            "gpt-3": {
                "is_correct": a > 5,
                "solution": f"We add the two numbers, {a} and {b}, and have\nA: {c if a > 5 else c + 1}",
            },
            "gpt-4": {"is_correct": True, "solution": f"We add the two numbers, {a} and {b}, and have\nA: {c}"},
        }
        for a, b, c in SUMS
    ]
    assert guess_recording(str(made.lines(tmp_path / "models.jsonl", rows))).model_columns == "gpt-3,gpt-4"
    assert accuracies(tmp_path / "models.jsonl", store) == {
        (model, reader): share for model, share in (("gpt-3", 0.5), ("gpt-4", 1.0)) for reader in ("is_correct", "regex")
    }


@pytest.mark.slow
def test_labels_in_a_column_a_model_are_its_answers_and_a_vote_is_no_model(tmp_path, store):
    def row(k):
        right = "ABC"[k % 3]
        answers = {"a/small": right if k % 2 else "B", "a/large": right, "majority_pred": right, "entropy": 0.1}
        return {"question": f"Which is {k}?", "choices": [f"x{k}", f"y{k}", f"z{k}"], "groundtruth_answer": k % 3} | answers

    path = made.lines(tmp_path / "letters.jsonl", [row(k) for k in range(12)] + [row(12) | {"a/small": None, "a/large": None}])
    assert guess_recording(str(path)).model_columns == "a/small,a/large"
    shares = accuracies(path, store)
    assert shares == {("a/large", "prediction"): 1.0, ("a/small", "prediction"): 8 / 12}
    refusals = survey([path]).refusals
    assert len(refusals) == 1 and "Line 13 of letters.jsonl holds no answer" in refusals[0]


@pytest.mark.slow
def test_outputs_in_a_column_a_model_are_read(tmp_path, store):
    said = {"llama_response": "The sum of these two is {}", "qwen_response": "Both together are {} in all, I think"}
    rows = [
        {"question": f"What is {a} + {b}?", "answer": c} | {name: text.format(c) for name, text in said.items()}
        for a, b, c in SUMS
    ]
    path = made.lines(tmp_path / "texts.jsonl", rows)
    assert guess_recording(str(path)).model_columns == "llama_response,qwen_response"
    assert accuracies(path, store) == {(name, "regex"): 1.0 for name in said}


@pytest.mark.slow
def test_lists_with_an_entry_a_sample_are_samples(tmp_path, store):
    rows = [
        {
            "question": f"What is {a} + {b}?",
            "answer": c,
            "response": [f"It is {c}.", f"It is {c + (a % 2)}."],
            "score": [True, a % 2 == 0],
            "history": [],
        }
        for a, b, c in SUMS
    ]
    path = made.lines(tmp_path / "samples.jsonl", rows)
    recording = guess_recording(str(path))
    assert (recording.sample_columns, recording.sample) == ("response,score", "sample")
    frame = studies.readouts(store, store_logs(survey([path]), store), everything=True)
    assert sorted(frame["sample"].unique()) == [0, 1]
    by_sample = frame.groupby(["extractor", "sample"])["is_correct"].apply(lambda one: one.astype(float).mean())
    assert by_sample.to_dict() == {(name, k): share for name in ("regex", "score") for k, share in ((0, 1.0), (1, 0.5))}


@pytest.mark.slow
@pytest.mark.stand_in("test_an_object_a_model_is_a_row_a_model")
def test_the_four_models_of_gsm8k_are_right_as_often_as_their_file_says(shared_data, store):
    path = shared_data / "gsm8k" / "example_model_solutions.jsonl"
    says = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    models = [name for name, value in says[0].items() if isinstance(value, dict)]
    shares = {name: sum(one[name]["is_correct"] for one in says) / len(says) for name in models}
    assert accuracies(path, store) == {(name, reader): shares[name] for name in models for reader in ("is_correct", "regex")}


def test_a_score_may_be_called_by_the_end_of_its_name(tmp_path):
    table = [
        {"id": n, "question": f"What helps against ailment {n}?", "reference_answer": f"Rest and water, for {n} days at least."}
        | {"model_answer": "Plenty of rest, I would say, and much water besides.", "binary_correct": n % 2, "n_words": n}
        for n in range(8)
    ]
    recording = guess_recording(str(made.lines(tmp_path / "a.jsonl", table)))
    assert (recording.score, recording.text, recording.target) == ("binary_correct", "model_answer", "reference_answer")
    for row in table:
        row |= {"binary_correct": row["id"]}  # counts, which are no rights and wrongs
    assert guess_recording(str(made.lines(tmp_path / "b.jsonl", table))).score == ""


def of_several_tasks(n=12):
    """Each question is to be solved, to be called answerable, and a solution of it, right or wrong, is to be judged."""
    for i in range(n):
        asked = {"question": f"How many trees stand in wood number {i}?", "solution": None}
        yield asked | {
            "task_type": "solving",
            "answer": float(i),
            "model_prediction": f"We count all of them one by one. The answer is: {i}.",
        }
        yield asked | {
            "task_type": "answerable",
            "answer": "Answerable",
            "model_prediction": "Whoever goes there and counts can tell it. The answer is: Answerable",
        }
        for number, word in ((i, "Correct"), (i + 1, "Incorrect")):
            more = {
                "solution": f"I count {number} trees.",
                "answer": word,
                "model_prediction": "We count again and find as many trees. The answer is: Correct",
            }
            yield asked | {"task_type": "judging"} | more


@pytest.mark.slow
def test_a_question_of_several_tasks_is_another_one_in_each_and_of_each_text_that_it_is_about(tmp_path):
    path = made.lines(tmp_path / "several.jsonl", list(of_several_tasks()))
    found = guess_recording(str(path))
    assert (found.tasks, found.prompt, found.text) == ("task_type", "question,solution", "model_prediction")
    assert "question" not in find_unused(found, columns_of(first_good_rows(str(path))))
    looked = survey([path])
    assert looked.kinds == {"solving": "number", "answerable": "text", "judging": "text"} and not looked.n_refused
    store = Store.open(":memory:")
    study_id = store_logs(looked, store)
    said = [one.about for one in audit(store, study_id).findings]
    assert not {"contradicting golds", "repeated items"} & {*said}
    right = studies.readouts(store, study_id).groupby("item_id")["is_correct"].max()
    assert right.sum() == 12 + 12 + 12  # each solved, each answerable, and the right one of two solutions


def test_what_a_row_names_now_and_then_is_no_task(tmp_path):
    free = [{"prompt": f"Do {i}", "task": f"Book flight {i}", "output": "yes", "answer": "yes"} for i in range(8)]
    long = [{"prompt": f"Do {i}", "task": "x" * 80, "output": "yes", "answer": "yes"} for i in range(8)]
    for name, rows in (("free", free), ("long", long)):
        assert guess_recording(str(made.lines(tmp_path / f"{name}.jsonl", rows))).tasks == ""


def test_two_right_answers_to_a_question_now_and_then_are_a_contradiction(tmp_path):
    rows = [{"question": f"Q{i}?", "context": f"c{i}", "output": "yes", "answer": "yes"} for i in range(20)]
    rows.append(rows[3] | {"context": "another", "answer": "no"})
    assert guess_recording(str(made.lines(tmp_path / "once.jsonl", rows))).prompt == "question"


JUDGED = {
    "question": "Which reply is better?",
    "response_A": "It is the oak of the wood.",
    "response_B": "Tin.",
    "label": "A>B",
}
JUDGMENTS = [{"judgment": {"prompt": "p", "response": "[[A>B]]"}, "decision": one} for one in ("A>B", "B>A")]


def refusal_of(tmp_path, rows):
    with pytest.raises(BadInput) as error:
        survey([made.lines(tmp_path / "table.jsonl", rows)])
    return str(error.value)


def test_a_gold_beside_judgments_in_lists_is_no_answer_of_a_model(tmp_path):
    said = refusal_of(tmp_path, [JUDGED | {"judgments": JUDGMENTS, "nr": i} for i in range(4)])
    assert "judgments holds a list of objects in each row" in said and "Write each of them as a row of its own" in said
    messages = [{"role": "user", "content": "Which?"}]
    turns = [{"messages": messages, "prompt": f"Which {i}?", "prediction": "oak", "label": "tin"} for i in range(4)]
    found = guess_recording(str(made.lines(tmp_path / "turns.jsonl", turns)))
    assert found.target == "label" and [one.extractor for one in found.fields] == ["prediction"]


@pytest.mark.parametrize(
    "names", ["A B C D answer", "answer_a answer_b answer_c answer_d correct", "Choice-1 Choice-2 Choice-3 Choice-4 key"]
)
def test_a_table_of_items_is_sent_to_new_study(tmp_path, names):
    words = ["oak", "tin", "ash", "elm"]
    rows = [
        {"question": f"Which wood is number {i}?"}
        | dict(zip(names.split(), [*words[i % 4 :], *words[: i % 4], "ABCD"[i % 3]], strict=True))
        for i in range(12)
    ]
    said = refusal_of(tmp_path, rows)
    assert "no outputs: those are items" in said and "Upload it under New study" in said
    several = [row | {"first_output": "oak is the answer", "second_output": "tin it is"} for row in rows]
    assert guess_recording(str(made.lines(tmp_path / "several.jsonl", several))).model_columns == "first_output,second_output"


FORMULAS = (r"\dfrac{1}{9}", "-49", "37.50", "4a-2", "7", r"12\frac{3}{5}", r"3,\!250", "420", "2", "10")


def of_formulas():
    """Right answers that are numbers and formulas, and two samples of each: right in another form, and wrong."""
    other = ("1/9", "-49.0", r"\frac{75}{2}", "2(2a-1)", "7", r"\frac{63}{5}", "3250", "420", "2", "10")
    for i, (right, same) in enumerate(zip(FORMULAS, other, strict=True)):
        texts = [f"We work it out. The answer is $\\boxed{{{one}}}$." for one in (same, "999")]
        yield {
            "idx": i,
            "question": f"What is it, {i}?",
            "answer": right,
            "response": texts,
            "pred": [same, "999"],
            "score": [True, False],
        }


@pytest.mark.slow
@pytest.mark.parametrize("is_installed", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_a_table_of_formulas_keeps_every_row_and_is_read_as_mathematics(tmp_path, monkeypatch, is_installed):
    if is_installed:
        pytest.importorskip("math_verify", reason="requirements-math.txt installs it")
    else:
        monkeypatch.setattr(mathematics, "find_spec", lambda name: None)
    looked = survey([made.lines(tmp_path / "formulas.jsonl", list(of_formulas()))])
    assert (looked.n_records, looked.n_refused, list(looked.kinds.values())) == (20, 0, ["text"])
    asked_for = [one for one in looked.joining if "pip install -r requirements-math.txt" in one]
    store = Store.open(":memory:")
    study_id = store_logs(looked, store)
    frame, found = studies.readouts(store, study_id), audit(store, study_id).of_grades(LESS_SURE)
    store.close()
    n_right = frame.groupby("extractor")["is_correct"].sum().to_dict()
    assert n_right["score"] == 10
    if is_installed:
        assert n_right == {"score": 10, "pred": 10, "math": 10} and not asked_for
    else:
        assert set(n_right) == {"score", "pred", "text_match"} and "compared as words" in asked_for[0]
        assert asked_for[0] in [one.claim.text for one in found]


@pytest.mark.parametrize(
    ("answers", "kind"),
    [(["3/4", "5", "-2"], ""), (["oak", r"\text{oak}", "tin"], "text"), (["5", "7", "$x^2$"], "text"), (["5", "7", "b"], "")],
)
def test_right_answers_are_formulas_where_no_plain_number_says_them(tmp_path, answers, kind):
    rows = [{"prompt": f"{i}?", "response": "It is 5.", "answer": one} for i, one in enumerate(answers)]
    assert guess_recording(str(made.lines(tmp_path / "a.jsonl", rows))).answers == kind


def of_two_models(n=30):
    """Keys are places from 0, which now and then are the text of another option, as a model's letter may be."""
    for i in range(n):
        options = [f"{wood} {i}" for wood in ("oak", "tin", "ash", "elm")]
        if i % 5 == 0:
            options = ["3", "1", "0", "2"]
        if i == 7:
            options = ["B", "Al", "In", "Tl"]
        letter = "ABCD"[i % 4]
        yield {
            "question": f"Which is it, {i}?",
            "choices": options,
            "answer": i % 4,
            "m-1": letter,
            "m-2": "" if i in (3, 4) else letter,
        }


@pytest.mark.slow
def test_a_place_is_no_text_of_another_option_and_empty_cells_and_refused_rows_are_said(tmp_path):
    rows = list(of_two_models())
    rows[9]["answer"] = 7  # of four options
    path = made.lines(tmp_path / "keys.jsonl", rows)
    looked = survey([path], corrections_of(["model_columns=m-1,m-2"], of_tables=True))  # names that no list knows
    store = Store.open(":memory:")
    study_id = store_logs(looked, store)
    frame, said = studies.readouts(store, study_id), {one.about: one.claim.text for one in audit(store, study_id).findings}
    store.close()
    assert len(frame) == 29 + 27 and frame["is_correct"].all()
    assert said["no score"] == "Cells without an answer, which count in no score, of 29: m-2 2."
    assert said["rows refused"].startswith("2 rows were refused. The first: Line 10 ")
    assert (
        study_of(looked).study_id
        == replace(study_of(looked), items=tuple(map(without_remarks, study_of(looked).items))).study_id
    )


def without_remarks(source):
    return replace(source, options={key: value for key, value in source.options.items() if key != REMARKS})


@pytest.mark.parametrize(
    ("options", "answers", "right"),
    [
        (["2", "3", "1", "4"], [1, 2, 3, 4], ["2", "0", "1", "3"]),  # all of them are texts
        (["oak", "1", "ash", "elm"], [1, 2, 3, 4], ["0", "1", "2", "3"]),  # places from 1
        (["A", "C", "B", "D"], ["A", "B", "C", "D"], ["0", "2", "1", "3"]),
    ],
)
def test_how_a_column_names_right_answers_is_the_same_in_all_its_rows(tmp_path, options, answers, right):
    rows = [{"prompt": f"Which, {i}?", "choices": options, "response": "A", "answer": one} for i, one in enumerate(answers)]
    (file,) = survey([made.lines(tmp_path / "a.jsonl", rows)]).files
    assert [one.targets for one in file.reader.records(file.source, ())] == [(one,) for one in right]


@pytest.mark.slow
def test_rows_without_options_beside_rows_with_some_are_a_task_of_their_own(tmp_path, store):
    options = ["oak", "tin", "ash"]
    table = [
        {
            "id": n,
            "query": f"Example: (A) red\n(B) blue\nWhich is {n}?\n"
            + "\n".join(f"({c}) {o}" for c, o in zip("ABC", options, strict=True)),
        }
        | {"choices": options, "answer": "tin", "response": "The answer is (B)."}
        for n in range(6)
    ]
    table += [
        {"id": n, "query": f"Example: (A) red\n(B) blue\nHow many are {n}?", "choices": None, "answer": str(n)}
        | {"response": f"The answer is {n}."}
        for n in range(6, 12)
    ]
    seen = survey([made.lines(tmp_path / "mixed.jsonl", table)])
    assert seen.kinds == {"mixed": "choice", "mixed without options": "number"} and not seen.n_refused
    frame = studies.readouts(store, store_logs(seen, store), everything=True)
    assert set(frame[frame["extractor"] == "regex"]["is_correct"]) == {True} and frame["item_id"].nunique() == 12


@pytest.mark.slow
def test_right_answers_in_words_beside_numbers_are_one_task(tmp_path, store):
    """As tables of word problems hold them: a name now and then, among quantities."""
    table = [{"id": n, "question": f"How many, {n}?", "answer": float(n), "executed": str(n)} for n in range(6)]
    table += [{"id": n, "question": f"Who, {n}?", "answer": "Ida", "executed": "Ida" if n % 2 else "Max"} for n in range(6, 8)]
    table += [{"id": 8, "question": "Is it?", "answer": True, "executed": "True"}]
    seen = survey([made.lines(tmp_path / "sums.jsonl", table)])
    assert seen.kinds == {"sums": "text"} and not seen.n_refused
    frame = studies.readouts(store, store_logs(seen, store), everything=True).set_index("item_id")
    assert len(frame) == 9 and frame["is_correct"].sum() == 8


@pytest.mark.slow
def test_a_quarter_of_answers_in_words_gives_one_score(tmp_path, store):
    """Three in four right answers were numbers, and the table had two scores without a total."""
    words = ["Paris", "blue", "oxygen"]
    table = []
    for n in range(40):
        right = words[n % 3] if n % 4 == 0 else str(3 * n)
        table.append({"id": n, "question": f"What is part {n}?", "answer": right, "response": right if n % 5 else "no"})
    seen = survey([made.lines(tmp_path / "mixed.jsonl", table)])
    assert seen.kinds == {"mixed": "text"} and not seen.n_refused
    frame = studies.readouts(store, store_logs(seen, store), everything=True)
    assert frame["item_id"].nunique() == 40 and frame["is_correct"].mean() == 0.8


def test_a_column_of_tasks_keeps_words_and_numbers_apart(tmp_path, store):
    table = []
    for n in range(40):
        task, right = ("names", "Ida") if n % 4 == 0 else ("sums", str(3 * n))
        table.append({"id": n, "task": task, "question": f"What, {n}?", "answer": right, "pred": right})
    seen = survey([made.lines(tmp_path / "mixed.jsonl", table)])
    assert set(seen.kinds) == {"names", "sums"} and not seen.n_refused


@pytest.mark.slow
def test_a_programs_result_is_no_other_number_for_its_last_digits(tmp_path, store):
    sums = [(0.1 + 0.2, 0.3), (8.4 - 1e-15, 8.4), (33.333, 33.33), (1e-20, 0.0)]
    table = [{"id": k, "question": f"How much, {k}?", "answer": right, "executed": one} for k, (one, right) in enumerate(sums)]
    seen = survey([made.lines(tmp_path / "sums.jsonl", table)])
    frame = studies.readouts(store, store_logs(seen, store), everything=True)
    assert sorted(frame["is_correct"].map(bool)) == [False, False, True, True]


def _letters(n: int = 12):
    """A row a question that nobody shows: the right letter, and an answer that says it or, every third, the next."""
    said = ["{}. a tower", "So.\n\n### ANSWER  \n{}", "Portanto, a alternativa correta é {}."]
    for k in range(n):
        shown = "ABCDE"[(k + (k % 3 == 2)) % 5]
        yield {"subject": "x", "gold": "ABCDE"[k % 5] + ".", "pred": shown + ".", "response": said[k % 3].format(shown)}


@pytest.mark.slow
def test_right_answers_that_are_letters_make_choices_where_no_options_are_shown(tmp_path, store):
    path = made.lines(tmp_path / "exam.jsonl", [{"id": k} | row for k, row in enumerate(_letters())])
    assert guess_recording(str(path)).letters == tuple("ABCDE")
    seen = survey([path])
    assert seen.kinds == {"exam": "choice"} and not seen.n_refused
    right = studies.readouts(store, store_logs(seen, store), everything=True).groupby("extractor")["is_correct"].mean()
    assert dict(right) == pytest.approx({"regex": 2 / 3, "pred": 2 / 3})
    words = [{"id": k, "gold": one, "response": one} for k, one in enumerate(("A", "B", "Ghent"))]
    assert guess_recording(str(made.lines(tmp_path / "words.jsonl", words))).answers == "text"


@pytest.mark.slow
def test_rows_that_nothing_tells_apart_are_no_two_models_questions(tmp_path, store):
    """Without a question and an id the n-th row of one file need not be that of another: one left out shifts all that follow."""
    rows = list(_letters(60))
    for name, own in (("gpt-4o", rows), ("phi-4", [*rows[:56], *rows[57:]])):
        made.lines(tmp_path / f"{name}.jsonl", own)
    seen = survey(sorted(tmp_path.glob("*.jsonl")))
    assert not seen.n_refused
    frame = studies.readouts(store, store_logs(seen, store), everything=True)
    assert frame.groupby("model")["item_id"].nunique().to_dict() == {"gpt-4o": 60, "phi-4": 59}
    assert frame["item_id"].nunique() == 119


def test_scores_of_options_that_no_row_shows_are_absent(tmp_path):
    scores = {"A": -0.5, "B": -2.5, "C": -3.0}
    rows = [{"question_id": k, "correct": "B", "is_correct": True, "option_logprobs": scores} for k in range(4)]
    seen = survey([made.lines(tmp_path / "scored.jsonl", rows)])
    assert seen.n_records == 4 and not seen.n_refused


def test_questions_about_an_image_are_as_many_as_their_images(tmp_path):
    table = [
        {"id": n, "question": "How many are there?", "image": f"images/{n}.jpg", "answer": str(n), "response": str(n)}
        for n in range(4)
    ]
    record = next(iter(survey([made.lines(tmp_path / "seen.jsonl", table)]).first))
    assert record.question == "How many are there?\n\nimages/0.jpg"
    for row in table:
        row["image"] = "A" * 1_000  # the image itself
    assert guess_recording(str(made.lines(tmp_path / "held.jsonl", table))).question == ""


@pytest.mark.slow
def test_an_empty_result_of_a_program_is_unread_where_a_table_has_no_texts(tmp_path, store):
    table = [{"question": f"What is {n} + {n}?", "answer": 2.0 * n, "executed": 2.0 * n if n < 6 else None} for n in range(8)]
    frame = studies.readouts(
        store,
        store_logs(survey([made.lines(tmp_path / "run.jsonl", [{"prompt": "Examples."}, *table])]), store),
        everything=True,
    )
    assert list(frame["status"]).count("unreadable") == 2 and frame["is_correct"].sum() == 6


def test_a_list_of_one_sample_is_what_was_read(tmp_path):
    table = [{"idx": n, "question": f"What is {n} + {n}?", "gt": str(2 * n), "pred": [str(2 * n)]} for n in range(8)]
    seen = survey([made.lines(tmp_path / "run.jsonl", table)])
    assert [(one.readouts[0].answer, one.targets) for one in seen.first[:2]] == [("0", ("0",)), ("2", ("2",))]


def of_platforms():
    """Exports of platforms, a row each as they write it: name -> (row of the question, right answer, output and score, score)."""
    yield (
        "Braintrust",
        lambda q, a, t, ok: {"input": q, "output": t, "expected": a, "scores": {"Exact": ok}, "metadata": {"model": "m"}},
        "scores.Exact",
    )
    yield (
        "LangSmith",
        lambda q, a, t, ok: {
            "inputs.question": q,
            "outputs.answer": t,
            "reference_outputs.answer": a,
            "feedback.correctness": ok,
        },
        "feedback.correctness",
    )
    yield (
        "Ragas",
        lambda q, a, t, ok: {"question": q, "answer": t, "contexts": ["c"], "ground_truth": a, "faithfulness": 0.3},
        "faithfulness",
    )
    yield (
        "a sheet",
        lambda q, a, t, ok: {
            "#": 1,
            "Question": q,
            "Expected Answer": a,
            "Model Answer": t,
            "Correct?": "No Yes".split()[int(ok)],
        },
        "Correct?",
    )
    yield (
        "Weave",
        lambda q, a, t, ok: {
            "inputs": {"question": q},
            "expected": {"answer": a},
            "output": {"answer": t},
            "scores": {"correct": {"correct": bool(ok)}},
        },
        "scores.correct",
    )
    yield (
        "Phoenix",
        lambda q, a, t, ok: {"input": {"question": q}, "reference_output": {"answer": a}, "output": t, "error": None},
        "",
    )
    yield (
        "DeepEval",
        lambda q, a, t, ok: {"name": "t", "input": q, "actualOutput": t, "expectedOutput": a, "success": bool(ok)},
        "success",
    )
    yield (
        "LiveCodeBench",
        lambda q, a, t, ok: {
            "question_title": "t",
            "question_content": q,
            "output_list": [t],
            "graded_list": [bool(ok)],
            "answer": a,
        },
        "graded_list",
    )
    yield (
        "IFEval",
        lambda q, a, t, ok: {"key": q, "prompt": q, "response": t, "follow_all_instructions": bool(ok), "target": a},
        "follow_all_instructions",
    )
    yield (
        "OpenCompass",
        lambda q, a, t, ok: {"origin_prompt": [{"role": "HUMAN", "prompt": q}], "prediction": t, "gold": a},
        "",
    )


@pytest.mark.parametrize(("row_of", "score"), [pytest.param(row, score, id=name) for name, row, score in of_platforms()])
def test_exports_of_platforms_are_read_as_they_are(tmp_path, row_of, score):
    rows = [row_of(f"What is {n} + {n}?", str(2 * n), f"The answer is {2 * n + (n == 3)}.", float(n != 3)) for n in range(12)]
    path = tmp_path / "export.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    recording, seen = guess_recording(str(path)), survey([path])
    assert recording.score == score and not seen.n_refused
    record = seen.first[1]
    assert (record.prompt, record.text, record.targets) == ("What is 1 + 1?", "The answer is 2.", ("2",))


def test_an_object_of_scores_is_one_a_scorer_or_one_an_option(tmp_path):
    row = {"input": "What is 1 + 1?", "output": "The answer is 2.", "expected": "2"}
    scorers = [row | {"scores": {"Exact": float(n > 2), "Tone": 0.25}} for n in range(8)]
    recording = guess_recording(str(made.lines(tmp_path / "scorers.jsonl", scorers)))
    assert recording.score == "scores.Exact,scores.Tone" and not recording.fields
    options = [row | {"scores": {"A": 0.75, "B": 0.25}} for n in range(8)]
    recording = guess_recording(str(made.lines(tmp_path / "options.jsonl", options)))
    assert recording.score == "" and [one.column for one in recording.fields] == ["scores"]


def test_turns_of_a_prompt_are_set_out_and_its_system_message_stands_first(tmp_path):
    turns = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is 1 + 1?"}]
    seen = survey([made.lines(tmp_path / "chat.jsonl", [{"prompt": turns, "response": "The answer is 2.", "answer": "2"}] * 2)])
    assert seen.first[0].prompt == "Be brief.\n\nWhat is 1 + 1?"


def of_several():
    """Rows that hold several answers, from (question, right answer, texts, rights) of two: name -> (row, models, runs)."""

    def objects(q, a, texts, rights):
        several = [{"text": text, "is_correct": right} for text, right in zip(texts, rights, strict=True)]
        return {"id": q, "prompt": q, "reference": a, "generations": several}

    def wide(*columns):
        return lambda q, a, texts, rights: (
            {"Question": q, "Expected": a} | dict(zip(columns, [*texts, *rights] if len(columns) > 2 else texts, strict=True))
        )

    yield (
        "plural",
        lambda q, a, texts, rights: {
            "problem": q,
            "answer": a,
            "completions": texts,
            "rewards": [float(one) for one in rights],
        },
        ["recorded model"],
        2,
    )
    yield (
        "questions",
        lambda q, a, texts, rights: {"problem": q, "answer": a, "responses": texts, "correct": rights},
        ["recorded model"],
        2,
    )
    yield ("objects", objects, ["recorded model"], 2)
    yield ("models and scores", wide("gpt-4o", "llama", "gpt-4o correct", "llama correct"), ["gpt-4o", "llama"], 1)
    yield ("called after models", wide("a_output", "b_output", "a_score", "b_score"), ["a", "b"], 1)
    yield ("models alone", wide("gpt-4o", "Claude 3.5"), ["Claude 3.5", "gpt-4o"], 1)


SLOW_ROWS = ("plural", "called after models")  # others like them are quick


@pytest.mark.slow
@pytest.mark.parametrize(
    ("row_of", "models", "n_runs"),
    [pytest.param(*case, id=name, marks=pytest.mark.slow if name in SLOW_ROWS else ()) for name, *case in of_several()],
)
def test_a_row_of_several_answers_is_read_as_people_write_it(tmp_path, store, row_of, models, n_runs):
    rows = []
    for n in range(20):
        rights = [n % 5 > 0, n % 2 > 0]
        rows.append(row_of(f"What is {n} + {n}?", str(2 * n), [f"The sum is {2 * n + (not one)}." for one in rights], rights))
    path = made.lines(tmp_path / "several.jsonl", rows)
    frame = studies.readouts(store, store_logs(survey([path]), store), everything=True)
    apart = ["model", "extractor"] if n_runs == 1 else ["sample", "extractor"]
    shares = frame.groupby(apart, observed=True)["is_correct"].apply(lambda one: one.astype(float).mean())
    assert sorted(frame["model"].unique()) == models and frame["sample"].nunique() == n_runs
    assert set(frame["extractor"]) >= {"regex"} and frame["item_id"].nunique() == 20
    first = dict(zip(models if n_runs == 1 else range(2), (0.8, 0.5), strict=True))
    first = {"Claude 3.5": 0.5, "gpt-4o": 0.8} if "Claude 3.5" in models else first
    assert shares.to_dict() == {(one, name): share for one, share in first.items() for name in set(frame["extractor"])}


@pytest.mark.parametrize(
    "row",
    [
        {
            "question": "q",
            "response": "It is so.",
            "judge1_score": 1,
            "judge1_answer": "yes",
            "judge2_score": 0,
            "judge2_answer": "no",
        },
        {"query": "q", "query_score": 1, "response": "It is so.", "response_score": 0},
    ],
    ids=["judges", "a question and its answer"],
)
def test_what_is_scored_twice_is_no_two_models(tmp_path, row):
    path = made.lines(tmp_path / "twice.jsonl", [row | {"n": n} for n in range(6)])
    assert guess_recording(str(path)).model_columns == ""


@pytest.mark.slow
def test_rows_of_one_question_equally_often_are_its_runs(tmp_path, store):
    rows = [
        {
            "input": f"What is {n} + {n}?",
            "output": f"It is {2 * n + (k == n % 3)}.",
            "score": float(k != n % 3),
            "gts": str(2 * n),
        }
        for n in range(8)
        for k in range(3)
    ]
    now_and_then = [row for i, row in enumerate(rows) if i % 3 <= (i // 3) % 3]
    runs, uneven = (made.lines(tmp_path / name, some) for name, some in (("runs.jsonl", rows), ("uneven.jsonl", now_and_then)))
    assert guess_recording(str(made.lines(tmp_path / "cut.jsonl", rows[:-1]))).item == "input"  # one row is missing
    assert guess_recording(str(runs)).item == "input" and guess_recording(str(uneven)).item == ""
    frame = studies.readouts(store, store_logs(survey([runs], {"column:item": "input"}), store), everything=True)
    assert (frame["item_id"].nunique(), frame["sample"].nunique()) == (8, 3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "readers"),
    [
        (("user_input", "reference", "response"), {"regex"}),  # RAGAS
        (("new_prompt", "ground truth", "llm_output", "pred_ans"), {"regex", "pred_ans"}),
        pytest.param(("prompt_text", "expected_response", "response_text"), {"regex"}, marks=pytest.mark.slow),
        pytest.param(
            ("Prompt", "Ground_Truth", "LLM Output", "Extracted Answer"), {"regex", "Extracted Answer"}, marks=pytest.mark.slow
        ),
        pytest.param(("problem_statement", "answer_en", "model_final_answer"), {"regex"}, marks=pytest.mark.slow),
        pytest.param(("userQuery", "idealAnswer", "chatbotResponse"), {"regex"}, marks=pytest.mark.slow),
        pytest.param(("full_query", "truth", "guess"), {"regex"}, marks=pytest.mark.slow),
    ],
)
def test_the_words_of_names_that_nobody_agreed_on_say_what_a_column_holds(tmp_path, store, names, readers):
    def row(a, b, c):
        cells = (f"What is {a} plus {b}?", str(c), f"Both of them together are {c}.", str(c))
        return dict(zip(names, cells, strict=False)) | {"prompt_tokens": a, "response_time": 0.5, "question_type": "sum"}

    path = made.lines(tmp_path / "words.jsonl", [row(*one) for one in SUMS])
    assert accuracies(path, store) == {("recorded model", reader): 1.0 for reader in readers}


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("system_prompt", ""),  # what an answer depends on and no question
        ("reference_contexts", ""),
        ("answer_b", ""),
        ("answerA", ""),
        ("response 2", ""),
        ("solution", ""),
        ("output.model", ""),
        ("human_answer", ""),
        ("final_answer", ""),  # a model's as often as the key's
        ("qwen_answer", OUTPUT),
        ("system_output", OUTPUT),
        ("expected_response", TARGET),
        ("answer_en", TARGET),
        ("question_en", PROMPT),
    ],
)
def test_a_name_that_says_something_about_an_answer_is_none(name, part):
    assert part_of(name) == part


@pytest.mark.slow
@pytest.mark.parametrize(
    "document",
    [
        {
            "testCases": [{"input": f"What is {n}?", "actualOutput": "It.", "success": n > 3} for n in range(8)],
            "metricsScores": [],
        },
        {
            "columns": ["inputs", "outputs", "exact_match/v1/score"],
            "data": [[f"What is {n}?", "It.", float(n > 3)] for n in range(8)],
        },
        {
            "total_instances": 8,
            "resolved_ids": ["a-4", "a-5", "a-6", "a-7"],
            "unresolved_ids": ["a-0", "a-1"],
            "error_ids": ["a-2", "a-3"],
        },
        {
            "date": "a day",
            "eval": {f"f/{n}": [{"solution": "return", "base_status": "pass" if n > 3 else "fail"}] for n in range(8)},
        },
        {
            "accuracy": 0.5,
            "per task": {
                name: [{"question": f"What is {n}?", "answer": str(n), "response": str(max(n, 4))} for n in some]
                for name, some in (("few", range(4)), ("many", range(4, 8)))
            },
        },
        pytest.param(
            [{"id": n, "gold": "ABCD"[n % 4], "pred": "ABCD"[(n + n // 4) % 4]} for n in range(8)], marks=pytest.mark.slow
        ),
        pytest.param(
            [{"id": n, "answer": "yes", "response": "Yes." if n > 3 else "No."} for n in range(8)], marks=pytest.mark.slow
        ),
    ],
    ids=["DeepEval", "MLflow", "SWE-bench", "EvalPlus", "tasks", "gold and prediction", "no question"],
)
def test_documents_of_harnesses_are_their_rows(tmp_path, store, document):
    path = tmp_path / "document.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    frame = studies.readouts(store, store_logs(survey([path]), store), everything=True)
    scores = frame[frame["is_correct"].notna()]
    assert scores["item_id"].nunique() == 8 and scores["is_correct"].astype(float).mean() == 0.5


@pytest.mark.slow
def test_an_object_with_a_value_an_item_has_a_row_an_item(tmp_path, store):
    """As CRUXEval writes its samples; the same of one output an item."""
    texts = {f"sample_{n}": ["'a'", "'b'"] for n in range(24)}
    scores = {name: [n % 2 == 0, n < 6] for n, name in enumerate(texts)}
    path = tmp_path / "scored.json"
    path.write_text(json.dumps({"raw_generations": texts, "raw_scored_generations": scores, "pass_at_1": 37.5}))
    frame = studies.readouts(store, store_logs(survey([path]), store), everything=True)
    assert (frame["item_id"].nunique(), frame["sample"].nunique(), frame["is_correct"].astype(float).mean()) == (24, 2, 0.375)


def test_a_column_of_options_that_is_not_there_gets_a_sentence(tmp_path):
    path = made.lines(tmp_path / "keys.jsonl", list(of_two_models()))
    with pytest.raises(BadInput, match="There is no column 'moon' of options"):
        survey([path], {"column:options": "moon"})


@pytest.mark.slow
def test_rows_that_lack_the_column_of_options_ask_for_a_free_answer(tmp_path, store):
    """As MMMU writes them: no question, options by their letters, and neither letters nor options in a third of its rows."""
    rows = [
        {"id": n, "answer": str(n), "response": str(n)}
        if n % 3 == 0
        else {"id": n, "answer": "B", "index2ans": {"A": f"{n} oaks", "B": f"{n} elms"}, "response": "B"}
        for n in range(12)
    ]
    looked = survey([made.lines(tmp_path / "math.jsonl", rows)])
    frame = studies.readouts(store, store_logs(looked, store), everything=True)
    assert looked.n_refused == 0 and frame["is_correct"].dropna().all() and frame["item_id"].nunique() == 12
    assert looked.kinds == {"math": "choice", "math without options": "number"}


def test_a_task_that_is_the_item_parts_nothing(tmp_path):
    """A score per task and model gave twelve scores of one item each."""
    path = tmp_path / "t.csv"
    cells = [f"task{i},{model},{40 + (7 * i + 11 * k) % 50}%" for i in range(12) for k, model in enumerate("ab")]
    path.write_text("\n".join(["task,model,accuracy", *cells]), encoding="utf-8")
    found = guess_recording(str(path))
    assert (found.item, found.tasks, found.models) == ("task", "", "model")


def test_a_short_sentence_under_prediction_is_read_as_a_text(tmp_path):
    """ "The answer is 12" under `prediction` was taken for a bare answer, and none could be read."""
    rows = [
        {"id": i, "question": f"What is {i} and {i}?", "answer": str(2 * i), "prediction": f"The answer is {2 * i + i % 2}"}
        for i in range(30)
    ]
    found = guess_recording(written(tmp_path / "a.jsonl", rows).path)
    assert (found.text, found.fields) == ("prediction", ())
    bare = [row | {"prediction": row["prediction"].rpartition(" ")[2]} for row in rows]
    assert guess_recording(written(tmp_path / "b.jsonl", bare).path).text == ""


def test_as_many_words_as_numbers_are_one_task(tmp_path):
    """Half of the right answers numbers and half words gave two scores, and no total."""
    rows = [
        {"id": i, "question": f"What is part {i}?", "target": str(i) if i % 2 else f"oak {i}", "response": f"It is {i}."}
        for i in range(40)
    ]
    assert guess_recording(written(tmp_path / "a.jsonl", rows).path).answers == "text"


@pytest.mark.slow
def test_scores_with_a_decimal_comma_are_read(tmp_path, store):
    """Neither a score nor an output was found, in a table with a column called score."""
    path = tmp_path / "a.csv"
    path.write_text("id;question;score\n" + "".join(f"{i};What {i}?;0,{i}\n" for i in range(10, 40)), encoding="utf-8")
    frame = studies.readouts(store, store_logs(survey([path]), store), everything=True)
    assert frame["value"].mean() == pytest.approx(sum(range(10, 40)) / 3000)


def test_scores_whose_comma_may_part_thousands_are_named(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id;question;score\n" + "".join(f"{i};What {i}?;1,2{i}\n" for i in range(10, 40)), encoding="utf-8")
    with pytest.raises(BadInput, match=r"score holds numbers like 1,210, .* Write 1\.210 or 1210"):
        survey([path])
