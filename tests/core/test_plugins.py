"""From a name and parameters to a plug-in; what does not fit gets a sentence with what would."""

from dataclasses import dataclass

import pytest

from flipcore.core.errors import BadInput
from flipcore.core.plugins import plugin_of


@dataclass(frozen=True)
class Sieve:
    width: float = 0.5
    names: tuple[str, ...] = ("a",)


@dataclass(frozen=True)
class Plain:
    pass


BY_NAME = {"sieve": Sieve(), "plain": Plain()}


def test_parameters_take_the_type_of_their_default():
    assert plugin_of(BY_NAME, "axis", "sieve", {"width": 1, "names": ["b", "c"]}) == Sieve(1.0, ("b", "c"))
    assert (
        plugin_of(BY_NAME, "axis", "plain") is not None
        and type(plugin_of(BY_NAME, "axis", "sieve", {"width": 1}).width) is float
    )


@pytest.mark.parametrize(
    ("name", "params", "why"),
    [
        ("seive", {}, "no axis called 'seive'; choose one of sieve, plain"),
        ("sieve", {"depth": 1}, "The axis 'sieve' has the unknown parameter 'depth'; it may have names, width"),
        ("plain", {"depth": 1}, "it has no parameters"),
        ("sieve", {"width": "wide"}, "width = 'wide'; it must be a number"),
        ("sieve", {"width": True}, "must be a number"),
    ],
)
def test_what_does_not_fit_gets_a_sentence(name, params, why):
    with pytest.raises(BadInput) as caught:
        plugin_of(BY_NAME, "axis", name, params)
    assert why in str(caught.value)
