"""A meeting in real browsers: one presents, two follow; the threshold moves on all three screens while it is dragged."""

import pytest

from flipcore.reports.browser_data.levels import LEVELS
from tests.browser.serving import browser_page
from tests.browser.test_main_job import no_fault
from tests.browser.waiting import settled

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.usefixtures("allowed_folders")]
SHOWN = ".board .level"


class Screen:
    """One person's browser, with a memory of its own."""

    def __init__(self, first):
        self.context = first.context.browser.new_context(viewport={"width": 1280, "height": 800})
        self.context.add_init_script("localStorage.setItem('flipscope-tour', 'done')")
        self.page = self.context.new_page()
        self.page.set_default_timeout(45_000)
        self.page.errors = []
        self.page.on("pageerror", lambda error: self.page.errors.append(str(error)))

    def level(self):
        return self.page.locator(SHOWN).inner_text()

    def line(self, text):
        self.page.locator(".meeting .line .text", has_text=text).wait_for()

    def panel(self):
        if not self.page.locator(".meeting .panel").is_visible():
            self.page.locator(".meeting .open").click()
        return self.page.locator(".meeting .panel")

    def shows(self, level):
        self.page.wait_for_function(
            "([where, text]) => { const root = [...document.querySelectorAll('*')].map((one) => one.shadowRoot)"
            ".find((one) => one?.querySelector(where)); return root?.querySelector(where).textContent === text; }",
            arg=[SHOWN, level],
        )


@pytest.fixture(scope="module")
def screens(address):
    """(presenter, follower by link, follower by code) at the threshold board, and the code."""
    with browser_page() as first:
        ada, by_link, by_code = (Screen(first) for _ in range(3))
        ada.page.goto(address + "/flips?show=Parts")
        ada.page.locator(".board .sentence").first.wait_for()
        ada.panel().get_by_label("Name that others see").fill("Ada")
        ada.panel().get_by_role("button", name="Present this page").click()
        code = ada.page.locator(".meeting .code").inner_text()
        by_link.page.goto(f"{address}/#meeting={code.replace('-', '')}")
        by_code.page.goto(address + "/models")
        by_code.panel().get_by_label("Code of a meeting").fill(code.lower())
        by_code.panel().get_by_role("button", name="Join").click()
        for one in (by_link, by_code):
            one.line("Following Ada")
            one.page.locator(".board .sentence").first.wait_for()
            settled(one.page)
        ada.line("2 followers")
        yield ada, by_link, by_code
        assert [one.page.errors for one in (ada, by_link, by_code)] == [[], [], []]


def drag(screen, shares):
    """The level shown after each step, the mouse still down."""
    box = screen.page.locator(".board input[type=range]").bounding_box()
    middle = box["y"] + box["height"] / 2
    screen.page.mouse.move(box["x"] + box["width"] * 0.8, middle)
    screen.page.mouse.down()
    for share in shares:
        screen.page.mouse.move(box["x"] + box["width"] * share, middle)
        yield screen.level()


def test_followers_were_taken_to_the_presenters_page(screens):
    ada, *followers = screens
    for one in followers:
        assert "/flips?show=Parts&study=" in one.page.url and "meeting" not in one.page.url and one.level() == ada.level()


def test_the_threshold_moves_on_every_screen_while_it_is_dragged(screens):
    ada, *followers = screens
    levels = set()
    for level in drag(ada, (0.7, 0.5, 0.3)):
        for one in followers:
            one.shows(level)
            assert one.page.locator(".board .headline").inner_text() == ada.page.locator(".board .headline").inner_text()
        levels.add(level)
    ada.page.mouse.up()
    assert len(levels) == 3
    for one in screens:
        settled(one.page)
    # the release takes every table along; it is one move, the presenter's
    for one in followers:
        assert one.level() == ada.level() and no_fault(one.page)
    ada.page.get_by_text("A threshold was moved once").wait_for()


def test_a_follower_may_look_elsewhere_and_the_presenter_waits(screens):
    ada, follower, other = screens
    follower.page.get_by_role("link", name="Review").click()
    follower.line("You look elsewhere; Ada presents")
    for level in drag(ada, (0.6, 0.9)):
        other.shows(level)
    ada.page.mouse.up()
    assert "/paraphrase_review" in follower.page.url
    follower.page.get_by_role("button", name="Back to the presenter").click()
    follower.line("Following Ada")
    follower.shows(ada.level())


