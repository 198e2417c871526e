"""Logs that lm-evaluation-harness writes today, over drawn settings: every score that it reports is the mean of the imported
rows."""

import os
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
PYTHON = python_with("lm_eval")
OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}


@pytest.mark.slow
@pytest.mark.skipif(not PYTHON, reason="lm-eval is not installed: requirements-harnesses.txt, or FLIPSCOPE_HARNESSES")
def test_thirty_logs_of_drawn_settings_give_the_scores_that_they_report(tmp_path):
    script = Path(__file__).with_name("lm_eval_runs.py")
    environment = os.environ | OFFLINE | {"HF_DATASETS_CACHE": str(tmp_path / "cache")}
    own = [PYTHON, str(script), str(tmp_path / "logs"), str(N_LOGS)]
    subprocess.run(own, check=True, capture_output=True, timeout=900, env=environment)
    folders.admit(tmp_path)
    store, n_scores = Store.open(tmp_path / "flips.duckdb"), 0
    try:
        for number in range(N_LOGS):
            found = survey([tmp_path / "logs" / str(number) / "out"])
            assert (found.n_refused, found.unread) == (0, []), number
            frame = studies.readouts(store, store_logs(found, store), everything=True)
            right = frame["is_correct"].map({True: 1.0, False: 0.0}).astype(float).fillna(frame["value"].astype(float))
            assert found.reported
            for one in found.reported:
                rows = right[(frame["extractor"] == one.readout) & (frame["sample"] == 0)]
                assert rows.mean() == pytest.approx(one.value, abs=1e-9), (number, one)
                assert one.n in (None, len(rows)) and one.model == f"drawn-{number}"
                n_scores += 1
    finally:
        store.close()
    assert n_scores >= N_LOGS
