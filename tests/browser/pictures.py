"""The pictures of README and docs: ``FLIPSCOPE_DEMO=flips.duckdb python -m tests.browser.pictures [NAME]``, of a database whose demo
is done."""

import io
import os
import shutil
import sys
import tempfile
from pathlib import Path

from PIL import Image

from flipcore.runs.demo import demo_studies
from tests.browser.serving import ROOT, browser_page, dashboard

PLACE = ROOT / "docs" / "pictures"
SIZE = {"width": 1280, "height": 760}


def places() -> dict[str, tuple[str, str]]:
    """Name of a picture -> the address, and what stands on the page when it is whole."""
    ranking, holdout, memory, flips = (study.study_id for study in demo_studies())
    return {
        "flips": (f"flips?study={flips}", "[data-testid=stDataFrame] canvas"),
        "score": (f"score?study={flips}", ".score"),
        "choices": (f"score?study={flips}&show=Every+choice", ".curve .unmoved, .curve .offered"),
        "parts": (f"flips?study={flips}&show=Parts", ".threshold"),
        "ranking": (f"ranking?study={ranking}", ".ranking"),
        "memory": (f"memorization?study={memory}", ".js-plotly-plot .scatterlayer"),
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
            wanted = sys.argv[1:]
            for name, (link, whole) in places().items():
                if wanted and name not in wanted:
                    continue
                # The board of every choice is taller than a screen.
                page.set_viewport_size(SIZE | {"height": 1_100} if name == "choices" else SIZE)
                for theme in ("light", "dark") if name == "flips" else ("light",):
                    page.emulate_media(color_scheme=theme)
                    page.goto(f"{address}/{link}")
                    page.locator(whole).first.wait_for(timeout=180_000)
                    page.wait_for_timeout(4_000)  # what is drawn after it
                    shown = page.locator(".board.curve") if name == "choices" else page
                    shown.screenshot(path=PLACE / (f"{name}-{theme}.png" if name == "flips" else f"{name}.png"))
            if wanted:
                return
            page.emulate_media(color_scheme="light")
            page.goto(f"{address}/{places()['flips'][0]}")
            _animated(page)


def _animated(page) -> None:
    """Ten seconds of the map: from the whole over a row, cell by cell, to the two outputs behind one, and on to the next."""
    page.locator(".flipmap[data-painted]").wait_for()
    page.wait_for_timeout(4_000)
    page.locator(".flipmap .scroller").focus()
    steps = [None, "ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight", "Enter", "j", "j"]
    seconds = [1.6, 0.6, 0.6, 0.6, 0.8, 2.6, 1.6, 1.6]
    frames = []
    for key in steps:
        if key:
            page.keyboard.press(key)
            page.wait_for_timeout(4_000 if key in ("Enter", "j") else 500)
        picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        frames.append(picture.resize((960, 570), Image.Resampling.LANCZOS))
    rest = {"append_images": frames[1:], "duration": [round(1_000 * one) for one in seconds], "loop": 0}
    frames[0].save(PLACE / "map.webp", save_all=True, quality=70, method=6, **rest)


if __name__ == "__main__":
    main()
