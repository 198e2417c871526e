"""In Chromium, at 12,000 and at 100,000 items: from a drag of the level to the repainted board, from a click on the flip map to
its ring and to the inspector, and from a brush, a zoom and a drag of the overview to the repainted map."""

import json
import os
import platform
import statistics
import time

import duckdb
import pytest

from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.runs import runner
from flipcore.store.connection import Store
from tests.browser.serving import ROOT, browser_page, dashboard
from tests.browser.waiting import settled

pytestmark = [pytest.mark.browser, pytest.mark.soak, pytest.mark.usefixtures("allowed_folders")]
N_RUN, N_CLICKS = 400, 9
# "5 of 12,000", which item of the map the inspector shows; None while there is none
PLACE = "() => /[0-9,]+ of [0-9,]+/.exec(document.querySelector('.st-key-inspector')?.innerText ?? '')?.[0] ?? null"
# columns that name something: in a copy they name the copy's own
OWN_NAMES = {
    "items": ("item_id",),
    "study_items": ("item_id",),
    "variants": ("variant_id", "item_id"),
    "study_variants": ("item_id", "variant_id"),
    "completions": ("call_id",),
    "study_calls": ("call_id",),
    "readouts": ("item_id", "variant_id"),
    "readout_sources": ("item_id", "variant_id", "call_id"),
}
# milliseconds from an event to the second frame after it, when what it drew is on the screen
PAINT = """async (root, [what, n]) => {
  const times = [];
  const painted = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const acts = {
    level: (i) => {
      const slider = root.querySelector("input[type=range]");
      slider.value = String(5 + (i % 40));
      slider.dispatchEvent(new Event("input", { bubbles: true }));
    },
    zoom: (i) => root.querySelector(i % 2 ? ".tools .in" : ".tools .out").click(),
    scroll: (i) => { root.querySelector(".scroller").scrollTop = 24 * 97 * (i + 1); },
    brush: (i) => {
      const scroller = root.querySelector(".scroller"), box = scroller.getBoundingClientRect();
      const at = (type, y) => new MouseEvent(type, { bubbles: true, clientX: box.left + 60, clientY: box.top + 90 + y });
      if (i === 0) scroller.dispatchEvent(at("mousedown", 4));
      window.dispatchEvent(at("mousemove", 20 + 7 * i));
    },
  };
  for (let i = 0; i < n; i += 1) {
    const start = performance.now();
    acts[what](i);
    await painted();
    times.push(performance.now() - start);
  }
  return times;
}"""


def large_store(folder, n_items: int):
    """A store in `folder` with a study of `N_RUN` items that a simulated model answered, copied in SQL until there are
    `n_items`, each copy under names of its own."""
    options = ["tin", "oak", "rye", "owl"]
    lines = [json.dumps({"question": f"Question {i}?", "options": options, "answer": i % 4}) for i in range(N_RUN)]
    (folder / "items.jsonl").write_text("\n".join(lines))
    columns = {"question": "question", "options": "options", "target": "answer"}
    study = Study(
        "paint",
        (ItemSource("file", path=str(folder / "items.jsonl"), columns=columns),),
        (Part("identity"), Part("option_order")),
        (Part("first_token"), Part("regex")),
        (ModelUse("simulated-artifact-prone"),),
    )
    path = folder / "flips.duckdb"
    store = Store.open(path)
    assert runner.run(study, store).state == "done"
    store.close()
    with duckdb.connect(str(path)) as database:
        for table, names in OWN_NAMES.items():
            renamed = ", ".join(f"{name} || '#' || k AS {name}" for name in names)
            more = {
                "items": ", question || ' (' || k || ')' AS question",
                "study_items": f", position + {N_RUN} * k AS position",
            }
            database.execute(
                f"INSERT INTO {table} SELECT * EXCLUDE (k) REPLACE ({renamed}{more.get(table, '')}) "
                f"FROM (FROM {table}), range(1, {n_items // N_RUN}) copies(k)"
            )
    return path


def machine() -> str:
    """What the times were measured on."""
    return f"{os.cpu_count()} cores ({platform.machine()}), Python {platform.python_version()}, load {os.getloadavg()[0]:.1f}"


@pytest.mark.parametrize("n_items", [12_000, 100_000])
def test_clicks_and_drags_are_answered_at_once(tmp_path, capsys, n_items):
    path = large_store(tmp_path, n_items)
    with dashboard(ROOT / "app.py", path) as address, browser_page() as page:
        page.set_default_timeout(400_000)
        page.add_init_script("localStorage.setItem('flipscope-tour', 'done')")
        start = time.perf_counter()
        page.goto(address + "/flips")
        page.locator(".flipmap[data-painted]").wait_for()
        loaded = time.perf_counter() - start
        settled(page)
        time.sleep(2)
        assert page.locator(".flipmap .scroller").get_attribute("aria-rowcount") == str(n_items)
        rings, inspectors = zip(*(_click(page, row) for row in range(N_CLICKS)), strict=True)
        times = {
            name: page.locator(".whole").evaluate(PAINT, [name, n]) for name, n in (("scroll", 40), ("brush", 40), ("zoom", 8))
        }
        page.goto(address + "/flips?show=Parts")
        page.locator(".board .sentence").first.wait_for()
        before = page.locator(".board .level").inner_text()
        times["level"] = page.locator(".board").evaluate(PAINT, ["level", 60])
        assert page.locator(".board .level").inner_text() != before and page.errors == []
    with capsys.disabled():
        print(f"\n{n_items:,} items on {machine()}: first map {loaded:.1f} s; ms, median and slowest of {N_CLICKS} clicks:")
        print(f"  click to ring {_told(rings)}, click to inspector {_told(inspectors)}; two frames are 33 ms:")
        print("  " + ", ".join(f"{name} to paint {_told(ms)}" for name, ms in times.items()))
    assert statistics.median(rings) < 250


def _told(ms) -> str:
    return f"{statistics.median(ms):.0f} / {max(ms):.0f}"


def _click(page, row: int) -> tuple[float, float]:
    """(ms to the ring, ms to the inspector of another item)."""
    box = page.locator(".flipmap .scroller").bounding_box()
    old = page.evaluate(PLACE)
    page.locator(".flipmap").evaluate(
        """(map, [place, old]) => { window.clickTimes = {};
        const shown = eval(place), scroller = map.querySelector('.scroller');
        scroller.addEventListener('mousedown', () => {
          const start = performance.now();
          const look = () => {
            const at = shown();
            if (!window.clickTimes.ring && Number(map.dataset.painted) > start) window.clickTimes.ring = performance.now() - start;
            if (at !== null && at !== old) window.clickTimes.inspector = performance.now() - start;
            else requestAnimationFrame(look);
          };
          look();
        }, { once: true }); }""",
        [PLACE, old],
    )
    page.mouse.click(box["x"] + box["width"] * 0.45, box["y"] + 82 + 24 * (row % 18) + 12)
    page.wait_for_function("window.clickTimes.inspector", polling=20)
    page.wait_for_function("document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'")
    time.sleep(0.5)
    times = page.evaluate("window.clickTimes")
    return times["ring"], times["inspector"]
