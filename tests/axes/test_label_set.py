"""Labels change, content and order do not."""

import numpy as np
import pytest

from flipcore.axes import axis_of
from flipcore.core.contracts import Material
from flipcore.core.errors import BadInput
from flipcore.core.records import Item


def choice(n_options):
    return Item.make(
        dataset="t", key="1", kind="choice", question="?", target="0", options=tuple(f"option {i}" for i in range(n_options))
    )


def asked(item, *sets):
    return axis_of("label_set", {"sets": list(sets)}).variants(item, "plain", np.random.default_rng(0), Material())


def test_each_set_is_one_variant_and_the_own_set_collapses_into_the_base():
    variants = asked(choice(3), "upper", "digits", "roman", "digits")
    assert [(one.key, one.labels) for one in variants] == [
        ("base", ("A", "B", "C")),
        ("digits", ("1", "2", "3")),
        ("roman", ("i", "ii", "iii")),
    ]
    assert dict(variants[2].prompt.parts)["options"] == "i. option 0\nii. option 1\niii. option 2"
    assert {one.order for one in variants} == {(0, 1, 2)}


def test_a_set_shorter_than_the_options_gets_a_sentence():
    with pytest.raises(BadInput, match="'pqrs' has 11 labels, but an item has 12 options"):
        asked(choice(12), "pqrs")
