"""What `--simulations SHARE:TURN` leaves out: by the turn alone, of every group of cases at least one, and nothing at a share of 1."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.conftest import LIMIT_S, limit_of, pytest_collection_modifyitems, pytest_itemcollected


def case(name, group=None, marker="cell", by=("page",)):
    """A collected test, as far as a selection looks at it."""
    mark = SimpleNamespace(args=by if group else ())
    return SimpleNamespace(
        nodeid=f"tests/test_x.py::test_it[{name}]",
        path=Path("tests/test_x.py"),
        originalname="test_it",
        callspec=SimpleNamespace(params={"page": group}),
        get_closest_marker=lambda wanted: mark if wanted == marker else None,
    )


def left(items, selection):
    """The names that a selection leaves in."""
    hook = SimpleNamespace(pytest_deselected=lambda items: None)
    items = list(items)
    pytest_collection_modifyitems(SimpleNamespace(getoption={"--simulations": selection}.get, hook=hook), items)
    return [item.nodeid.partition("[")[2].rstrip("]") for item in items]


def test_a_quarter_of_the_cases_runs_by_the_turn_and_in_their_order():
    cases = [case(f"{i:02}") for i in range(40)]
    first = left(cases, "0.25:20261122")
    assert len(first) == 10 and first == sorted(first) and first == left(cases, "0.25:20261122")
    assert first != left(cases, "0.25:20261123")


def test_of_every_group_at_least_one_case_runs():
    cases = [case(f"{page}-{i}", page) for page in ("a", "b", "c") for i in range(3)]
    assert [name[0] for name in left(cases, "0.1:7")] == ["a", "b", "c"]


@pytest.mark.parametrize("marker", ["cell", "simulation"])
def test_all_run_where_nothing_else_is_asked_and_other_tests_always(marker):
    assert len(left([case(str(i), marker=marker) for i in range(9)], "1:0")) == 9
    assert len(left([case(str(i), marker="slow") for i in range(9)], "0.01:0")) == 9


def test_a_share_of_the_simulations_runs():
    assert 0 < len(left([case(str(i), marker="simulation") for i in range(100)], "0.25:1")) < 50


@pytest.mark.parametrize(
    ("mark", "limit"), [(None, LIMIT_S), ("slow", 300), ("browser", 300), ("simulation", 900), ("soak", 0)]
)
def test_each_test_has_a_limit_of_time(mark, limit):
    added = []
    item = case("a", marker=mark)
    item.config = SimpleNamespace(getoption=lambda name, default=None: default)
    item.add_marker = added.append
    pytest_itemcollected(item)
    assert limit_of(item) == limit and [one.args for one in added] == [(limit,)]


def test_a_test_that_names_its_limit_keeps_it():
    item = case("a", marker="timeout")
    item.config = SimpleNamespace(getoption=lambda name, default=None: default)
    pytest_itemcollected(item)  # an item that lacks add_marker
