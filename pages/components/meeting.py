"""Present and follow, on every page: the control that opens a meeting, joins one, and keeps everybody where the presenter is."""

from pathlib import Path

import streamlit as st

_HTML = """
<section class="meeting" aria-label="Meeting">
  <button type="button" class="open" aria-expanded="false">Present</button>
  <div class="line" hidden><span class="dot"></span><span class="text" aria-live="polite"></span>
    <button type="button" class="back" hidden>Back to the presenter</button></div>
  <div class="panel" hidden></div>
</section>
"""
_component = st.components.v2.component(
    "flipscope_meeting",
    html=_HTML,
    css=Path(__file__).with_suffix(".css").read_text(encoding="utf-8"),
    js=Path(__file__).with_suffix(".js").read_text(encoding="utf-8"),
)


def meeting(*, base: str, projector: bool) -> None:
    """`base` is the path under which the dashboard stands, `projector` whether the page is drawn for one."""
    _component(data={"base": base.strip("/"), "projector": projector}, key="meeting", height=0)
