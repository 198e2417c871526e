"""An invitation from its issuing to its end, and every link that opens nothing."""

import datetime as dt

import pytest

from flipcore.access import signing
from flipcore.access.acting import ALL_SOURCES, QUEUE, SURVEY, Level, Person, acting_as
from flipcore.annotation.flip_marks import mark_flip
from flipcore.core.errors import AccessDenied, BadInput
from flipcore.invitations import links
from flipcore.invitations.links import (
    ELSEWHERE,
    EXPIRED,
    FOREIGN,
    REVOKED_LINK,
    enter,
    issue,
    link,
    listing,
    person_of,
    revoke,
    state_of,
)
from flipcore.store.queries import invitations

pytestmark = pytest.mark.usefixtures("allowed_folders")

EVERYWHERE = QUEUE + ALL_SOURCES


def invited(store, admin, name="Ada", level=Level.REVIEWER, scope=EVERYWHERE, days=1.0):
    """The invitation and the token of its link."""
    with acting_as(admin):
        one = issue(store, name, level, scope, days)
        address, _, token = link(one, "http://localhost:1/").partition("#")
    assert address == "http://localhost:1/access/enter"
    return one, token


def test_a_link_is_exchanged_once_and_its_cookie_names_the_person(store, admin):
    one, token = invited(store, admin)
    entry = enter(store, token)
    assert entry.cookie and entry.place == "/paraphrase_review" and 0 < entry.seconds <= 86_400
    assert person_of(store, entry.cookie) == Person("Ada", Level.REVIEWER, EVERYWHERE, one.invitation_id)
    assert enter(store, token).sentence == ELSEWHERE and not enter(store, token).cookie
    assert enter(store, token, entry.cookie).cookie == entry.cookie  # the browser that opened it first
    assert enter(store, token, "x.y").sentence == ELSEWHERE


def test_a_forged_a_foreign_and_a_changed_link_open_nothing(store, admin, tmp_path, monkeypatch):
    one, token = invited(store, admin, "Bo")
    key = signing.key_of(token)
    for forged in ("", ".", "x", key, f"{key}.", f"{key}.{'A' * 43}", token[:-1], token + "A", f"{key}.é", "ab" * 5_000):
        assert enter(store, forged) == links.Entry(FOREIGN), forged
    cookie = enter(store, token).cookie
    assert enter(store, cookie).sentence == FOREIGN and person_of(store, token) is None  # a link is no cookie
    with monkeypatch.context() as patch:
        patch.setenv("FLIPSCOPE_HOME", str(tmp_path))  # another machine: another secret
        assert enter(store, signing.signed(signing.LINK, key, one.content)).sentence != FOREIGN
        assert enter(store, token).sentence == FOREIGN and person_of(store, cookie) is None
    as_admin = signing.signed(signing.LINK, key, one.content | {"level": "admin"})
    assert enter(store, as_admin).sentence == FOREIGN


def test_a_row_that_was_changed_in_the_file_opens_nothing(store, admin):
    one, token = invited(store, admin, "Cy")
    cookie = enter(store, token).cookie
    sql = "UPDATE invitations SET level = 'admin', scope = '' WHERE invitation_id = $id"
    store.writer.transact(lambda connection: connection.execute(sql, {"id": one.invitation_id})).result(10)
    store.touch([invitations.REVISION_KEY])
    assert person_of(store, cookie) is None and enter(store, token).sentence == FOREIGN


@pytest.mark.slow
def test_a_revocation_holds_at_once_and_a_new_link_ends_the_old_one(store, admin):
    _, token = invited(store, admin, "Di")
    cookie = enter(store, token).cookie
    again, new = invited(store, admin, "Di")
    assert person_of(store, cookie) is None and enter(store, token).sentence == REVOKED_LINK
    cookie = enter(store, new).cookie
    with acting_as(admin):
        revoke(store, again.invitation_id)
        with pytest.raises(BadInput, match="no invitation"):
            revoke(store, "nothing")
    assert person_of(store, cookie) is None and enter(store, new, cookie).sentence == REVOKED_LINK


