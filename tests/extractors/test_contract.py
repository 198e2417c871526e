"""What holds for every extractor, whatever it reads."""

from dataclasses import fields

import pytest

from flipcore.axes.bit_flip import BitFlip
from flipcore.core.contracts import Ask, Material
from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.core.records import ABILITIES, ABSENT, KINDS, OK, UNREADABLE, Completion, Item
from flipcore.extractors import EXTRACTORS, VALUES, count_alike, extractor_of, reads
from tests.extractors.asking import FAILED, choice, number, shown

every = pytest.mark.parametrize("extractor", EXTRACTORS.values(), ids=EXTRACTORS)
PASSAGE = Item.make(
    dataset="t", key="3", kind="completion", question="The ferry left the quay at noon and was late again.", solution="As ever."
)
WORDS = Item.make(dataset="t", key="4", kind="text", question="Where does it sit?", target="hague\nden haag")
ITEMS = {"choice": choice(), "number": number(), "completion": PASSAGE, "text": WORDS}


def answers(extractor, item, variant, completion):
    """The completions for all needs, each answered with `completion`."""
    so_far = []
    while len(needs := extractor.needs(item, variant, Ask(), so_far)) > len(so_far):
        so_far = [completion] * len(needs)
    return so_far


def applicable(extractor):
    """Items and variants of all kinds that it reads; one that reads continuations gets the beginning of a text."""
    if extractor.name == "math":
        pytest.importorskip("math_verify", reason="requirements-math.txt installs it")
    cut = BitFlip().variants(PASSAGE, "plain", generator(0, "cut"), Material())[0]
    pairs = [(item, shown(item)) for item in ITEMS.values()] + [(PASSAGE, cut)]
    return [(item, one) for item, one in pairs if item.kind in extractor.applies_to and reads(extractor, one)]


@every
def test_it_says_what_it_is_for(extractor):
    assert extractor.name in EXTRACTORS and extractor.title and extractor.about.endswith(".")
    assert extractor.applies_to <= set(KINDS) and extractor.applies_to
    assert extractor.abilities <= set(ABILITIES) and extractor.abilities


@every
def test_it_asks_only_for_abilities_that_it_declares(extractor):
    for item, variant in applicable(extractor):
        needs = extractor.needs(item, variant, Ask(), [])
        assert needs and {need.request.ability for need in needs} <= extractor.abilities


@every
def test_its_needs_are_the_same_each_time_and_only_grow(extractor):
    text = Completion("c", "ok", text="C", tokens=((" x", -1.0),), top_logprobs={"C": -0.5})
    for item, variant in applicable(extractor):
        first = list(extractor.needs(item, variant, Ask(), []))
        assert first == list(extractor.needs(item, variant, Ask(), []))
        later = list(extractor.needs(item, variant, Ask(), [text] * len(first)))
        assert later[: len(first)] == first


@every
def test_a_failed_call_is_absent_with_the_servers_reason(extractor):
    for item, variant in applicable(extractor):
        reading = extractor.read(item, variant, answers(extractor, item, variant, FAILED))
        assert (reading.status, reading.answer, reading.reason) == (ABSENT, None, "The server is down.")


@every
def test_an_empty_completion_is_never_read_as_an_answer(extractor):
    """An empty continuation is a continuation, as unlike its reference as can be: it is measured, not unreadable."""
    empty = Completion("c", "ok")
    for item, variant in applicable(extractor):
        if extractor.asks == "continuation":
            assert extractor.read(item, variant, [empty]).value == 0
            continue
        reading = extractor.read(item, variant, answers(extractor, item, variant, empty))
        assert reading.status in (ABSENT, UNREADABLE) and reading.answer is None and reading.reason


READ_CHOICES = [one for name, one in EXTRACTORS.items() if name not in VALUES and "choice" in one.applies_to]


@pytest.mark.parametrize("extractor", READ_CHOICES, ids=lambda e: e.name)
def test_what_it_reads_does_not_depend_on_where_an_option_stands(extractor):
    """Option 2 (tin) is the answer under every order, by its label there, its text or its score."""
    item = ITEMS["choice"]
    for order in ((0, 1, 2, 3), (2, 0, 3, 1), (3, 2, 1, 0)):
        variant = shown(item, order=order)
        label = variant.labels[order.index(2)]
        needs = list(extractor.needs(item, variant, Ask(), []))
        came = [
            Completion(
                "c",
                "ok",
                text=f"The answer is ({label}).",
                top_logprobs={f" {label}": -0.1, " The": -3.0},
                tokens=(("x", -1.0 if need.request.continuation == " tin" else -2.0),),
            )
            for need in needs
        ]
        if extractor.needs_judge:
            came.append(Completion("j", "ok", text=f"Final: {label}"))
        reading = extractor.read(item, variant, came)
        assert (reading.status, reading.answer) == (OK, "2")


def test_readers_of_text_share_one_request():
    item = ITEMS["choice"]
    firsts = {extractor_of(name).needs(item, shown(item), Ask(max_tokens=9), [])[0].request for name in ("regex", "judge")}
    assert len(firsts) == 1


def test_both_first_token_readouts_share_one_request():
    item = ITEMS["choice"]
    assert (
        len(
            {extractor_of(name).needs(item, shown(item), Ask(), [])[0].request for name in ("first_token", "first_token_gated")}
        )
        == 1
    )


def test_an_unknown_extractor_and_an_unknown_parameter_are_sentences_that_say_what_there_is():
    with pytest.raises(BadInput, match="first_token_gated"):
        extractor_of("frist_token")
    with pytest.raises(BadInput, match="norm"):
        extractor_of("cloze", {"nrom": "sum"})
    with pytest.raises(BadInput, match="sum, token, char"):
        extractor_of("cloze", {"norm": "median"})
    with pytest.raises(BadInput, match="least_mass = 5; it must be at most 1"):
        extractor_of("first_token_gated", {"least_mass": 5})


def test_parameters_are_fields_so_that_a_page_can_draw_them():
    assert {name: [f.name for f in fields(e)] for name, e in EXTRACTORS.items()} == {
        "first_token": ["top_k"],
        "first_token_gated": ["top_k", "least_mass"],
        "regex": [],
        "pattern": ["expression", "group", "which", "flags"],
        "cloze": ["norm"],
        "judge": ["max_tokens"],
        "judge_backwards": ["max_tokens"],
        "answer_loss": ["norm"],
        "question_loss": ["norm"],
        "min_k": ["pct"],
        "min_k_plus": ["pct"],
        "ncd": ["compressor"],
        "rouge_l": [],
        "word_for_word": [],
        "text_match": ["most_words"],
        "same_meaning": ["max_tokens"],
        "math": [],
        "raw_unit_tests": ["cpu_s"],
        "unit_tests": ["cpu_s"],
    }


@pytest.mark.parametrize("name", ["within_1pct", "numeric_tolerance", "approx_equal", "isclose", "score.close"])
def test_a_score_that_allows_a_tolerance_contradicts_no_equality(name):
    assert not count_alike(name, "exact_match") and count_alike(name, "within_5") and count_alike("closed_book", "exact_match")
