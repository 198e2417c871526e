"""What each column of a table holds is measured alike in few rows and in many."""

from pathlib import Path

import pytest

from flipcore.datasets.tables import profile
from flipcore.datasets.tables.load import load

pytestmark = pytest.mark.usefixtures("allowed_folders")

TABLES = Path(__file__).parents[2] / "data" / "tables"


@pytest.mark.parametrize("name", ["graded_sheet.csv", "nan_scores.jsonl", "calls_failed.jsonl", "korean.jsonl"])
def test_columns_of_few_rows_have_the_measures_of_many(monkeypatch, name):
    table = load(TABLES / name)
    of_few = profile.profile(table).columns
    monkeypatch.setattr(profile, "FEW_ROWS", 0)
    assert profile.profile(table).columns == of_few and of_few


def test_a_table_without_a_row_has_its_columns(monkeypatch):
    table = load(TABLES / "graded_sheet.csv")
    table.rows("CREATE TEMP TABLE empty AS SELECT * FROM loaded WHERE false")
    columns = profile.profile(table.with_relation("empty", table.names)).columns
    assert list(columns) == list(table.names) and {column.n_filled for column in columns.values()} == {0}
