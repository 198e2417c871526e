"""A study is what its TOML says."""

from dataclasses import replace

import pytest

from flipcore.core.errors import BadInput
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from tests.runs.test_runner import tiny_study


def test_a_study_is_equal_to_what_its_toml_says():
    study = tiny_study()
    assert Study.from_toml(study.to_toml()) == study
    assert Study.from_toml(study.to_toml()).study_id == study.study_id


def test_a_whole_number_in_place_of_a_decimal_keeps_the_id_that_the_declaration_always_had():
    """The id is the hash of the declaration: a file with `temperature = 0` is the study that was stored under it before."""
    plain = tiny_study()
    study = replace(plain, budget_usd=5, models=(replace(plain.models[0], temperature=0, top_p=1),))
    text = study.to_toml()
    assert "temperature = 0\n" in text and Study.from_toml(text).study_id == study.study_id
    assert Study.from_toml(text).to_toml() == text


def test_an_unknown_key_in_a_study_file_is_named():
    with pytest.raises(BadInput, match="unknown key 'axis'"):
        Study.from_toml(tiny_study().to_toml() + '\n[axis]\nname = "x"\n')


def test_a_reference_model_is_one_of_the_studys_models_and_moves_no_earlier_id():
    study = Study("s", (ItemSource("x"),), (Part("identity"),), (Part("question_loss"),), (ModelUse("m"), ModelUse("old")))
    assert "reference_model" not in study.to_toml()
    chosen = replace(study, reference_model="old")
    assert Study.from_toml(chosen.to_toml()) == chosen and chosen.study_id != study.study_id
    with pytest.raises(BadInput, match="none of its models"):
        replace(study, reference_model="other").checked()
