"""axe-core in Chromium: no serious or critical fault of ours on any page, in light and dark, wide and narrow."""

import pytest

from flipcore.core.study import Study
from tests.browser.test_main_job import SIMULATED, settled
from tests.store.queries.test_holdout import STUDY as HELD_OUT
from tests.stores import store_with

axe_playwright = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python brings axe-core")
pytestmark = [pytest.mark.browser, pytest.mark.slow]
PAGES = {
    "studies": "",
    "new study": "new_study",
    "flip surface": "flip_surface",
    "decomposition": "decomposition",
    "memorization": f"memorization?study={HELD_OUT.study_id}",
    "holdout": f"holdout?sets=study:{HELD_OUT.study_id}&part=Inflation",
    "audit": "audit",
    "models": "models",
    "review": "paraphrase_review",
    "judging": "paraphrase_review?part=Review",
    "effect": "paraphrase_review?part=Effect",
    "glossary": "glossary",
}
# Streamlit's own, which a page cannot mend: (rule, part of the element's markup)
STREAMLITS_OWN: set[tuple[str, str]] = set()


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    return store_with(tmp_path_factory.mktemp("access"), HELD_OUT, Study.from_toml(SIMULATED), shipped=True)


def faults(page) -> list[str]:
    """Serious and critical ones, each with the element that it is about."""
    violations = axe_playwright.Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [
        f"{one['id']}: {node['html'][:160]} {[check['message'] for check in node['any']][:1]}"
        for one in violations
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
        if not any(one["id"] == rule and part in node["html"] for rule, part in STREAMLITS_OWN)
    ]


@pytest.mark.cell("name")
@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_serious(page, address, name, theme, width):
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{address}/{PAGES[name]}")
    page.locator(".st-key-page-header h1, .review, .st-key-who").first.wait_for()
    if name == "judging":
        page.get_by_label("Your name").fill("Ada")
        page.keyboard.press("Enter")
        page.locator(".review .pair").wait_for()
    settled(page)
    page.wait_for_function(
        "getComputedStyle(document.documentElement).getPropertyValue('--page') !== ''"
    )  # the page's own style
    page.wait_for_timeout(500)  # a chart takes the theme's colours a moment after its place is drawn
    assert faults(page) == []


def test_a_fault_would_be_seen(page, address):
    page.goto(f"{address}/glossary")
    page.get_by_text("One question of a benchmark").wait_for()
    page.evaluate("document.querySelector('[data-testid=stMain]').insertAdjacentHTML('beforeend', '<img src=x:y>')")
    assert any(one.startswith("image-alt") for one in faults(page))
