"""A study that `run` hands to the open dashboard appears on Studies without a reload."""

import os
import subprocess
import sys

import pytest

from tests.browser.serving import ROOT
from tests.browser.test_main_job import SIMULATED, no_fault

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.usefixtures("allowed_folders")]


def test_a_study_that_is_handed_over_appears_by_itself(page, address, database, tmp_path):
    page.goto(f"{address}/studies")
    page.get_by_text("Menu").first.wait_for()
    page.evaluate("window.isSamePage = true")
    study = tmp_path / "study.toml"
    study.write_text(SIMULATED.replace("Browser study", "Handed over").replace("n = 14", "n = 10"), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "flipcore", "run", str(study)],
        cwd=ROOT,
        env=os.environ | {"FLIPSCOPE_DB": str(database)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "it appears there under Studies" in done.stdout + done.stderr
    page.get_by_text("Handed over").first.wait_for(timeout=60_000)
    assert page.evaluate("window.isSamePage") and no_fault(page)
