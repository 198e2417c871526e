"""Words from outside on a page: shown letter by letter, and no link."""

import pytest

from pages.common.showing import plain

JOINER = "\u2060"


@pytest.mark.parametrize("text", ["https://evil.example/x", "HTTP://evil.example", "www.evil.example", "me@evil.example"])
def test_a_bare_address_is_no_link(text):
    """Streamlit makes links of addresses in text that Markdown has read already, so that a backslash does not help."""
    shown = plain(f"see {text} there")
    assert JOINER in shown and shown.replace(JOINER, "").replace("\\", "") == f"see {text} there"
    assert JOINER not in plain("p = .05, www, a @ b, at: c")
