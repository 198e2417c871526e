"""The base of every axis, variants of one prompt, and an item that an axis leaves alone."""

from flipcore.axes.variants import Refusal, base, collapsed, rewritten_or_base, variant
from tests.extractors.asking import choice


def test_a_variant_is_as_the_base_but_for_what_is_given():
    item = choice()
    first, turned = base(item, "option_order", "plain"), variant(item, "option_order", "turned", "plain", order=(3, 2, 1, 0))
    assert (first.key, first.order, first.labels, first.target) == ("base", (0, 1, 2, 3), ("A", "B", "C", "D"), "2")
    assert turned.order == (3, 2, 1, 0) and turned.target == "2" and turned.prompt.text != first.prompt.text


def test_one_prompt_under_two_names_is_one_variant():
    first, same, other = (
        variant(choice(), "x", key, "plain", question=q) for key, q in (("a", "One?"), ("b", "One?"), ("c", "Two?"))
    )
    assert [one.key for one in collapsed([first, same, other])] == ["a", "c"]


def test_a_refused_item_keeps_its_base_with_the_first_reason():
    refusals = [Refusal("no chain", "It has no chain."), Refusal("other", "Another reason.")]

    def reworded(number, question):
        return variant(choice(), "x", f"new-{number}", "plain", question=question)

    (only,) = rewritten_or_base(choice(), "x", "plain", refusals, reworded)
    assert only.params == {"refusal": "no chain", "why": "It has no chain."} and only.key == "base"
    some = rewritten_or_base(choice(), "x", "plain", [refusals[0], "Another?"], reworded)
    assert [one.key for one in some] == ["base", "new-2"]
