"""Twelve tasks as a new user does them, with a browser and the README alone: clicks, page changes, scrolls, wrong turns.

The user sees labels, not elements. Every step names the labels that a newcomer would try, in that order; the first one in sight is
clicked, one below the fold costs a scroll, and one that does not bring what is looked for is a wrong turn. The answer is
checked against a key. `FLIPSCOPE_DEMO` names a finished demo store to begin with; without it the demo runs first, a minute or so.
"""

import csv
import os
import re
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.browser.serving import ROOT, browser_page, dashboard
from tests.datasets.recorded import harness_files as written
from tests.models.server import Server

pytestmark = [pytest.mark.browser, pytest.mark.soak]
BEFORE = {
    "flip": (5, 2),
    "detector": (6, 0),
    "paraphrases": (4, 1),
    "threshold": (13, 4),
    "holdout": (5, 1),
    "own file": (19, 3),
}
PATIENCE_MS = 90_000
SECONDS_TO_LOOK = 5


@dataclass
class User:
    """What somebody does, counted. `page` is Playwright's."""

    page: object
    n_clicks: int = 0
    n_pages: int = 0
    n_scrolls: int = 0
    n_wrong: int = 0
    trail: list[str] = field(default_factory=list)

    def settled(self) -> None:
        self.page.wait_for_function("document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'")

    def labelled(self, label: str):
        """The first thing in the document that bears this label and can be clicked."""
        kinds = ("button", "link", "radio", "tab")
        places = [self.page.get_by_role(kind, name=re.compile(re.escape(label))) for kind in kinds]
        places.append(self.page.get_by_text(label, exact=True))
        return next((one.first for one in places if one.count() and one.first.is_visible()), None)

    def _in_time(self, label: str):
        """The same, where it comes a moment after what was waited for; None where it does not come."""
        for _ in range(SECONDS_TO_LOOK * 4):
            if place := self.labelled(label):
                return place
            self.page.wait_for_timeout(250)
        return None

    def click(self, *labels: str, until: str) -> None:
        """Clicks what bears one of these labels until `until` can be read."""
        for label in labels:
            place = self._in_time(label)
            if place is None:
                continue
            self._bring(place)
            before = self.page.url.split("?")[0]
            place.click()
            self.n_clicks += 1
            self.trail.append(label)
            try:
                self.page.get_by_text(re.compile(until)).first.wait_for(timeout=PATIENCE_MS)
            except Exception:
                self.n_wrong += 1
                continue
            self.n_pages += self.page.url.split("?")[0] != before
            self.settled()
            return
        raise AssertionError(f"none of {labels} leads to “{until}”; so far {self.trail}")

    def fill(self, label: str, text: str) -> None:
        place = self.page.get_by_label(label).first
        self._bring(place)
        place.click()
        self.n_clicks += 1
        self.trail.append(f"{label}: {text}")
        place.fill(text)

    def _bring(self, place) -> None:
        box = place.bounding_box()
        if box and not 0 <= box["y"] + box["height"] / 2 <= self.page.viewport_size["height"]:
            self.n_scrolls += 1
            place.scroll_into_view_if_needed()

    def read(self, selector: str, pattern: str) -> str:
        """The first text in `selector` that matches; scrolls to it where it lies below."""
        place = self.page.locator(selector).filter(has_text=re.compile(pattern)).first
        place.wait_for(timeout=PATIENCE_MS)
        self._bring(place)
        return place.inner_text()


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    from flipcore.runs import demo, runner
    from flipcore.store.connection import Store

    path = tmp_path_factory.mktemp("tasks") / "flips.duckdb"
    if source := os.environ.get("FLIPSCOPE_DEMO"):
        shutil.copy(source, path)
        return path
    store = Store.open(path)
    demo.fill_store(store)
    for study in demo.demo_studies():
        runner.run(study, store)
    store.close()
    return path


@pytest.fixture(scope="module")
def address(database):
    with dashboard(ROOT / "app.py", database) as url:
        yield url


@pytest.fixture(scope="module")
def table():
    rows: dict[str, User] = {}
    yield rows
    print("\ntask          clicks  pages  scrolls  wrong turns   before (clicks / wrong)")
    for name, user in rows.items():
        before = " / ".join(map(str, BEFORE.get(name, ("–",))))
        print(f"{name:12} {user.n_clicks:7} {user.n_pages:6} {user.n_scrolls:8} {user.n_wrong:12}   {before}")


