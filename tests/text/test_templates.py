"""Templated items are recognised by their wording, and said only where nobody declared them."""

from flipcore.text.templates import repeated_templates, template

BAKERY = "{} bakes {} loaves on Monday and {} on Tuesday; how many loaves is that in all?"
MADE = [BAKERY.format(name, i, 2 * i) for i, name in enumerate(("Ana", "Bo", "Cy", "Di"))]


def test_numbers_and_names_do_not_tell_wordings_apart():
    assert len({template(question) for question in MADE}) == 1
    assert template(MADE[0]) != template(MADE[0].replace("loaves", "rolls"))


def test_repeats_are_said_and_declared_families_are_not():
    assert repeated_templates(MADE, ["a", "b", "c", "d"]).startswith("4 of 4 items repeat another item's wording")
    assert repeated_templates(MADE, ["bakery"] * 4) == ""


def test_short_questions_and_few_repeats_are_left_alone():
    assert repeated_templates(["Which of these is true?"] * 4, list("abcd")) == ""
    others = [f"A question of its own about topic {chr(97 + i) * 9} and nothing else at all" for i in range(26)]
    assert repeated_templates([*others, *MADE[:2]], list(map(str, range(28)))) == ""
