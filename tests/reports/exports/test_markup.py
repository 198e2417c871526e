"""Text in a report is text: whatever it holds, it opens no element, ends no attribute and turns no line around."""

import base64
import gzip
import re

import pytest

from flipcore.reports.exports.data_tables import Table, data_table
from flipcore.reports.exports.figures import flip_bars, interval_rows
from flipcore.reports.exports.markup import cells, data_link, folded, joined, packed, tag, text
from flipcore.stats.base.estimate import Estimate, missing
from tests import hostile


@pytest.mark.parametrize("name", [name for name in hostile.TEXTS if name != "long"])
def test_hostile_text_is_escaped_inside_and_in_attributes(name):
    made = tag("p", hostile.TEXTS[name], title=hostile.TEXTS[name]).html
    assert re.fullmatch(r'<p title="[^"<>]*">[^<>]*</p>', made, re.DOTALL)
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069]", made)


def test_markup_is_taken_as_it_is_and_strings_are_not():
    assert joined([tag("b", "x"), "<b>"]).html == "<b>x</b>&lt;b&gt;"
    assert folded("a < b", "inside", ident='q"').html.startswith('<details id="q&quot;"><summary>a &lt; b</summary>')
    assert text("a & b").html == "a &amp; b"


def test_a_link_holds_its_file():
    made = data_link("CSV", "a.csv", "x,y\n1,2\n", "text/csv").html
    held = re.search(r'base64,([^"]+)"', made)
    assert held and base64.b64decode(held[1]) == b"x,y\n1,2\n" and 'download="a.csv"' in made


def test_packed_bytes_have_no_time_in_them():
    assert packed("abc") == packed("abc") and gzip.decompress(packed("abc")) == b"abc"


def test_columns_of_numbers_stand_to_the_right():
    made = cells([["one", "0.5 [0.1, 0.9]"], ["two", "–"]], ["name", "T"]).html
    assert made.count('class="number"') == 3


def test_a_table_can_be_saved_in_three_formats():
    made = data_table(Table("t", "A table", [{"a": "x", "b": 1.5}, {"a": "y", "b": None}], "A caption.")).html
    assert [name in made for name in ('download="t.csv"', 'download="t.md"', 'download="t.tex"')] == [True] * 3
    assert "–</td>" in made and "A caption." in made


def test_intervals_lie_where_their_numbers_are():
    wide = Estimate(0.2, -0.1, 0.5, 0.95, "wilson", 20, None)
    made = interval_rows([("a", wide, wide.text()), ("b", missing(), "–")], "Gaps", " points").html
    (x,) = re.findall(r'<circle cx="([\d.]+)"', made)
    low, high = map(float, re.findall(r'<line x1="([\d.]+)" y1="17" x2="([\d.]+)" y2="17" class="interval"', made)[0])
    assert low < float(x) < high and abs((float(x) - low) - (high - float(x))) < 0.05
    assert made.count("<text") >= 4 and "0.20 [−0.10, 0.50]" in made


def test_no_cell_makes_an_empty_drawing():
    assert flip_bars([], []).html.startswith("<svg")
