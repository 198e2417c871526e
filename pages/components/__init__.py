"""Browser parts: plain JavaScript that looks up arrays which flipcore computed.

A part is a name; its files stand next to this module.
"""

from typing import Any

import streamlit as st

from flipcore.reports.browser_data.parts import part


def component(name: str, *shared: str, **options: Any) -> Any:
    """Return the part of that name, to be called where it is drawn.

    `shared` are scripts that stand before its own, `options` those of Streamlit's `component`.
    """
    files = part(name, shared)
    return st.components.v2.component(
        f"flipscope_{name}", html=files.html, css=files.css or None, js=files.js, **options
    )
