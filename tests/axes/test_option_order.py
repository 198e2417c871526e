"""Option order maps back to content for any number of options."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipcore.axes import axis_of
from flipcore.core.contracts import Material
from flipcore.core.records import Item
from flipcore.text.prompts import LABEL_SETS


def choice(n_options):
    return Item.make(
        dataset="t",
        key="1",
        kind="choice",
        question="?",
        target="0",
        options=tuple(f"option number {i};" for i in range(n_options)),
    )


def asked(item, seed=0, **params):
    return axis_of("option_order", params).variants(item, "plain", np.random.default_rng(seed), Material())


@pytest.mark.parametrize("kind", ["cyclic", "random"])
@given(n_options=st.integers(2, 26), n=st.integers(2, 30), seed=st.integers(0, 9))
def test_the_text_behind_each_label_is_the_option_that_the_order_names(kind, n_options, n, seed):
    item = choice(n_options)
    for one in asked(item, seed, kind=kind, n=n):
        lines = dict(one.prompt.parts)["options"].split("\n")
        assert lines == [f"{label}. {item.options[i]}" for label, i in zip(one.labels, one.order, strict=True)]
        assert one.labels == LABEL_SETS["upper"][:n_options]


@pytest.mark.parametrize(
    ("n_options", "n", "orders"),
    [
        (3, 4, [(0, 1, 2), (1, 2, 0), (2, 0, 1)]),  # no more rotations than options
        (4, 2, [(0, 1, 2, 3), (1, 2, 3, 0)]),
        (10, 4, None),
        (1, 4, [(0,)]),
    ],
)
def test_rotations_are_counted(n_options, n, orders):
    variants = asked(choice(n_options), n=n)
    assert len(variants) == min(n, n_options)
    assert orders is None or [one.order for one in variants] == orders
    assert [one.key for one in variants[1:]] == [f"rotate-{one.order[0]}" for one in variants[1:]]


def test_all_rotations_put_every_option_everywhere_once():
    orders = [one.order for one in asked(choice(7), n=7)]
    assert all(sorted(column) == list(range(7)) for column in zip(*orders, strict=True))


@pytest.mark.slow
@given(n_options=st.integers(1, 5), n=st.integers(2, 130), seed=st.integers(0, 9))
def test_random_orders_are_as_many_as_asked_or_as_there_are(n_options, n, seed):
    variants = asked(choice(n_options), seed, kind="random", n=n)
    assert len(variants) == min(n, math.factorial(n_options))
    assert len({one.order for one in variants}) == len(variants)


def test_another_seed_gives_other_orders():
    first, second = (asked(choice(10), seed, kind="random") for seed in (1, 2))
    assert [one.order for one in first[1:]] != [one.order for one in second[1:]]


def test_orders_that_show_the_same_words_are_one_variant():
    item = Item.make(dataset="t", key="1", kind="choice", question="?", options=("tin", "tin", "tin"), target="0")
    assert [one.key for one in asked(item, n=3)] == ["base"]