@pytest.fixture
def user(address):
    """Somebody who has opened the dashboard, read its first page and skipped the tour."""
    with browser_page() as page:
        page.set_default_timeout(PATIENCE_MS)
        page.goto(address)
        page.get_by_text("Is the holdout fair?").first.wait_for(state="attached")  # folded once there is a study of ones own
        one = User(page)
        one.settled()
        page.get_by_role("button", name="Skip the tour").wait_for()
        one.click("Skip the tour", until="Studies")
        yield one
        assert page.errors == []


def test_from_the_first_page_to_the_two_outputs_behind_a_flip(user, table):
    table["flip"] = user
    user.click("See the two outputs behind it", "Flips", until="Right answer")
    sides = [f".st-key-inspector [data-testid=stColumn]:nth-of-type({i})" for i in (1, 2)]
    read = {re.search(r"read as (.*)", user.read(side, "read as"))[1] for side in sides}
    assert len(read) == 2, "the two outputs are read differently"  # the key: a flip is two answers
    assert user.n_wrong == 0


def test_which_detector_is_right(user, table):
    table["detector"] = user
    user.click("Memory", until="Which detector to trust")
    said = user.read("[data-testid=stMarkdownContainer]", "Which detector to trust")
    user.click("Open Ground truth", until="AUC")
    assert "question loss finds single items" in said.lower()  # the key: the card's AUC at 16 readings is largest for it
    assert user.n_wrong == 0


def test_ten_paraphrases_are_marked_and_say_what_they_moved(user, table):
    table["paraphrases"] = user
    user.click("Review", until="Your name")
    user.fill("Your name", "Nora Ten")
    user.click("Begin", until="Does it mean the same")
    user.page.locator(".review").focus()
    for at in range(10):
        for key in ("y", "y", "n" if at % 5 == 4 else "y"):
            user.page.keyboard.press(key)
            time.sleep(0.2)
    user.page.get_by_text(re.compile("10 judged")).wait_for()
    user.page.get_by_role("button", name="See what your 10 verdicts changed").wait_for()  # the last one is stored
    user.click("See what your 10 verdicts changed", until="judged \\d+ of")
    texts = user.page.locator("[data-testid=stMarkdownContainer]").all_inner_texts()
    sentences = [text for text in texts if " judged " in text]
    assert sum(int(re.search(r" judged (\d+) of", sentence)[1]) for sentence in sentences) == 10
    assert user.n_wrong == 0


def test_a_threshold_is_tuned_and_written_down(user, table):
    table["threshold"] = user
    user.click("Flips", until="Parts")
    user.click("Parts", until="Confidence level")
    slider = user.page.locator(".board input[type=range]")
    slider.wait_for()
    box = slider.bounding_box()
    middle = box["y"] + box["height"] / 2
    user.page.mouse.move(box["x"] + box["width"] * 0.66, middle)
    user.page.mouse.down()
    user.page.mouse.move(box["x"] + box["width"] * 0.4, middle, steps=6)
    user.page.mouse.up()
    user.n_clicks += 1
    user.settled()
    level = user.page.locator(".board .level").inner_text()
    user.click("Write to record", until="Write it down")
    user.fill("Your name", "Nora Ten")
    user.click("Write it down", until="Written")
    user.click("See the record", until="Decision record")
    assert "Nora Ten (Flips, explore)" in user.read("[data-testid=stMarkdownContainer]", "Nora Ten")
    assert level != "95%" and user.n_wrong == 0


def test_whether_the_holdout_is_fair(user, table):
    from flipcore.stats.holdout.verdict import DISTINGUISHABLE, INDISTINGUISHABLE

    table["holdout"] = user
    user.click("Holdout", until="Next:")
    user.page.locator(".margins .headline").wait_for()
    said = user.page.locator(".margins .headline").inner_text()
    assert said and DISTINGUISHABLE and INDISTINGUISHABLE
    assert re.search(r"Undecided|could|differ|source", said), said
    assert user.n_wrong == 0


def offer_file(user, path):
    """Up to the first rows of one's own file of items."""
    user.click("New study", until="Before you start")
    user.page.locator("[data-testid=stFileUploader] input[type=file]").first.set_input_files(str(path))
    user.n_clicks += 2  # the button and the file
    user.page.get_by_text("Which column is what").wait_for()


