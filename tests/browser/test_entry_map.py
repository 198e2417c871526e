"""The map of the Holdout page in a real browser: a click, a lasso and a bar each list entries, time after time."""

import pytest

from tests.browser.serving import ROOT, browser_page, dashboard
from tests.browser.test_main_job import SIMULATED
from tests.browser.waiting import click_point, settled

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.usefixtures("allowed_folders")]
# where points of the first trace lie on the screen
POINTS = """(rows) => {
  const graph = document.querySelector('.st-key-entry-map .js-plotly-plot');
  const layout = graph._fullLayout, points = graph._fullData[0], box = graph.getBoundingClientRect();
  return rows.map(row => [box.left + layout.xaxis._offset + layout.xaxis.l2p(points.x[row]),
                          box.top + layout.yaxis._offset + layout.yaxis.l2p(points.y[row])]);
}"""
# two points of the first trace that no other mark covers: where marks overlap, a click takes either
ALONE = """() => {
  const { _fullLayout: layout, _fullData: traces } = document.querySelector('.st-key-entry-map .js-plotly-plot');
  const marks = traces.flatMap((trace, number) => Array.from(trace.x ?? [], (x, row) =>
    ({ number, row, x: layout.xaxis.l2p(x), y: layout.yaxis.l2p(trace.y[row]) })));
  const isAlone = (mark) => marks.every(other => other === mark || Math.hypot(other.x - mark.x, other.y - mark.y) > 20);
  return marks.filter(mark => mark.number === 0 && isAlone(mark)).slice(0, 2).map(mark => mark.row);
}"""
MAP = "document.querySelector('.st-key-entry-map .js-plotly-plot')"
GROUND = """() => {
  const graph = document.querySelector('.st-key-entry-map .js-plotly-plot'), box = graph.getBoundingClientRect();
  const { xaxis, yaxis } = graph._fullLayout;
  return [box.left + xaxis._offset + 3, box.top + yaxis._offset + 3,
          box.left + xaxis._offset + xaxis._length - 3, box.top + yaxis._offset + yaxis._length - 3];
}"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The Holdout page on two shipped sets, their components on the map; the demo does not start."""
    from flipcore.core.study import Study
    from flipcore.runs import runner
    from flipcore.store.connection import Store

    path = tmp_path_factory.mktemp("map") / "flips.duckdb"
    store = Store.open(path)
    runner.run(Study.from_toml(SIMULATED), store)
    store.close()
    with dashboard(ROOT / "app.py", path) as url, browser_page(height=2_400) as opened:
        opened.set_default_timeout(180_000)
        opened.goto(f"{url}/holdout?sets=unlike&part=Map")
        opened.locator(".st-key-map-places").get_by_text("components", exact=True).click()
        opened.get_by_text("component 1").first.wait_for()
        opened.locator(".st-key-entry-closeness summary").click()
        settled(opened)
        yield opened
        assert opened.errors == []


def said(page, words) -> None:
    page.get_by_text(words).first.wait_for()
    settled(page)


def let_go(page) -> None:
    page.get_by_role("button", name="Deselect").click()
    said(page, "Click a point, or draw around some")


def test_one_click_after_another_opens_the_entry_with_its_neighbours(page):
    rows = page.evaluate(ALONE)
    assert len(rows) == 2
    for _ in range(2):
        for row in rows:
            answer = page.get_by_text("Nearest in the holdout").first
            click_point(page, ".st-key-entry-map", lambda row=row: page.evaluate(POINTS, [row])[0], answer)
            said(page, "Nearest in the holdout")
            let_go(page)


def test_a_lasso_lists_what_is_in_it_and_marks_it_in_the_bars(page):
    page.locator(".st-key-map-pointer").get_by_text("lasso", exact=True).click()
    page.wait_for_function(f"{MAP}?._fullLayout?.dragmode === 'lasso'")
    settled(page)
    left, top, right, bottom = page.evaluate(GROUND)
    page.mouse.move(left, top)
    page.mouse.down()
    for x, y in ((right, top), (right, bottom), (left, bottom), (left, top)):
        page.mouse.move(x, y, steps=8)
    page.mouse.up()
    said(page, "144 entries: 72 benchmark, 72 holdout")
    page.locator(".st-key-closest-bars").get_by_text("selected on the map").first.wait_for()
    let_go(page)


def test_a_bar_rings_its_entries_on_the_map(page):
    bars = page.locator(".st-key-closest-bars .point path")

    def middle_of_the_highest():
        heights = bars.evaluate_all("found => found.map(one => one.getBoundingClientRect().height)")
        box = bars.nth(heights.index(max(heights))).bounding_box()
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    click_point(page, ".st-key-closest-bars", middle_of_the_highest, page.get_by_text(" entries: ").first)
    said(page, " entries: ")
    page.wait_for_function(f"{MAP}?._fullData?.at(-1)?.name === 'chosen'")
