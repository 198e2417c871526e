"""A button that copies the address of the view as it stands."""

import streamlit as st

_JS = """
export default function (component) {
  const button = component.parentElement.querySelector("button");
  const said = (words) => {
    button.textContent = words;
    setTimeout(() => { button.textContent = "Copy link"; }, 1500);
  };
  button.onclick = () => {
    const address = window.location.href;
    if (!navigator.clipboard) { window.prompt("Copy this link", address); return; }
    navigator.clipboard.writeText(address).then(() => said("Copied"), () => window.prompt("Copy this link", address));
  };
}
"""
_CSS = """
button { font: 1rem var(--st-font); padding: 0.42rem 0.8rem; border-radius: 6px; cursor: pointer; min-width: 6.4rem;
  border: 1px solid var(--st-border-color); background: var(--st-background-color); color: var(--st-text-color); }
button:hover, button:focus-visible { border-color: var(--st-primary-color); color: var(--st-primary-color); }
"""
_component = st.components.v2.component(
    "flipscope_copy_link", html='<button type="button">Copy link</button>', css=_CSS, js=_JS
)


def copy_link(*, key: str) -> None:
    """The address carries study, model, item, axis, readout and variant, so it opens the same view."""
    _component(key=key, width="content")
