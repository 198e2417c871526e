"""Nothing that somebody has begun to read moves away: the layout shift of every page while it is drawn, as Chromium counts it."""

import pytest

from tests.browser.test_access import PAGES, database  # noqa: F401
from tests.browser.waiting import settled

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.usefixtures("allowed_folders")]
MOST = 0.1  # what web.dev calls good
WATCH = """
if (!window.shifts) {  // tests share a page, and each adds this script to it
  window.shifts = [];
  const moved = (source) => `${source.node?.innerText?.slice(0, 60)}: ${source.previousRect.y} to ${source.currentRect.y}`;
  new PerformanceObserver((list) => list.getEntries().forEach((one) =>
    one.hadRecentInput || shifts.push([one.value, one.startTime, one.sources.map(moved)])))
    .observe({ type: "layout-shift", buffered: true });
}
"""


def largest(shifts: list[tuple[float, float, list[str]]]) -> float:
    """Cumulative layout shift: the largest sum of a burst, at most 5 s long and without a pause of 1 s."""
    sums, start, last = [0.0], float("-inf"), float("-inf")
    for value, at, _ in shifts:
        if at - last > 1_000 or at - start > 5_000:
            sums.append(0.0)
            start = at
        sums[-1] += value
        last = at
    return max(sums)


@pytest.mark.cell("width")
@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("name", sorted({*PAGES} - {"inspector", "judging"}))  # the two open after a click
def test_a_page_holds_still_while_it_is_drawn(page, address, name, width):
    page.add_init_script(WATCH)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{address}/{PAGES[name]}")
    page.locator(".st-key-page-header h1, .review, .st-key-who").first.wait_for()
    settled(page)
    page.wait_for_timeout(1_500)  # charts and boards come a moment after their place
    shifts = page.evaluate("window.shifts")
    assert largest(shifts) <= MOST, [one for one in shifts if one[0] > MOST / 5]


def test_a_page_that_moves_would_be_seen(page, address):
    page.add_init_script(WATCH)
    page.goto(f"{address}/glossary")
    page.get_by_text("One question of a benchmark").wait_for()
    page.evaluate("document.querySelector('[data-testid=stMainBlockContainer]').style.marginTop = '300px'")
    page.wait_for_function(f"window.shifts.some(([value]) => value > {MOST})")
    assert largest(page.evaluate("window.shifts")) > MOST
