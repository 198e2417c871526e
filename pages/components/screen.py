"""The spacing of every page: one stylesheet for the whole document, with the colours of the theme; and how a chart is saved."""

from pathlib import Path

import streamlit as st

from flipcore.charts.theme import colours
from flipcore.core.version import __version__
from flipcore.reports.browser_data.parts import script

_JS = """
export default function (component) {
  offerSaving(component.data);
  const style = document.documentElement.style;
  style.setProperty("--page", component.data.page);
  style.setProperty("--line", component.data.line);
  style.setProperty("--muted", component.data.muted);
  document.documentElement.dataset.view = component.data.view;

  // somebody changed the theme: Streamlit's own colours follow at once, those that Python chose when the page is drawn again
  const app = document.querySelector("[data-testid=stApp]");
  const isDark = () => Number(/[0-9]+/.exec(getComputedStyle(app).backgroundColor)) < 128;
  let last = app && isDark();
  const follow = () => requestAnimationFrame(() => {
    if (isDark() === last) return;
    last = !last;
    component.setTriggerValue("theme", last);
  });
  const watch = new MutationObserver(follow);
  if (app) watch.observe(app, { attributes: true, attributeFilter: ["class"] });
  return onlyLast(component.parentElement, () => watch.disconnect());
}
"""
_component = st.components.v2.component(
    "flipscope_screen",
    html="<span hidden></span>",
    css=Path(__file__).with_suffix(".css").read_text(encoding="utf-8"),
    js=f"{script('listening.js', 'saving.js')}\n{_JS}",
    isolate_styles=False,
)


def screen_style(view: str = "screen") -> None:
    """To be called once a page, before anything is drawn; `view` is screen or projector."""
    theme = colours(st.context.theme.type)
    data = {"page": theme.page, "line": theme.grid, "muted": theme.muted, "view": view, "version": __version__}
    _component(data=data, key="screen-style", height=0, on_theme_change=lambda: None)
