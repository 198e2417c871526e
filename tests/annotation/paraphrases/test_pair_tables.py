"""Pairs and verdicts as files: a spreadsheet runs nothing of them."""

import csv
import io

from flipcore.annotation.paraphrases.pair_files import file_bytes


def test_csv_cells_that_a_spreadsheet_would_run_are_neutralised():
    rows = list(csv.DictReader(io.StringIO(file_bytes([{"a": "=cmd()", "b": None, "c": 3}], "csv", ("a", "b", "c")).decode())))
    assert rows == [{"a": "'=cmd()", "b": "", "c": "3"}]
