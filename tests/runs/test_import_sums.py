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
    ("change", "n_misstored"),
    [
        ("UPDATE completions SET text = text || ' '", 4),
        ("UPDATE completions SET status = 'failed'", 4),
        ("DELETE FROM study_calls", 0),
        ("UPDATE readout_sources SET call_id = 'another' WHERE extractor = 'strict-match'", 2),
    ],
)
def test_an_import_that_is_stored_otherwise_is_read_again(tmp_path, store, second_readings, monkeypatch, change, n_misstored):
    """Two outputs, which two filters read."""
    agree = log_import.recorded.Sums.agree

    def changed_before(sums, store, study_id):
        store.writer.transact(lambda connection: connection.execute(change)).result()
        return agree(sums, store, study_id)

    monkeypatch.setattr(log_import.recorded.Sums, "agree", changed_before)
    path = made.lm_eval(tmp_path / "run", n=2)
    study_id = store_logs(survey([path.parent]), store)
    state, message = log_import.recorded.import_state(store, study_id)
    assert second_readings and state == ("incomplete" if n_misstored else "done")
    if n_misstored:
        assert f" Read again, {n_misstored} rows are not stored as the files hold them; the first: Line 1 of " in message
    else:
        assert message.endswith(" Read again, all 2 outputs are stored as written.")
