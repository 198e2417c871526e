"""Tables as CSV, Markdown and LaTeX: what a cell holds is set letter by letter in each."""

import csv
import io
import math

import pytest

from flipcore.text.counts import count_of
from flipcore.text.tables import FORMATS, latex, table_text
from flipcore.text.templates import repeated_templates, template, wordings
from tests import hostile

ROWS = [
    {"axis": "option order", "T": "0.58 [0.31, 0.69]", "n": 20, "note": None},
    {"axis": "100 % & more_or_less #1", "T": "−0.03 | x", "n": 7, "note": math.nan},
]


def test_csv_reads_back_and_a_missing_value_is_an_empty_cell():
    rows = list(csv.DictReader(io.StringIO(table_text(ROWS, "csv"))))
    assert rows[0] == {"axis": "option order", "T": "0.58 [0.31, 0.69]", "n": "20", "note": ""} and rows[1]["note"] == ""


def test_csv_neutralises_formulas_and_leaves_numbers():
    text = table_text([{"a": "=1+1", "b": -2.5, "c": "-2", "d": "@SUM(1)"}], "csv")
    assert text == "a,b,c,d\n'=1+1,-2.5,-2,'@SUM(1)\n"


def test_markdown_sets_numbers_to_the_right_and_escapes_the_bars():
    lines = table_text(ROWS, "md", "A *caption*").splitlines()
    assert lines[1] == "| --- | --- | ---: | --- |" and r"−0.03 \| x" in lines[3]
    assert lines[-1] == r"A \*caption\*" and all(line.count("|") - line.count(r"\|") == 5 for line in lines[:4])


def test_latex_escapes_what_it_would_read_and_writes_signs_in_mathematics():
    text = table_text(ROWS, "tex", "50 % of them")
    assert r"\begin{tabular}{llrl}" in text and r"\caption{50 \% of them}" in text
    assert r"100 \% \& more\_or\_less \#1 & $-$0.03 | x & 7 &  \\" in text
    assert latex("a\\b{c}~^") == r"a\textbackslash{}b\{c\}\textasciitilde{}\textasciicircum{}"


@pytest.mark.parametrize("name", [name for name in hostile.TEXTS if name != "long"])
def test_no_hostile_cell_breaks_a_row(name):
    rows = [{"a": hostile.TEXTS[name], "b": 1}, {"a": "plain", "b": 2}]
    assert len(list(csv.reader(io.StringIO(table_text(rows, "csv"), newline="")))) == 3
    assert len(table_text(rows, "md").splitlines()) == 4
    assert table_text(rows, "tex").count(r"\\" + "\n") == 3


@pytest.mark.parametrize("first", ["[2pt] model", "* model"])
def test_the_first_cell_of_a_row_is_no_argument_of_the_line_before_it(first):
    text = table_text([{first: first, "n": 1}, {first: first, "n": 2}], "tex")
    assert text.count("\n{}" + first + " & ") == 3


def test_no_rows_give_an_empty_table_in_every_format():
    for format in FORMATS:
        assert isinstance(table_text([], format, "nothing"), str)


def test_one_thing_is_named_as_one():
    assert [count_of(n, "item") for n in (0, 1, 2_000)] == ["0 items", "1 item", "2,000 items"]
    assert [count_of(n, "row was refused", "rows were refused") for n in (1, 3)] == ["1 row was refused", "3 rows were refused"]


# Templated items are recognised by their wording, and said only where nobody declared them.


BAKERY = "{} bakes {} loaves on Monday and {} on Tuesday; how many loaves is that in all?"
MADE = [BAKERY.format(name, i, 2 * i) for i, name in enumerate(("Ana", "Bo", "Cy", "Di"))]


def test_numbers_and_names_do_not_tell_wordings_apart():
    assert len({template(question) for question in MADE}) == 1
    assert template(MADE[0]) != template(MADE[0].replace("loaves", "rolls"))


def test_repeats_are_said_and_declared_families_are_not():
    assert repeated_templates(MADE, ["a", "b", "c", "d"], [()] * 4).startswith("4 of 4 items repeat another item's wording")
    assert repeated_templates(MADE, ["bakery"] * 4, [()] * 4) == ""


def test_one_stem_with_other_options_is_no_repetition_and_with_other_numbers_it_is():
    stem, names = ["Which one of the following birds builds no nest?"] * 2, ["a", "b"]
    assert repeated_templates(stem, names, [("heron", "finch"), ("stork", "cuckoo")]) == ""
    assert repeated_templates(MADE[:2], names, [("3 loaves", "4 loaves"), ("6 loaves", "5 loaves")]).startswith("2 of 2 items")
    assert wordings(stem, names, [("heron", "finch"), ("finch", "heron")])[0].startswith("wording")


def test_short_questions_and_few_repeats_are_left_alone():
    assert repeated_templates(["Which of these is true?"] * 4, list("abcd"), [()] * 4) == ""
    others = [f"A question of its own about topic {chr(97 + i) * 9} and nothing else at all" for i in range(26)]
    assert repeated_templates([*others, *MADE[:2]], list(map(str, range(28))), [()] * 28) == ""
