"""The browser parts: every one can be taken into a file without a server."""

import json
import math
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from flipcore.core.paths import COMPONENTS
from flipcore.core.randomness import generator
from flipcore.reports.browser_data.levels import fitting
from flipcore.reports.browser_data.parts import part, script_of
from flipcore.reports.browser_data.steps import Steps
from flipcore.stats.base.estimate import number_text, percent_text

NAMES = ("threshold_board", "cutoff_line", "margin_board", "ranking_board", "score_board")


@pytest.mark.parametrize("name", NAMES)
def test_a_part_is_styled_within_its_own_root_and_becomes_an_expression(name):
    one = part(name)
    (root,) = re.findall(r'^<div class="(\w+)" tabindex="0">', one.html)
    selectors = [line.split("{")[0] for line in one.css.splitlines() if re.match(r"[^ @}].*\{", line)]
    assert selectors and all(selector.startswith(f".{root}") for selector in selectors)
    expression = script_of(one.js)
    assert "export" not in expression and expression.count("return function") == 1


@pytest.mark.parametrize("name", NAMES)
def test_no_name_of_the_shared_script_is_given_again(name):
    """A second `const` or `function` of one name keeps a module from loading at all."""
    names = re.findall(r"^(?:export default )?(?:const|let|class|function) (\w+)", part(name).js, re.M)
    assert "shareBoard" in names and len(names) == len(set(names))


def test_a_script_with_an_import_or_two_exports_is_refused():
    for js in (
        'import { a } from "./a.js";\nexport default function (c) {}',
        "const a = 1;",
        "export default 1; export default 2;",
    ):
        with pytest.raises(ValueError, match="one default export and no import"):
            script_of(js)


def node() -> str:
    """Node, or the one that Playwright brings."""
    import playwright

    own = Path(playwright.__file__).with_name("driver") / "node"
    return str(own) if own.is_file() else shutil.which("node") or ""


def test_a_board_writes_numbers_as_the_tables_do():
    rng = generator(0, "numbers as texts")
    values = [*rng.normal(0, 1, 60), *rng.normal(0, 10.0 ** rng.uniform(-4, 8, 120)), *rng.integers(-2_000_000, 2_000_000, 20)]
    values += [n / 8 for n in range(-41, 42)] + [n / 2 for n in range(-5, 6)] + [n / 16 for n in range(-9, 10)]
    values += [*np.float32([0.1, 0.015, 2.675, -1e-9]), 38.749999999999996, 1.005, -0.004, 999.995, 999_999.5, 0.0, -0.0]
    numbers = [float(one) for one in values]
    cases = [(digits, sign) for digits in (0, 1, 2, 3) for sign in (False, True)]
    script = (COMPONENTS / "numbers.js").read_text(encoding="utf-8") + (
        "\nconst { numbers, cases, ticks } = JSON.parse(require('fs').readFileSync(0, 'utf8'));\n"
        "const all = [...numbers, NaN, Infinity, -Infinity];\n"
        "console.log(JSON.stringify([cases.map(([d, s]) => all.map((x) => numberText(x, d, s))),"
        " [0, 1].map((d) => all.map((x) => percentText(x, d))), ticks.map(([x, step]) => tickText(x, step))]));\n"
    )
    steps = {
        1000.0: 0,
        5.0: 0,
        1.0: 0,
        0.5: 1,
        0.2: 1,
        0.1: 1,
        0.05: 2,
        0.01: 2,
        0.002: 3,
        0.001: 3,
        100 * 0.1: 0,
        100 * 0.005: 1,
    }
    ticks = [(n * step, step) for step in steps for n in (-7, -3, -1, 0, -0.0, 1, 2, 3, 12)]
    asked = json.dumps({"numbers": numbers, "cases": cases, "ticks": ticks})
    answer = subprocess.run([node(), "-e", script], input=asked, capture_output=True, text=True, check=True, timeout=60)
    texts, shares, at_ticks = json.loads(answer.stdout)
    numbers += [math.nan, math.inf, -math.inf]
    for (digits, sign), of_case in zip(cases, texts, strict=True):
        assert of_case == [number_text(x, digits, sign) for x in numbers], (digits, sign)
    for digits, of_case in enumerate(shares):
        assert of_case == [percent_text(x, digits) for x in numbers], digits
    assert at_ticks == [number_text(x, steps[step]) for x, step in ticks]


def test_no_other_script_writes_numbers_by_rules_of_its_own():
    scripts = [path for path in COMPONENTS.glob("*.js") if path.name != "numbers.js"]
    own = re.compile(r"toFixed|toPrecision|toLocaleString|toExponential|NumberFormat")
    assert len(scripts) > 8 and [path.name for path in scripts if own.search(path.read_text(encoding="utf-8"))] == []


# Settings that nothing can have are left out, whoever sent them.


START = {"level": 0.95, "policy": "own_class", "rule": "paired", "reference": "regex", "cutoff": None}


@pytest.mark.parametrize("key, value", [("level", 0.8), ("policy", "drop"), ("rule", "nonoverlap"), ("cutoff", -3.5)])
def test_what_a_board_offers_is_kept(key, value):
    assert fitting({key: value}, START) == {key: value}


@pytest.mark.parametrize(
    "key, value",
    [
        *(("level", value) for value in (99, -3, 1.0, "high", float("nan"))),
        *(("policy", "nonsense"), ("rule", "tolerance"), ("nonsense", 3)),
    ],
)
def test_what_it_does_not_offer_is_left_out(key, value):
    assert fitting({key: value}, START) == {}


# Stepping through the items of a picture.


def test_items_stand_once_in_their_order_and_both_ends_stop():
    steps = Steps(["b", "a", "b", "c"])
    assert len(steps) == 3 and [steps.place(item) for item in ("b", "a", "c", "x")] == [0, 1, 2, None]
    assert [steps.at(place) for place in range(-1, 4)] == [None, "b", "a", "c", None]
