"""Colours that can be told apart, and text from data that Plotly shows letter by letter."""

from dataclasses import fields
from itertools import combinations

import numpy as np
import pytest

from flipcore.charts.theme import DARK, LIGHT, as_text, colours, on_scale, text_on
from tests.charts.test_figures import contrast, luminance


def test_long_texts_are_cut_and_wrapped():
    lines = as_text("word " * 200).split("<br>")
    assert max(map(len, lines)) <= 64 and lines[-1].endswith("…") and len("".join(lines)) <= 290


@pytest.mark.parametrize(("c", "ground"), [(LIGHT, "#FFFFFF"), (DARK, "#12171E")])
def test_text_reads_and_every_mark_stands_out_from_its_ground(c, ground):
    assert contrast(c.text, ground) > 7 and contrast(c.muted, ground) > 4.5
    drawn = (c.genuine, c.floor, c.broken, c.fixed, c.benchmark, c.target, c.retro)
    assert min(contrast(one, ground) for one in drawn) > 2.5 and contrast(c.artifact, ground) > 2


@pytest.mark.parametrize("c", [LIGHT, DARK])
def test_pairs_that_are_read_against_each_other_differ_in_lightness_too(c):
    for one, other in ((c.genuine, c.artifact), (c.benchmark, c.control)):
        assert contrast(one, other) > 1.3
    shades = [luminance(shade) for shade in c.flip]
    assert shades == sorted(shades) or shades == sorted(shades, reverse=True)
    named = [getattr(c, field.name) for field in fields(c) if field.name in ("genuine", "artifact", "floor", "broken", "fixed")]
    assert all(one != other for one, other in combinations(named, 2))


def test_the_theme_is_dark_only_when_streamlit_says_so():
    assert colours("dark") is DARK and colours("light") is LIGHT and colours(None) is LIGHT


@pytest.mark.parametrize(
    ("text", "shown"),
    [("<b>x</b>", "&lt;b&gt;x&lt;/b&gt;"), ("a\nb", "a<br>b"), ("x" * 300, None), ("", ""), ("a & b", "a &amp; b")],
)
def test_text_in_a_hover_label_is_escaped_cut_and_wrapped(text, shown):
    made = as_text(text)
    assert made == shown if shown is not None else made.endswith("…") and len(made.replace("<br>", "")) <= 283


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_a_number_in_a_cell_can_be_read_on_every_colour_of_the_scale(theme):
    for share in np.linspace(0, 1, 101):
        ground = on_scale(share, theme.flip)
        assert contrast(text_on(ground), "#{:02X}{:02X}{:02X}".format(*map(round, ground))) >= 4.5, share
    assert on_scale(0.5, theme.flip) == tuple(int(theme.flip[1][i : i + 2], 16) for i in (1, 3, 5))
