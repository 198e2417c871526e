"""Which packages a study's plug-ins come from: kept with the study, said on its card, and empty where all is shipped."""

from dataclasses import replace

from flipcore.axes import AXES
from flipcore.core.study import Part
from flipcore.runs.origins import origins, study_row
from flipcore.store.queries.studies import plugins_text
from tests.plugins.offers import entry, offered
from tests.store.test_harmless import STUDY


def test_a_study_says_the_package_and_version_of_what_is_not_shipped(monkeypatch):
    with offered(monkeypatch, AXES, entry("OPPOSITE")):
        row = {"kind": "axis", "name": "opposite", "package": "flip-lab", "version": "2.1"}
        assert origins(STUDY) == [row] and plugins_text([row]) == "axis opposite of flip-lab 2.1"
        assert "flip-lab" in study_row(STUDY, "planned")["plugins"]


def test_a_study_of_shipped_plug_ins_has_none_nor_has_one_whose_package_is_gone():
    shipped = replace(STUDY, axes=(Part("identity"),))
    assert origins(shipped) == [] and origins(STUDY) == [] and plugins_text([]) == ""
