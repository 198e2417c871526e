"""One screen: what a newcomer meets, by mouse, by key and on a small screen."""

import re

import pytest

from pages import navigation
from tests.browser.serving import browser_page
from tests.browser.test_main_job import no_fault
from tests.browser.waiting import settled

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.usefixtures("allowed_folders")]
# what is shown of a study that compares nothing; a survey and a report are files more than pages
PAGES = [one.folder for one in navigation.PAGES if one.folder not in ("memorization", "holdout", "survey", "report")]
OVERFLOW = "document.documentElement.scrollWidth > window.innerWidth + 1"
# controls that nobody could name who cannot see them; what is hidden from everybody counts for nobody
NAMELESS = """() => [...document.querySelectorAll('button, a[href], input, select, textarea')].filter((one) => {
  const box = one.getBoundingClientRect();
  if (!box.width || !box.height || one.closest('[aria-hidden=true], [inert]') || one.type === 'hidden') return false;
  const labels = [...(one.labels ?? [])].map((label) => label.textContent).join('');
  const by = one.getAttribute('aria-labelledby')?.split(' ').map((id) => document.getElementById(id)?.textContent ?? '').join('');
  return !(one.getAttribute('aria-label') || by || labels || one.title || one.textContent || one.placeholder || '').trim();
}).map((one) => one.outerHTML.slice(0, 160))"""


@pytest.fixture(scope="module")
def page(address):
    """A page for somebody who has not met the tour."""
    with browser_page() as opened:
        opened.set_default_timeout(60_000)
        yield opened


def test_a_tour_is_shown_once_and_goes_on_over_pages(page, address):
    page.goto(address)
    page.locator(".tour .next").click()
    page.wait_for_url(re.compile("/flips"))
    page.locator(".tour .at", has_text="2 of 5").wait_for()
    room = "() => parseFloat(getComputedStyle(document.querySelector('[data-testid=stMainBlockContainer]')).paddingBottom)"
    card = page.locator("section.tour").bounding_box()
    assert page.evaluate(room) > card["height"]  # the end of the page can be scrolled out from under the card
    page.keyboard.press("Escape")
    page.locator("section.tour").wait_for(state="hidden")
    assert page.evaluate(room) < card["height"]
    page.goto(address)
    page.get_by_text("Browser study").first.wait_for()
    settled(page)
    assert page.locator("section.tour").is_hidden() and no_fault(page)


def test_a_link_to_studies_opens(page, address):
    page.goto(f"{address}/studies")
    page.get_by_text("Browser study").first.wait_for()
    assert page.get_by_text("Page not found").count() == 0


@pytest.mark.cell
@pytest.mark.parametrize("name", PAGES)
def test_a_page_shows_its_keys_its_answer_and_no_nameless_control(page, address, name):
    page.goto(f"{address}/{name}")
    page.locator(".st-key-page-header h1, .review").first.wait_for()
    settled(page)
    # the page's style comes a moment after its content: no blank band, one line
    page.wait_for_function("(document.querySelector('.st-key-page-header')?.getBoundingClientRect().y ?? 0) < 80")
    header = page.locator(".st-key-page-header").bounding_box()
    assert header is None or header["height"] < 60
    assert page.evaluate(NAMELESS) == []
    page.keyboard.press("Shift+?")
    page.get_by_role("heading", name="Keys of this page").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("heading", name="Keys of this page").wait_for(state="hidden")
    assert no_fault(page)


def test_the_inspector_stands_beside_the_map_and_is_a_sheet_on_a_small_screen(page, address):
    page.goto(f"{address}/flips")
    map_box = page.locator(".flipmap .scroller")
    map_box.wait_for()
    settled(page)
    box = map_box.bounding_box()
    page.mouse.click(box["x"] + box["width"] * 0.45, box["y"] + 82 + 12)
    page.get_by_text("Right answer:", exact=False).wait_for()
    settled(page)
    inspector = page.locator(".st-key-inspector").bounding_box()
    assert inspector["x"] > box["x"] + box["width"] and inspector["y"] < 400 and inspector["y"] + inspector["height"] <= 900
    page.set_viewport_size({"width": 1000, "height": 800})
    # it slides up, so its place counts once it is there
    page.wait_for_function("document.querySelector('.st-key-inspector').getBoundingClientRect().bottom < 802")
    sheet = page.locator(".st-key-inspector").bounding_box()
    assert sheet["x"] == 0 and sheet["y"] + sheet["height"] == pytest.approx(800, abs=2) and sheet["y"] > 200
    page.set_viewport_size({"width": 1440, "height": 900})
    page.get_by_role("button", name="Close", exact=True).first.click()
    page.get_by_text("Which items flip most?").wait_for()
    assert "item=" not in page.url and no_fault(page)


@pytest.mark.cell
@pytest.mark.parametrize("name", PAGES)
def test_nothing_runs_over_the_side_of_a_phone(page, address, name):
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(f"{address}/{name}")
    page.locator(".st-key-page-header h1, .review").first.wait_for()
    settled(page)
    overflows = page.evaluate(OVERFLOW)
    page.set_viewport_size({"width": 1440, "height": 900})
    assert not overflows


def test_a_file_that_is_no_database_is_refused_in_the_merge_window_by_a_sentence(page, address, tmp_path):
    bad = tmp_path / "bad.duckdb"
    bad.write_bytes(b"no database " * 2000)
    page.goto(f"{address}/studies")
    page.get_by_text("Menu").first.wait_for()
    settled(page)
    if page.locator("section.tour").is_visible():
        page.keyboard.press("Escape")
    page.get_by_role("button", name="Merge results").click()
    page.locator("input[type=file][accept*=duckdb]").set_input_files(str(bad))
    page.get_by_role("button", name="Merge", exact=True).click()
    refused = page.get_by_test_id("stAlert").filter(has_text="is not a database that can be read")
    refused.wait_for()
    assert "Traceback" not in page.content()
