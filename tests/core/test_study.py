"""A study is what its TOML says."""

import tomllib
from dataclasses import replace

import pytest

from flipcore.core.errors import BadInput
from flipcore.core.paths import DATA
from flipcore.core.study import DETECTORS, ItemSource, ModelUse, Part, Study
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


def test_an_older_file_with_a_key_that_was_dropped_is_the_same_study():
    study = tiny_study()
    older = "unreviewed_paraphrases = true\n" + study.to_toml()
    assert Study.from_toml(older) == study
    assert "unreviewed_paraphrases" not in study.to_toml()


def test_a_reference_model_is_one_of_the_studys_models_and_moves_no_earlier_id():
    study = Study("s", (ItemSource("x"),), (Part("identity"),), (Part("question_loss"),), (ModelUse("m"), ModelUse("old")))
    assert "reference_model" not in study.to_toml()
    chosen = replace(study, reference_model="old")
    assert Study.from_toml(chosen.to_toml()) == chosen and chosen.study_id != study.study_id
    with pytest.raises(BadInput, match="none of its models"):
        replace(study, reference_model="other").checked()
    assert "reference_models" not in study.to_toml()
    several = replace(study, reference_models=("old",))
    assert Study.from_toml(several.to_toml()) == several and several.study_id not in (study.study_id, chosen.study_id)
    with pytest.raises(BadInput, match="reference_models with 'other', which is none of its models"):
        replace(study, reference_models=("old", "other")).checked()


# What a study's controls are is declared, and a declaration without it keeps the id that it had.


# Ids of the shipped files before the field `control` existed.
EARLIER = {"demo": "1076063c19c0", "memory": "291c1a7af05c", "ground_truth": "8251d643694c", "holdout": "517d74314117"}


@pytest.mark.parametrize("name", EARLIER)
def test_a_study_that_does_not_say_keeps_its_id(name):
    study = Study.read(DATA / f"{name}.toml")
    # the demo asks more items and ways of asking drawn at random since, the ground truth completion, hidden options and min-k %++
    items = study.items if name != "demo" else tuple(replace(one, n=n) for one, n in zip(study.items, (20, 12), strict=True))
    axes = tuple(axis for axis in study.axes if axis.name not in ("combined", "completion", "masked_option"))
    extractors = tuple(one for one in study.extractors if one.name not in ("min_k_plus", "word_for_word"))
    silent = replace(study, items=items, control="other", axes=axes, extractors=extractors, detectors=DETECTORS)
    assert silent.study_id == EARLIER[name] and "control" not in tomllib.loads(silent.to_toml())
    assert Study.from_toml(silent.to_toml()) == silent


def test_another_control_is_another_study():
    study = Study.read(DATA / "memory.toml")
    assert study.control == "random" and study.study_id != EARLIER["memory"]
    assert Study.from_toml(study.to_toml()) == study


def test_an_unknown_control_is_refused_with_the_known_ones():
    text = Study.read(DATA / "memory.toml").to_toml().replace('"random"', '"fair"')
    with pytest.raises(BadInput, match="random, paired, calibrated, other"):
        Study.from_toml(text)
