"""axe-core in Chromium: no serious or critical fault of ours on any page, in light and dark, wide and narrow. A page is opened
once and its theme and width are changed in place, as somebody does who looks at it."""

from dataclasses import replace

import pytest

from flipcore.core.study import ModelUse, Part, Study
from flipcore.store.connection import Store
from flipcore.store.queries.decisions import keep_decision, keep_question
from pages import navigation
from tests.browser.test_main_job import SIMULATED
from tests.browser.waiting import settled
from tests.store.queries.test_holdout import STUDY as HELD_OUT
from tests.stores import store_with

axe_playwright = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python brings axe-core")
pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.usefixtures("allowed_folders", "allowed_callables")]
FLIPS = Study.from_toml(SIMULATED)
RANKED = replace(FLIPS, name="Two models", models=(*FLIPS.models, ModelUse("simulated-clean", n_samples=2)))
DRAWN = replace(
    FLIPS, name="Drawn ways", axes=(*FLIPS.axes, Part("combined", {"n": 4, "parts": ["option_order", "prompt_format"]}))
)
PAGES = {one.folder.replace("_", " "): one.folder for one in navigation.BY_FOLDER.values()} | {
    "studies": "",
    "flips": f"flips?study={FLIPS.study_id}",
    "inspector": f"flips?study={FLIPS.study_id}&sort=study",
    "board": f"flips?show=Parts&study={FLIPS.study_id}",
    "score": f"score?study={DRAWN.study_id}",
    "ranking": f"ranking?study={RANKED.study_id}",
    "memorization": f"memorization?study={HELD_OUT.study_id}",
    "holdout": f"holdout?sets=study:{HELD_OUT.study_id}&part=Inflation",
    "audit": f"audit?study={FLIPS.study_id}",
    "judging": "paraphrase_review?part=Review",
    "effect": "paraphrase_review?part=Effect",
    "report": f"report?study={FLIPS.study_id}",
    "decisions": "report?part=Decisions",
}
SETTINGS = [("light", 1440), ("dark", 1440), ("dark", 390), ("light", 390)]
# Streamlit's own, which a page cannot mend: (rule, part of the element's markup)
STREAMLITS_OWN: set[tuple[str, str]] = set()


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    path = store_with(tmp_path_factory.mktemp("access"), HELD_OUT, FLIPS, DRAWN, RANKED, shipped=True)
    store = Store.open(path)
    keep_decision(store, FLIPS.study_id, "decomposition", "explore", "Undecided.", {"level": 0.9}, "Ada", query="")
    keep_question(store, FLIPS.study_id, "decomposition", "Why is the floor so low?", "Ada")
    store.close()
    return path


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


def lasting_faults(page) -> list[str]:
    """Those that are still there after some seconds: on a busy machine parts of a page are faint, or without their font, for a while."""
    for _ in range(4):
        if not (there := faults(page)):
            break
        page.wait_for_timeout(1_500)
    return there


def shown_in(page, theme: str, width: int) -> None:
    """The page as it stands once it is drawn in this theme and width."""
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size({"width": width, "height": 900})
    settled(page)
    page.wait_for_function(
        "(dark) => dark === (parseInt(getComputedStyle(document.documentElement).getPropertyValue('--page')"
        ".slice(1, 3), 16) < 128)",
        arg=theme == "dark",
    )
    settled(page)
    page.wait_for_function("!document.querySelector('[data-stale=true]')")  # what is not drawn again yet is faint
    page.evaluate("document.fonts.ready")  # a formula in the font of the page's own is wider than its place
    page.wait_for_timeout(500)  # a chart takes the theme's colours a moment after its place is drawn


@pytest.mark.cell
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_serious(page, address, name):
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"{address}/{PAGES[name]}")
    page.locator(".st-key-page-header h1, .review, .st-key-who").first.wait_for()
    if name == "judging":
        page.get_by_label("Your name").fill("Ada")
        page.keyboard.press("Enter")
        page.locator(".review .pair").wait_for()
    if name == "inspector":
        box = page.locator(".flipmap[data-painted] .scroller").bounding_box()
        page.mouse.click(box["x"] + box["width"] * 0.45, box["y"] + 82 + 12)
        page.get_by_text("Right answer:", exact=False).wait_for()
    by_setting = {}
    for theme, width in SETTINGS:
        shown_in(page, theme, width)
        by_setting[theme, width] = lasting_faults(page)
    assert {setting: some for setting, some in by_setting.items() if some} == {}


@pytest.mark.parametrize("name", ["score", "ranking", "new study", "holdout", "report", "models"])
def test_no_heading_skips_a_level(page, address, name):
    """The headline of a board came after the page's title as third level."""
    page.goto(f"{address}/{PAGES[name]}")
    page.locator(".st-key-page-header h1").first.wait_for()
    settled(page)
    rule = {"runOnly": {"type": "rule", "values": ["heading-order"]}}
    assert axe_playwright.Axe().run(page, options=rule).response["violations"] == []


def test_a_fault_would_be_seen(page, address):
    page.goto(f"{address}/glossary")
    page.get_by_text("One question of a benchmark").wait_for()
    page.evaluate("document.querySelector('[data-testid=stMain]').insertAdjacentHTML('beforeend', '<img src=x:y>')")
    assert any(one.startswith("image-alt") for one in faults(page))
