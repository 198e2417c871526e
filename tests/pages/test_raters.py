"""Pages of a study whose outputs several people rated: each speaks of raters and their ratings."""

import pytest

from flipcore.runs.log_import import store_logs
from flipcore.runs.log_survey import survey
from flipcore.store.connection import Store
from flipcore.store.queries import studies
from tests.pages.opening import PAGE_MARKS, opened, quiet, words
from tests.reports.rated_tables import rated, verdict

pytestmark = PAGE_MARKS


@pytest.fixture
def link(tmp_path, monkeypatch):
    """The parameters of a link to the first item."""
    quiet(monkeypatch, tmp_path / "flips.duckdb")
    store = Store.open(tmp_path / "flips.duckdb")
    study_id = store_logs(survey([rated(tmp_path, verdict)]), store)
    items = list(studies.study_items(store, study_id)["item_id"])
    store.close()
    return {"study": study_id, "item": next(item for item in items if item.partition("@")[0].endswith("/d0"))}


@pytest.mark.parametrize("page", ["score/page.py", "flips/page.py", "audit/page.py"])
def test_the_outputs_behind_a_number_are_told_by_rater(link, page):
    app = opened(page, **link, finding="1")
    assert not app.exception
    said = words(app)
    assert "Mean of 3 raters: 67% right. Their ratings differ." in said
    assert "- anna: **wrong**" in said and "- bilal: **right**" in said
    for phrase in ("The answer flips", "The answer **flips", "Sample 1", "Sample 2", "same prompt, sample"):
        assert phrase not in said
    (table,) = [shown.value for shown in app.dataframe if "Rater" in shown.value.columns]
    assert list(table["Rater"]) == ["anna", "bilal", "chen"]


def test_the_score_is_explained_by_raters(link):
    said = words(opened("score/page.py", study=link["study"]))
    assert "**other raters** of the same outputs" in said and "rerun" not in said
    assert "People gave these scores, so no calls to a model are planned for it." in said
