"""What a study's controls are is declared, and a declaration without it keeps the id that it had."""

import tomllib
from dataclasses import replace

import pytest

from flipcore.core.errors import BadInput
from flipcore.core.paths import DATA
from flipcore.core.study import DETECTORS, Study

# Ids of the shipped files before the field `control` existed.
EARLIER = {"demo": "1076063c19c0", "memory": "291c1a7af05c", "ground_truth": "8251d643694c", "holdout": "517d74314117"}


@pytest.mark.parametrize("name", EARLIER)
def test_a_study_that_does_not_say_keeps_its_id(name):
    study = Study.read(DATA / f"{name}.toml")
    # the demo asks ways of asking drawn at random since, the ground truth completion and min-k %++: these are other studies
    axes = tuple(axis for axis in study.axes if axis.name not in ("combined", "completion"))
    extractors = tuple(one for one in study.extractors if one.name not in ("min_k_plus", "word_for_word"))
    silent = replace(study, control="other", axes=axes, extractors=extractors, detectors=DETECTORS)
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
