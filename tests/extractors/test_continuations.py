"""Similarity readouts of flipped beginnings: the request, the reference, and the two measures."""

import pytest

from flipcore.axes import axis_of
from flipcore.axes.bit_flip import BitFlip, BitFlipSummary
from flipcore.core.contracts import Ask, Material
from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.core.records import Completion, Item
from flipcore.extractors import extractor_of
from flipcore.text.similarity import ncd, rouge_l
from tests.extractors.asking import FAILED, shown

ITEM = Item.make(dataset="t", key="1", kind="completion", question="one two three four five six seven eight nine ten")
CUT = BitFlip().variants(ITEM, "plain", generator(0, "x"), Material())[0]


def test_both_ask_for_the_same_continuation_at_the_axis_own_temperature():
    first, second = (
        extractor_of(name).needs(ITEM, CUT, Ask(temperature=0.0, seed=3), [])[0].request for name in ("ncd", "rouge_l")
    )
    assert first == second
    assert (first.kind, first.prompt, first.temperature, first.seed) == ("generate", CUT.prompt.text, 0.7, 3)
    assert first.max_tokens >= 2 * len(CUT.params["reference"].split())


def test_values_are_the_similarities_of_statistics_md():
    text = " eight nine of ten"
    completion = Completion("c", "ok", text=text)
    reference = CUT.params["reference"]
    assert extractor_of("rouge_l").read(ITEM, CUT, [completion]).value == rouge_l(reference, text)
    for compressor in ("xz", "zlib"):
        value = extractor_of("ncd", {"compressor": compressor}).read(ITEM, CUT, [completion]).value
        assert value == 1 - ncd(reference, text.strip(), compressor)
    assert extractor_of("rouge_l").read(ITEM, CUT, [Completion("c", "ok", text=reference)]).value == 1


def test_a_failed_call_and_a_variant_without_reference_are_absent():
    assert extractor_of("ncd").read(ITEM, CUT, [FAILED]).status == "absent"
    reading = extractor_of("rouge_l").read(ITEM, shown(ITEM), [])
    assert reading.status == "absent" and "no reference" in reading.reason


def test_a_text_without_a_reference_is_compared_with_what_the_model_writes_of_it_unchanged_at_temperature_0():
    _, flipped = BitFlipSummary(levels_pct=(0, 5)).variants(ITEM, "plain", generator(0, "x"), Material())
    reference, continued = extractor_of("rouge_l").needs(ITEM, flipped, Ask(temperature=0.5, max_tokens=40), [])
    assert reference.request.prompt.startswith(ITEM.question) and reference.request.prompt != flipped.prompt.text
    assert (reference.request.temperature, reference.sample) == (0, 0)
    assert continued.request.prompt == flipped.prompt.text and continued.request.temperature == 0.7 and continued.sample is None
    whole, part = Completion("a", "ok", text=" a tale of ten words"), Completion("b", "ok", text=" a tale of words")
    assert extractor_of("rouge_l").read(ITEM, flipped, [whole, part]).value == rouge_l("a tale of ten words", "a tale of words")
    empty = extractor_of("rouge_l").read(ITEM, flipped, [Completion("a", "ok", text=" "), part])
    assert empty.status == "absent" and "nothing of the unchanged text" in empty.reason


def test_bz2_is_not_offered():
    with pytest.raises(BadInput, match="xz, zlib"):
        extractor_of("ncd", {"compressor": "bz2"})


HALF = axis_of("completion").variants(ITEM, "plain", generator(0, "x"), Material())[0]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{}", 1),
        ('  "{}" and so on, for ever', 1),
        ("{} ELEVEN twelve", 1),
        ("{}s", 0),
        ("I do not know this text.", 0),
        ("", 0),
    ],
)
def test_a_second_half_is_continued_word_for_word_or_not(text, value):
    text = text.format(HALF.params["reference"].upper())
    assert extractor_of("word_for_word").read(ITEM, HALF, [Completion("c", "ok", text=text)]).value == value


def test_what_a_model_writes_behind_the_second_half_does_not_make_it_less_alike():
    text = f"{HALF.params['reference']} and on and on about other things"
    assert extractor_of("rouge_l").read(ITEM, HALF, [Completion("c", "ok", text=text)]).value == 1


def test_a_script_that_rouge_l_cannot_compare_is_absent_and_no_zero():
    item = Item.make(dataset="t", key="2", kind="text", question="甲乙丙 丁戊己", target="x")
    half = axis_of("completion").variants(item, "plain", generator(0, "x"), Material())[0]
    same = Completion("c", "ok", text=half.params["reference"])
    assert extractor_of("rouge_l").read(item, half, [same]).status == "absent"
    assert extractor_of("word_for_word").read(item, half, [same]).value == 1


def test_both_read_one_request_with_room_for_the_second_half():
    needs = [extractor_of(name).needs(ITEM, HALF, Ask(temperature=0.9, seed=3), []) for name in ("rouge_l", "word_for_word")]
    assert needs[0] == needs[1] and needs[0][0].request.temperature == 0
    assert needs[0][0].request.max_tokens == HALF.params["room"]


CHOICE = Item.make(
    dataset="t", key="3", kind="choice", question="Which flows through Rome?", options=("the Po", "the Tiber"), target="1"
)
MASKED = axis_of("masked_option").variants(CHOICE, "plain", generator(0, "x"), Material())[0]


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("the Po", 1),
        ("A. the Po", 1),
        ("(A) The  Po.", 1),
        ("**A: the Po**", 1),
        ("Option A: the Po", 1),
        ("[MASK] = the Po", 1),
        ("Which flows through Rome?\nA. the Po\nB. the Tiber", 1),
        ("the Po, which flows through Turin", 0),
        ("the Poe", 0),
        ("Po", 0),
        ("I do not know.", 0),
        ("", 0),
    ],
)
def test_a_hidden_option_is_filled_in_exactly_or_not(text, exact):
    assert MASKED.params["reference"] == "the Po" and MASKED.params["label"] == "A"
    readings = {
        name: extractor_of(name).read(CHOICE, MASKED, [Completion("c", "ok", text=text)])
        for name in ("word_for_word", "rouge_l")
    }
    assert readings["word_for_word"].value == exact
    assert (readings["rouge_l"].value == 1) == bool(exact)


def test_a_hidden_option_that_begins_like_a_label_keeps_its_beginning():
    options = ("B. cereus", "B. subtilis", "E. coli")
    microbes = Item.make(dataset="t", key="4", kind="choice", question="Which lives in the gut?", options=options, target="2")
    masked = axis_of("masked_option").variants(microbes, "plain", generator(1, "x"), Material())[0]
    reference = masked.params["reference"]
    for text in (reference, f"{masked.params['label']}. {reference}"):
        assert extractor_of("word_for_word").read(microbes, masked, [Completion("c", "ok", text=text)]).value == 1


def test_the_room_for_a_hidden_option_does_not_tell_its_length():
    options = ("tin", "a rather long option")
    item = Item.make(dataset="t", key="5", kind="choice", question="Which?", options=options, target="0")
    longer = axis_of("masked_option").variants(item, "plain", generator(0, "x"), Material())[0]
    rooms = [extractor_of("rouge_l").needs(CHOICE, masked, Ask(), [])[0].request.max_tokens for masked in (MASKED, longer)]
    assert MASKED.params["reference"] != longer.params["reference"] and len(set(rooms)) == 1
