"""Every choice in a browser: what is drawn and said while a handle is dragged is what Python counts."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from flipcore.claims.choices import survives_claim
from flipcore.claims.decisions import Decision
from flipcore.reports.browser_data import every_choice
from flipcore.reports.choices import ChoicesReport
from flipcore.stats.base.estimate import number_text
from flipcore.stats.choices.choice import Choice, ChoiceClass, Option, selected
from flipcore.stats.choices.counting import count
from flipcore.stats.choices.curve import State
from flipcore.stats.choices.material import ArrayMaterial
from tests.browser.serving import browser_page
from tests.browser.test_board import drawn, texts

pytestmark = [pytest.mark.browser, pytest.mark.slow]
MARGINS = every_choice.MARGINS
NAMES = {"unread": 2, "extractor": 3, "reruns": 2, "prompt": 3}
STATES = {State.SHOWN: 2, State.AGAINST: -2, State.CLOSED: 9}


def material(sizes=NAMES, n_items=240, per_cluster=4):
    """Two models of which the first leads a little; "unread" moves it, "reruns" moves nothing."""
    rng = np.random.default_rng(5)
    choices, states = [], {}
    for name, n_options in sizes.items():
        options = []
        for place in range(n_options):
            closed = "reads 71% of Bob" if (name, place) == ("extractor", 2) else ""
            is_uncertain = (name, place) == ("prompt", 2)
            options.append(Option(f"o{place}", f"{name} {place}", "as good", closed, is_uncertain))
        choices.append(Choice(name, name.capitalize(), tuple(options), ChoiceClass.EQUAL, "No rule."))
    base = rng.choice([-1.0, 0, 1], n_items, p=[0.12, 0.66, 0.22])
    shifts = {name: rng.choice([-1.0, 0, 1], (n_options, n_items), p=[0.1, 0.87, 0.03]) for name, n_options in sizes.items()}
    for places in itertools.product(*(range(n_options) for n_options in sizes.values())):
        moved = [shifts[name][place] for name, place in zip(sizes, places, strict=True) if place and name != "reruns"]
        states[tuple(f"o{place}" for place in places)] = np.clip(base + sum(moved), -1, 1)
    clusters = np.arange(n_items) // per_cluster
    return ArrayMaterial(tuple(choices), tuple(sizes), states, {}, clusters, np.zeros(n_items, int))


def board_of(made, **view):
    """The board at a view, the curve that it was sent, and the report of what is switched on."""
    view = every_choice.start_of(made.choices) | view
    sent = count(made, every_choice.in_sight(made.choices, view))
    counted = count(made, selected(made.choices, *every_choice.switched(made.choices, view)))
    report = ChoicesReport(Decision("Ann", "Bob"), counted, made.choices, is_locked=False)
    return every_choice.board(report, sent, view), sent, report


@pytest.fixture(scope="module")
def page():
    with browser_page() as opened:
        opened.set_default_timeout(10_000)
        yield opened


def moved_to(page, name, value):
    page.get_by_label(name, exact=True).evaluate(
        "(input, value) => { input.value = value; input.dispatchEvent(new Event('input')); }", str(value)
    )


def states_drawn(page):
    return page.evaluate(
        "() => { const { way, state } = document.querySelector('.board')._curve; return [...way].map((number) => state[number]); }"
    )


@pytest.mark.parametrize("per_cluster", [1, 4])
def test_states_at_ten_places_of_both_handles_are_those_of_python(page, per_cluster):
    made = material(per_cluster=per_cluster)
    board, full, report = board_of(made, prompt="o2")
    drawn(page, board)
    nearest = np.lexsort((np.arange(len(full)), full.n_changed))
    seen = set()
    for k in range(10):
        level, margin = every_choice.LEVELS[(5 * k) % len(every_choice.LEVELS)], MARGINS[7 * k % 11]
        moved_to(page, "Confidence level", every_choice.LEVELS.index(level))
        moved_to(page, "Margin", MARGINS.index(margin))
        states = full.states(level, margin / 100)
        gaps = np.sign((full.estimate - margin / 100).round(12))
        wanted = [STATES.get(state, gap) for state, gap in zip(states, gaps, strict=True)]
        assert states_drawn(page) == [wanted[place] for place in nearest]
        seen |= set(wanted)
        claim = survives_claim(report.curve, Decision("Ann", "Bob", margin / 100), level)
        assert " ".join(filter(None, texts(page, ".headline") + texts(page, ".under"))) == claim.text
        assert texts(page, ".small") == [claim.detail]
        # Ways with the option that asks otherwise are drawn, and counted in neither side.
        shares = report.curve.equally_defensible.shares(level, margin / 100)
        sides = [(shares.n_ahead, shares.n_shown), (shares.n_behind, shares.n_against)]
        assert texts(page, ".side span") == [f"ahead: {n} of {shares.n_open}" for n, _ in sides]
        assert texts(page, ".side small") == [f"{beyond or 'none'} beyond chance" if n else "" for n, beyond in sides]
    assert {2, 1, -1, 9} <= seen


def test_what_is_switched_off_is_not_counted_and_the_shares_are_those_of_python(page):
    board, _, report = board_of(material())
    drawn(page, board)
    shares = report.curve.shares(0.95)
    assert texts(page, ".side span") == [f"ahead: {n} of {shares.n_open}" for n in (shares.n_ahead, shares.n_behind)]
    page.get_by_label("unread 1").click()
    ((name, sent),) = page.evaluate("sent")
    assert name == "moved" and sent["unread"] == "o1" and "lowest" not in sent
    fewer_board, _, fewer = board_of(material(), unread="o1")
    shares = fewer.curve.shares(0.95)
    counted = f"{shares.n_ahead} of {shares.n_open}"
    assert texts(page, ".side span")[0] == f"ahead: {counted}"
    # The claim of other switches is on its way; until it comes the ways are counted.
    assert texts(page, ".headline") == [f"Ann is ahead in {counted} ways of counting."]
    row = page.locator(".choice", has=page.get_by_label("extractor 1"))
    assert row.locator(".share").nth(1).inner_text() == "{} of {}".format(*fewer.curve.ahead_in()["extractor", "o1"])
    page.evaluate("(data) => again(data)", fewer_board.data())
    assert fewer.claims[0].text.startswith(texts(page, ".headline")[0][:-1])
    assert not page.get_by_label("unread 1").is_checked()


def test_a_mark_opens_its_setting_by_the_keyboard_and_an_uncertain_option_is_asked_for(page):
    board, sent, _ = board_of(material())
    drawn(page, board)
    page.locator(".plot").focus()
    page.keyboard.press("End")
    value = number_text(100 * sent.estimate.max(), 1)
    assert f". {value} points [" in page.locator(".plot").get_attribute("aria-valuetext")
    page.keyboard.press("Enter")
    page.locator(".offered summary").click()
    page.get_by_label("Prompt: prompt 2").click()
    (opened, setting), (moved, view) = page.evaluate("sent")
    assert opened == "opened" and moved == "moved" and view["prompt"] == "o2"
    names = dict(part.split("=") for part in setting.split("+"))
    assert sent.estimate[sent.find(names)] == sent.estimate.max()


def test_a_follower_sees_switches_and_handles(page):
    drawn(page, board_of(material())[0])
    at = {"level": 0.5, "threshold": 1.0, "unread": "o1", "extractor": "", "reruns": "", "prompt": ""}
    page.evaluate(
        "(at) => dispatchEvent(new CustomEvent('flipscope-board-follow', { detail: { board: 'b', at, moving: true } }))", at
    )
    page.wait_for_function("document.querySelector('.board .level').textContent === '1.0 points'")
    assert texts(page, ".level") == ["1.0 points", "50%"] and not page.get_by_label("unread 1").is_checked()


def with_unread(lowest, highest):
    """The material with unread answers: at the ends every item has so much less and more, as far as scores go."""
    made = material()
    ends = [
        replace(made, states={name: np.clip(values + change, -1, 1) for name, values in made.states.items()})
        for change in (lowest, highest)
    ]
    return replace(made, filled=tuple(ends))


def test_a_mark_says_what_unread_answers_could_change(page):
    board, sent, _ = board_of(with_unread(-0.02, 0.03))
    drawn(page, board)
    assert [text.strip() for text in texts(page, ".key .unread")] == ["all unread answers against Ann, to all for it"]
    page.locator(".plot").focus()
    page.keyboard.press("End")
    place = int(np.nanargmax(sent.estimate))
    ends = " to ".join(number_text(100 * values[place], 1) for values in (sent.lowest, sent.highest))
    assert page.locator(".plot").get_attribute("aria-valuetext").endswith(f"; whatever the unread answers are, {ends} points.")


# Number of pixels of the plot that are gray and partly transparent.
N_GRAY = """() => {
  const canvas = document.querySelector(".plot");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let n = 0;
  for (let i = 0; i < data.length; i += 4) {
    const [red, green, blue, alpha] = data.slice(i, i + 4);
    if (alpha > 100 && alpha < 200 && Math.max(red, green, blue) - Math.min(red, green, blue) < 30) n += 1;
  }
  return n;
}"""


def test_ranges_are_drawn_only_where_answers_are_unread(page):
    counts = []
    for is_unread in (True, False):
        board, _, _ = board_of(with_unread(-0.2, 0.2))
        if not is_unread:
            board.rows[0].pictures[0]["unread"] = ""
        drawn(page, board)
        page.wait_for_timeout(200)
        counts.append(page.evaluate(N_GRAY))
    assert counts[0] > counts[1] + 50


def test_no_tick_touches_the_bar_on_a_narrow_screen(page):
    """At 390 pixels "Bar 85%" touched "80%"."""
    board, _, _ = board_of(material())
    page.set_viewport_size({"width": 390, "height": 900})
    page.evaluate("""() => {
      window.said = [];
      const draw = CanvasRenderingContext2D.prototype.fillText;
      CanvasRenderingContext2D.prototype.fillText = function (text, left, top) {
        window.said.push([text, left, top]);
        draw.call(this, text, left, top);
      };
    }""")
    try:
        drawn(page, board)
        n_bars = 0
        for place in range(len(MARGINS)):
            page.evaluate("said.length = 0")
            moved_to(page, "Margin", place)
            at_left = [(text, top) for text, left, top in page.evaluate("said") if left < 10]
            bars = [top for text, top in at_left if text.startswith("Margin")]
            n_bars += bool(bars)
            for bar in bars:
                assert all(abs(top - bar) >= 15 for text, top in at_left if not text.startswith("Margin")), at_left
        assert n_bars > 3
    finally:
        page.set_viewport_size({"width": 1440, "height": 900})
