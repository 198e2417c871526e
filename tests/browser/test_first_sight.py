"""Every page at 1440 × 900: its headline, its first number, its picture and its first control in sight without scrolling."""

import pytest

from flipcore.core.study import Study
from tests.browser.test_main_job import SIMULATED, no_fault
from tests.browser.waiting import settled
from tests.stores import store_with

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.usefixtures("allowed_folders")]
HEIGHT = 900
MEMORY = """
name = "First sight, memory"
control = "random"
[[items]]
dataset = "pocket_problems"
n = 24
[[items]]
dataset = "flipscope_problems"
role = "control"
n = 24
[[axes]]
name = "numeric_resample"
[[extractors]]
name = "regex"
[[models]]
name = "simulated-memorized"
"""
PICTURES = "canvas, [data-testid=stPlotlyChart], [data-testid=stDataFrame], table, img, .board svg, svg[role=img]"
ANSWERS = "[data-testid=stMain] :is(h2, h3), .headline"  # the page's own sentence, not its name
CONTROLS = ":is(button, input, textarea, select, a[href], [role=radio]):not(.st-key-page-header *)"
# page -> what it has to show; a page of texts and controls alone has no picture
PAGES = {
    "studies": "number control",  # a study is one row, its sentence in the text; this store has no demo with pictures
    "new_study": "number picture control",
    "flips": "headline number picture control",
    "flips?show=Parts": "headline number picture control",
    "memorization": "headline number picture control",
    "holdout?sets=halves": "headline number picture control",
    "audit": "headline number control",
    "paraphrase_review": "control",
    "report?part=Decisions": "headline control",
    "models": "picture control",
    "glossary": "headline picture control",
}
# where the first words below the header end that hold a digit, as [bottom]; a component's shadow is looked into
NUMBER = """(page) => {
  const bottoms = [];
  const walk = (node) => {
    if (node.classList?.contains("st-key-page-header")) return;
    if (node.nodeType === Node.TEXT_NODE && /\\d/.test(node.textContent)) {
      const range = document.createRange();
      range.selectNodeContents(node);
      const box = range.getBoundingClientRect();
      if (box.width > 2 && box.height > 2) bottoms.push(box.bottom);
    }
    if (node.shadowRoot) walk(node.shadowRoot);
    node.childNodes.forEach(walk);
  };
  walk(page);
  return bottoms.sort((a, b) => a - b).slice(0, 1);
}"""


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    return store_with(tmp_path_factory.mktemp("sight"), Study.from_toml(MEMORY), Study.from_toml(SIMULATED))


def lowest(page, selector: str, most: float) -> list[float]:
    """Where the highest of the elements ends, or has shown `most` pixels of itself."""
    boxes = [one.bounding_box() for one in page.locator(selector).all()]
    return sorted(box["y"] + min(box["height"], most) for box in boxes if box and box["width"] > 12 and box["height"] > 8)[:1]


def in_sight(page) -> dict[str, list[float]]:
    """The lower edges of what a visitor looks for, each the highest of its kind."""
    return {
        "headline": lowest(page, ANSWERS, 60),
        "number": page.locator("[data-testid=stMain]").evaluate(NUMBER),
        "picture": lowest(page, PICTURES, 140),
        "control": lowest(page, f"[data-testid=stMain] {CONTROLS}", 40),
    }


@pytest.mark.cell
@pytest.mark.parametrize(("name", "parts"), PAGES.items())
def test_what_a_visitor_looks_for_is_in_sight_without_scrolling(page, address, name, parts):
    page.goto(f"{address}/{name}")
    page.locator(".st-key-page-header h1, .review").first.wait_for()
    if "picture" in parts:
        page.locator(PICTURES).first.wait_for()
    settled(page)
    edges = in_sight(page)
    print(f"\n{name}: " + ", ".join(f"{part} {edge[0]:.0f}" for part, edge in edges.items() if edge))
    hidden = [part for part in parts.split() if not edges[part] or edges[part][0] > HEIGHT]
    assert hidden == [] and no_fault(page)
