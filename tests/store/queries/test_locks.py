"""What a lock keeps of a study's state, from rows that no run wrote."""

import pytest

from flipcore.store.queries import locks

READOUT = (
    "INSERT INTO readouts VALUES ('{}', '{}', '{}', 'x', 'v', 0, 'regex', 'ok', 'A', NULL, true, NULL, NULL, '', '[]', NULL)"
)


@pytest.mark.parametrize(
    ("readouts", "models", "seen"),
    [
        ((), [], [["", 1, 0], ["", 2, 0]]),
        ((("s", "m", "i"),), ["m"], [["", 1, 0], ["", 2, 0]]),
        (
            (("s", "m", "i"), ("t", "m", "i"), ("t", "m", "j"), ("t", "m", "k"), ("u", "n", "i")),
            ["m"],
            [["", 1, 0], ["", 2, 2]],
        ),
    ],
)
def test_a_state_names_the_studies_that_show_its_items_and_those_with_answers_of_its_models(store, readouts, models, seen):
    """Study s sets i and j aside and shows k; t shows all three, and u one of them."""

    def fill(connection):
        for study, item, is_set_aside in (
            ("s", "i", True), ("s", "j", True), ("s", "k", False), ("t", "i", False), ("t", "j", False), ("t", "k", False),
            ("u", "i", False),
        ):  # fmt: skip
            connection.execute("INSERT INTO study_items VALUES (?, ?, 'target', 0, ?, NULL)", [study, item, is_set_aside])
        for row in readouts:
            connection.execute(READOUT.format(*row))

    store.writer.transact(fill, changes=()).result(30)
    state = locks._state(store, "s")
    assert state["items"] == [["i", "target"], ["j", "target"]] and state["models"] == models
    assert state["seen"] == seen and state["n_older"] == 0 and state["verdicts"] == {}
    assert state["extractors"] == [] and state["versions"][0] == ""
    assert locks.n_set_aside(store, "s") == locks.n_set_aside(store, "s", "target") == 2
    assert locks.n_set_aside(store, "s", "control") == locks.n_set_aside(store, "t") == 0
    assert locks.hidden_by(store, "t") == {} and locks.hidden_sentence(store, "t") == ""
