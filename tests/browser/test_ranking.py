"""In Chromium: ranks move while the level is dragged, a way opens both models' outputs, and the sentence is written down."""

import pytest

from flipcore.core.study import ItemSource, ModelUse, Part, Study
from tests.browser.serving import ROOT, browser_page, dashboard
from tests.browser.test_main_job import no_fault, text_of
from tests.browser.waiting import settled
from tests.stores import store_with

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.usefixtures("allowed_folders")]
STUDY = Study(
    "Three models",
    (ItemSource("flipscope_choice", n=40),),
    (Part("identity"), Part("option_order", {"kind": "cyclic", "n": 2})),
    (Part("first_token"), Part("regex")),
    tuple(ModelUse(f"simulated-{name}") for name in ("clean", "artifact-prone", "memorized")),
)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    file = store_with(tmp_path_factory.mktemp("ranking"), STUDY)
    with dashboard(ROOT / "app.py", file) as url, browser_page() as page:
        page.set_default_timeout(60_000)
        page.goto(url + "/ranking")
        page.locator(".ranking .text").first.wait_for()
        settled(page)
        if page.locator("section.tour").is_visible():
            page.keyboard.press("Escape")
        yield page


def test_rank_intervals_grow_with_the_level_without_a_round_trip(page):
    spans = page.locator(".ranking .span")
    slider = page.locator(".ranking input[type=range]")
    assert page.locator(".ranking tbody tr").count() == 4 and spans.count() == 12
    board = page.locator(".ranking").first
    before = board.get_attribute("data-painted")
    for at, level in ((0, "50%"), (55, "99.9%")):
        slider.evaluate(f"(one) => {{ one.value = {at}; one.dispatchEvent(new Event('input')); }}")
        assert page.locator(".ranking .level").inner_text() == level
        if at == 0:
            at_50 = spans.all_inner_texts()
    at_999 = spans.all_inner_texts()
    assert board.get_attribute("data-painted") != before and at_50 != at_999

    def width(text):
        places = [int(word) for word in text.split() if word.isdigit()]
        return places[-1] - places[0]

    assert all(width(narrow) <= width(wide) for narrow, wide in zip(at_50, at_999, strict=True)) and no_fault(page)


def test_a_way_opened_by_key_shows_both_outputs_and_the_headline_can_be_written_down(page):
    page.locator(".ranking .text").nth(1).focus()
    page.keyboard.press("Enter")
    page.get_by_text("Right answer:", exact=False).first.wait_for()
    settled(page)
    assert "way=" in page.url and text_of(page).count("Right answer:") == 2
    page.locator(".ranking .controls button").click()
    page.get_by_label("Your name").fill("Ada")
    page.get_by_label("Your name").press("Tab")
    page.get_by_role("button", name="Write it down").click()
    page.get_by_text("Ada (ranking, explore)", exact=False).first.wait_for()
    assert no_fault(page)
