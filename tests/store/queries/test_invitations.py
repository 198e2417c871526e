"""Invitations are read once until one changes, and the number that takes the place of a name."""

import datetime as dt
from types import SimpleNamespace

import pytest

from flipcore.access.acting import Level
from flipcore.store.queries import invitations
from flipcore.store.rows import now


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


def test_invitations_are_read_again_only_once_one_changed(store, monkeypatch):
    reads, rows = [], store.rows
    monkeypatch.setattr(store, "rows", lambda sql, **params: reads.append(sql) or rows(sql, **params))
    expires_at = now() + dt.timedelta(hours=1)
    first = invitations.keep_invitation(store, "Hal", Level.VIEWER, "", expires_at)
    found = invitations.by_id(store)
    assert found == invitations.by_id(store) == {first.invitation_id: first} and len(reads) == 1
    second = invitations.keep_invitation(store, "Ida", Level.VIEWER, "", expires_at)
    assert list(invitations.by_id(store)) == [second.invitation_id, first.invitation_id] and len(reads) == 2
    invitations.keep_event(store, first.invitation_id)
    assert [row.stands for row in invitations.invitations(store)] == [True, False] and len(reads) == 3
