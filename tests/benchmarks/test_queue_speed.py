"""A page while a study of 10,000 calls waits for a slow server in the same process, against the same page with nothing running."""

import statistics
import time

import pytest
from streamlit.testing.v1 import AppTest

from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.models import own_models
from flipcore.models.cards import ModelCard
from flipcore.runs import demo
from pages.common import session
from tests.browser.serving import ROOT
from tests.models.server import Server
from tests.stores import store_with

pytestmark = [pytest.mark.soak, pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("allowed_folders")]
DONE = Study(
    "looked at",
    (ItemSource("flipscope_choice", n=100),),
    (Part("identity"), Part("option_order", {"kind": "cyclic", "n": 4})),
    (Part("first_token"), Part("regex")),
    (ModelUse("simulated-noisy"),),
)
WAITING = Study(
    "waiting",
    (ItemSource("flipscope_choice", n=100),),
    (Part("identity"), Part("option_order", {"kind": "cyclic", "n": 4})),
    (Part("regex"),),
    (ModelUse("slow", temperature=1.0, n_samples=35),),
)
RUNS = 15


def page_ms(app) -> float:
    """The median of repeated runs of the page."""
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        app.run()
        times.append(1000 * (time.perf_counter() - start))
    assert not app.exception
    return statistics.median(times)


def test_a_page_while_ten_thousand_calls_wait(tmp_path, monkeypatch, capsys):
    path = store_with(tmp_path, DONE)
    monkeypatch.setenv("FLIPSCOPE_DB", str(path))
    monkeypatch.setattr("flipcore.runs.background.Registry.watch_inbox", lambda self: None)
    monkeypatch.setattr(demo, "fill_store", lambda store: None)
    monkeypatch.setattr(demo, "demo_studies", list)
    with Server(delay_s=4.0) as server:
        own_models.save(ModelCard("slow", "openai_compatible", model="m", endpoint=server.url, price_in=0.0, price_out=0.0), "")
        app = AppTest.from_file(str(ROOT / "pages" / "main.py"), default_timeout=180)
        app.query_params["study"] = DONE.study_id
        app.run()
        app.switch_page("flips/page.py").run()
        before = page_ms(app)
        registry = session.registry()
        registry.start(WAITING)
        time.sleep(8)
        progress = registry.progress(WAITING.study_id)
        busy = page_ms(app)
        after = registry.progress(WAITING.study_id)
        registry.cancel(WAITING.study_id)
        while WAITING.study_id in registry.running():
            time.sleep(0.2)
        quiet = page_ms(app)
    with capsys.disabled():
        print(
            f"\nFlips: {before:.0f} ms before, {busy:.0f} ms while {after.n_calls - after.n_done:,} calls wait, {quiet:.0f} ms "
            f"after; ratio to the mean of the other two {2 * busy / (before + quiet):.2f}"
        )
    assert progress.n_calls >= 10_000 and after.n_done < 9_500
