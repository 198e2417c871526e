"""Corrections of guesses about logs: what each word means, and what each record becomes."""

import pytest

from flipcore.core.errors import BadInput
from flipcore.core.records import BASE, OTHER_PROMPT
from flipcore.datasets.recorded.log_places import OWN_PROMPT
from flipcore.datasets.recorded.log_records import LogRecord, Rejection
from flipcore.datasets.recorded.log_rows import UNNAMED
from flipcore.runs.log_corrections import MAX_SAMPLES, TARGETS, axis_of, corrected, corrections_of, in_order, model_of, scale_in


@pytest.mark.parametrize(
    ("corrections", "name", "model"),
    [
        ({}, "old", "old"),
        ({"model:old": "new"}, "old", "new"),
        ({"model": "new"}, "old", "old"),
        ({"model": "new"}, "", "new"),
        ({}, "", UNNAMED),
    ],
)
def test_a_model_is_renamed_by_its_own_name_and_named_where_it_has_none(corrections, name, model):
    assert model_of(corrections, name) == model


def test_an_axis_is_renamed_by_its_name():
    assert axis_of({"axis:prompt": "style"}, "prompt") == "style" and axis_of({"axis:other": "style"}, "prompt") == "prompt"


@pytest.mark.parametrize(
    ("word", "ends"), [("scale:grade=1..5", (1.0, 5.0)), ("-1..0.5", (-1.0, 0.5)), ("scale=0..1e3", (0.0, 1e3))]
)
def test_a_scale_has_two_ends(word, ends):
    assert scale_in(word) == ends


@pytest.mark.parametrize("word", ["5..1", "1..1", "1", "a..b", "1..inf", "-inf..1", "nan..1", ""])
def test_a_scale_without_two_finite_ends_is_none(word):
    with pytest.raises(BadInput, match="is no scale"):
        scale_in(word)


def record_of(**fields):
    return LogRecord("a:1", "t", "i", "Q?", "Q?", **{"targets": ("0", "1", "12", " 2 ", "B", "-1")} | fields)


@pytest.mark.parametrize(
    ("form", "targets", "is_place"),
    [
        ("index", ("0", "1", "12", " 2 ", "B", "-1"), True),
        ("index1", ("0", "0", "11", "1", "B", "-1"), True),  # 0 counts from nothing, and stays
        ("text", ("0", "1", "12", " 2 ", "B", "-1"), False),
        ("none", (), False),
    ],
)
def test_right_answers_are_indices_from_0_or_from_1_texts_or_none(form, targets, is_place):
    assert TARGETS[form](record_of()) == (targets, is_place)


def one_corrected(corrections, file="logs/a.json", **fields):
    (record,) = corrected([record_of(**fields)], corrections, file)
    return record


@pytest.mark.parametrize(
    ("corrections", "targets"),
    [
        ({}, ("2",)),
        ({"target": "index1"}, ("1",)),
        ({"target:t": "none", "target": "index1"}, ()),
        ({"target:other": "none"}, ("2",)),
    ],
)
def test_right_answers_are_corrected_by_task(corrections, targets):
    assert one_corrected(corrections, targets=("2",)).targets == targets


@pytest.mark.parametrize(
    ("corrections", "axis", "prompt"),
    [
        ({"prompt:a.json": "short"}, "", (OTHER_PROMPT, "short")),
        ({"prompt:logs/a.json": "short", "prompt:a.json": "long"}, "", (OTHER_PROMPT, "short")),
        ({"prompt:a.json": "short"}, OWN_PROMPT, (OTHER_PROMPT, "short")),
        ({"prompt:a.json": "short"}, "style", ("style", "v")),
        ({"prompt:a.json": BASE}, "", ("", "v")),
        ({"prompt:b.json": "short"}, "", ("", "v")),
    ],
)
def test_the_outputs_of_a_file_answer_another_prompt(corrections, axis, prompt):
    record = one_corrected(corrections, axis=axis, variant="v")
    assert (record.axis, record.variant) == prompt


