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


def invitation(expires_in_s, revoked_at=None):
    start = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    end = start + dt.timedelta(seconds=expires_in_s)
    return invitations.Invitation("i", "Hal", "viewer", "", end, "Ada", start, revoked_at=revoked_at)


@pytest.mark.parametrize(("expires_in_s", "is_over"), [(59, True), (60, True), (61, False)])
def test_an_invitation_stands_until_it_expires_or_is_revoked(monkeypatch, expires_in_s, is_over):
    moment = dt.datetime(2026, 1, 1, 0, 1, tzinfo=dt.UTC)
    monkeypatch.setattr(invitations, "now", lambda: moment)
    assert invitation(expires_in_s).is_over == is_over and invitation(expires_in_s).stands != is_over
    assert not invitation(expires_in_s, revoked_at=moment).stands


def test_of_two_uses_of_an_invitation_only_the_first_is_recorded(store, monkeypatch):
    monkeypatch.setattr("flipcore.store.audit_log.is_access_on", lambda: True)
    expires_at = now().replace(microsecond=123_456) + dt.timedelta(hours=1)
    made = invitations.keep_invitation(store, "Hal", Level.VIEWER, "", expires_at)
    assert len(made.invitation_id) == 16
    assert [invitations.keep_first_use(store, made) for _ in range(2)] == [True, False]
    (stored,) = invitations.invitations(store)
    assert stored.opened_at is not None and (stored.revoked_at, stored.expires_at) == (None, expires_at)
    acts = invitations.acts(store)
    assert [len(invitations.acts(store, people)) for people in (["Hal"], ["Ida"], ["Hal", "Ida"])] == [1, 0, 1]
    assert [len(invitations.acts(store, words=words)) for words in ("opened an", made.invitation_id, "closed")] == [1, 1, 0]
    assert invitations.acts(store, elsewhere=True).empty
    assert (acts["who"].tolist(), acts["act"].tolist()) == (["Hal"], ["opened an invitation"])


def test_names_of_people_are_found_in_all_columns_and_replaced_there(store):
    invitations.keep_invitation(store, "Hal", Level.VIEWER, "", now())
    store.writer.add(
        "budgets", [{"budget_id": "b", "study_id": "s", "budget_usd": 1.0, "author": "Ida", "created_at": now()}]
    ).result(10)
    assert invitations.names(store) == ["Hal", "Ida"]
    assert invitations.replace_name(store, "Ida") == "Person 1"
    assert invitations.names(store) == ["Hal", "Person 1"]
