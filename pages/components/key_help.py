"""`?` on every page: a dialog with the page's keys, opened by the key or by its button, closed by Escape."""

from collections.abc import Sequence

import streamlit as st

from flipcore.reports.browser_data.parts import script

_HTML = """
<button type="button" class="open" aria-label="Keys of this page" title="Keys of this page: ?">?</button>
<dialog aria-label="Keys of this page"><h2>Keys of this page</h2><dl></dl><button type="button" class="close">Close</button>
<button type="button" class="close tour">Start the tour</button></dialog>
"""
_CSS = """
.open { position: fixed; right: 14px; top: 13px; width: 34px; height: 34px; border-radius: 50%; z-index: 999991; cursor: pointer;
  font: 600 16px var(--st-font); border: 1px solid var(--st-border-color); color: var(--st-text-color);
  background: var(--st-background-color); }
.open:focus-visible, .close:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 2px; }
dialog { font-family: var(--st-font); color: var(--st-text-color); background: var(--st-background-color); padding: 20px 26px;
  border: 1px solid var(--st-border-color); border-radius: 10px; min-width: 300px; }
dialog::backdrop { background: rgb(0 0 0 / 35%); }
h2 { font-size: 18px; margin: 0 0 12px; }
dl { display: grid; grid-template-columns: auto 1fr; gap: 7px 18px; margin: 0 0 16px; font-size: 15px; }
dt { text-align: right; } dd { margin: 0; }
kbd { font: 600 14px/1.3 var(--st-code-font, monospace); border: 1px solid var(--st-border-color); border-radius: 4px;
  padding: 1px 6px; background: var(--st-secondary-background-color); }
.close { font: inherit; font-size: 14px; padding: 5px 12px; border-radius: 6px; cursor: pointer; color: inherit;
  border: 1px solid var(--st-border-color); background: var(--st-background-color); }
"""
_JS = """
export default function (component) {
  const { data, parentElement } = component;
  const dialog = parentElement.querySelector("dialog");
  parentElement.querySelector("dl").replaceChildren(...data.keys.flatMap(([key, meaning]) => {
    const term = document.createElement("dt");
    const cap = document.createElement("kbd");
    cap.textContent = key;
    term.appendChild(cap);
    const text = document.createElement("dd");
    text.textContent = meaning;
    return [term, text];
  }));
  const show = () => { if (!dialog.open) dialog.showModal(); };
  parentElement.querySelector(".open").onclick = show;
  parentElement.querySelector(".close").onclick = () => dialog.close();
  parentElement.querySelector(".tour").onclick = () => { dialog.close(); window.dispatchEvent(new Event("flipscope-tour")); };
  const typing = (target) => target instanceof Element && target.closest("input, textarea, select, [contenteditable=true]");
  const listen = (event) => {
    if (event.key !== "?" || event.ctrlKey || event.metaKey || event.composedPath().some(typing)) return;
    event.preventDefault();
    show();
  };
  document.addEventListener("keydown", listen);
  return onlyLast(dialog, () => document.removeEventListener("keydown", listen));
}
"""
_component = st.components.v2.component("flipscope_keys", html=_HTML, css=_CSS, js=f"{script('listening.js')}\n{_JS}")


def key_help(keys: Sequence[tuple[str, str]]) -> None:
    """`keys` are (key, what it does)."""
    _component(data={"keys": [list(one) for one in keys]}, key="key-help", height=0)
