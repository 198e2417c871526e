"""Verdicts that this browser's window still keeps, because the server was away, and the name under which they are stored."""

import streamlit as st

_JS = """
const PLACE = "flipscope-review|";
function waiting() {
  try {
    return Object.keys(sessionStorage).filter((key) => key.startsWith(PLACE))
      .map((key) => [key.slice(PLACE.length), JSON.parse(sessionStorage.getItem(key)).length]).filter(([, n]) => n > 0);
  } catch { return []; }
}
export default function (component) {
  const list = component.parentElement.querySelector("section");
  list.replaceChildren(...waiting().map(([name, n]) => {
    const line = document.createElement("p"), button = document.createElement("button");
    line.textContent = `The server was away. ${n} verdict${n === 1 ? "" : "s"} of ${name} ${n === 1 ? "is" : "are"} kept in this window. `;
    button.type = "button";
    button.textContent = `Go on as ${name}`;
    button.onclick = () => component.setTriggerValue("name", name);
    line.append(button);
    return line;
  }));
}
"""
_CSS = """
p { font: 1rem var(--st-font); color: var(--st-text-color); margin: 0 0 0.6rem; }
button { font: inherit; padding: 0.3rem 0.8rem; border-radius: 6px; cursor: pointer; font-weight: 600;
  border: 1px solid var(--st-primary-color); color: var(--st-primary-color); background: var(--st-background-color); }
"""
_component = st.components.v2.component("flipscope_kept_verdicts", html="<section></section>", css=_CSS, js=_JS)


def kept_verdicts(*, key: str) -> str:
    """The name under which somebody goes on, once they press its button; "" until then. Nothing is shown where nothing waits."""
    return str(_component(key=key, on_name_change=lambda: None).name or "")
