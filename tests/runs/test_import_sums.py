"""What an import stores is compared with what it read by sums, and read again only where those differ."""

import pytest

from flipcore.runs import log_import
from flipcore.runs.log_import import store_logs
from flipcore.runs.log_survey import survey
from tests.datasets.recorded import harness_files as made

pytestmark = pytest.mark.usefixtures("allowed_folders")


@pytest.fixture
def second_readings(monkeypatch):
    """How often files were read a second time."""
    readings = []
    read_again = log_import._read_again

    def count(*args, **more):
        readings.append(1)
        return read_again(*args, **more)

    monkeypatch.setattr(log_import, "_read_again", count)
    return readings


def message_of(store, study_id):
    return log_import.recorded.import_state(store, study_id)[1]


@pytest.mark.parametrize("write", [made.lm_eval, made.helm])
def test_an_import_that_is_stored_as_read_is_not_read_again(tmp_path, store, second_readings, write):
    path = write(tmp_path / "run")
    study_id = store_logs(survey([path.parent]), store)
    assert not second_readings and "outputs are stored as written" in message_of(store, study_id)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE completions SET text = text || ' '",
        "UPDATE completions SET status = 'failed'",
        "DELETE FROM study_calls",
        "UPDATE readout_sources SET call_id = 'another'",
    ],
)
def test_an_import_that_is_stored_otherwise_is_read_again(tmp_path, store, second_readings, monkeypatch, change):
    agree = log_import.recorded.Sums.agree

    def changed_before(sums, store, study_id):
        store.writer.transact(lambda connection: connection.execute(change)).result()
        return agree(sums, store, study_id)

    monkeypatch.setattr(log_import.recorded.Sums, "agree", changed_before)
    path = made.lm_eval(tmp_path / "run", n=9)
    store_logs(survey([path.parent]), store)
    assert second_readings
