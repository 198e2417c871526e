"""Every table of a page is saved as CSV, Markdown or LaTeX by the one component."""

import math
import re

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from flipcore.reports.exports.data_tables import shown_records
from pages.common import showing
from tests.browser.serving import ROOT

ONE_STORE = True


def test_no_page_shows_a_table_that_cannot_be_saved():
    pages = {
        path.relative_to(ROOT / "pages").as_posix(): path.read_text(encoding="utf-8") for path in (ROOT / "pages").rglob("*.py")
    }
    shown = [name for name, text in pages.items() if re.search(r"\.(dataframe|data_editor)\(", text)]
    # what workers do now is another thing a moment later; a file before its import is the user's own
    assert sorted(shown) == ["common/header.py", "common/showing.py", "studies/import_outputs.py"]
    assert all("offer_table(" in text for text in pages.values() if "st.table(" in text)


def _page():
    from pages.common.showing import show_table

    show_table(
        "numbers",
        [{"id": 7, "model": "=1+1", "share": 0.5}, {"id": 8, "model": "a_b", "share": None}],
        column_config={"id": None},
    )
    show_table("nothing", [])


@pytest.mark.slow
def test_a_table_is_saved_in_each_format_without_what_is_hidden(monkeypatch):
    files = {}
    monkeypatch.setattr(
        showing, "offer_file", lambda label, data, name, **rest: files.update({name.removeprefix("numbers."): data()})
    )
    app = AppTest.from_function(_page).run()
    assert not app.exception and len(app.dataframe) == 2
    assert set(files) == {"csv", "md", "tex"}
    assert files["csv"] == "model,share\n'=1+1,0.5\na_b,\n"
    assert "| a\\_b |" in files["md"] and r"a\_b" in files["tex"] and not any("7" in one for one in files.values())


def test_a_frame_and_rows_are_saved_alike_and_missing_stays_missing():
    rows = [{"a": 1.5, "b": "x"}, {"a": math.nan, "b": None}]
    assert shown_records(rows) == shown_records(pd.DataFrame(rows)) == [{"a": 1.5, "b": "x"}, {"a": None, "b": None}]
    assert shown_records([{"a": 1}, {"b": [1, 2]}], ["a"]) == [{"b": None}, {"b": [1, 2]}]
