"""The pictures of README and docs: ``FLIPSCOPE_DEMO=flips.duckdb python -m tests.browser.pictures``, of a database whose demo is done."""

import os
import shutil
import tempfile
from pathlib import Path

from flipcore.runs.demo import demo_studies
from tests.browser.serving import ROOT, browser_page, dashboard

PLACE = ROOT / "docs" / "pictures"
SIZE = {"width": 1280, "height": 760}


def places() -> dict[str, tuple[str, str]]:
    """Name of a picture -> the address, and what stands on the page when it is whole."""
    ranking, holdout, memory, flips = (study.study_id for study in demo_studies())
    return {
        "flips": (f"flips?study={flips}", "[data-testid=stDataFrame] canvas"),
        "score": (f"score?study={flips}", ".scores"),
        "parts": (f"flips?study={flips}&show=Parts", ".board"),
        "ranking": (f"ranking?study={ranking}", ".ranking"),
        "memory": (f"memorization?study={memory}", "[data-testid=stTable], table"),
        "holdout": (f"holdout?sets=study:{holdout}", ".margins input[type=range] >> nth=1"),
    }


def main() -> None:
    """Photographs each page, the README's in both themes."""
    PLACE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="pictures-") as folder:
        database = Path(shutil.copy(os.environ["FLIPSCOPE_DEMO"], Path(folder) / "flips.duckdb"))
        with dashboard(ROOT / "app.py", database, FLIPSCOPE_HOME=folder) as address, browser_page() as page:
            page.add_init_script("localStorage.setItem('flipscope-tour', 'done')")
            page.set_viewport_size(SIZE)
            for name, (link, whole) in places().items():
                for theme in ("light", "dark") if name == "flips" else ("light",):
                    page.emulate_media(color_scheme=theme)
                    page.goto(f"{address}/{link}")
                    page.locator(whole).first.wait_for(timeout=180_000)
                    page.wait_for_timeout(4_000)  # what is drawn after it
                    page.screenshot(path=PLACE / (f"{name}-{theme}.png" if name == "flips" else f"{name}.png"))


if __name__ == "__main__":
    main()