BURST = """async (n) => {
  const root = [...document.querySelectorAll('*')].map((one) => one.shadowRoot).find((one) => one?.querySelector('.board'));
  const sent = flipscopeMeeting.position, { board, at } = sent, shown = root.querySelector('.level');
  let drawn = 0;
  const watch = new MutationObserver(() => { drawn += 1; });
  watch.observe(shown, { childList: true, characterData: true, subtree: true });
  const send = (level, moving) => window.dispatchEvent(new CustomEvent('flipscope-board-follow',
    { detail: { board, at: { ...at, level }, moving } }));
  for (let i = 0; i < n; i += 1) { send((52 + (i % 40)) / 100, true); await Promise.resolve(); }
  flipscopeMeeting.position = { ...sent, at: { ...at, level: 0.55 }, moving: true }; // what a board that is drawn anew goes by
  send(0.55, true);
  await new Promise((done) => setTimeout(done, 200));
  watch.disconnect();
  const last = shown.textContent;
  flipscopeMeeting.position = sent;
  send(at.level, false);
  return [drawn, last];
}"""


def test_what_came_meanwhile_is_drawn_once_and_the_last_of_it_stands(screens):
    """A screen that is slow draws the newest position, and none that was overtaken."""
    _, follower, other = screens
    settled(follower.page)  # a run that the drag before began would draw its level over the last of these
    drawn, last = follower.page.evaluate(BURST, 300)
    assert 1 <= drawn <= 12 and last == f"{100 * LEVELS[5]:.0f}%"  # one a frame
    follower.shows(other.level())


def test_a_reload_comes_back_to_where_the_others_are(screens):
    """Also where the presenter's board was mounted anew since: by another mode and back, at a level of its own in either."""
    ada, follower, other = screens
    for mode, share in (("Simultaneous", 0.2), ("Explore", 0.6)):
        ada.page.get_by_text(mode, exact=True).first.click()
        for one in screens:
            one.page.get_by_role("radio", name=mode, checked=True).or_(
                one.page.locator("[kind='segmented_controlActive']", has_text=mode)
            ).wait_for()
            settled(one.page)
        before = ada.level()
        assert list(drag(ada, (share,))) != [before]
        ada.page.mouse.up()
        for one in (follower, other):
            one.shows(ada.level())
            settled(one.page)
    follower.page.reload()
    follower.line("Following Ada")
    follower.shows(ada.level())
    ada.line("2 followers")


def test_a_follower_who_sends_a_position_moves_nobody(screens):
    ada, follower, other = screens
    before = other.level()
    follower.page.evaluate(
        "flipscopeMeeting.say({do: 'position', board: flipscopeMeeting.position.board, at: {level: 0.5}, moving: true})"
    )
    follower.page.get_by_text("Only the presenter moves what others see.").wait_for()
    assert other.level() == before == ada.level()


def test_presenting_is_handed_on(screens):
    ada, grace, other = screens
    grace.panel().get_by_label("Name that others see").fill("Grace")
    grace.panel().get_by_role("button", name="Ask to present").click()
    ada.panel().get_by_role("button", name="Hand on").click()
    ada.line("Following Grace")
    grace.line("Presenting")
    grace.page.get_by_role("link", name="Review").click()
    for one in (ada, other):
        one.page.wait_for_url("**/paraphrase_review*")
    grace.panel().get_by_role("button", name="End the meeting").click()
    for one in (ada, other):
        one.page.get_by_text("The presenter has ended the meeting.").wait_for()


def test_what_one_types_and_drags_alone_is_seen_by_nobody_else(screens):
    """After the meeting: each browser has a search and a threshold of its own, on the same study."""
    ada, grace, _ = screens
    place = ada.page.url.partition("/paraphrase_review")[0]
    for one in (ada, grace):
        one.page.goto(f"{place}/flips?show=Parts")
        one.page.locator(".board .sentence").first.wait_for()
        settled(one.page)
    before = grace.level()
    ada.page.locator(".board input[type=range]").focus()
    for _ in range(5):
        ada.page.keyboard.press("ArrowLeft")
    settled(ada.page)
    grace.page.reload()
    grace.page.locator(".board .sentence").first.wait_for()
    assert grace.level() == before != ada.level() and grace.page.url != "" and "meeting" not in grace.page.url
    ada.page.goto(f"{place}/flips?item-search=words-of-ada")
    grace.page.goto(f"{place}/flips")
    for one in (ada, grace):
        one.page.get_by_placeholder("Find words of a question").wait_for()
        settled(one.page)
    assert "words-of-ada" in ada.page.url and "words-of-ada" not in grace.page.content() + grace.page.url
