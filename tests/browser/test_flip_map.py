"""The flip map as an instrument, in a real browser: by mouse and by key, from groups and bins to single items and back."""

import re
import xml.etree.ElementTree as ET

import pytest

from flipcore.core.study import Study
from tests.browser.test_main_job import SIMULATED, no_fault
from tests.browser.waiting import settled
from tests.stores import store_with

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.usefixtures("allowed_folders")]
STUDY = (
    SIMULATED.replace("n = 14", "n = 60").replace("Browser study", "Flip map study")
    + '[[models]]\nname = "simulated-brittle"\n'
)
HEAD, ROW = 82, 24


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    return store_with(tmp_path_factory.mktemp("flip_map"), Study.from_toml(STUDY))


@pytest.fixture(scope="module")
def page(page):
    page.set_default_timeout(60_000)
    yield page
    assert page.errors == []


def show(page, address, **settings):
    """The map of a fresh view, focused for keys; the box of its rows."""
    page.goto(f"{address}/flips?{'&'.join(f'{name}={value}' for name, value in settings.items())}")
    page.locator(".flipmap .scroller").wait_for()
    settled(page)
    page.locator(".flipmap[data-painted]").wait_for()
    page.locator(".flipmap .scroller").focus()
    return page.locator(".flipmap .scroller").bounding_box()


def n_rows(page) -> int:
    return int(page.locator(".flipmap .scroller").get_attribute("aria-rowcount"))


def told(page) -> str:
    return page.locator(".whole .live").text_content()


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def test_the_zoom_goes_out_to_a_screenful_and_back_to_the_same_item(page, address):
    show(page, address, sort="the study's own order")
    assert n_rows(page) == 60
    press(page, "ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp")
    third = told(page)
    press(page, "0")
    assert n_rows(page) == 12 and "5 items a row" in page.locator(".whole .size").inner_text()
    press(page, "ArrowDown", "ArrowUp")
    assert "(5 items)" in told(page) and re.search(r"\d+% of pairs flip", told(page))
    press(page, "Enter")  # a bin comes nearer
    assert n_rows(page) == 60
    press(page, "ArrowDown", "ArrowDown")
    assert told(page) == third
    page.locator(".tools .out").click()
    assert n_rows(page) == 12
    page.locator(".tools .in").click()
    assert n_rows(page) == 60


@pytest.mark.parametrize(("group", "n"), [("category", None), ("model", 2)])
def test_groups_open_in_place_and_carry_an_interval(page, address, group, n):
    show(page, address, group=f"by {group}")
    closed = n_rows(page)
    assert 1 < closed < 20 and n in (None, closed)
    press(page, "ArrowDown", "ArrowUp")
    assert re.search(r"\d% of pairs flip, (\[\d+, \d+\] )?n \d+", told(page))
    press(page, "Enter")
    assert n_rows(page) > closed
    press(page, "ArrowDown")
    assert "items)" not in told(page)
    press(page, "Enter")
    page.get_by_text("Right answer:").first.wait_for()
    settled(page)
    assert ("of=simulated" in page.url) == (group == "model") and no_fault(page)


def test_a_click_on_a_columns_name_opens_its_variants_in_place(page, address):
    box = show(page, address)
    page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + 40)
    page.locator(".flipmap .tip", has_text="click: open or close its variants").wait_for()
    page.mouse.click(box["x"] + box["width"] * 0.4, box["y"] + 40)
    page.wait_for_url(re.compile("opened=option"))
    settled(page)
    page.locator(".flipmap .scroller[aria-colcount='4']").wait_for()  # noise floor, option order and its two variants
    page.locator(".flipmap .scroller").focus()
    press(page, "Home", "ArrowRight", "ArrowRight")
    assert told(page).splitlines()[-1].startswith("rotate-1, First token:")
    press(page, "Enter")
    page.get_by_text("Right answer:").first.wait_for()
    settled(page)
    assert "variant=rotate-1" in page.url and "axis=option_order" in page.url and no_fault(page)


def test_a_click_is_sent_once_however_many_came_before_it(page, address):
    frames: list[bytes] = []
    page.once("websocket", lambda socket: socket.on("framesent", lambda frame: frames.append(frame)))
    box = show(page, address)
    for row in range(3):
        frames.clear()
        page.mouse.click(box["x"] + box["width"] * 0.45, box["y"] + HEAD + ROW * (row + 0.5))
        page.wait_for_function(
            "(row) => document.querySelector('.st-key-inspector')?.innerText.includes(row)", arg=f"{row + 1} of 60"
        )
        settled(page)
        assert sum(bytes(frame).count(b'"event":"cell"') for frame in frames) == 1


def test_a_difference_is_one_panel_with_signs(page, address):
    show(page, address, compare="difference")
    press(page, "ArrowRight", "ArrowDown")
    assert "First token minus written answer" in told(page) and re.search(r"[+−]\d+ points", told(page))
    assert "flips under the reference alone" in page.locator(".legend").inner_text()


def test_a_brush_selects_items_for_export_and_for_a_study_of_their_own(page, address):
    box = show(page, address)
    page.mouse.move(box["x"] + 60, box["y"] + HEAD + ROW * 1.5)
    page.mouse.down()
    page.mouse.move(box["x"] + 60, box["y"] + HEAD + ROW * 3.5, steps=5)
    page.mouse.up()
    page.get_by_text("3 items selected").wait_for()
    settled(page)
    with page.expect_download() as export:
        page.get_by_role("button", name="Export").click()
    lines = export.value.path().read_text(encoding="utf-8").splitlines()
    column = lines[0].split(",").index("item_id")
    assert len({line.split(",")[column] for line in lines[1:]}) == 3
    page.get_by_role("button", name="New study").click()
    page.get_by_label("Name", exact=True).wait_for()
    page.get_by_text("other sources and filters").click()
    page.get_by_text("item_id is").first.wait_for()
    settled(page)
    assert "3 selected items" in page.get_by_label("Name", exact=True).input_value() and no_fault(page)


def test_rows_are_selected_by_keys_and_stepped_through(page, address):
    show(page, address)
    press(page, "ArrowDown", "ArrowUp", "Space")
    page.get_by_text("1 item selected").wait_for()
    press(page, "Shift+ArrowDown", "Shift+ArrowDown")
    page.get_by_text("3 items selected").wait_for()
    settled(page)
    page.get_by_role("button", name="Review flips").click()
    page.get_by_text("1 of 3").first.wait_for()
    settled(page)
    page.locator(".flipmap .scroller").focus()
    press(page, "Escape")
    page.get_by_text("items selected").wait_for(state="hidden")


def test_what_is_seen_is_saved_with_its_caption(page, address):
    show(page, address, search="")
    with page.expect_download() as download:
        page.locator(".flipmap .scroller").focus()
        press(page, "s")
    root = ET.fromstring(download.value.path().read_text(encoding="utf-8"))
    texts = [node.text or "" for node in root.iter("{http://www.w3.org/2000/svg}text")]
    words = " ".join(texts)
    assert "Flip map of Flip map study" in words and "in sight; a row is an item." in words and "Flipscope" in words
    assert "every pair flips" in words and "option order" in words.replace(" ▸", "")
    assert (
        sum(bool(re.search(r"\bn [\d,]+$", text)) for text in texts) >= 4
    )  # of each column in sight: they rest on different items
    with page.expect_download() as download:
        page.locator(".tools .png").click()
    assert download.value.path().read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert download.value.suggested_filename.startswith("flip-map-") and no_fault(page)
