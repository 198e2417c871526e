"""Hostile text in every field, looked at in a real browser: nothing of it runs, nothing is fetched, all of it is shown."""

import re
from urllib.parse import quote

import pytest

from tests import hostile
from tests.browser.serving import ROOT, browser_page, dashboard
from tests.browser.test_main_job import no_fault, text_of
from tests.browser.waiting import settled

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.usefixtures("allowed_folders")]
LOOKED_AT = ("html", "markdown", "formula", "controls", "right to left", "emoji", "lines", "answer", "backslashes")


@pytest.fixture(scope="module")
def hostile_store(tmp_path_factory):
    """Its path, the study's id, and the ids of the items by name. The item of a megabyte comes too."""
    from flipcore.runs import runner
    from flipcore.runs.log_import import store_logs
    from flipcore.store.connection import Store
    from flipcore.store.queries import studies
    from tests.datasets.files import written
    from tests.datasets.recorded.tables import imported
    from tests.test_bad_input import READ_HERE, study_of

    folder = tmp_path_factory.mktemp("hostile")
    store = Store.open(folder / "flips.duckdb")
    study = study_of(written(folder / "items.jsonl", hostile.rows()).path, judge=None, extractors=READ_HERE)
    runner.run(study, store)
    name = hostile.TEXTS["markdown"]
    rows = [
        {
            "id": i,
            "variant": v,
            "prompt": f"{v} {text}\nA. {text} tin\nB. {i} oak",
            "response": f"B {text}",
            "model": name,
            "s": "AB"[v],
        }
        for i, text in enumerate(text for name, text in hostile.TEXTS.items() if name != "lines")
        for v in range(2)
    ]
    path = written(folder / "out.jsonl", rows).path
    recorded_id = store_logs(imported(path, [f"axis={name}", f"read:{name}=s"], name), store)
    items = studies.study_items(store, study.study_id)
    by_question = dict(zip(items["question"], items["item_id"], strict=True))
    recorded_item = studies.study_items(store, recorded_id)["item_id"][0]
    store.close()
    ids = {"recorded": recorded_item} | {name: by_question[f"{text}?"] for name, text in hostile.TEXTS.items()}
    return folder / "flips.duckdb", (study.study_id, recorded_id), ids


@pytest.fixture(scope="module")
def page(hostile_store):
    with dashboard(ROOT / "app.py", hostile_store[0]) as url, browser_page() as opened:
        opened.set_default_timeout(180_000)
        opened.asked, opened.address = [], url
        opened.on("request", lambda request: opened.asked.append(request.url))
        opened.on("dialog", lambda dialog: opened.asked.append(f"dialog {dialog.message}"))
        yield opened


def harmless(page) -> bool:
    """No script of the text has run, nothing was fetched from where it points, no page shows a fault."""
    ours = (page.address, page.address.replace("http", "ws"), "data:", "blob:")
    elsewhere = [url for url in page.asked if not url.startswith(ours)]
    page.asked.clear()
    assert set(elsewhere) == set() and page.evaluate("window.hacked") is None and page.errors == []
    assert page.locator("img[src='x'], [data-testid=stMain] a[href^='javascript:']").count() == 0
    return no_fault(page)


@pytest.mark.cell("where")
@pytest.mark.parametrize("study", [0, 1], ids=["asked", "recorded"])
@pytest.mark.parametrize("where", ["", "/flips", "/flips?show=Parts", "/memorization", "/new_study"])
def test_no_page_runs_it(page, hostile_store, where, study):
    page.goto(f"{page.address}{where}?study={hostile_store[1][study]}")
    page.locator("[data-testid=stMain] h1").wait_for()
    settled(page)
    assert harmless(page)


def test_a_card_shows_a_hostile_name_letter_by_letter(page):
    page.goto(page.address)
    page.get_by_text("<script>").first.wait_for()
    page.get_by_text("[link](javascript:").first.wait_for()
    assert harmless(page)


@pytest.mark.cell
@pytest.mark.parametrize("name", LOOKED_AT)
def test_the_inspector_shows_it_and_runs_nothing(page, hostile_store, name):
    page.goto(
        f"{page.address}/flips?study={hostile_store[1][0]}&item={quote(hostile_store[2][name], safe='')}"
        "&axis=option_order&readout=regex"
    )
    page.get_by_text("Right answer:", exact=False).wait_for()
    settled(page)
    wanted = re.sub(r"[\x00-\x20\u2028\u2029\ufeff]+", " ", hostile.TEXTS[name]).strip()[:20]
    shown = re.sub(r"\s+", " ", text_of(page))
    assert harmless(page) and re.sub(r"[\x00-\x20\x7f]+", "", wanted)[:12] in re.sub(r"[\x00-\x20\x7f]+", "", shown)


def test_the_inspector_of_a_recording_with_hostile_names_runs_nothing(page, hostile_store):
    _, (_, recorded_id), ids = hostile_store
    page.goto(
        f"{page.address}/flips?study={recorded_id}&item={quote(ids['recorded'], safe='')}"
        f"&axis={quote(hostile.TEXTS['markdown'], safe='')}"
    )
    page.get_by_text("Right answer:", exact=False).wait_for()
    settled(page)
    assert harmless(page)


def test_a_line_of_a_megabyte_does_not_stop_the_page(page, hostile_store):
    page.goto(
        f"{page.address}/flips?study={hostile_store[1][0]}&item={quote(hostile_store[2]['long'], safe='')}"
        "&axis=option_order&readout=regex"
    )
    page.get_by_text("Right answer:", exact=False).wait_for()
    assert harmless(page)
