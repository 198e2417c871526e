import pytest

from tests.stats.pinned.cases import GROUPS
from tests.stats.pinned.files import changed, stored
from tests.stats.pinned.results import differences

MAX_LINES = 20  # of a failure


@pytest.mark.parametrize("module", sorted(GROUPS))
def test_results_are_as_pinned(module):
    lines = changed([module])
    shown = "\n".join(lines[:MAX_LINES])
    assert not lines, f"{len(lines)} values differ; `python -m tests.stats.pinned --write` takes them.\n{shown}"


def test_every_stored_result_belongs_to_a_module_with_cases():
    packages = sorted({module.partition(".")[0] for module in GROUPS})
    assert sorted(GROUPS) == sorted(module for package in packages for module in stored(package))


def test_a_difference_says_its_place_and_both_values():
    estimate, summed = {"estimate": [0.5, 0.4, 0.6]}, {"estimate": {"summed": [1.5, 5, "ab"]}}
    assert list(differences(estimate, {"estimate": [0.5, 0.3, 0.6]}, ".x")) == ["x.low: 0.4 -> 0.3"]
    assert list(differences(summed, {"estimate": {"summed": [1.6, 5, "ab"]}})) == ["estimate.summed[0]: 1.5 -> 1.6"]
    before = {"a": {"b": [1.0, 2.0, "NaN"]}, "c": True, "d": 5}
    after = {"a": {"b": [1.0 + 1e-13, 2.1, "NaN"]}, "c": 1, "e": None}
    assert list(differences(before, after)) == [
        "a.b[1]: 2.0 -> 2.1",
        "c: True -> 1",
        "d: 5 -> 'nothing'",
        "e: 'nothing' -> None",
    ]
