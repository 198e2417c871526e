"""Text in a report is text: whatever it holds, it opens no element, ends no attribute and turns no line around."""

import base64
import gzip
import re

import pytest
from jinja2 import UndefinedError

from flipcore.reports.exports.data_tables import File, Table
from flipcore.reports.exports.figures import flip_bars, interval_rows
from flipcore.reports.exports.rendering import environment, packed
from flipcore.stats.base.estimate import Estimate, missing
from tests import hostile


def drawn(source, **values):
    """What a template prints that has the macros of a report at hand."""
    names = ("data_link", "data_table", "flip_bars", "folded", "interval_rows")
    macros = f'{{% from "pieces.html" import {", ".join(names)} %}}'
    return environment().from_string(macros + source).render(**values).strip()


@pytest.mark.parametrize("name", [name for name in hostile.TEXTS if name != "long"])
def test_hostile_text_is_escaped_inside_and_in_attributes(name):
    made = drawn('<p title="{{ text }}">{{ text }}</p>', text=hostile.TEXTS[name])
    assert re.fullmatch(r'<p title="[^"<>]*">[^<>]*</p>', made, re.DOTALL)
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069]", made)


def test_markup_of_a_macro_is_taken_as_it_is_and_its_texts_are_not():
    made = drawn('{% call folded(title, ident) %}<b>{{ "a & b" }}</b>{% endcall %}', title="a < b", ident='q"')
    assert made.startswith('<details id="q&#34;"><summary>a &lt; b</summary>') and "<b>a &amp; b</b>" in made


def test_a_name_that_is_not_there_is_an_error_and_no_gap():
    with pytest.raises(UndefinedError):
        drawn("{{ nobody }}")


def test_a_link_holds_its_file():
    made = drawn("{{ data_link(file) }}", file=File("CSV", "a.csv", "x,y\n1,2\n", "text/csv"))
    held = re.search(r'base64,([^"]+)"', made)
    assert held and base64.b64decode(held[1]) == b"x,y\n1,2\n" and 'download="a.csv"' in made


def test_packed_bytes_have_no_time_in_them():
    assert packed("abc") == packed("abc") and gzip.decompress(packed("abc")) == b"abc"


def test_columns_of_numbers_stand_to_the_right():
    rows = [{"name": "one", "T": "0.5 [0.1, 0.9]"}, {"name": "two", "T": None}]
    made = drawn("{{ data_table(table) }}", table=Table("t", "A table", rows, ""))
    assert made.count('class="number"') == 3


def test_a_table_can_be_saved_in_three_formats():
    rows = [{"a": "x", "b": 1.5}, {"a": "y", "b": None}]
    made = drawn("{{ data_table(table) }}", table=Table("t", "A table", rows, "A caption."))
    assert [name in made for name in ('download="t.csv"', 'download="t.md"', 'download="t.tex"')] == [True] * 3
    assert "–</td>" in made and "A caption." in made


def test_intervals_lie_where_their_numbers_are():
    wide = Estimate(0.2, -0.1, 0.5, 0.95, "wilson", 20, None)
    dots = interval_rows([("a", wide, wide.text()), ("b", missing(), "–")], "Gaps", " points")
    made = drawn("{{ interval_rows(dots) }}", dots=dots)
    (x,) = re.findall(r'<circle cx="([\d.]+)"', made)
    low, high = map(float, re.findall(r'<line x1="([\d.]+)" y1="17" x2="([\d.]+)" y2="17" class="interval"', made)[0])
    assert low < float(x) < high and abs((float(x) - low) - (high - float(x))) < 0.05
    assert made.count("<text") >= 4 and "0.20 [−0.10, 0.50]" in made


def test_no_cell_makes_an_empty_drawing():
    assert drawn("{{ flip_bars(bars) }}", bars=flip_bars([], [])).startswith("<svg")
