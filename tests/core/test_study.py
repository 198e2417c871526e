"""A study is what its TOML says."""

import pytest

from flipcore.core.errors import BadInput
from flipcore.core.study import Study
from tests.runs.test_runner import tiny_study


def test_a_study_is_equal_to_what_its_toml_says():
    study = tiny_study()
    assert Study.from_toml(study.to_toml()) == study
    assert Study.from_toml(study.to_toml()).study_id == study.study_id


def test_an_unknown_key_in_a_study_file_is_named():
    with pytest.raises(BadInput, match="unknown key 'axis'"):
        Study.from_toml(tiny_study().to_toml() + '\n[axis]\nname = "x"\n')
