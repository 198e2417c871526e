"""The review in a browser: by keyboard alone, two reviewers at once, a third settles, the gate turns, the estimate moves."""

import re
import time
from urllib.parse import quote

import pytest

from flipcore.annotation.paraphrases.verdicts import verdict_row
from flipcore.runs import demo, runner
from flipcore.store.connection import Store
from flipcore.store.judgements import PAIR_VERDICTS
from flipcore.store.queries import judgements, review, studies
from pages.paraphrase_review.which_pairs import ORDERS
from tests.annotation.paraphrases.pairs import SAME, made_pairs, stored
from tests.annotation.paraphrases.test_effect import reworded_study
from tests.browser.serving import ROOT, browser_page, dashboard, free_port
from tests.browser.test_main_job import no_fault, text_of
from tests.browser.waiting import settled

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.usefixtures("allowed_folders", "allowed_callables")]
SOURCE = "flipscope_choice · flipscope-authors"


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A finished study on 40 questions; the shipped verdicts are taken back, and Cem has accepted 45 of 63 rewordings."""
    path = tmp_path_factory.mktemp("review") / "flips.duckdb"
    store = Store.open(path)
    demo.fill_store(store)
    judgements.keep(
        store, PAIR_VERDICTS, [PAIR_VERDICTS.undo(verdict) for verdict in judgements.standing(store, PAIR_VERDICTS)]
    )
    pairs = [pair for pair in review.pairs(store) if pair["dataset"] == "flipscope_choice"]
    judgements.keep(store, PAIR_VERDICTS, [verdict_row(pair, "Cem", SAME) for pair in pairs[:45]])
    runner.run(reworded_study(40), store)
    assert studies.n_unreviewed(store, reworded_study(40).study_id) > 5
    store.close()
    with dashboard(ROOT / "app.py", path) as url:
        yield url


@pytest.fixture(scope="module")
def chromium(address):  # the study runs first: a browser keeps an event loop of its own
    with browser_page() as opened:
        yield opened.context.browser


@pytest.fixture
def page(chromium):
    """A window of somebody who was not here before."""
    with chromium.new_context(viewport={"width": 1440, "height": 900}) as context:
        opened = context.new_page()
        errors = []
        opened.on("pageerror", lambda error: errors.append(str(error)))
        opened.set_default_timeout(90_000)
        yield opened
        assert errors == []


def begin(page, address, name, **link):
    """Opens the review under a name with the keyboard and waits for the first pair."""
    query = "&".join(f"{key}={quote(str(value))}" for key, value in ({"source": SOURCE, "shared": 100} | link).items())
    page.goto(f"{address}/paraphrase_review?{query}")
    page.get_by_label("Your name").focus()
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    page.locator(".review .pair").wait_for()
    settled(page)


def shown_pair(page):
    return page.locator(".review").get_attribute("data-pair")


def judge(page, keys):
    """One pair; seconds from the last key until the next one is painted."""
    before = shown_pair(page)
    for key in keys:
        start = time.perf_counter()
        page.keyboard.press(key)
    page.locator(f".review:not([data-pair='{before}'])").wait_for()
    return time.perf_counter() - start


def all_stored(page, count):
    page.locator(".review .saved", has_text="all stored").wait_for()
    page.locator(".review .count", has_text=re.compile(rf"^{count} judged")).wait_for()


def test_thirty_pairs_are_judged_by_keyboard_alone(page, address):
    begin(page, address, "Ada")
    assert page.locator(".review .count").inner_text().startswith("0 judged · 63 left")
    assert "Cem" not in text_of(page) and page.locator("h1").count() == 0
    seconds = []
    for place in range(30):
        if place == 3:
            page.keyboard.press("a")
            page.locator(".review .hidden", has_text="Right answer: ").wait_for()
            page.keyboard.press("m")
            page.keyboard.type("another yes or no, y n u")  # typed into the note, so none of it is a verdict
            page.keyboard.press("Enter")
        seconds.append(judge(page, "nyy" if place == 3 else "yyy"))
    print(f"\nseconds a pair, median {sorted(seconds)[15]:.3f}, slowest {max(seconds):.3f}")
    all_stored(page, 30)
    assert no_fault(page)


def test_a_reviewer_resumes_and_takes_the_last_verdict_back(page, address):
    begin(page, address, "Ada")
    all_stored(page, 30)
    resumed = shown_pair(page)
    page.keyboard.press("z")
    all_stored(page, 29)
    taken_back = shown_pair(page)
    assert taken_back != resumed
    judge(page, ["ArrowDown", "y", "y", "y"])  # the arrow asks another question first
    all_stored(page, 30)
    assert shown_pair(page) == resumed


def test_two_reviewers_in_two_windows_do_not_see_each_other(page, address):
    begin(page, address, "Bea")
    other = page.context.browser.new_context(viewport={"width": 900, "height": 900}).new_page()
    other.set_default_timeout(90_000)
    begin(other, address, "Dan")
    for place in range(12):
        judge(page, "yyy")
        judge(other, "ynu" if place == 5 else "yyy")
    all_stored(page, 12)
    all_stored(other, 12)
    assert "Bea" not in text_of(other) and "Dan" not in text_of(page)


def test_what_is_not_stored_yet_survives_a_reload(page, address):
    begin(page, address, "Eve")
    page.context.set_offline(True)
    judge(page, "yyy")
    assert page.evaluate("Object.keys(sessionStorage).some((key) => key.startsWith('flipscope-review'))")
    page.context.set_offline(False)
    begin(page, address, "Eve")  # a name is in no link, so it is given again
    all_stored(page, 1)


def test_judging_goes_on_while_the_server_is_down_and_each_verdict_is_stored_once(page, tmp_path):
    database, port = tmp_path / "flips.duckdb", free_port()
    store = Store.open(database)
    stored(store, made_pairs(30))
    store.close()
    with dashboard(ROOT / "app.py", database, port) as here:
        begin(page, here, "Ada", source="all sources")
        judge(page, "yyy")
        all_stored(page, 1)
    for _ in range(15):
        judge(page, "yyy")
    page.locator(".review .saved", has_text="15 kept here until the server answers").wait_for()
    with dashboard(ROOT / "app.py", database, port):  # without a login the name is in no session any more
        page.get_by_text("15 verdicts of Ada are kept in this window.").wait_for()
        page.get_by_role("button", name="Go on as Ada").click()
        all_stored(page, 16)
    store = Store.open(database)
    mine = store.rows("SELECT count(*), count(DISTINCT pair_id) FROM verdicts WHERE reviewer = 'Ada'")
    store.close()
    assert mine == [(16, 16)]


def n_verdicts(page, address):
    page.goto(f"{address}/paraphrase_review?part=Propose+and+exchange")
    button = page.get_by_role("button", name=re.compile(r"^[\d,]+ verdicts$"))
    button.wait_for()
    settled(page)
    return int(re.search(r"([\d,]+) verdicts", button.inner_text())[1].replace(",", ""))


def test_ten_reviewers_at_once_lose_nothing(page, address):
    before = n_verdicts(page, address)
    windows = [page.context.browser.new_context().new_page() for _ in range(10)]
    for i, window in enumerate(windows):
        window.set_default_timeout(90_000)
        begin(window, address, f"Reviewer {i}")
    for _ in range(3):
        for window in windows:
            judge(window, "yyy")
    for window in windows:
        all_stored(window, 3)
        window.close()
    assert n_verdicts(page, address) == before + 30


def test_a_third_person_settles_a_disagreement(page, address):
    page.goto(f"{address}/paraphrase_review?part=Agreement")
    page.get_by_text("Disagreements to settle").wait_for()
    settled(page)
    said = page.get_by_text(re.compile(r"\d+ (is|are) still to settle")).inner_text()
    n_open = int(re.search(r"(\d+) (is|are) still to settle", said)[1])
    assert n_open >= 1 and "Krippendorff" in text_of(page)
    for question in ("Does it mean the same?", "Is it as hard?", "Is it solved the same way?"):
        page.get_by_role("radiogroup", name=question).get_by_text("yes", exact=True).click()
    page.get_by_label("Your name").fill("Fay")
    page.get_by_label("Reason").fill("The words differ and the question does not.")
    page.get_by_role("button", name="Settle it").click()
    page.get_by_text(re.compile(rf"\b{n_open - 1} (is|are) still to settle")).wait_for()
    assert no_fault(page)


def estimate(page, address):
    """The paraphrase row of the threshold board."""
    page.goto(f"{address}/flips?show=Parts")
    row = page.locator(".board .row", has_text="araphrase").first
    row.wait_for()
    settled(page)
    return row.inner_text()


def test_the_gate_turns_and_the_estimate_follows_a_verdict(page, address):
    before = estimate(page, address)
    assert "Rewordings of flipscope_choice" not in text_of(page)  # 50 and more are reviewed by now, nearly all accepted
    page.goto(f"{address}/paraphrase_review?part=Effect")
    page.get_by_text(re.compile(r"✓ flipscope_choice")).wait_for()
    for name in ("Gus", "Hal", "Ivy", "Jon"):  # an even split rejects; Cem, Ada, Bea and Dan said yes to some of these
        begin(page, address, name, order=ORDERS["risk"])  # a link names a choice as the page does
        for _ in range(12):
            judge(page, "nnn")
        all_stored(page, 12)
    after = estimate(page, address)
    print(f"\nbefore: {before!r}\nafter:  {after!r}")
    assert after != before
    page.get_by_text("Not claimed: paraphrase.").wait_for()
    page.goto(f"{address}/paraphrase_review?part=Effect")
    page.get_by_text(re.compile(r"– flipscope_choice")).wait_for()
    page.get_by_text(re.compile(r"paraphrases were struck out")).wait_for()
    page.get_by_text(re.compile(r"chosen, not drawn at random")).first.wait_for()  # what came first by risk and nobody drew
    assert no_fault(page)
