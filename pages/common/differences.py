"""Two texts with what differs marked by word. Text is data: it reaches the browser as text and never as HTML."""

from __future__ import annotations

import streamlit as st

from flipcore.differences import word_differences

_JS = """
export default function (component) {
  const { data, parentElement } = component;
  const box = parentElement.querySelector(".text");
  box.replaceChildren();
  for (const [kind, text] of data.runs) {
    const run = document.createElement(kind === "same" ? "span" : kind === "span" ? "mark" : "ins");
    run.textContent = text;
    box.appendChild(run);
  }
}
"""

_CSS = """
.text { white-space: pre-wrap; overflow-wrap: anywhere; font-size: 0.95rem; line-height: 1.5; color: var(--st-text-color); }
.text ins { text-decoration: none; border-bottom: 3px solid var(--st-primary-color); font-weight: 600;
            background: color-mix(in srgb, var(--st-primary-color) 14%, transparent); }
.text mark { color: inherit; border-radius: 3px; background: color-mix(in srgb, #E69F00 38%, transparent); }
"""

_component = st.components.v2.component("flipscope_text", html='<div class="text"></div>', css=_CSS, js=_JS)


def differences(original: str, changed: str, *, key: str) -> None:
    """`changed`, with the words that `original` does not have at that place underlined."""
    _component(data={"runs": word_differences(original, changed)}, key=key)


def marked_span(text: str, span: tuple[int, int] | None, *, key: str) -> None:
    """`text` with the characters of `span` highlighted."""
    low, high = span if span else (0, 0)
    runs = [["same", text[:low]], ["span", text[low:high]], ["same", text[high:]]]
    _component(data={"runs": [run for run in runs if run[1]]}, key=key)