@pytest.mark.parametrize(
    ("corrections", "sample", "sample_from"),
    [
        ({"sample:a.json": "5"}, 3, 5),
        ({"sample:b.json": "5"}, 3, None),
        ({"sample:a.json": "rows"}, None, None),
        ({"sample": "rows"}, None, None),
        ({"sample:a.json": "5", "sample": "rows"}, 3, 5),
    ],
)
def test_the_samples_of_a_file_begin_where_it_says_or_are_its_rows(corrections, sample, sample_from):
    record = one_corrected(corrections, sample=3)
    assert (record.sample, record.sample_from) == (sample, sample_from)


@pytest.mark.parametrize("corrections", [{}, {"target": "none"}])
def test_rows_that_were_refused_stay_as_they_are(corrections):
    refused = Rejection("a:1: no text")
    assert list(corrected([refused], corrections, "a.json")) == [refused]


def ordered(files, **corrections):
    return "".join(
        in_order(list(files), {key.replace("_", ":"): value for key, value in corrections.items()}, lambda name: name)
    )


@pytest.mark.parametrize(
    ("corrections", "order"),
    [
        ({}, "abc"),
        ({"prompt_b": BASE}, "bac"),
        ({"prompt_b": "short"}, "abc"),
        ({"prompt_a": "short", "prompt_c": BASE}, "cab"),
        ({"sample_a": "2", "sample_b": "1"}, "cba"),
        ({"sample_a": "rows", "sample_b": "1"}, "acb"),
        ({"sample_a": "3", "prompt_a": BASE}, "abc"),
    ],
)
def test_the_file_of_the_base_is_read_first_and_then_the_files_by_their_first_sample(corrections, order):
    assert ordered("abc", **corrections) == order


def test_a_file_is_named_by_its_path_or_its_last_part_and_must_be_there():
    names = ["logs/a", "logs/b"]
    assert in_order(names, {"prompt:b": BASE}, str) == in_order(names, {"prompt:logs/b": BASE}, str) == ["logs/b", "logs/a"]
    assert in_order(names, {"model:x": "y", "sample": "rows"}, str) == names
    for key in ("prompt:c", "sample:c"):
        with pytest.raises(BadInput, match=f"{key}' names no file that was given; the files are logs/a, logs/b."):
            in_order(names, {key: "1"}, str)


@pytest.mark.parametrize(
    ("words", "corrections"),
    [
        (["model=new", "model:old=newer"], {"model": "new", "model:old": "newer"}),
        (["kind:t=choice", "role=benchmark", "join=id"], {"kind:t": "choice", "role": "benchmark", "join": "id"}),
        (["prompt:a=b.json=short"], {"prompt:a=b.json": "short"}),
        (["name=a=b"], {"name": "a=b"}),
        (["scale:grade=1..5", "harmless:style=no"], {"scale:grade": "1..5", "harmless:style": "no"}),
        (
            ["sample:a=0", f"sample:b={MAX_SAMPLES}", "sample=rows"],
            {"sample:a": "0", "sample:b": f"{MAX_SAMPLES}", "sample": "rows"},
        ),
    ],
)
def test_words_are_corrections_by_key(words, corrections):
    assert corrections_of(words) == corrections


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("kind", "corrects nothing"),
        ("what=x", "corrects nothing"),
        ("kind=other", "kind is one of choice, number, text"),
        ("scale=5..1", "is no scale"),
        ("axis=style", "names no axis"),
        ("harmless=no", "names no axis"),
        ("harmless:style=perhaps", "harmless is one of yes, no"),
        ("prompt=short", "names no file"),
        ("prompt:a.json= ", "gives the prompt no name"),
        ("sample=1", "from 0 to 60,000"),
        ("sample:a=one", "from 0 to 60,000"),
        (f"sample:a={MAX_SAMPLES + 1}", "from 0 to 60,000"),
    ],
)
def test_a_word_that_corrects_nothing_says_why(word, reason):
    with pytest.raises(BadInput, match=reason):
        corrections_of([word])


def test_words_of_a_table_name_its_columns():
    assert corrections_of(["prompt=ask"], of_tables=True) == {"column:prompt": "ask"}
    assert corrections_of(["read:a=b"]) == {"read:a": "b"}
    assert corrections_of(["model=new"]) == {"model": "new"}
    with pytest.raises(BadInput, match="maps nothing"):
        corrections_of(["what=x"], of_tables=True)
