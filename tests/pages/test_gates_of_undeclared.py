"""A judge that read stored outputs again is not declared by the study; its gate closes on pages as everywhere."""

import pytest

from flipcore.annotation.gates import reasons
from flipcore.store.connection import Store
from pages.common import gates
from tests.pages.opening import clear_caches, quiet
from tests.runs.test_runner import tiny_study
from tests.stores import store_with

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("allowed_folders")]


def test_the_gate_of_a_judge_that_read_again_closes_on_pages_as_in_stats(tmp_path, monkeypatch):
    study = tiny_study()
    path = store_with(tmp_path, study)
    store = Store.open(path)
    with store.cursor() as cursor:
        cursor.execute("INSERT INTO readouts SELECT * REPLACE ('judge' AS extractor) FROM readouts WHERE extractor = 'regex'")
    in_stats = reasons(store, study.study_id)
    store.close()
    quiet(monkeypatch, path)
    clear_caches()
    assert "judge" in in_stats and gates.all_closed_gates(study.study_id) == in_stats
    clear_caches()
