"""Problems of the pocket world: exact chains, and every wording with the same numbers."""

import re

from flipcore.core.randomness import world_generator
from tests.lab.pocket.problems import TEMPLATES, problem


def test_chains_are_exact_and_end_in_the_target():
    rng = world_generator(1, "test")
    for _ in range(300):
        made = problem(rng)
        results = re.findall(r"<<(\d+)([-+*/])(\d+)=(\d+)>>(\d+)\.", made.answer)
        exact = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b}
        assert results and all(exact[o](int(a), int(b)) == int(c) == int(d) for a, o, b, c, d in results)
        assert made.answer.endswith(f"#### {made.target}") and results[-1][-1] == made.target


def test_every_wording_states_the_same_numbers():
    rng = world_generator(2, "test")
    assert len(TEMPLATES) == 14
    for _ in range(200):
        numbers = {tuple(sorted(re.findall(r"\d+", wording))) for wording in problem(rng).wordings}
        assert len(numbers) == 1
