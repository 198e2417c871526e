"""One registry for five kinds of plug-in: what packages offer is there by name, and what is broken is a sentence."""

import subprocess
import sys

import pytest

from flipcore.axes import AXES
from flipcore.core.errors import BadInput
from flipcore.core.plugins import SHIPPED, Origin, Registry
from flipcore.datasets import LOADERS
from flipcore.extractors import EXTRACTORS, VALUES
from flipcore.models import BACKENDS
from tests.conftest import ROOT
from tests.plugins.offers import AGAIN, OPPOSITE, entry, offered


def test_a_package_adds_an_axis_behind_the_shipped_ones(monkeypatch):
    names = list(AXES)
    with offered(monkeypatch, AXES, entry("OPPOSITE")):
        assert list(AXES) == [*names, "opposite"] and AXES["opposite"] is OPPOSITE and "opposite" in AXES
        assert (AXES.origin("opposite"), AXES.origin("identity")) == (Origin("flip-lab", "2.1"), SHIPPED)
        assert AXES.plugin("opposite", {"loud": True}).loud and AXES.problems == ()
    assert list(AXES) == names


@pytest.mark.parametrize(
    ("offer", "why"),
    [
        ("AGAIN", "the name 'identity' is taken by Flipscope itself. Rename it"),
        ("BOTH", "the name 'opposite' is taken by flip-lab 2.1"),
        ("ODD", "it applies to ['poem']; items are choice, number, text, completion"),
        ("SILENT", "it has no title, a text"),
        ("NO_AXIS", "it is of the type str, not Axis of flipcore"),
        ("NEVER", "it is the class Opposite; offer an instance of it"),
        ("NOWHERE", "cannot be loaded: AttributeError"),
        ("no.such.module:AXIS", "cannot be loaded: ModuleNotFoundError: No module named 'no'. Update the package"),
    ],
)
def test_an_offer_that_cannot_be_used_is_a_sentence_and_hurts_nothing_else(monkeypatch, offer, why):
    with offered(monkeypatch, AXES, entry(offer), entry("OPPOSITE", "two", "later-lab")):
        problem = AXES.problems[0]
        assert problem.startswith("flip-lab 2.1 offers the axis 'one', which") and why in problem
        assert AXES["identity"] is not AGAIN
        assert "opposite" in AXES


@pytest.mark.slow
def test_nothing_of_a_package_is_imported_before_somebody_looks():
    code = (
        "from importlib import metadata\nfrom flipcore.core import plugins\nn = []\n"
        "plugins.installed_in = lambda group: n.append(group) or ()\n"
        "import flipcore.axes, flipcore.extractors, flipcore.models, flipcore.datasets\n"
        "flipcore.axes.AXES['identity']; 'regex' in flipcore.extractors.EXTRACTORS; assert not n, n\n"
        "list(flipcore.axes.AXES); assert n == ['flipscope.axes'], n"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_the_fault_of_a_package_is_a_sentence_and_that_of_a_shipped_plugin_is_raised(monkeypatch):
    with offered(monkeypatch, AXES, entry("OPPOSITE")):
        assert "'opposite' of flip-lab 2.1 failed: KeyError: 'x'" in AXES.failure("opposite", KeyError("x"))
        with pytest.raises(KeyError):
            AXES.failure("identity", KeyError("x"))


def test_each_kind_has_its_group_and_refuses_what_is_not_there():
    groups = [registry.group for registry in (AXES, EXTRACTORS, BACKENDS, LOADERS)]
    assert groups == ["flipscope.axes", "flipscope.extractors", "flipscope.models", "flipscope.datasets"]
    for registry in (AXES, EXTRACTORS, BACKENDS, LOADERS):
        assert isinstance(registry, Registry) and registry.problems == ()
        with pytest.raises(BadInput, match="choose one of"):
            registry.plugin("unheard_of")


def test_values_are_the_extractors_that_say_so():
    assert {"answer_loss", "question_loss", "min_k", "min_k_plus", "ncd", "rouge_l", "word_for_word"} == set(VALUES)
    assert "regex" not in VALUES
