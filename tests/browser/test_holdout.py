"""The holdout job in a real browser: read a point's neighbours, answer a survey to its end, move a margin, read the verdict."""

import csv
import re

import pytest

from tests.browser.serving import ROOT, browser_page, dashboard
from tests.browser.test_main_job import no_fault, text_of
from tests.browser.waiting import click_point, settled

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.usefixtures("allowed_folders")]

# where the first target point lies in the window: Plotly's own axes know
_POINT = """() => {
  const chart = document.querySelector(".st-key-entry-map .js-plotly-plot");
  const { xaxis, yaxis } = chart._fullLayout;
  const box = chart.querySelector(".nsewdrag").getBoundingClientRect();
  const [x, y] = [chart._fullData[0].x[0], chart._fullData[0].y[0]];
  return [box.x + xaxis.d2p(x), box.y + yaxis.d2p(y)];
}"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A dashboard whose store has a study on both roles, so that the demo does not start."""
    from flipcore.runs import runner
    from flipcore.store.connection import Store
    from tests.store.queries.test_holdout import STUDY

    path = tmp_path_factory.mktemp("holdout") / "flips.duckdb"
    store = Store.open(path)
    runner.run(STUDY, store)
    store.close()
    with dashboard(ROOT / "app.py", path) as url:
        yield url


@pytest.fixture(scope="module")
def page(address):
    with browser_page() as opened:
        opened.set_default_timeout(180_000)
        yield opened
        assert opened.errors == []


def test_a_point_on_the_map_is_read_with_its_neighbours(page, address):
    page.goto(f"{address}/holdout?sets=halves&part=Map")
    page.locator(".margins .headline").wait_for()
    page.locator(".st-key-map-places button").last.click()
    page.get_by_text(re.compile("component 1:")).first.wait_for()  # two for a moment, while it is drawn anew
    settled(page)
    # the picture is drawn anew when the tests are done: whichever is there is brought into sight
    page.evaluate("document.querySelector('.st-key-entry-map .nsewdrag').scrollIntoView({ block: 'center' })")
    click_point(
        page,
        ".st-key-entry-map",
        lambda: page.evaluate(_POINT),
        page.get_by_text(re.compile("^(Benchmark|Holdout) entry")).first,
    )
    # points lie on one another: the click may take an entry of either set
    for said in (r"^(Benchmark|Holdout) entry", r"Nearest in the (benchmark|holdout)", r"Nearest in its own set"):
        page.get_by_text(re.compile(said)).first.wait_for()
    assert no_fault(page)


def test_a_survey_is_built_and_its_page_opens_by_its_link(page, address):
    page.goto(f"{address}/holdout?sets=halves&part=Survey")
    page.get_by_role("button", name="Build the survey").click()
    page.get_by_role("link", name="Open the survey").click()
    page.get_by_label("Your name or id").wait_for()
    assert "survey=" in page.url and no_fault(page)


def test_a_survey_is_answered_to_its_end_and_shows_no_result(page, address):
    page.get_by_label("Your name or id").fill("Ada")
    page.get_by_role("button", name="Begin").click()
    page.get_by_role("button", name=re.compile("I have read them")).click()
    for i in range(13):
        page.get_by_text(f"Question {i + 1} of 13").wait_for()
        settled(page)
        texts = [page.locator(f".st-key-text-{place}").inner_text() for place in range(3)]
        check = [place for place, text in enumerate(texts) if text.startswith("Please choose")]
        page.locator(f".st-key-text-{check[0] if check else i % 3} button").click()
    page.get_by_text("That was the last question").wait_for()
    assert "in three" not in text_of(page) and "p =" not in text_of(page) and no_fault(page)


def test_the_answers_are_a_row_of_the_verdict(page, address):
    page.goto(f"{address}/holdout?sets=halves&part=Survey")
    row = page.locator(".margins .row", has_text="Human odd-one-out")
    page.locator(".margins .row[title*='n = 10 answers']").wait_for()  # what it rests on is said on hover
    assert "Not run" not in row.inner_text() and "margin 45%" in row.inner_text()
    assert "like the benchmark on none of 4 tests" in page.locator(".margins .headline").inner_text() and no_fault(page)


