"""The report in Chromium, opened from a folder with the network off: it asks for nothing, its thresholds move, and it runs no text."""

import html
import json
import re

import pytest

from flipcore.core.study import Study
from flipcore.reports.exports.document import report
from flipcore.reports.whole_study import whole_study
from flipcore.runs import runner
from flipcore.store.connection import Store
from tests import hostile
from tests.browser.serving import browser_page
from tests.browser.test_main_job import SIMULATED
from tests.datasets.files import written
from tests.reports.exports.reading import files_in
from tests.test_bad_input import READ_HERE, study_of

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.usefixtures("allowed_folders")]


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """(folder with the reports of a plain study and of a hostile one, what `stats --json` says of the plain one)."""
    folder = tmp_path_factory.mktemp("report")
    store = Store.open(folder / "flips.duckdb")
    rows = [row for row in hostile.rows() if len(row["question"]) < 10_000]
    hostile_study = study_of(written(folder / "items.jsonl", rows).path, judge=None, extractors=READ_HERE)
    studies = {"plain": Study.from_toml(SIMULATED), "hostile": hostile_study}
    for name, study in studies.items():
        runner.run(study, store)
        (folder / f"{name}.html").write_text(report(store, study.study_id, 1), encoding="utf-8")
    said = json.loads(json.dumps(whole_study(store, studies["plain"].study_id).as_dict()))
    store.close()
    return folder, said


@pytest.fixture(scope="module")
def page(reports):  # after the studies ran: a browser keeps an event loop of its own
    with browser_page() as opened:
        opened.context.set_offline(True)
        opened.asked, opened.told = [], []
        opened.on("request", lambda request: opened.asked.append(request.url))
        opened.on("console", lambda message: opened.told.append(message.text))
        opened.on("dialog", lambda dialog: opened.told.append(f"dialog {dialog.message}"))
        yield opened


def opened_report(page, folder, name):
    page.asked.clear()
    page.told.clear()
    page.goto((folder / f"{name}.html").as_uri())
    page.locator(".threshold .row .sentence").first.wait_for()


def test_a_threshold_moves_without_a_request_and_the_number_is_that_of_stats(page, reports):
    folder, said = reports
    opened_report(page, folder, "plain")
    (model,) = said["models"].values()
    for i, cell in enumerate(model["cells"]):
        # a row's title is how its claim begins, so the claim goes on under it
        title, rest = (
            page.locator(f".threshold .row {part}").nth(i).inner_text().replace("\u00a0", " ")
            for part in (".text b", ".sentence")
        )
        claim = cell["sentence"].lower()
        assert claim in (f"{title}: {rest}".lower(), f"{title} is {rest}".lower())
    slider, first = page.locator(".threshold input[type=range]"), page.locator(".threshold .row .sentence").first
    before = first.inner_text()
    slider.focus()
    slider.press("End")
    assert page.locator(".threshold .level").inner_text() == "99.9%" and first.inner_text() != before
    assert len(page.asked) == 1 and page.told == [] and page.errors == []


def test_a_row_opens_the_outputs_behind_it_and_a_table_can_be_saved(page, reports):
    folder, said = reports
    opened_report(page, folder, "plain")
    page.locator(".threshold .row .text").first.click()
    assert page.locator("#outputs-0-0").get_attribute("open") is not None
    assert page.locator("#outputs-0-0 .side pre").first.is_visible()
    with page.expect_download() as held:
        page.get_by_role("link", name="stats.json").click()
    assert json.loads(held.value.path().read_text(encoding="utf-8")) == said
    assert len(page.asked) == 1 and page.errors == []


def test_the_report_of_a_hostile_study_shows_its_text_and_runs_nothing(page, reports):
    folder, _ = reports
    opened_report(page, folder, "hostile")
    for place in page.locator("details:not([hidden]) > summary").all():
        place.click()
    assert (
        page.evaluate("window.hacked") is None
        and page.locator("main img, main iframe, main a[href^='javascript:']").count() == 0
    )
    assert "<script>" in page.locator("h1").inner_text()
    assert len(page.asked) == 1 and page.told == [] and page.errors == []
    page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.hacked=1\">')"
    )  # the policy holds
    page.wait_for_timeout(200)
    assert page.evaluate("window.hacked") is None


def test_nothing_in_the_file_points_outside(reports):
    folder, _ = reports
    for name in ("plain", "hostile"):
        text = (folder / f"{name}.html").read_text(encoding="utf-8")
        assert len(text.encode()) < 5_000_000
        page_text = re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
        assert [
            one for one in re.findall(r"<[^>]+?(?:src|href)=\"([^\"]{0,20})", page_text) if not one.startswith("data:")
        ] == []
        assert html.unescape(page_text) and files_in(text)
