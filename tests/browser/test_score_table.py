"""A table whose score nobody could name is asked about in the browser, and ends on Audit as a study."""

import re

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.usefixtures("allowed_folders")]


def test_the_score_of_a_table_is_chosen_by_a_button(page, address, tmp_path):
    rows = [f"q{i},m-9,{int((i + run) % 4 > 0)},{run}" for i in range(30) for run in (1, 2)]
    (tmp_path / "winter.csv").write_text("\n".join(["frage,system,xyz,lauf", *rows, ""]))
    page.goto(f"{address}/studies")
    page.locator("input[type=file]").first.set_input_files(str(tmp_path / "winter.csv"))
    page.get_by_text("xyz holds values from 0 to 1").wait_for()
    assert page.get_by_role("button", name="Import as a study").count() == 0  # nothing is read before one is pressed
    page.get_by_text("as each reading takes them").wait_for()
    page.get_by_role("button", name=re.compile("xyz is the score")).click()
    page.get_by_role("button", name="Undo this answer").click()
    page.get_by_role("button", name=re.compile("xyz is the score")).click()
    page.get_by_role("button", name="Import as a study").click()
    page.wait_for_url("**/audit**")
    page.get_by_text("30 items, 60 calls, m-9; scores by xyz").wait_for(state="attached")  # in the fold of checks
