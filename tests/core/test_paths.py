"""Where the files are: a clone keeps its database beside its data."""

from pathlib import Path

from flipcore.core import paths
from tests.conftest import ROOT


def test_a_clone_keeps_its_database_beside_its_data():
    assert paths.IS_CLONE and paths.DATABASE == Path(ROOT) / "data" / "flips.duckdb" and paths.APP.is_file()
