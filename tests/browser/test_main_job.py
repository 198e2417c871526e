"""The main job in a real browser: a study runs, a cell opens the two outputs, a dragged level changes the verdicts."""

import re
import time

import pytest

from tests.browser.serving import browser_page
from tests.browser.waiting import settled

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.usefixtures("allowed_folders")]
SIMULATED = """
name = "Browser study"
[[items]]
dataset = "flipscope_choice"
n = 14
[[axes]]
name = "identity"
[[axes]]
name = "option_order"
params = { n = 3 }
[[extractors]]
name = "first_token"
[[extractors]]
name = "regex"
[[models]]
name = "simulated-artifact-prone"
n_samples = 2
"""


@pytest.fixture(scope="module")
def page(address):
    with browser_page() as opened:
        opened.set_default_timeout(45_000)
        yield opened
        assert opened.errors == []


def text_of(page) -> str:
    return page.locator("[data-testid=stMain]").inner_text()


def no_fault(page) -> bool:
    return page.locator("[data-testid=stException]").count() == 0


def test_the_studies_page_says_what_was_found_and_that_it_is_simulated(page, address):
    page.goto(address)
    page.get_by_text("Browser study").first.wait_for()
    page.get_by_text(re.compile(r"% right|[Rr]ight on \d+%")).first.wait_for()
    page.get_by_text("Menu").first.wait_for()  # the last part of a card: what stands before it is drawn
    assert "SIMULATED" in text_of(page) and "Done" in text_of(page) and no_fault(page)


def test_a_click_on_a_cell_opens_the_two_outputs(page, address):
    page.goto(address + "/flips")
    page.get_by_text(re.compile(r"of pairs flip")).first.wait_for()
    box = page.locator(".flipmap .scroller").bounding_box()
    start = time.perf_counter()
    page.mouse.click(box["x"] + box["width"] * 0.45, box["y"] + 82 + 12)
    page.get_by_text("Right answer:", exact=False).wait_for()
    print(f"\nclick to inspector: {1000 * (time.perf_counter() - start):.0f} ms")
    settled(page)
    shown = text_of(page)
    assert "Original" in shown and "Sample 1" in shown and "read as" in shown and no_fault(page)
    assert "item=" in page.url and "axis=option_order" in page.url


def test_a_link_opens_the_same_view_with_the_outputs_in_sight(page, address):
    size = page.viewport_size
    page.set_viewport_size({"width": size["width"], "height": 560})  # lower than the map, so that the inspector lies below
    page.goto(page.url)
    page.get_by_text("Right answer:", exact=False).wait_for()
    page.wait_for_function("document.querySelector('.st-key-inspector').getBoundingClientRect().top < 0.7 * window.innerHeight")
    page.set_viewport_size(size)
    assert no_fault(page)


def test_the_board_and_the_sentences_print_the_same_numbers(page, address):
    page.goto(address + "/flips?show=Parts")
    page.locator(".board .sentence").first.wait_for()
    on_board = {
        found for said in page.locator(".board .sentence").all_inner_texts() for found in re.findall(r"−?[\d.]+% \[.*?\]", said)
    }
    page.get_by_text("The same as sentences").click()
    page.get_by_text("• Option order").first.wait_for()
    said = " ".join(page.get_by_text("• Option order").all_inner_texts())
    table = page.get_by_text("Every estimate")
    # G of a row under another readout is the reference's own line or the table's; artifact and total are in the sentences
    missing = [one for one in on_board if one not in said]
    assert on_board and table.count() and len(missing) <= 1, missing
    page.keyboard.press("Escape")


def test_the_verdict_changes_while_the_level_is_dragged(page, address):
    page.goto(address + "/flips?show=Parts")
    page.locator(".board .sentence").first.wait_for()
    slider = page.locator(".board input[type=range]")
    box = slider.bounding_box()
    sentence = page.locator(".board .sentence").nth(1)
    before = sentence.inner_text()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.82, middle)
    page.mouse.down()
    seen = set()
    for share in (0.7, 0.5, 0.3, 0.1):
        page.mouse.move(box["x"] + box["width"] * share, middle)
        seen.add(sentence.inner_text())
    assert len(seen) > 1 and before not in list(seen)[1:], "the numbers must follow the mouse while it is down"
    page.mouse.up()
    settled(page)
    assert no_fault(page)


def test_headline_and_rows_never_contradict_while_the_level_is_dragged(page, address):
    page.goto(address + "/flips?show=Parts")
    page.locator(".board .sentence").first.wait_for()
    box = page.locator(".board input[type=range]").bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.95, middle)
    page.mouse.down()
    words, headlines = ("mostly the extractor, not the model", "mostly the model, not the extractor", "undecided"), set()
    for share in (0.9, 0.7, 0.5, 0.3, 0.1, 0.01):
        page.mouse.move(box["x"] + box["width"] * share, middle)
        headline = page.locator(".board .headline").inner_text()
        place = headline.partition(":")[0].lower()  # a row's title is how its claim begins
        rows = [said for said in page.locator(".board .row .text").all_inner_texts() if said.lower().startswith(place)]
        assert [word for word in words if word in headline] == [word for word in words if word in rows[0].lower()]
        headlines.add(headline)
    page.mouse.up()
    settled(page)
    assert len(headlines) > 1 and no_fault(page)


