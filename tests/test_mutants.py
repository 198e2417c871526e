"""The changes that `tests.mutants` makes: one thing each, and nothing where nobody could see it."""

import ast
from collections import Counter

from tests import mutants

SOURCE = '''"""A docstring with 1."""


def half(x: int = 1, *, flag: bool = False) -> float:
    """Half."""
    if x < 3 and not flag:
        return -x / 2
    return f"{x + 1}" + "words"
'''


def test_a_module_is_changed_in_one_place_at_a_time(tmp_path):
    path = tmp_path / "half.py"
    path.write_text(SOURCE)
    made = list(mutants.changes(path))
    assert Counter((one.before, one.after) for one in made) == {
        ("1", "2"): 1, ("False", "True"): 1, ("x < 3 and (not flag)", "x < 3 or not flag"): 1, ("x < 3", "x <= 3"): 1,
        ("3", "4"): 1, ("not flag", "flag"): 1, ("-x / 2", "-x * 2"): 1, ("-x", "x"): 1, ("2", "3"): 1,
    }  # fmt: skip
    for one in made:
        ast.parse(one.source)
        assert sum(a != b for a, b in zip(one.source.splitlines(), SOURCE.splitlines(), strict=True)) == 1


def test_the_same_seed_draws_the_same_changes_and_every_room_has_tests():
    first, second = mutants.drawn("spending", 5, 3), mutants.drawn("spending", 5, 3)
    assert [one.place for one in first] == [one.place for one in second] and len({one.source for one in first}) == 5
    for room, (files, tests) in mutants.ROOMS.items():
        assert all(list(mutants.ROOT.glob(pattern)) for pattern in files.split()), room
        assert all((mutants.ROOT / name).exists() for name in tests.split()), room
