"""Judging pairs with the keyboard: one pair in large type, three questions, a note, undo; nothing else on the page."""

from collections.abc import Callable
from dataclasses import asdict

import streamlit as st

from flipcore.charts.theme import colours
from flipcore.reports.browser_data.parts import script

_HTML = """
<div class="review" tabindex="0">
  <div class="line"><span class="who"></span><span class="track"><i class="bar"></i></span><span class="count"></span>
    <span class="saved" aria-live="polite"></span></div>
  <div class="finished" aria-live="polite"></div>
  <div class="desk">
    <div class="pair"><section><h3>Original</h3><div class="text original" tabindex="0" role="region" aria-label="Original"></div></section>
      <section><h3>Paraphrase</h3><div class="text paraphrase" tabindex="0" role="region" aria-label="Paraphrase"></div></section></div>
    <div class="options"></div>
    <div class="hidden"></div>
    <div class="checks"></div>
    <textarea rows="1" placeholder="Note (M writes one, Enter ends it): why not, what changed" aria-label="Note"></textarea>
  </div>
  <div class="before"></div>
  <div class="keys"><kbd>Y</kbd> yes <kbd>N</kbd> no <kbd>U</kbd> unsure <kbd>↑</kbd><kbd>↓</kbd> another question
    <kbd>A</kbd> answer <kbd>M</kbd> note <kbd>Z</kbd> take back <kbd>F</kbd> full screen
    <span class="scrolls"><kbd>Space</kbd> scroll</span></div>
</div>
"""
_CSS = """
.review { font-family: var(--st-font); color: var(--st-text-color); background: var(--st-background-color); outline: none;
  font-variant-numeric: tabular-nums; }
.review:fullscreen { padding: 3vh 5vw; overflow: auto; }
.review .line { display: flex; align-items: center; gap: 14px; font-size: 14px; margin-bottom: 14px; }
.review .who { font-weight: 600; max-width: 16em; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.review .track { flex: 1; height: 6px; border-radius: 3px; overflow: hidden;
  background: color-mix(in srgb, var(--st-text-color) 12%, transparent); }
.review .bar { display: block; height: 100%; background: var(--st-primary-color); transition: width .15s; }
.review .saved { min-width: 8.5em; text-align: right; opacity: .75; }
.review.empty .desk { display: none; }
.review .finished { font-size: 22px; line-height: 1.4; }
.review:not(.empty) .finished { display: none; }
.review .pair { display: grid; grid-template-columns: 1fr 1fr; gap: 18px 32px; min-height: 168px; }
.review h3 { font-size: 14px; font-weight: 600; margin: 0 0 6px; opacity: .75; }
.review .text { font-size: 22px; line-height: 1.45; white-space: pre-wrap; overflow-wrap: anywhere; max-height: 46vh;
  overflow-y: auto; }
.review[data-size=long] .text { font-size: 18px; }
.review .text ins, .review .text del { text-decoration: none; border-bottom: 3px solid var(--genuine);
  background: color-mix(in srgb, var(--genuine) 13%, transparent); }
.review .text del { border-bottom-style: dotted; background: none; }
.review .options { display: flex; flex-wrap: wrap; gap: 4px 8px; margin-top: 14px; font-size: 15px; }
.review .options span { border: 1px solid var(--st-border-color); border-radius: 5px; padding: 2px 8px; }
.review .options .right { border-color: var(--st-primary-color); color: var(--st-primary-color); font-weight: 600; }
.review .hidden { font-size: 15px; opacity: .78; margin: 10px 0 14px; }
.review .check { display: grid; grid-template-columns: minmax(11em, 15em) repeat(3, minmax(5.5em, 9em)); gap: 8px;
  align-items: center; padding: 4px 0 4px 10px; border-left: 4px solid transparent; }
.review .check.asked { border-left-color: var(--st-primary-color); }
.review .question { font-size: 18px; }
.review .check.asked .question { font-weight: 600; }
.review button { font: inherit; font-size: 17px; padding: 5px 10px; border-radius: 6px; cursor: pointer; color: inherit;
  text-align: left; border: 1px solid var(--st-border-color); background: var(--st-background-color); }
.review .check:not(.asked) button:not(.chosen) { opacity: .62; }
.review button.chosen { border-color: var(--st-primary-color); box-shadow: inset 0 0 0 1px var(--st-primary-color);
  color: var(--st-primary-color); font-weight: 600; }
.review button:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 1px; }
.review kbd { font: 600 13px/1.3 var(--st-code-font, monospace); border: 1px solid var(--st-border-color); border-radius: 4px;
  padding: 0 5px; background: var(--st-secondary-background-color); color: var(--st-text-color); }
.review textarea { width: 100%; box-sizing: border-box; font: inherit; font-size: 16px; margin-top: 10px; padding: 6px 10px;
  border-radius: 6px; border: 1px solid var(--st-border-color); background: var(--st-background-color); color: inherit;
  resize: vertical; }
.review .before { font-size: 14px; min-height: 20px; margin-top: 10px; }
.review .keys { font-size: 13px; opacity: .8; margin-top: 6px; word-spacing: 2px; }
.review:not([data-size=long]) .scrolls { display: none; }
@media (max-width: 700px) { .review .pair { grid-template-columns: 1fr; min-height: 0; }
  .review .check { grid-template-columns: repeat(3, 1fr); } .review .question { grid-column: 1 / -1; } }
"""
_component = st.components.v2.component(
    "flipscope_pair_review", html=_HTML, css=_CSS, js=script("numbers.js", "listening.js", "pair_review.js")
)


def pair_review(view: dict, *, key: str, on_sent: Callable[[], None]) -> None:
    """Draws the view: reviewer, checks, the next pairs, the latest verdicts, counts, acknowledged ids, what to say at the end.

    `on_sent` runs when the browser has sent messages; they lie in `st.session_state[key]["outbox"]["messages"]`."""
    style = {"colours": asdict(colours(st.context.theme.type))}
    _component(key=key, data=view | style, on_outbox_change=on_sent)
