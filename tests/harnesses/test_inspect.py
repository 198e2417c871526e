"""Logs that Inspect writes today, over drawn settings: every score that a log reports is the mean of the imported rows."""

import subprocess
from pathlib import Path

import pytest

from flipcore.core import folders
from flipcore.runs.log_import import store_logs
from flipcore.runs.log_survey import survey
from flipcore.store.connection import Store
from flipcore.store.queries import studies
from tests.harnesses import python_with

pytestmark = pytest.mark.usefixtures("allowed_folders")

N_LOGS = 30
PYTHON = python_with("inspect_ai")


@pytest.mark.slow
@pytest.mark.skipif(not PYTHON, reason="inspect-ai is not installed: requirements-harnesses.txt, or FLIPSCOPE_HARNESSES")
def test_thirty_logs_of_drawn_settings_give_the_scores_that_they_report(tmp_path):
    script = Path(__file__).with_name("inspect_runs.py")
    subprocess.run([PYTHON, str(script), str(tmp_path / "logs"), str(N_LOGS)], check=True, capture_output=True, timeout=900)
    folders.admit(tmp_path)
    store, n_scores = Store.open(tmp_path / "flips.duckdb"), 0
    try:
        for number in range(N_LOGS):
            found = survey([tmp_path / "logs" / str(number)])
            assert (found.n_refused, found.unread) == (0, [])
            frame = studies.readouts(store, store_logs(found, store), everything=True)
            # epochs with options shuffled anew are an axis, which holds its base a second time
            frame = frame.drop_duplicates(["item_id", "variant", "sample", "extractor"])
            right = frame["is_correct"].map({True: 1.0, False: 0.0}).astype(float).fillna(frame["value"].astype(float))
            for one in found.reported:
                assert right[frame["extractor"] == one.readout].mean() == pytest.approx(one.value, abs=1e-9), number
                n_scores += 1
    finally:
        store.close()
    assert n_scores >= N_LOGS