def test_an_invitation_ends_when_it_says(store, admin, monkeypatch):
    one, token = invited(store, admin, "Ed")
    cookie = enter(store, token).cookie
    later = one.expires_at + dt.timedelta(seconds=1)
    monkeypatch.setattr(invitations, "now", lambda: later)
    assert person_of(store, cookie) is None and enter(store, token, cookie).sentence == EXPIRED
    assert state_of(one) == "expired"


def test_what_cannot_be_issued_is_a_sentence(store, admin):
    for arguments in (
        ("", "viewer"),
        ("A\n" * 50, "viewer"),
        ("A", "root"),
        ("A", ""),
        ("A", "reviewer"),
        ("A", "admin", EVERYWHERE),
    ):
        with acting_as(admin), pytest.raises(BadInput):
            issue(store, *arguments)
    for days in (0, -1, 1e9, float("nan")):
        with acting_as(admin), pytest.raises(BadInput):
            issue(store, "A", "viewer", days=days)
    with acting_as(Person("ana", Level.ANALYST)), pytest.raises(AccessDenied):
        issue(store, "A", "viewer")
    with acting_as(Person("ana", Level.ANALYST)), pytest.raises(AccessDenied):
        invitations.invitations(store)


def test_the_list_says_who_came_and_each_kind_has_its_page(store, admin):
    _, token = invited(store, admin, "Flo", Level.VIEWER, "")
    assert enter(store, token).place == "/"
    _, token = invited(store, admin, "Flo", Level.REVIEWER, SURVEY + "s 1")
    assert enter(store, token).place == "/survey?survey=s%201"
    with acting_as(admin):
        rows = [row for row in listing(invitations.invitations(store)) if row["name"] == "Flo"]
        acts = invitations.acts(store, ["Flo"])
        assert invitations.acts(store, words="no such act").empty
    assert {(row["level"], row["state"], row["issued by"]) for row in rows} == {
        ("viewer", "opened", "root"),
        ("reviewer", "opened", "root"),
    }
    assert set(acts["act"]) == {"opened an invitation"}


def test_secrets_are_in_no_table_and_not_in_the_file(store, admin):
    _, token = invited(store, admin, "Gil")
    cookie = enter(store, token).cookie
    secrets = [signing.secret().decode(), token.partition(".")[2], cookie.partition(".")[2]]
    store.writer.transact(lambda connection: None).result(10)
    store._connection.execute("CHECKPOINT")
    texts = [store.path.read_bytes()]
    for table in ("invitations", "invitation_events", "acts", "store_info"):
        texts.append(store.frame(f"SELECT * FROM {table}").to_csv().encode())
    assert not any(secret.encode() in text for secret in secrets for text in texts)


def test_a_name_gives_way_to_a_number_everywhere(store, admin):
    _, token = invited(store, admin, "Hal")
    cookie = enter(store, token).cookie
    with acting_as(Person("Hal", Level.ANALYST)):
        mark_flip(store, dict.fromkeys(MARK, "x"), "genuine", "Hal")
    with acting_as(Person("ana", Level.ANALYST)), pytest.raises(AccessDenied):
        invitations.replace_name(store, "Hal")
    with acting_as(admin):
        assert "Hal" in invitations.names(store)
        number = invitations.replace_name(store, "Hal")
        assert number.startswith("Person ") and number in invitations.names(store)
        assert "Hal" not in invitations.names(store) and "Hal" not in str(invitations.acts(store).to_dict("records"))
    assert person_of(store, cookie) is None
    assert store.rows("SELECT reviewer FROM flip_verdicts") == [(number,)]


MARK = ("study_id", "model", "item_id", "axis", "variant_id", "other_variant_id", "extractor")
