"""By keyboard alone, from nothing to a ranking of three models: two local servers and the pocket model."""

import os

import pytest

from flipcore.core.study import Study
from tests.browser.serving import ROOT, browser_page, dashboard
from tests.browser.test_main_job import SIMULATED, no_fault, text_of
from tests.browser.waiting import settled
from tests.models.manners import Manner, Mannered
from tests.stores import store_with

# a minute or more: run by hand
pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.soak, pytest.mark.usefixtures("allowed_folders")]
MAX_TABS = 150
_NAME = """() => {
    const one = document.activeElement;
    const label = one.labels && one.labels.length ? one.labels[0].innerText : '';
    const names = [one.getAttribute('aria-label'), label, one.innerText, one.getAttribute('placeholder')];
    return names.filter(Boolean).join(' | ').slice(0, 200);
}"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("journey")
    file = store_with(folder, Study.from_toml(SIMULATED))
    environment = {"FLIPSCOPE_HOME": str(folder / "home")}
    with dashboard(ROOT / "app.py", file, **environment) as url, browser_page() as page:
        page.set_default_timeout(30_000)
        page.add_init_script("localStorage.setItem('flipscope-tour', 'done')")
        page.goto(url)
        page.get_by_text("Menu").first.wait_for()
        yield page


def tab_to(page, name, tag=""):
    """Presses Tab until what has the focus is called so, as somebody without a mouse finds it. A part of the page that holds many
    words and can be scrolled has the focus, too, and is none of them."""
    names = []
    for _ in range(MAX_TABS):
        page.keyboard.press("Tab")
        names.append(page.evaluate(_NAME))
        lines = [line.strip() for part in names[-1].split(" | ") for line in part.split("\n") if line.strip()]
        if name in lines and len(lines) <= 4 and tag in ("", page.evaluate("document.activeElement.tagName")):
            return
    raise AssertionError(f"{name!r} cannot be reached by Tab; reached were {list(dict.fromkeys(names))}")


def press(page, name):
    tab_to(page, name)
    page.keyboard.press("Enter")
    page.wait_for_timeout(300)  # the script begins a moment after the key
    settled(page)


def go_to(page, name):
    """Opens a page of the bar at the top, or of the menu beside a title."""
    if name == "Models":
        press(page, "More")
    press(page, name)
    page.get_by_role("heading", name=name, exact=True).first.wait_for()
    settled(page)


def fill(page, name, text):
    tab_to(page, name)
    page.keyboard.press("Control+a")
    page.keyboard.type(text)


def photograph(page, name):
    """Pictures for whoever looks, where FLIPSCOPE_PHOTOGRAPHS says so."""
    if folder := os.environ.get("FLIPSCOPE_PHOTOGRAPHS"):
        for scheme in ("light", "dark"):
            for width in (1440, 900):
                page.emulate_media(color_scheme=scheme)
                page.set_viewport_size({"width": width, "height": 900})
                page.wait_for_timeout(1_500)
                page.screenshot(path=f"{folder}/{name}-{scheme}-{width}.png")
        page.emulate_media(color_scheme="light")
        page.set_viewport_size({"width": 1440, "height": 900})


def add_model(page, name, url):
    if not page.locator(".st-key-add-a-model details[open]").count():
        press(page, "Add a model")
    page.get_by_label(
        "Kind of server"
    ).first.wait_for()  # parts of Streamlit come when first needed: until then Tab passes over it
    settled(page)
    fill(page, "Kind of server", "vLLM")
    page.keyboard.press("Enter")
    page.wait_for_timeout(300)
    settled(page)
    fill(page, "Name in your studies", name)
    fill(page, "Address", url)
    fill(page, "Model", "m")
    press(page, "Add and test")
    page.locator(f".st-key-model-{name}").wait_for()
    page.get_by_text("Tested by", exact=False).first.wait_for()
    settled(page)


def test_from_nothing_to_a_ranking_of_three_models_without_a_mouse(page):
    with Mannered(Manner("first")) as first, Mannered(Manner("second")) as second:
        go_to(page, "Models")
        for name, server in (("lab-a", first), ("lab-b", second)):
            add_model(page, name, server.url)
        go_to(page, "Studies")
        go_to(page, "New study")
        tab_to(page, "Models", "INPUT")
        for name in ("lab-a", "lab-b"):
            page.keyboard.type(name)
            page.keyboard.press("Enter")
            settled(page)
        press(page, "Start the study")
        page.get_by_text("lab-a, lab-b", exact=False).first.wait_for()
        go_to(page, "Ranking")
        page.locator(".ranking .text").first.wait_for(timeout=90_000)
        assert all(name in text_of(page) for name in ("lab-a", "lab-b")) and no_fault(page)
        photograph(page, "ranking")
