"""Waiting for a page as its reader does: until nothing moves, and until what is pointed at answers."""

from collections.abc import Callable

from playwright.sync_api import Error, Page

# The script has run, and what it drew has been loaded: an element that is not yet there shows a
# skeleton, the list of keys is empty until something listens to them, and a chart has no layout.
_IS_SETTLED = """() => {
  if (document.querySelector('[data-testid=stApp]')?.dataset.testScriptState !== 'notRunning') return false;
  if (document.querySelector('[data-testid=stSkeleton]')) return false;
  const charts = [...document.querySelectorAll('.js-plotly-plot')];
  if (charts.some(chart => chart.offsetParent && !chart._fullLayout)) return false;
  const within = (root, name) => [
    ...root.querySelectorAll(name),
    ...[...root.querySelectorAll('*')].filter(one => one.shadowRoot).flatMap(one => within(one.shadowRoot, name)),
  ];
  return within(document, "dialog[aria-label='Keys of this page'] dl").every(list => list.childElementCount > 0);
}"""
N_TRIES = 60
TRY_MS = 1_000


def settled(page: Page) -> None:
    """Wait until the page has been drawn and listens."""
    page.wait_for_function(_IS_SETTLED, polling=100)


def click_point(page: Page, chart: str, place: Callable[[], tuple[float, float]]) -> None:
    """Click a point of a chart as soon as Plotly shows that it is under the pointer; only then is it one on a point.

    A chart that has just been drawn, or is drawn anew, does not answer the first hover, and may lie
    elsewhere by the next. So each try asks for the place again.
    """
    answer = page.locator(f"{chart} .hoverlayer .hovertext").first
    for attempt in range(N_TRIES):
        x, y = place()
        page.mouse.move(x - 3, y - 3)
        page.mouse.move(x, y)
        try:
            answer.wait_for(timeout=TRY_MS)
            break
        except Error:
            if attempt == N_TRIES - 1:
                raise
    page.mouse.click(x, y)