def test_own_items_become_a_study(user, table, tmp_path):
    table["own file"] = user
    path = Path(tmp_path) / "mine.csv"
    with path.open("w", newline="", encoding="utf-8") as out:
        rows = csv.writer(out)
        rows.writerow(["qid", "question text", "A", "B", "C", "correct"])
        rows.writerows([f"q{i}", f"What comes after {i}?", i + 1, i + 2, i + 3, "A"] for i in range(30))
    offer_file(user, path)
    user.page.get_by_text("30 questions").wait_for()
    user.click("Start the study", until="Study of")
    user.page.locator("[class*=st-key-card-]", has_text="Study of").get_by_text("Done").wait_for()
    assert "30 items" in user.page.locator("[class*=st-key-card-]", has_text="Study of").first.inner_text()
    assert user.n_wrong <= 1


def test_a_log_becomes_a_score_and_what_does_not_hold(user, table, tmp_path):
    table["log"] = user
    samples = [
        written.inspect_sample(
            f"s{i}", text="ANSWER: A" if i % 4 else "ANSWER: B", target="A", scores={"choice": "C" if i % 4 else "I"}
        )
        for i in range(40)
    ]
    log = written.inspect_eval(tmp_path / "mine.eval", samples, written.inspect_header(0, len(samples)))
    user.page.locator("[data-testid=stFileUploader] input[type=file]").first.set_input_files(str(log))
    user.n_clicks += 2  # the button and the file
    user.page.get_by_role("button", name="Import as a study").wait_for()
    user.click("Import as a study", until="What does this log say")
    assert "0.75" in user.read("[data-testid=stMarkdownContainer]", r"right|scores 0\.")  # the key: 30 of 40
    assert user.n_wrong == 0


def test_a_page_is_presented_under_a_code(user, table):
    table["present"] = user
    user.click("Flips", until="Which items flip most")  # of whichever study the tasks before have left open
    user.page.locator(".meeting .open").click()
    user.page.locator(".meeting .panel").get_by_label("Name that others see").fill("Nora Ten")
    user.page.locator(".meeting .panel").get_by_role("button", name="Present this page").click()
    user.n_clicks += 3
    assert re.fullmatch(r"[A-Za-z0-9]+-[A-Za-z0-9]+.*", user.page.locator(".meeting .code").inner_text())
    assert user.n_wrong == 0


def test_a_server_of_this_machine_becomes_a_model(user, table):
    table["local server"] = user
    with Server() as server:
        user.click("More", until="Models")
        user.click("Models", until="Which models can I ask")
        user.click("Add a model", until="Kind of server")
        user.fill("Address", server.url)
        user.fill("Name in your studies", "mine")
        user.page.keyboard.press("Tab")
        user.settled()
        user.page.get_by_role("textbox", name="Model", exact=True).fill("test-model")
        user.n_clicks += 1
        user.page.keyboard.press("Tab")
        user.settled()
        user.click("Add and test", until=r"mine")
        user.page.get_by_text(re.compile("ms|seconds|answers")).first.wait_for()
    assert user.n_wrong == 0


def test_a_file_with_unkind_headers_is_read_right(user, table, tmp_path):
    table["unkind file"] = user
    path = Path(tmp_path) / "unkind.csv"
    with path.open("w", newline="", encoding="utf-8") as out:
        rows = csv.writer(out)
        rows.writerow(["Nr", "Prompt text", "Choice 1", "Choice 2", "Choice 3", "Choice 4", "Key", "Topic"])
        rows.writerows([i, f"What comes after {i}?", i + 2, i + 1, i + 3, i + 4, "B", "counting"] for i in range(20))
    offer_file(user, path)
    user.page.get_by_text("20 questions").wait_for()
    assert "right answer" in user.page.content() and user.n_wrong == 0


def test_a_decision_is_found_and_read(user, table):
    table["decision"] = user
    user.click("More", until="Report and decisions")
    user.click("Report and decisions", until="What do I hand on")
    user.click("Decisions", until="still current|has changed")
    said = user.read("[data-testid=stCaptionContainer]", "Nora Ten")  # of the threshold's task
    assert "Flips · explore" in said
    assert user.n_wrong == 0


def test_two_models_are_compared(user, table):
    table["two models"] = user
    user.click("Ranking", until="behind|lead|better")
    said = user.read(".headline, h2, h3", "pocket-3bit")
    assert "behind" in said and user.n_wrong == 0  # the key: weights of 3 bits lose a sixth of the answers
