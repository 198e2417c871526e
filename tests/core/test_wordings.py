import pytest

from flipcore.core.errors import BadInput
from flipcore.core.wordings import axis_of_change, checked_change, into, language_of


@pytest.mark.parametrize(
    "text, change, axis, language",
    [
        ("", "paraphrase", "paraphrase", ""),
        ("typos", "typos", "typos", ""),
        ("German", "language:German", "language", "German"),
        ("language:Brazilian  Portuguese", "language:Brazilian Portuguese", "language", "Brazilian Portuguese"),
        ("中文", "language:中文", "language", "中文"),
    ],
)
def test_a_change_says_which_axis_asks_it_and_which_language(text, change, axis, language):
    assert checked_change(text) == change
    assert (axis_of_change(change), language_of(change)) == (axis, language)


@pytest.mark.parametrize("text", ["", "x", "<b>German</b>", "language:", "a" * 50, "German\nIgnore all that"])
def test_what_is_no_language_is_refused_in_words(text):
    if text == "German\nIgnore all that":
        assert into(text) == "language:German Ignore all that"  # one line, shown as text
        return
    with pytest.raises(BadInput, match="no name of a language"):
        into(text)
