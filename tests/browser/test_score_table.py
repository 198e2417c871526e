"""A table of scores whose columns are called otherwise, corrected in the browser, ends on Audit as a study."""

import pytest

from pages.studies.import_outputs import FIELDS

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.usefixtures("allowed_folders")]


def choose(page, label, value):
    box = page.get_by_role("combobox", name=label).first
    box.click()
    box.fill(value)
    page.get_by_role("option", name=value, exact=True).first.click()
    page.wait_for_timeout(1_500)  # the script reads the whole table again


@pytest.mark.xfail(run=False, reason="these columns are read by their names now; a table that is asked for is still to be made")
def test_the_columns_of_scores_are_named_on_the_page(page, address, tmp_path):
    rows = [f"q{i},m-9,{int((i + run) % 4 > 0)},{run}" for i in range(30) for run in (1, 2)]
    (tmp_path / "winter.csv").write_text("\n".join(["frage,system,punkte,lauf", *rows, ""]))
    page.goto(f"{address}/studies")
    page.get_by_text("Import recorded outputs").first.click()
    page.locator("input[type=file]").first.set_input_files(str(tmp_path / "winter.csv"))
    page.get_by_text("--map score=punkte").wait_for()
    for field, column in (("score", "punkte"), ("item", "frage"), ("models", "system"), ("sample", "lauf")):
        choose(page, FIELDS[field][0], column)
    page.get_by_role("button", name="Import as a study").click()
    page.wait_for_url("**/audit**")
    page.get_by_text("30 items, 60 calls, m-9; read by punkte").wait_for()
