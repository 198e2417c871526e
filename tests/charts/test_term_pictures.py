"""The glossary's pictures: every word has one, with words for who cannot see it, in the colours of either theme."""

import xml.etree.ElementTree as ET

import pytest

from flipcore.charts.term_pictures import PICTURES, about, picture
from flipcore.charts.theme import colours
from flipcore.methods.words import TERMS

WIDTH, HEIGHT = 220, 90
NUMBERS = ("x", "y", "x1", "x2", "cx", "cy")


def test_every_word_has_a_formula_a_picture_and_words_for_it():
    for term in TERMS:
        assert term.meaning.endswith(".") and term.formula and term.picture in PICTURES, term.name
        assert term.formula.count("{") == term.formula.count("}"), term.name
    assert {term.picture for term in TERMS} == PICTURES.keys()
    assert all(8 <= len(about(name)) <= 120 for name in PICTURES)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_a_drawing_within_its_frame_in_the_colours_of_the_theme(name, theme):
    root = ET.fromstring(picture(name, theme))
    drawn = [node for node in root.iter() if node.tag.rpartition("}")[2] not in ("svg", "title")]
    assert len(drawn) >= 2
    for node in drawn:
        inside = [(key, float(node.get(key))) for key in NUMBERS if node.get(key)]
        assert all(0 <= at <= (WIDTH if "x" in key else HEIGHT) for key, at in inside), (name, node.attrib)
        right, bottom = (float(node.get(a, 0)) + float(node.get(b, 0)) for a, b in (("x", "width"), ("y", "height")))
        assert right <= WIDTH and bottom <= HEIGHT, (name, node.attrib)
    palette = set(vars(colours(theme)).values()) - {colours(theme).flip} | {"none", None}
    assert {node.get(key) for node in drawn for key in ("fill", "stroke")} <= palette
