"""Waiting for a page as its reader does: until nothing moves, and until what is pointed at answers."""

from collections.abc import Callable

from playwright.sync_api import Locator, Page, TimeoutError

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
N_TRIES = 12
HOVER_MS, ANSWER_MS = 1_000, 20_000


def settled(page: Page) -> None:
    """Wait until the page has been drawn and listens."""
    page.wait_for_function(_IS_SETTLED, polling=100)


def click_point(page: Page, chart: str, place: Callable[[], tuple[float, float]], answer: Locator) -> None:
    """Click a point of a chart until the page answers, as a reader does.

    Plotly takes a click for one on a point only where it has found the point under the pointer. A
    chart that has just been drawn does not answer the first hover, and one that is drawn anew
    between hover and click loses the click and may lie elsewhere. So each try asks for the place again.
    """
    found = page.locator(f"{chart} .hoverlayer .hovertext").first
    for _ in range(N_TRIES):
        x, y = place()
        page.mouse.move(x - 3, y - 3)
        page.mouse.move(x, y)
        if not _comes(found, HOVER_MS):
            continue
        page.mouse.click(x, y)
        if _comes(answer, ANSWER_MS):
            return
    answer.wait_for(timeout=HOVER_MS)


def _comes(locator: Locator, wait_ms: int) -> bool:
    try:
        locator.wait_for(timeout=wait_ms)
    except TimeoutError:
        return False
    return True
