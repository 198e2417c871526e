"""What could be checked of a log: said in the place of findings, with what the log lacks."""

import pytest

from flipcore.claims.audit_checks import CHECKS, Coverage
from tests.claims.test_audit import audited
from tests.datasets.recorded import harness_files as made

pytestmark = pytest.mark.usefixtures("allowed_folders")


@pytest.mark.slow
def test_a_log_with_nothing_to_compare_says_what_could_not_be_checked(tmp_path, store):
    header = made.inspect_header(1.0, 1)
    del header["results"]
    found = audited(store, made.inspect_eval(tmp_path / "a.eval", [made.inspect_sample(0)], header))
    lacking = dict(found.coverage.lacking)
    assert found.coverage.sentence == f"{len(CHECKS) - len(lacking)} of {len(CHECKS)} checks could be made."
    assert lacking["Reported scores against the rows"] == "the log reports no score"
    assert lacking["Repeated prompts"] == "no prompt was asked twice"
    assert lacking["Repeated questions"] == "there is one item alone"
    assert found.headline == f"{found.coverage.sentence.removesuffix('.')}; none failed."
    assert "- Repeated prompts: no prompt was asked twice." in found.text()


def test_the_number_of_checks_is_said_where_all_or_one_or_none_could_be_made():
    lacking = tuple((f"check {i}", "reason") for i in range(13))
    assert Coverage(13, ()).sentence == "All 13 checks could be made."
    assert Coverage(13, lacking[1:]).sentence == "1 of 13 checks could be made."
    assert Coverage(13, lacking).sentence == "None of the 13 checks could be made on this log."
