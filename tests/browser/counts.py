"""Words, controls and charts in sight of each page: ``python -m tests.browser.counts [URL]``.

Without the address of a running dashboard it serves ``FLIPSCOPE_DEMO``, a database whose demo is
done. What a fold hides does not count; what one has to scroll to does.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

from flipcore.runs.demo import demo_studies
from tests.browser.serving import ROOT, browser_page, dashboard
from tests.browser.waiting import settled

# page -> most words and controls that the first hour on screen allows
LIMITS = {
    "studies": (300, None),
    "new_study": (200, 25),
    "score": (180, 25),
    "holdout": (220, 25),
    "flips": (291, 28),
    "memorization": (230, 22),
    "audit": (326, 17),
}
# The main part of the page, its shadow roots included. A nested control counts once.
COUNT = """() => {
  // the arrow of a list opens what its field does
  const controls = "button:not([aria-label=Open]), input, select, textarea, a[href], summary, [role=slider], [role=radio]";
  const charts = "canvas, .js-plotly-plot, svg[role=img], img, .board, .flipmap";
  let words = 0, n_controls = 0, n_charts = 0;
  const isSeen = (node) => {
    const box = node.getBoundingClientRect();
    return box.width > 2 && box.height > 2 && !node.closest("[aria-hidden=true], [inert], [data-testid=stIconMaterial]")
      && node.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true });
  };
  const walk = (node, inControl, inChart) => {
    if (node.nodeType === Node.TEXT_NODE) {
      if (node.parentElement?.closest("svg")) return;  // the ticks of an axis belong to its chart
      words += (node.textContent.match(/[\\p{L}\\p{N}][^\\s]*/gu) ?? []).length;
      return;
    }
    if (node.nodeType === Node.ELEMENT_NODE) {
      if (["STYLE", "SCRIPT", "TITLE"].includes(node.tagName) || !isSeen(node) && !node.shadowRoot
          && getComputedStyle(node).display !== "contents") return;
      if (!inControl && node.matches(controls) && !node.disabled) { n_controls += 1; inControl = true; }
      if (!inChart && node.matches(charts)) { n_charts += 1; inChart = true; }
    }
    if (node.shadowRoot) walk(node.shadowRoot, inControl, inChart);
    for (const child of node.childNodes) walk(child, inControl, inChart);
  };
  walk(document.querySelector("[data-testid=stMainBlockContainer]"), false, false);
  return [words, n_controls, n_charts];
}"""


def places() -> dict[str, str]:
    """Page -> its address with a demo study that it suits."""
    ranking, holdout, memory, flips = (study.study_id for study in demo_studies())
    return {
        "studies": "studies",
        "new_study": "new_study",
        "score": f"score?study={flips}",
        "flips": f"flips?study={flips}",
        "ranking": f"ranking?study={ranking}",
        "memorization": f"memorization?study={memory}",
        "holdout": f"holdout?sets=study:{holdout}",
        "audit": f"audit?study={flips}",
        "paraphrase_review": "paraphrase_review",
        "report": f"report?study={flips}",
        "models": "models",
        "glossary": "glossary",
    }


def print_counts(address: str, names: list[str]) -> bool:
    """Print a line per page; return whether every page keeps its limits."""
    is_within = True
    with browser_page() as page:
        page.set_default_timeout(180_000)
        page.add_init_script("localStorage.setItem('flipscope-tour', 'done')")
        for name, link in places().items():
            if names and name not in names:
                continue
            page.goto(f"{address}/{link}")
            page.locator(".st-key-page-header h1, .review").first.wait_for()
            settled(page)
            page.wait_for_timeout(2_000)
            words, n_controls, n_charts = page.evaluate(COUNT)
            most_words, most_controls = LIMITS.get(name, (None, None))
            is_over = words > (most_words or words) or n_controls > (most_controls or n_controls)
            is_within &= not is_over
            limit = f"  (at most {most_words} / {most_controls or '–'})" if name in LIMITS else ""
            mark = "  <--" if is_over else ""
            print(f"{name:18} words {words:4}, controls {n_controls:3}, charts {n_charts:2}{limit}{mark}")
    return is_within


def main() -> int:
    """Count the pages of the given address, or of the demo's database."""
    addresses = [word for word in sys.argv[1:] if "://" in word]
    names = [word for word in sys.argv[1:] if "://" not in word]
    if addresses:
        return int(not print_counts(addresses[0], names))
    with tempfile.TemporaryDirectory(prefix="counts-") as folder:
        database = Path(shutil.copy(os.environ["FLIPSCOPE_DEMO"], Path(folder) / "flips.duckdb"))
        with dashboard(ROOT / "app.py", database, FLIPSCOPE_HOME=folder) as address:
            return int(not print_counts(address, names))


if __name__ == "__main__":
    sys.exit(main())
