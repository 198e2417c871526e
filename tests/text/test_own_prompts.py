"""Templates of the user's own: what they fill, what they may not hold, and that a bad one is a sentence."""

import pytest

from flipcore.core.errors import BadInput
from flipcore.core.records import Item
from flipcore.text.own_prompts import MAX_OUT, ItemView, examples_text, rendered

ITEM = Item.make(
    dataset="d", key="1", kind="choice", question="Which?", options=("oak", "tin", "ash"), target="2", category="hard_wood"
)
SHOWN = ItemView(ITEM, "Which one?", (2, 0, 1), ("a", "b", "c"))


def test_fields_are_those_of_the_variant_that_is_shown():
    text = "{{ subject }}|{{ question }}|{% for label, text in choices %}{{ label }}={{ text }} {% endfor %}|{{ letters }}"
    assert rendered(text, SHOWN.fields()) == "hard wood|Which one?|a=ash b=oak c=tin |a,b,c"
    assert rendered("{{ options[0] | upper }}{% if category %}!{% endif %}\n", SHOWN.fields()) == "ASH!\n"


def test_an_example_shows_its_answer_and_the_item_itself_never():
    assert examples_text([SHOWN, SHOWN], "{{ question }} {{ answer }}", ";") == "Which one? a;Which one? a;"
    with pytest.raises(BadInput, match="'answer' is undefined"):
        rendered("{{ question }} {{ answer }}", SHOWN.fields())
    number = Item.make(dataset="d", key="2", kind="number", question="1+1?", target="2", solution="Add.\n#### 2")
    assert examples_text([ItemView(number, "1+1?")], "{{ answer }}:{{ solution }}", "") == "2:Add.\n#### 2"


def test_text_of_an_item_is_never_a_template():
    item = ItemView(ITEM, "{{ options }} {% raw %} {{ 7 * 7 }}", (0, 1, 2), ("A", "B", "C"))
    assert rendered("Q: {{ question }}", item.fields()) == "Q: {{ options }} {% raw %} {{ 7 * 7 }}"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{{ question", "mistake in line 1"),
        ("a\n{% if %}", "mistake in line 2"),
        ("a\n{{ nothing }}", "line 2, reads 'nothing'; the fields are question"),
        ("{{ ''.__class__ }}", "reads an attribute"),
        ("{{ question.upper() }}", "uses call"),
        ("{{ range(10) }}", "uses call"),
        ("{{ 'a' * 1000000000 }}", "uses mul"),
        ("{{ 9 ** 9 }}", "uses pow"),
        ("{% set x = 1 %}", "uses assign"),
        ("{% macro m() %}{% endmacro %}", "uses macro"),
        ("{% include 'x' %}", "uses include"),
        ("{% for x in question %}{% endfor %}", "loops over something else"),
        ("{% for a in options %}{% for b in options %}{% for c in options %}{% endfor %}{% endfor %}{% endfor %}", "2 deep"),
        ("{{ question | replace('', 'aa') }}", "the filter 'replace'"),
        ("{{ question | join(question) }}", "joins something else"),
        ("{{ options | join(options | join(options | join(question))) }}", "joins something else"),
        ("{{ options | join('', 'upper') }}", "joins something else"),
        ("{% for options in options %}{{ options | join('--') }}{% endfor %}", "like a list"),
        ("{% for a, labels in choices %}{{ labels | join('--') }}{% endfor %}", "like a list"),
        ("{{ self }}", "reads 'self'; the fields are question"),
        ("{{ options[9] }}", "cannot be filled"),
        ("{{ question + 1 }}", "uses add"),
    ],
)
def test_a_template_that_cannot_be_used_is_a_sentence(text, why):
    with pytest.raises(BadInput, match=why):
        rendered(text, SHOWN.fields())


def test_a_deep_or_long_template_ends_with_a_sentence():
    with pytest.raises(BadInput):
        rendered("{% if question %}" * 5_000, SHOWN.fields())
    with pytest.raises(BadInput, match=f"at most {MAX_OUT:,} are sent"):
        rendered("{{ question }}", SHOWN.fields() | {"question": "x" * (MAX_OUT + 1)})
    many = "{% for a in options %}{% for b in options %}{{ question }}{% endfor %}{% endfor %}" * 200
    assert rendered(many, SHOWN.fields()).count("Which one?") == 1800


def test_what_loops_write_is_stopped_where_it_grows_too_long():
    class Counted(str):
        n_times = 0

        def __str__(self):
            Counted.n_times += 1
            return "x" * MAX_OUT

    fields = SHOWN.fields() | {"question": Counted()}
    with pytest.raises(BadInput, match=f"at most {MAX_OUT:,} are sent"):
        rendered("{% for a in options %}{% for b in options %}{{ question }}{% endfor %}{% endfor %}", fields)
    assert Counted.n_times <= 2
    assert rendered("{{ options | join(', ') }}|{{ labels | join }}", SHOWN.fields()) == "ash, oak, tin|abc"
