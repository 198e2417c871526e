"""Every choice in a meeting: others see switches and slider as they move, and a link restores them."""

import pytest

from flipcore.core.study import ItemSource, ModelUse, Part, Study
from tests.browser.serving import ROOT, browser_page, dashboard
from tests.browser.test_meeting import Screen
from tests.browser.waiting import settled
from tests.stores import store_with

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.usefixtures("allowed_folders")]
STUDY = Study(
    "Two models",
    (ItemSource("flipscope_choice", n=40),),
    (Part("identity"), Part("option_order", {"kind": "cyclic", "n": 2})),
    (Part("first_token"), Part("regex")),
    (ModelUse("simulated-clean"), ModelUse("simulated-memorized")),
)


def test_a_second_person_sees_switch_and_slider_and_the_link_restores_them(tmp_path):
    with dashboard(ROOT / "app.py", store_with(tmp_path, STUDY)) as url, browser_page() as first:
        ada, bea = Screen(first), Screen(first)
        ada.page.goto(f"{url}/ranking?show=Every+choice")
        ada.page.locator(".every").wait_for()
        ada.panel().get_by_role("button", name="Present this page").click()
        code = ada.page.locator(".meeting .code").inner_text().replace("-", "")
        bea.page.goto(f"{url}/#meeting={code}")
        bea.page.locator(".every").wait_for()
        settled(bea.page)
        headline = ada.page.locator(".headline").inner_text()
        ada.page.get_by_label("Confidence level").press("Home")
        bea.page.locator(".level", has_text="50%").wait_for()
        settled(ada.page)
        ada.page.locator(".choice", has_text="Prompt").get_by_role("checkbox").nth(1).click()
        bea.page.locator(".option.off", has_text="mean of").wait_for()
        settled(ada.page)
        ada.page.wait_for_function("location.search.includes('prompt')")
        settled(ada.page)  # until the claim comes, the panel says only how many ways lead
        changed = ada.page.locator(".headline").inner_text()
        assert changed != headline
        bea.page.locator(".headline", has_text=changed).wait_for()
        later = Screen(first)
        later.page.goto(ada.page.url)
        later.page.locator(".headline", has_text=changed).wait_for()
        later.page.locator(".level", has_text="50%").wait_for()
        assert [screen.page.errors for screen in (ada, bea, later)] == [[], [], []]
