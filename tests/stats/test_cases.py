"""Every fixed case of tests/cases.json, and every signature that it lists."""

import importlib
import inspect
import json
import math

import pytest

from tests.conftest import ROOT

CASES = json.loads((ROOT / "tests" / "cases.json").read_text(encoding="utf-8"))
MODULES = {  # the one adapter from the names of the file to where they stand
    "flips": ("tests.definitions",),
    "interval": ("flipcore.stats.base.intervals",),
    "drop_gap": ("flipcore.stats.memory.drop_gap", "flipcore.stats.base.paired", "flipcore.stats.base.power"),
    "loss_test": ("flipcore.stats.memory.loss_test", "flipcore.stats.base.multiplicity"),
    "holdout": (
        "flipcore.stats.holdout.source_rules",
        "flipcore.stats.base.agreement",
        "flipcore.stats.base.retention",
        "flipcore.stats.holdout.semantic",
        "flipcore.protocols.rotation",
        "tests.definitions",
    ),
    "pearl": (
        "flipcore.stats.memory.pearl_analysis",
        "flipcore.stats.memory.pearl_alpha",
        "flipcore.axes.bit_flip",
        "flipcore.text.similarity",
    ),
}
RENAMED = {  # names in the file, which never change -> ours, where "seed" is a random seed and nothing else
    "drop_gap_seed": "drop_gap_source",
    "pval_seed": "pval_source",
    "alpha_seed": "alpha_source",
    "seed_fwer_p0": "source_fwer_p0",
    "p_seed": "p_source",
    "seed_nonoverlap": "source_nonoverlap",
    "seed_p01": "source_p01",
    "seed_bonferroni": "source_bonferroni",
}
WORDS = {"NaN": math.nan, "Inf": math.inf, "-Inf": -math.inf}


def resolved(quantity):
    """The callable that computes `quantity`, looked up by name in the modules of its prefix."""
    prefix, name = quantity.split(".")
    name = RENAMED.get(name, name)
    for module in (*MODULES[prefix], "tests.source_statistics"):
        found = getattr(importlib.import_module(module), name, None)
        if found is not None:
            return found
    pytest.fail(f"{quantity} is in none of {MODULES[prefix]}")


def spoken(value):
    """JSON has no NaN and no infinity: the file writes them as words."""
    if isinstance(value, list):
        return [spoken(v) for v in value]
    return WORDS.get(value, value) if isinstance(value, str) else value


def argument(quantity, value):
    """A `repeat` stands for a model that cycles through answers; a string of digits for one bit an item."""
    if isinstance(value, dict):
        answers = value["repeat"]
        return lambda t, rotation: answers[(t - 1) % len(answers)]
    if quantity == "drop_gap.drop_gap_seed" and isinstance(value, str):
        return [int(digit) for digit in value]
    return spoken(value)


def agrees(found, expected, tolerance):
    """`found` has what `expected` says, key by key and place by place; NaN agrees with NaN only."""
    if isinstance(expected, dict):
        return all(agrees(found[RENAMED.get(key, key)], value, tolerance) for key, value in expected.items())
    if isinstance(expected, list):
        return len(found) == len(expected) and all(agrees(f, e, tolerance) for f, e in zip(found, expected, strict=True))
    expected = spoken(expected)
    if isinstance(expected, (bool, str)) or expected is None:
        return found == expected
    if math.isnan(expected) or math.isinf(expected):
        return str(float(found)) == str(float(expected))
    return abs(found - expected) <= tolerance


def parameters(text):
    """Names and defaults of a signature as it is written in the file."""
    scope = {}
    exec(f"def f{text}: pass", scope)
    return [(p.name, p.default) for p in inspect.signature(scope["f"]).parameters.values()]


@pytest.mark.parametrize("case", CASES["cases"], ids=lambda case: case["name"])
def test_the_fixed_case_holds(case):
    compute = resolved(case["quantity"])
    found = compute(*(argument(case["quantity"], a) for a in case["args"]), **case["options"])
    assert agrees(found, case["expected"], case["tolerance"]), found


@pytest.mark.parametrize("quantity", CASES["signatures"])
def test_the_listed_signature_is_the_callables_own(quantity):
    found = [(p.name, p.default) for p in inspect.signature(resolved(quantity)).parameters.values()]
    wanted = parameters(CASES["signatures"][quantity]["inputs"])
    assert [name for name, _ in found][: len(wanted)] == [name for name, _ in wanted]
    for (name, default), (_, stated) in zip(found, wanted, strict=False):
        assert default == stated or (isinstance(stated, float) and abs(default - stated) < 1e-9), name
    assert all(default is not inspect.Parameter.empty for _, default in found[len(wanted) :])


def test_a_missing_number_agrees_with_nothing_but_itself():
    assert agrees(math.nan, "NaN", 0) and not agrees(0.0, "NaN", 1) and not agrees(math.nan, 0.0, 1)
    assert not agrees({"T": 0.5}, {"T": 0.6}, 1e-9) and not agrees([0.1], [0.1, 0.2], 1)
