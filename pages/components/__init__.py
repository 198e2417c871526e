"""Browser components: plain JavaScript that draws data which flipcore computed.

The files of a component stand next to this module, under its name.
"""

from typing import Any

import streamlit as st

from flipcore.reports.browser_data.parts import part


def component(name: str, *shared: str, **options: Any) -> Any:
    """Return the component of that name; call it where it is to be drawn.

    `shared` are the names of scripts that run before its own. `options` go to Streamlit's
    `component`.
    """
    files = part(name, shared)
    return st.components.v2.component(
        f"flipscope_{name}", html=files.html, css=files.css or None, js=files.js, **options
    )
