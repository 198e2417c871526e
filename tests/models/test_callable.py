import sys
import types

import pytest

from flipcore.axes.variants import base
from flipcore.core.errors import BadInput
from flipcore.core.records import Item, Request
from flipcore.extractors import EXTRACTORS
from flipcore.models import open_backend
from flipcore.models.callable import PythonCallable
from tests.models.asking import asked, items, variants, words


@pytest.fixture
def lab(monkeypatch):
    """A module `lab` whose functions a test may set; the admin allows them."""
    names = ("answer", "broken", "odd", "Solver", "solver", "missing", "number", "")
    monkeypatch.setenv("FLIPSCOPE_CALLABLES", ",".join(["no_such_module", "lab", *(f"lab:{name}" for name in names)]))
    module = types.ModuleType("lab")
    monkeypatch.setitem(sys.modules, "lab", module)
    return module


class Solver:
    """Seed 000's one-method model; remembers what it was shown."""

    def __init__(self):
        self.shown = []

    def is_correct(self, item):
        self.shown.append(item)
        return not item.question.startswith("Question 1")


def test_a_function_of_the_prompt_is_a_model(lab):
    lab.answer = lambda prompt: f"The answer is (B). {len(prompt)}"
    made = asked(open_backend("lab:answer"), [Request("generate", "abc")])[0]
    assert (made.status, made.text, made.cost_usd) == ("ok", "The answer is (B). 3", 0.0)


def test_what_a_user_function_raises_or_returns_becomes_a_failed_completion(lab):
    def broken(prompt):
        raise RuntimeError("no weights")

    lab.broken, lab.odd = broken, lambda prompt: 7
    raised, returned = (asked(PythonCallable(f"lab:{name}"), [Request("generate", "x")])[0] for name in ("broken", "odd"))
    assert raised.status == returned.status == "failed"
    assert "RuntimeError: no weights" in raised.error and "int" in returned.error


@pytest.mark.parametrize("axis", ["option_order", "prompt_format", "label_set"])
def test_is_correct_becomes_a_right_or_a_wrong_answer_under_every_variant(lab, axis):
    lab.Solver = Solver
    of = items(3)
    shown = variants(of, axis)
    backend = PythonCallable("lab:Solver")
    backend.prepare(of, shown)
    by_id = {item.item_id: item for item in of}
    for variant, made in zip(shown, asked(backend, map(words, shown)), strict=True):
        item = by_id[variant.item_id]
        answer = EXTRACTORS["regex"].read(item, variant, [made]).answer
        assert (answer == variant.target) == (item.question != "Question 1?") and answer is not None


@pytest.mark.parametrize(("question", "is_right"), [("Question 2: who?", True), ("Question 1: who?", False)])
def test_is_correct_of_a_short_answer_is_one_that_its_reader_takes_for_right_or_wrong(lab, question, is_right):
    lab.Solver = Solver
    item = Item.make(dataset="t", key="1", kind="text", question=question, target="Ada\nA. L.")
    variant = base(item, "identity", "plain")
    backend = PythonCallable("lab:Solver")
    backend.prepare([item], [variant])
    reading = EXTRACTORS["text_match"].read(item, variant, asked(backend, [words(variant)]))
    assert (reading.answer == "Ada") == is_right


def test_is_correct_is_shown_the_item_as_the_variant_asks_it(lab):
    lab.solver = Solver()
    of = items(1)
    shown = variants(of)
    backend = PythonCallable("lab:solver")
    backend.prepare(of, shown)
    asked(backend, map(words, shown))
    for variant, seen in zip(shown, lab.solver.shown, strict=True):
        assert seen.question == "Question 0?" and seen.item_id == of[0].item_id
        assert seen.options == tuple(of[0].options[i] for i in variant.order)
        assert seen.options[int(seen.target)] == of[0].options[int(of[0].target)]


def test_is_correct_without_its_items_fails_with_a_sentence(lab):
    lab.Solver = Solver
    made = asked(PythonCallable("lab:Solver"), [Request("generate", "unknown prompt")])[0]
    assert made.status == "failed" and "own study" in made.error


def test_log_probabilities_are_missing_and_it_says_why(lab):
    lab.answer = lambda prompt: prompt
    backend = PythonCallable("lab:answer")
    assert backend.abilities == {"generate"} and "no log-probabilities" in backend.why_not("score")


def test_a_function_that_changed_is_another_revision(lab):
    def one(prompt):
        return "A"

    def other(prompt):
        return "B"

    lab.answer = one
    before = PythonCallable("lab:answer").revision
    assert before == PythonCallable("lab:answer").revision
    lab.answer = other
    assert PythonCallable("lab:answer").revision != before


@pytest.mark.parametrize("name", ["no_such_module:answer", "lab:missing", "lab:number", ":", "lab:"])
def test_a_name_that_cannot_be_a_model_is_a_sentence(lab, name):
    lab.number = 3
    with pytest.raises(BadInput):
        open_backend(name)
