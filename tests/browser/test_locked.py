"""In Chromium: items set aside are shown by no page until settings are locked, and then at those settings only."""

import pytest

from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.runs import runner
from flipcore.store.connection import Store
from tests.browser.serving import ROOT, browser_page, dashboard
from tests.browser.test_main_job import no_fault, text_of
from tests.browser.waiting import settled

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.usefixtures("allowed_folders")]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("locked")
    study = Study(
        "Half set aside",
        (ItemSource("flipscope_choice", n=60),),
        (Part("identity"), Part("option_order")),
        (Part("first_token"), Part("regex")),
        (ModelUse("simulated-artifact-prone"),),
        confirmatory_share=0.5,
    )
    store = Store.open(folder / "flips.duckdb")
    assert runner.run(study, store).state == "done"
    store.close()
    with dashboard(ROOT / "app.py", folder / "flips.duckdb") as url, browser_page() as page:
        page.set_default_timeout(30_000)
        page.goto(url + "/flips?show=Parts")
        settled(page)
        yield page


def test_nothing_is_shown_in_locked_mode_before_a_lock(page):
    page.locator(".board .sentence").first.wait_for()
    page.get_by_text("Locked", exact=True).click()
    page.get_by_text("Lock your settings to see the results").wait_for()
    settled(page)
    assert page.locator(".board .sentence").count() == 0 and no_fault(page)


def test_a_button_that_waits_for_a_name_shows_its_label(page):
    """It was white on white, because a button that is off has no color of its own."""
    button = page.get_by_role("button", name="Lock these settings")
    assert button.is_disabled()
    color = "element => getComputedStyle(element).color"
    assert button.locator("p").evaluate(color) == button.evaluate(color)


def test_a_lock_names_who_and_shows_the_items_that_were_set_aside(page):
    page.get_by_label("Your name").fill("Ada")
    page.get_by_label("Your name").press("Tab")
    page.get_by_role("button", name="Lock these settings").click()
    page.locator(".board .sentence").first.wait_for()
    settled(page)
    said = text_of(page)
    assert "Ada" in said and "these settings were stored before anybody could read what" in said and no_fault(page)


def test_no_control_of_a_locked_board_moves(page):
    controls = page.locator(".board input[type=range], .board select")
    assert controls.count() >= 4
    assert all(controls.nth(i).is_disabled() for i in range(controls.count()))


def test_explore_shows_the_other_items(page):
    locked = page.locator(".board .sentence").all_inner_texts()
    page.get_by_text("Explore", exact=True).click()
    page.get_by_text("Settings stored by").wait_for(state="hidden")
    settled(page)
    assert page.locator(".board .sentence").all_inner_texts() != locked
    assert page.locator(".board input[type=range]").is_enabled() and no_fault(page)
