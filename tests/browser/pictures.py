"""The README's pictures: ``FLIPSCOPE_DEMO=flips.duckdb python -m tests.browser.pictures``, of a database whose demo is done."""

import os
import shutil
import tempfile
from pathlib import Path

from tests.browser.serving import ROOT, browser_page, dashboard

PLACE = ROOT / "docs" / "pictures"
SIZE = {"width": 1280, "height": 760}


def main() -> None:
    """Photographs the page Flips in both themes."""
    PLACE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="pictures-") as folder:
        database = Path(shutil.copy(os.environ["FLIPSCOPE_DEMO"], Path(folder) / "flips.duckdb"))
        with dashboard(ROOT / "app.py", database, FLIPSCOPE_HOME=folder) as address, browser_page() as page:
            page.add_init_script("localStorage.setItem('flipscope-tour', 'done')")
            page.set_viewport_size(SIZE)
            for theme in ("light", "dark"):
                page.emulate_media(color_scheme=theme)
                page.goto(f"{address}/flips")
                page.locator(".flipmap[data-painted]").wait_for(timeout=180_000)
                page.get_by_text("First token, share").or_(page.locator("[data-testid=stDataFrame] canvas")).first.wait_for()
                page.wait_for_timeout(4_000)  # the table beside the map comes after it
                page.screenshot(path=PLACE / f"flips-{theme}.png")


if __name__ == "__main__":
    main()
