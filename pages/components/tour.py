"""A tour of six steps, shown once: skippable, by keyboard, remembered by the browser. It lies over no page's own controls."""

from collections.abc import Sequence

import streamlit as st

from flipcore.reports.browser_data.parts import script

_HTML = """
<section class="tour" role="dialog" aria-label="Tour" hidden>
  <p class="at"></p><h2></h2><p class="text"></p>
  <div class="row"><button type="button" class="skip">Skip the tour</button><span></span>
    <button type="button" class="back">Back</button><button type="button" class="next">Next</button></div>
</section>
"""
_CSS = """
.tour { position: fixed; left: 18px; bottom: 18px; width: min(360px, calc(100vw - 36px)); z-index: 999990; padding: 14px 18px;
  box-sizing: border-box; font-family: var(--st-font); color: var(--st-text-color); background: var(--st-background-color);
  border: 2px solid var(--st-primary-color); border-radius: 10px; box-shadow: 0 8px 30px rgb(0 0 0 / 22%); }
.tour[hidden] { display: none; }
.at { font-size: 13px; opacity: 0.75; margin: 0; }
h2 { font-size: 17px; margin: 2px 0 6px; }
.text { font-size: 15px; line-height: 1.45; margin: 0 0 12px; }
.row { display: flex; gap: 8px; } .row span { flex: 1; }
button { font: inherit; font-size: 14px; padding: 5px 12px; border-radius: 6px; cursor: pointer; color: inherit;
  border: 1px solid var(--st-border-color); background: var(--st-background-color); }
button:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 2px; }
.next { border-color: var(--st-primary-color); color: var(--st-primary-color); font-weight: 600; }
"""
_component = st.components.v2.component("flipscope_tour", html=_HTML, css=_CSS, js=script("listening.js", "tour.js"))


def tour(steps: Sequence[tuple[str, str, str]], *, start: bool) -> None:
    """`steps` are (path of the page, title, text). It opens by itself where the browser has not seen it and `start` is true."""
    _component(data={"steps": [list(one) for one in steps], "start": start}, key="tour", height=0)
