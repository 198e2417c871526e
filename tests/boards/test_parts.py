"""The browser parts: every one can be taken into a file without a server."""

import re

import pytest

from flipcore.boards.parts import part, script_of

NAMES = ("threshold_board", "cutoff_line", "margin_board", "ranking_board")


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
