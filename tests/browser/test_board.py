"""One board in a page of its own, without a server: what it says, sends and keeps while its handles move."""

import json
from dataclasses import asdict

import pytest

from flipcore.charts.theme import LIGHT
from flipcore.reports.browser_data.board import Board, Control, Headline, Outcome, Row, level_control, steps
from flipcore.reports.browser_data.parts import BOARD, part, script_of
from flipcore.reports.browser_data.quoted_sentences import sentences_at
from tests.browser.serving import browser_page

pytestmark = [pytest.mark.browser, pytest.mark.slow]
# A board follows at once, or in the next frame if it has just followed. Frames run what asks for them in this order.
FOLLOW = """([at, moving]) => {
  window.dispatchEvent(new CustomEvent("flipscope-board-follow", { detail: { board: "b", at, moving } }));
  return new Promise((followed) => { requestAnimationFrame(() => followed()); });
}"""
LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)
OUTCOMES = {"sure": Outcome("✓", "yes", "sure", rank=0), "open": Outcome("–", "open", "open", rank=1)}


def level_board():
    """Two rows: the first is sure up to 90%, the second never; the headline follows the first."""
    rows = [
        Row(
            "First",
            id="first",
            note="3 items",
            outcomes=steps(["sure"] * 3 + ["open"] * 2),
            sentences={"sure": "First: it holds.", "open": "First: undecided, p = .04."},
        ),
        Row("Second", id="second", outcomes=[[0, "open"]], sentences={"open": "Second: undecided."}),
    ]
    return Board(
        "threshold",
        rows,
        [Headline(rows=[[0, 0]], detail=[[0, "Small line."]])],
        [level_control(LEVELS, 0.95)],
        outcomes=OUTCOMES,
        hint="Click to open.",
    )


def margin_board():
    """Two rows with a handle each, over one sentence for both."""
    rows = []
    for name in ("difficulty", "semantic"):
        picture = {"kind": "margin", "name": name, "value": 0.1, "bound": [0.0, 0.2], "two_sided": False, "nothing": 0.0}
        row = Row(
            name.capitalize(),
            id=name,
            outcomes=steps(["open", "open", "sure"]),
            sentences=steps([f"{name} at {i}." for i in range(3)]),
            pictures=[picture | {"scale": [0.0, 0.5], "ticks": [[0.0, "0"], [0.5, "0.5"], [0.0, "0"]]}],
            control=Control(
                name, "", 0.1, [0.1, 0.2, 0.3], ["m 0.1", "m 0.2", "m 0.3"], f"margin of {name}", f"Margin of {name}"
            ),
        )
        rows.append(row)
    combined = {}
    for first in OUTCOMES:
        for second in OUTCOMES:
            combined[f"{first}|{second}"] = (f"Together {first} and {second}.", "by the rule")
    return Board("margins", rows, [Headline(combined=combined)], outcomes=OUTCOMES)


@pytest.fixture(scope="module")
def page():
    with browser_page() as opened:
        opened.set_default_timeout(10_000)
        yield opened


def drawn(page, board, **changed):
    """Draw a board in an empty page; `sent` there has everything that it hands on."""
    data = board.data() | {"board": "b", "colours": asdict(LIGHT), "locked": False, "opened": ""} | changed
    page.set_content(f"<style>{part('board').css}</style><main>{part('board').html}</main>")
    page.evaluate(f"() => {{ window.drawBoard = {script_of(part('board', BOARD).js)}; window.sent = []; }}")
    page.evaluate(
        """(data) => {
          const send = (name, value) => { window.sent.push([name, value]); };
          window.again = (changed) => { window.data = { ...window.data, ...changed };
            window.drawBoard({ data: window.data, parentElement: document.querySelector("main"), setTriggerValue: send }); };
          window.data = data;
          window.again({});
        }""",
        json.loads(json.dumps(data, allow_nan=False)),
    )
    assert page.errors == []


def follow(page, at, *, moving=False):
    """Send a presenter's settings, and wait until the board has followed."""
    page.evaluate(FOLLOW, [at, moving])


def decided(page):
    """Press the key that writes to the record, and return the decision."""
    page.locator(".board").focus()
    page.keyboard.press("w")
    ((name, decision),) = page.evaluate("sent.slice(-1)")
    assert name == "decision"
    return decision


def texts(page, where):
    return [text.replace("\u00a0", " ") for text in page.locator(where).all_inner_texts()]


