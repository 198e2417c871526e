"""Planted wrong keys are found in answers of a model that knows most items; the command runs the pocket model's."""

from flipcore.core.randomness import generator
from flipcore.core.records import Item
from tests.lab.simulations.suspect_keys import planted


def test_planted_keys_are_found_where_a_model_knows_its_items():
    rng = generator(0, "known")
    items = {f"i{i}": Item(f"i{i}", "d", "choice", f"q{i}", ("a", "b", "c", "d"), target=str(i % 4)) for i in range(120)}
    items |= {f"n{i}": Item(f"n{i}", "d", "number", f"q{i}", (), target=str(i)) for i in range(40)}
    answers = {name: [str(one.target) if rng.random() < 0.95 else "99" for _ in range(8)] for name, one in items.items()}
    share, false, n = planted(answers, items, 10)
    assert share > 0.95 and false < 2 and n == 160
    nobody = {name: ["99"] * 8 for name in items}  # a model that is always wrong makes every item a suspect
    assert planted(nobody, items, 2)[1] > 140