def test_a_sheet_goes_out_as_a_file_and_comes_back_with_its_answers(page, address, tmp_path):
    page.get_by_role("button", name="Sheets out").click()
    page.get_by_label("Annotators, a line each").fill("Grace")
    page.get_by_label("Annotators, a line each").press("Control+Enter")
    settled(page)
    with page.expect_download() as coming:
        page.get_by_role("button", name="Download as CSV").click()
    with open(coming.value.path(), newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    filled = tmp_path / "filled.csv"
    with filled.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(row | {"answer": "9" if row["question"] == "4" else "2"} for row in rows)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Sheets in").click()
    page.locator("input[type=file]").set_input_files(filled)
    page.get_by_text("12 answers can be used, 1 row is refused").wait_for()
    page.get_by_role("button", name="Store the answers").click()
    page.get_by_text("2 people have answered").wait_for()
    assert no_fault(page)


def agrees(headline, signs):
    """The headline counts the rows as their signs do."""
    if headline.startswith("Undecided"):
        return f"on {signs.count('✓') or 'none'} of 4 tests" in headline
    return bool({"✗", "✗✗"} & set(signs)) == ("can be told apart" in headline)


def drag(page, slider, shares):
    """Moves the handle with the mouse down; what the verdict said on the way."""
    box = slider.bounding_box()
    middle = box["y"] + box["height"] / 2
    start = float(slider.evaluate("s => (s.value - s.min) / (s.max - s.min)"))
    page.mouse.move(box["x"] + 8 + (box["width"] - 16) * start, middle)
    page.mouse.down()
    seen = []
    for share in shares:
        page.mouse.move(box["x"] + 8 + (box["width"] - 16) * share, middle)
        seen.append(page.locator(".margins .headline").inner_text())
        assert agrees(seen[-1], page.locator(".margins .sign").all_inner_texts())
    page.mouse.up()
    return seen


def test_the_verdict_changes_while_a_margin_is_dragged_and_the_move_is_logged(page, address):
    slider = page.get_by_label("Margin of human odd-one-out")
    row = page.locator(".margins .row", has_text="Human odd-one-out")
    settled(page)
    slider.scroll_into_view_if_needed()
    assert row.locator(".sign").inner_text() == "–"
    seen = drag(page, slider, (0.5, 0.8, 0.99))
    assert seen[0] != seen[-1] and "like the benchmark on 1 " in seen[-1], "the sentence must follow the mouse while it is down"
    assert row.locator(".sign").inner_text() == "✓"
    page.get_by_text("A threshold was moved once").wait_for()
    settled(page)
    assert row.locator(".sign").inner_text() == "✓" and no_fault(page)


def test_the_verdict_is_written_into_the_record(page, address):
    page.locator(".margins .controls > button").click()
    page.get_by_label("Your name").fill("Ada")
    page.get_by_label("Your name").press("Tab")
    page.get_by_role("button", name="Write it down").click()
    page.get_by_text("Ada (holdout, explore): Undecided: ").wait_for()
    assert no_fault(page)


DRAWN = """() => new Promise((done) => {
  window.addEventListener("flipscope-board-drawn", (event) => done(event.detail), { once: true });
  window.dispatchEvent(new Event("flipscope-board-say"));
})"""
FOLLOW = "(detail) => window.dispatchEvent(new CustomEvent('flipscope-board-follow', { detail: { ...detail, moving: false } }))"


def test_a_margin_that_a_presenter_stored_is_reached_though_this_board_has_no_such_place(page, address):
    """A lock's margin, or one of another mode, stands among the presenter's places: a follower who counts places is beside it."""
    drawn = page.evaluate(DRAWN)
    assert drawn["at"]["odd one out"] != 0.7153 and 0 < drawn["at"]["semantic"] < 1  # as a part of the target suggests
    page.evaluate(FOLLOW, {"board": drawn["board"], "at": drawn["at"] | {"odd one out": 0.7153}})
    page.wait_for_url("**0.7153**")  # the settings stand in the link
    settled(page)
    assert page.evaluate(DRAWN)["at"] == drawn["at"] | {"odd one out": 0.7153} and no_fault(page)


def test_a_version_is_kept_and_opens_by_its_link(page, address):
    page.goto(f"{address}/holdout?sets=halves&part=Versions")
    page.get_by_role("button", name="Keep this version").click()
    for label, text in (("Name of the series", "choices"), ("What was changed", "first"), ("Your name", "Ada")):
        page.get_by_label(label, exact=True).fill(text)
        page.get_by_label(label, exact=True).press("Tab")
    page.get_by_role("button", name="Keep", exact=True).click()
    page.locator(".st-key-versions").wait_for()
    settled(page)
    page.goto(f"{address}/holdout?sets=halves&part=Versions")
    page.get_by_role("combobox", name=re.compile("Sets")).click()
    page.get_by_role("option", name=re.compile("Version of choices")).click()
    page.wait_for_url(re.compile("sets=version"))
    # the shipped halves are 36 and 36; what the study set aside is left out
    page.get_by_text(re.compile(r"\d+ benchmark and \d+ holdout entries\.")).wait_for()
    assert no_fault(page)


def test_a_study_on_both_roles_shows_how_much_better_the_target_is_answered(page, address):
    page.goto(address)
    # Open leads to the page that says more of the card's sentence, here the one of two sets.
    page.locator("[class*=st-key-card-]", has_text="roles").get_by_role("link", name="Open").click()
    page.get_by_text(re.compile("higher on the benchmark")).first.wait_for()
    page.locator(".st-key-inflation").wait_for()
    assert "SIMULATED" in text_of(page) and no_fault(page)


def test_a_study_on_the_two_sets_is_declared_from_the_page(page, address):
    page.goto(f"{address}/holdout?sets=unlike&part=Inflation")
    page.get_by_role("link", name="Ask models about these sets").click()
    page.get_by_text("Before you start").wait_for()
    settled(page)
    page.get_by_text("other sources and filters").click()
    for role in ("benchmark", "holdout"):
        page.get_by_text(f"as {role}, seed").wait_for()
    page.get_by_text("Axes and extractors").first.click()
    page.get_by_text("Examples before the question").first.wait_for()
    assert no_fault(page)