def test_a_mark_stands_where_a_verdict_changes_and_nowhere_else(page, address):
    page.goto(address + "/flips?show=Parts")
    page.locator(".board .sentence").first.wait_for()
    settled(page)
    seen = page.evaluate(
        """() => {
          const root = document.querySelector('.board') ?? [...document.querySelectorAll('*')]
            .map((box) => box.shadowRoot?.querySelector('.board')).find(Boolean);
          const slider = root.querySelector('input[type=range]');
          const said = () => [...root.querySelectorAll('.row .sign')].map((sign) => sign.textContent).join('|');
          const start = slider.value;
          const changed = [];
          let before = null;
          for (let at = 0; at <= Number(slider.max); at += 1) {
            slider.value = at;
            slider.oninput();
            if (before !== null && said() !== before) changed.push(at);
            before = said();
          }
          slider.value = start;
          slider.oninput();
          const marks = [...root.querySelectorAll('.changes i')].map((mark) => [Number(mark.dataset.at), mark.title]);
          return { changed, marks, none: root.querySelector('.changes').textContent };
        }"""
    )
    places = [place for place, _ in seen["marks"]]
    assert set(seen["changed"]) <= set(places) and (places or seen["none"] == "No verdict changes at any level.")
    assert all(re.match(r"at \d+(\.\d)?% .+ becomes ", title) for _, title in seen["marks"])


def test_a_released_move_is_logged(page, address):
    page.get_by_text(re.compile(r"A threshold was moved (once|\d+ times)")).wait_for()


def test_a_decision_is_written_into_the_record(page, address):
    page.locator(".board .controls > button").click()
    page.get_by_label("Your name").fill("Ada")
    page.get_by_label("Your name").press("Tab")
    page.get_by_role("button", name="Write it down").click()
    page.get_by_text("Decision record").wait_for()
    assert "Ada (Flips, explore)" in text_of(page)


def test_the_sentence_is_copied_with_its_level_and_a_link_that_opens_it_for_somebody_else(page, address):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    level, said = (page.locator(f".board .{one}").inner_text() for one in ("level", "headline"))
    page.get_by_role("button", name="Copy", exact=False).first.click()
    page.get_by_role("button", name="Copy the sentence and its link").click()
    page.get_by_role("button", name="Copied").wait_for()
    sentence, at, source, link = page.evaluate("navigator.clipboard.readText()").split("\n")
    assert (sentence, at) == (said.replace("\xa0", " "), f"Confidence level {level}.") and source.startswith("Browser study (")
    page.get_by_role("button", name="Methods with BibTeX").click()
    page.get_by_text("@article").first.wait_for()
    page.keyboard.press("Escape")
    with page.context.browser.new_context() as context:
        other = context.new_page()
        other.goto(link)
        other.locator(".board .sentence").first.wait_for()
        assert other.locator(".board .level").inner_text() == level and other.locator(".board .headline").inner_text() == said


def test_a_new_study_is_declared_launched_and_finishes(page, address):
    page.goto(address + "/new_study")
    page.get_by_text("Before you start").wait_for()
    page.get_by_text("The study as TOML").click()
    page.get_by_text("Edit it here").click()
    area = page.get_by_label("Study", exact=True)
    area.wait_for()
    area.fill(SIMULATED.replace("Browser study", "Launched in the browser").replace("n = 14", "n = 10"))
    area.press("Control+Enter")
    settled(page)
    page.get_by_role("button", name="Start the study").click()
    page.get_by_text("Launched in the browser").first.wait_for()
    page.locator("[class*=st-key-card-]", has_text="Launched in the browser").get_by_text("Done").wait_for()
    assert no_fault(page)


def test_a_step_stays_open_while_its_settings_change(page, address):
    page.goto(address + "/new_study")
    page.get_by_text("Start the study").wait_for()  # the last part of the page: what stands before it is drawn
    settled(page)
    page.get_by_text("Axes and extractors").click()
    toggle = page.locator("[data-testid=stCheckbox]").filter(has_text="Prompt format").locator("label").first
    toggle.wait_for()
    line = page.locator("summary").filter(has_text="Axes and extractors")
    before = line.inner_text()
    toggle.click()
    page.wait_for_function("([line, was]) => line.innerText !== was", arg=[line.element_handle(), before])
    settled(page)
    assert toggle.is_visible() and no_fault(page)


def test_a_chart_is_saved_with_its_caption_as_svg_and_png(page, address):
    page.goto(address + "/flips")
    page.locator(".st-key-disagreement .main-svg").first.wait_for()
    settled(page)
    files = {}
    for kind in ("SVG", "PNG"):
        page.locator(".st-key-disagreement").hover()
        with page.expect_download() as held:
            page.locator(".st-key-disagreement .save-figure").get_by_text(kind).click()
        files[held.value.suggested_filename] = held.value.path().read_bytes()
    drawing = files["disagreement.svg"].decode()
    assert "Flips · study " in drawing and "Flipscope " in drawing and "draglayer" not in drawing
    assert files["disagreement.png"].startswith(b"\x89PNG") and len(files["disagreement.png"]) > 20_000
