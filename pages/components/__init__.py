"""Browser parts: plain JavaScript that looks up arrays which flipcore computed. One is a name, and its files beside this one."""

from typing import Any

import streamlit as st

from flipcore.reports.browser_data.parts import part


def component(name: str, *shared: str, **options: Any) -> Any:
    """The part of that name, to be called where it is drawn; `shared` are scripts that stand before its own, `options` those of Streamlit's
    `component`."""
    one = part(name, shared)
    return st.components.v2.component(f"flipscope_{name}", html=one.html, css=one.css or None, js=one.js, **options)
