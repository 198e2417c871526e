"""What an import recognises, and what it says of files that are no log."""

import pytest

from flipcore.core.errors import BadInput
from flipcore.runs.log_corrections import corrections_of
from flipcore.runs.log_survey import survey
from tests.datasets.recorded import harness_files as made


def test_what_is_no_log_gets_a_sentence(tmp_path):
    pointer = tmp_path / "samples_x.jsonl"
    pointer.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 5\n")
    with pytest.raises(BadInput, match="git-LFS pointer"):
        survey([pointer])
    rows = made.lm_eval(tmp_path / "run")
    cut = rows.read_text().rstrip()[:-40]
    rows.write_text(cut)
    found = survey([rows], corrections_of(["model=m"]))
    assert found.n_records == 11 and found.n_refused == 1 and found.refusals[0].startswith("Line 12 of ")
    with pytest.raises(BadInput, match="no file or folder"):
        survey([tmp_path / "nowhere"])


@pytest.mark.parametrize("shuffle, is_noted", [(True, True), (0, False), (False, False), (None, False)])
def test_a_log_whose_options_were_shuffled_says_what_is_lost(tmp_path, shuffle, is_noted):
    header = made.inspect_header(1, 1)
    header["plan"]["steps"] = [{"solver": "multiple_choice", "params": {"shuffle": shuffle}}]
    log = made.inspect_eval(tmp_path / "a.eval", [made.inspect_sample(1)], header)
    assert any("shuffle=True" in sentence for sentence in survey([log]).sentences()) == is_noted
