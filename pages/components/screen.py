"""The spacing of every page: one stylesheet for the whole document, with the colours of the theme; and how a chart is saved."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from flipcore import __version__
from flipcore.charts.theme import colours

_HERE = Path(__file__).parent
_JS = """
export default function (component) {
  offerSaving(component.data);
  const style = document.documentElement.style;
  style.setProperty("--page", component.data.page);
  style.setProperty("--line", component.data.line);
  style.setProperty("--muted", component.data.muted);
  document.documentElement.dataset.view = component.data.view;
}
"""
_component = st.components.v2.component(
    "flipscope_screen",
    html="<span hidden></span>",
    css=Path(__file__).with_suffix(".css").read_text(encoding="utf-8"),
    js=f"{(_HERE / 'saving.js').read_text(encoding='utf-8')}\n{_JS}",
    isolate_styles=False,
)


def screen_style(view: str = "screen") -> None:
    """To be called once a page, before anything is drawn; `view` is screen or projector."""
    theme = colours(st.context.theme.type)
    data = {"page": theme.page, "line": theme.grid, "muted": theme.muted, "view": view, "version": __version__}
    _component(data=data, key="screen-style", height=0)
