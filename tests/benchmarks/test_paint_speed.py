"""In Chromium: from a drag of the level to the repainted board, and from a click on a cell to the inspector."""

import statistics
import time

import pytest

from tests.browser.serving import ROOT, browser_page, dashboard

pytestmark = [pytest.mark.browser, pytest.mark.soak]
N_ITEMS, N_CLICKS = 12_000, 7

DRAG = """async (slider) => {
  const times = [];
  for (let i = 0; i < 60; i += 1) {
    const start = performance.now();
    slider.value = String(5 + (i % 40));
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    await new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted)));
    times.push(performance.now() - start);
  }
  return times;
}"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A store with a study of N_ITEMS items that a simulated model answered."""
    import json

    from flipcore.core.study import ItemSource, ModelUse, Part, Study
    from flipcore.runs import runner
    from flipcore.store.connection import Store

    folder = tmp_path_factory.mktemp("paint")
    items = folder / "items.jsonl"
    options = ["tin", "oak", "rye", "owl"]
    items.write_text(
        "\n".join(json.dumps({"question": f"Question {i}?", "options": options, "answer": i % 4}) for i in range(N_ITEMS))
    )
    columns = {"question": "question", "options": "options", "target": "answer"}
    study = Study(
        "paint",
        (ItemSource("file", path=str(items), columns=columns),),
        (Part("identity"), Part("option_order")),
        (Part("first_token"), Part("regex")),
        (ModelUse("simulated-artifact-prone"),),
    )
    store = Store.open(folder / "flips.duckdb")
    assert runner.run(study, store).state == "done"
    store.close()
    with dashboard(ROOT / "app.py", folder / "flips.duckdb") as url:
        yield url


def test_drag_to_paint_and_click_to_inspector(address, capsys):
    with browser_page() as page:
        page.set_default_timeout(180_000)
        page.goto(address + "/decomposition")
        page.locator(".board .sentence").first.wait_for()
        before = page.locator(".board .level").inner_text()
        painted = page.locator(".board input[type=range]").evaluate(DRAG)
        assert page.locator(".board .level").inner_text() != before
        page.goto(address + "/flip_surface")
        page.locator(".flipmap .scroller").wait_for()
        time.sleep(2)
        clicks = [_click(page, row) for row in range(N_CLICKS)]
        assert page.errors == []
    with capsys.disabled():
        print(
            f"\n{N_ITEMS:,} items: drag to paint median {statistics.median(painted):.0f} ms (two frames are 33), click to "
            f"inspector median {1000 * statistics.median(clicks):.0f} ms, first {1000 * clicks[0]:.0f} ms"
        )


def _click(page, row: int) -> float:
    box = page.locator(".flipmap .scroller").bounding_box()
    shown = page.locator("[data-testid=stMain] h4")
    old = shown.first.inner_text() if shown.count() else ""
    start = time.perf_counter()
    page.mouse.click(box["x"] + box["width"] * 0.45, box["y"] + 82 + 24 * row + 12)
    page.wait_for_function(
        """old => {
        const heading = document.querySelector('[data-testid=stMain] h4');
        return heading && heading.innerText !== old }""",
        arg=old,
        polling=10,
    )
    taken = time.perf_counter() - start
    time.sleep(0.7)
    return taken
