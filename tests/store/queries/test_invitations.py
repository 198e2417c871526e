"""The number that takes the place of a name."""

from types import SimpleNamespace

import pytest

from flipcore.store.queries import invitations


@pytest.mark.parametrize(
    ("names", "number"),
    [
        ([], "Person 1"),
        (["Hal"], "Person 1"),
        (["Hal", "Person 2"], "Person 1"),
        (["Hal", "Person 1"], "Person 2"),
        (["Hal", "Person 1", "Person 2", "Person 4"], "Person 3"),
    ],
)
def test_a_name_gives_way_to_the_first_number_that_nobody_has(monkeypatch, names, number):
    written = []
    writer = SimpleNamespace(transact=lambda *words, **more: written.append(words[3]) or SimpleNamespace(result=lambda s: None))
    monkeypatch.setattr(invitations, "names", lambda store: names)
    store = SimpleNamespace(writer=writer, touch=lambda keys: None)
    assert invitations.replace_name(store, "Hal") == number and written == [number]
