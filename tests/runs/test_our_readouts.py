"""Which of our own extractors reads a recorded output, and how it takes the output."""

import pytest

from flipcore.core.records import CUT, OK, Completion, Item, Prompt, Variant
from flipcore.runs.our_readouts import MAX_TARGET_WORDS, extractor_of, read_outputs

SHORT, LONG = " ".join(["a"] * MAX_TARGET_WORDS), " ".join(["a"] * (MAX_TARGET_WORDS + 1))


def item_of(kind, target):
    options = ("oak", "tin", "ash") if kind == "choice" else ()
    return Item.make(dataset="d", key="1", kind=kind, question="Which?", options=options, target=target)


def name_of(kind, target, *, has_option_scores=False, is_scored=False, is_mathematics=False):
    item = item_of(kind, target)
    extractor = extractor_of(item, has_option_scores=has_option_scores, is_scored=is_scored, is_mathematics=is_mathematics)
    return extractor and extractor.name


@pytest.mark.parametrize(
    ("kind", "target", "traits", "name"),
    [
        ("choice", "0", {}, "regex"),
        ("number", "4", {"is_scored": True}, "regex"),
        ("number", "4", {"is_mathematics": True}, "regex"),
        ("choice", "0", {"has_option_scores": True}, "cloze"),
        ("text", "oak", {"has_option_scores": True}, None),  # no options
        ("choice", None, {"is_scored": True}, "regex"),
        # several options at once can be matched by no text
        ("choice", "0\n1", {}, "regex"),
        ("choice", "0\n1", {"is_scored": True}, None),
        ("choice", "0\n1", {"is_scored": True, "has_option_scores": True}, "cloze"),
        ("number", "4\n5", {"is_scored": True}, "regex"),
        ("text", SHORT, {}, "text_match"),
        ("text", LONG, {}, None),
        ("text", f"{LONG}\n{SHORT}", {"is_scored": True}, "text_match"),
        # without a right answer a log's own score is better, and ours better than none
        ("text", None, {}, "text_match"),
        ("text", None, {"is_scored": True}, None),
        ("text", "x+1", {"is_mathematics": True}, "math"),
        ("text", LONG, {"is_mathematics": True}, None),
        ("text", None, {"is_mathematics": True, "is_scored": True}, None),
    ],
)
def test_an_output_is_read_by_the_extractor_that_fits_its_item_and_its_log(kind, target, traits, name):
    assert name_of(kind, target, **traits) == name


@pytest.mark.parametrize(
    ("kind", "text", "status"),
    [("choice", "B", OK), ("choice", " B.)", OK), ("choice", "I would say", CUT), ("choice", "D", CUT), ("number", "4", CUT)],
)
def test_a_label_alone_is_no_answer_that_was_cut_off(kind, text, status):
    """Harnesses ask for labels with a limit of one token."""
    item = item_of(kind, "1")
    labels = ("A", "B", "C") if kind == "choice" else ()
    variant = Variant(item.item_id, "own", "base", Prompt((("recorded", "Which?"),)), "1", (0, 1, 2)[: len(labels)], labels)
    extractor = extractor_of(item, has_option_scores=False, is_scored=False, is_mathematics=False)
    reading = read_outputs(extractor, item, variant, [Completion("c", "ok", text=text, finish_reason="length")])
    assert (reading.status, reading.answer) == (status, "1" if status == OK else None)