def test_keys_move_the_level_and_everything_is_of_one_level(page):
    drawn(page, level_board())
    assert texts(page, ".headline") == ["First: undecided, p = .04."] and texts(page, ".under") == ["Small line."]
    page.get_by_label("Confidence level").focus()
    page.keyboard.press("Home")
    assert texts(page, ".level") == ["50%"] and texts(page, ".headline") == ["First: it holds."]
    assert texts(page, ".sign") == ["✓", "–"] and texts(page, ".sentence") == ["It holds.", "Undecided."]
    page.keyboard.press("End")
    assert texts(page, ".level") == ["99.0%"] and texts(page, ".sign") == ["–", "–"]
    (first, last) = [move for name, move in page.evaluate("sent") if name == "moved"]
    assert first == {"control": "level", "from": 0.95, "to": 0.5, "lowest": 0.5, "highest": 0.95, "level": 0.5}
    assert last["level"] == 0.99 and last["lowest"] == 0.5


def test_a_tick_stands_where_a_row_changes_and_names_it(page):
    drawn(page, level_board())
    assert page.locator(".changes i").evaluate_all("ticks => ticks.map((tick) => tick.title)") == ["at 95% First becomes open"]
    drawn(page, margin_board())
    titles = page.locator(".changes i").evaluate_all("ticks => ticks.map((tick) => tick.title)")
    assert titles == ["at m 0.3 Difficulty becomes sure", "at m 0.3 Semantic becomes sure"]


def test_a_start_that_the_board_sent_itself_does_not_take_its_handle_back(page):
    drawn(page, level_board())
    page.get_by_label("Confidence level").focus()
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    control = page.evaluate("data.controls[0]")
    page.evaluate("(control) => again({ controls: [control] })", control | {"start": 0.9})  # what the first key brought
    assert texts(page, ".level") == ["50%"]
    page.evaluate("(control) => again({ controls: [control] })", control | {"start": 0.99})  # what somebody else chose
    assert texts(page, ".level") == ["99.0%"]


def test_each_margin_has_its_handle_and_keeps_the_keyboard_when_the_board_is_drawn_anew(page):
    drawn(page, margin_board())
    assert texts(page, ".headline") == ["Together open and open."] and texts(page, ".sentence")[1] == "semantic at 0."
    page.get_by_label("Margin of semantic").focus()
    page.keyboard.press("End")
    assert texts(page, ".headline") == ["Together open and sure."] and texts(page, ".row .level") == ["m 0.1", "m 0.3"]
    page.evaluate("again({})")
    assert page.evaluate("document.activeElement.dataset.control") == "semantic"
    page.keyboard.press("Home")
    assert texts(page, ".headline") == ["Together open and open."]
    moves = [move for name, move in page.evaluate("sent") if name == "moved"]
    assert moves[0]["control"] == "margin of semantic" and (moves[0]["difficulty"], moves[0]["semantic"]) == (0.1, 0.3)


def test_what_a_presenter_sends_is_shown_and_settled_once(page):
    drawn(page, level_board())
    follow(page, {"level": 0.8}, moving=True)
    assert texts(page, ".level") == ["80%"] and page.evaluate("sent") == []
    for _ in range(2):
        follow(page, {"level": 0.5})
    ((name, moved),) = page.evaluate("sent")
    assert name == "moved" and moved["level"] == 0.5 and "lowest" not in moved  # a move is logged by who presents


def test_what_is_written_to_the_record_is_what_is_seen_the_clearest_row_first(page):
    board = level_board()
    drawn(page, board)
    page.locator(".board").focus()
    page.get_by_label("Confidence level").focus()
    page.keyboard.press("Home")
    page.keyboard.press("w")
    decision = page.evaluate("sent").pop()[1]
    assert decision["sentences"] == ["First: it holds. (50%)", "First: it holds. (50%)", "Second: undecided. (50%)"]
    assert decision["level"] == 0.5
    assert sentences_at(board.data(), decision) == decision["sentences"]


def test_the_core_says_what_the_board_shows_at_every_handle(page):
    """The words of a decision are made by the core, so they must be those that were seen."""
    drawn(page, level_board())
    said = []
    for level in LEVELS:
        follow(page, {"level": level})
        decision = decided(page)
        said.append([text.replace("\u00a0", " ") for text in decision["sentences"]])
        assert said[-1] == sentences_at(level_board().data(), decision)
    assert len({text[0] for text in said}) == len(LEVELS)
    drawn(page, margin_board())
    for margin in (0.1, 0.3):
        follow(page, {"difficulty": margin})
        decision = decided(page)
        assert decision["sentences"] == sentences_at(margin_board().data(), decision)


def test_a_row_opens_what_is_behind_it_and_a_locked_board_moves_for_nobody(page):
    drawn(page, level_board(), locked=True, opened="second")
    page.get_by_role("button", name="First").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("sent") == [["opened", "first"]]
    assert page.get_by_label("Confidence level").is_disabled() and "Second" in texts(page, ".opened .text")[0]
