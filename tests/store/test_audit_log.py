"""The log of who did what: what another file says is told apart, and what was removed or changed shows."""

import hashlib
import json
import re

import duckdb
import pytest

from flipcore.__main__ import main
from flipcore.access import policy
from flipcore.access.acting import OWNER, Level, Person, access_file, acting_as
from flipcore.core.errors import BadInput
from flipcore.store import audit_log
from flipcore.store.audit_log import acts_of, chain_again, forget_heads_outside, keep_head_outside, link_acts, problem
from flipcore.store.connection import Store
from flipcore.store.merge import merge
from flipcore.store.queries import invitations
from flipcore.store.rows import now
from flipcore.store.schema import tables
from flipcore.store.uploads import keep_upload

ROOT_PERSON = Person("root", Level.ADMIN)


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv("FLIPSCOPE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "flips.duckdb"))
    access_file().parent.mkdir()
    access_file().write_text(policy.TEMPLATE)
    store = Store.open()
    with acting_as(ROOT_PERSON):
        for number in range(5):
            store.record_act("saved a file", f"{number}.csv")
    store.close()
    return tmp_path / "flips.duckdb"


def changed(path, *statements):
    with duckdb.connect(str(path)) as connection:
        for sql in statements:
            connection.execute(sql)


def said(path):
    store = Store.open(path)
    try:
        return problem(store.own_cursor(), store.path)
    finally:
        store.close()


HEAD_OF_3 = """UPDATE store_info SET value = (SELECT '[3, "' || link || '"]' FROM acts WHERE number = 3) WHERE key = 'acts'"""
CHANGES = {
    "a row that was removed": ("DELETE FROM acts WHERE number = 2", "Row 2 .* was removed"),
    "the first row": ("DELETE FROM acts WHERE number = 1", "Row 1 .* was removed"),
    "the last rows": ("DELETE FROM acts WHERE number > 3", "ends at row 3.*row 5 was the last"),
    "all rows": ("DELETE FROM acts", "ends at row 0.*row 5 was the last"),
    "another name": ("UPDATE acts SET who = 'ada' WHERE number = 4", "Row 4 .* was changed or put in"),
    "another act": ("UPDATE acts SET act = 'deleted a study' WHERE number = 5", "Row 5 .* was changed or put in"),
    "another time": ("UPDATE acts SET created_at = created_at - INTERVAL 1 DAY WHERE number = 1", "Row 1 .* was changed"),
    "a row of one's own": (
        "INSERT INTO acts (act_id, who, level, act, target, n_rows, created_at) VALUES ('x', 'ada', 'admin', 'deleted', 's', 1, now())",
        "Row 1 .*earlier release before it, was changed or put in",
    ),
    "the last rows, and the count of the file with them": (
        f"DELETE FROM acts WHERE number > 3; {HEAD_OF_3}",
        "held 5 rows.*older one, or its last rows were removed",
    ),
    "all rows, and the count of the file": (
        "DELETE FROM acts; DELETE FROM store_info WHERE key = 'acts'",
        "held 5 rows.*older one, or its last rows were removed",
    ),
    "a row of this file that is passed off as another's": (
        "UPDATE acts SET origin = 'b' WHERE number = 3",
        "Row 3 .* was removed",
    ),
}


@pytest.fixture
def chain(tmp_path, monkeypatch):
    """(connection, path) of five acts, whose head is kept outside too."""
    monkeypatch.setenv("FLIPSCOPE_HOME", str(tmp_path / "home"))
    with duckdb.connect(":memory:") as connection:
        for name in ("acts", "store_info"):
            connection.execute(tables()[name].sql)
        acts = [audit_log._row(ROOT_PERSON, "saved a file", f"{number}.csv", 1) for number in range(5)]
        for row in link_acts(connection, acts[:2]) + link_acts(connection, acts[2:]):
            marks = ", ".join(f"${name}" for name in row)
            connection.execute(f"INSERT INTO acts ({', '.join(row)}) VALUES ({marks})", row)
        path = tmp_path / "flips.duckdb"
        keep_head_outside(connection, path)
        yield connection, path


def test_an_act_in_any_script_is_chained(chain):
    connection, path = chain
    (row,) = link_acts(connection, [audit_log._row(ROOT_PERSON, "saved a file", "é 文.csv", 1)])
    connection.execute(f"INSERT INTO acts ({', '.join(row)}) VALUES ({', '.join(f'${name}' for name in row)})", row)
    keep_head_outside(connection, path)
    assert row["number"] == 6 and problem(connection, path) == ""


def test_each_change_of_the_acts_is_said_and_a_chain_as_it_was_is_whole(chain):
    connection, path = chain
    assert connection.execute("SELECT list(number ORDER BY number) FROM acts").fetchall() == [([1, 2, 3, 4, 5],)]
    for statements, sentence in CHANGES.values():
        connection.execute(f"BEGIN; {statements}")
        assert re.search(sentence, problem(connection, path))
        connection.execute("ROLLBACK")
    assert problem(connection, path) == "" == problem(connection, path.with_name("moved.duckdb"))


def test_a_name_that_is_replaced_has_the_acts_chained_anew(chain):
    connection, path = chain
    connection.execute("UPDATE acts SET who = 'somebody'")
    chain_again(connection)
    assert "held 5 rows" in problem(connection, path)  # the head that stands outside is that of the old chain
    forget_heads_outside(path)
    assert problem(connection, path) == ""


def test_heads_outside_that_nobody_can_read_are_a_change(chain):
    connection, path = chain
    audit_log._outside_path(path).write_text("[[5]]")
    assert "The log of acts held 0 rows when " in problem(connection, path)


def test_rows_of_other_tables_are_an_act_per_target_and_none_of_the_owner():
    rows = [{"pair_id": pair} for pair in ("p", "q", "p")]
    parts = [("verdicts", rows), ("readouts", [{"study_id": "s"}]), ("budgets", [{"study_id": "s" * 300}])]
    ((table, acts),) = acts_of(ROOT_PERSON, parts)
    assert table == "acts" and [(row["act"], row["target"], row["n_rows"]) for row in acts] == [
        ("judged a paraphrase", "p", 2),
        ("judged a paraphrase", "q", 1),
        ("set a budget", "s" * audit_log.MAX_TARGET_CHARS, 1),
    ]
    assert {(row["who"], row["level"]) for row in acts} == {("root", "admin")} and len({row["act_id"] for row in acts}) == 3
    assert acts_of(OWNER, parts) == [] == acts_of(ROOT_PERSON, parts[1:2])


@pytest.mark.slow
def test_what_was_removed_or_changed_shows(path, capsys):
    assert said(path) == "" and main(["verify"]) == 0
    assert "The log of acts has 5 rows" in capsys.readouterr().out
    whole = path.read_bytes()
    for change, (sql, sentence) in CHANGES.items():
        path.write_bytes(whole)
        changed(path, sql)
        assert main(["verify"]) == 1, change
        assert re.search(sentence, capsys.readouterr().out), change


@pytest.mark.slow
def test_what_a_merged_file_says_is_kept_apart(path, tmp_path):
    """A row written by hand in another file: ada, admin, deleted a study; and an event that revokes an invitation of here."""
    store = Store.open(path)
    with acting_as(ROOT_PERSON):
        one = invitations.keep_invitation(store, "bea", Level.VIEWER, "", now().replace(year=2099))
    store.close()
    Store.open(tmp_path / "other.duckdb").close()
    changed(
        tmp_path / "other.duckdb",
        "INSERT INTO acts VALUES ('x', 'ada', 'admin', 'deleted a study', 's', 1, now(), '', 6, 'y')",
        f"INSERT INTO invitation_events VALUES ('e', '{one.invitation_id}', 'revoked', 'root', now(), '')",
        "INSERT INTO invitations VALUES ('i', 'eve', 'admin', '', '2099-01-01', 'root', now(), '')",
    )
    store = Store.open(path)
    with acting_as(ROOT_PERSON):
        merge([tmp_path / "other.duckdb"], store)
        assert "ada" not in set(invitations.acts(store)["who"])
        theirs = invitations.acts(store, elsewhere=True)
        assert theirs[["who", "act", "origin"]].to_numpy().tolist() == [["ada", "deleted a study", "other.duckdb"]]
        standing = invitations.invitations(store)
        assert [(one.name, one.stands) for one in standing] == [("bea", True)]
    assert problem(store.own_cursor(), store.path) == ""
    store.close()
    third = Store.open(tmp_path / "third.duckdb")
    with acting_as(ROOT_PERSON):
        merge([path], third)
        origins = set(invitations.acts(third, elsewhere=True)["origin"])
    assert origins == {"flips.duckdb", "flips.duckdb < other.duckdb"}
    third.close()


@pytest.mark.slow
def test_a_name_that_is_replaced_leaves_a_chain_that_holds_and_mends_none(path):
    store = Store.open(path)
    with acting_as(ROOT_PERSON):
        invitations.replace_name(store, "root")
    assert problem(store.own_cursor(), store.path) == "" and store.rows("SELECT count(*) FROM acts WHERE who = 'Person 1'") == [
        (5,)
    ]
    store.close()
    changed(path, "DELETE FROM acts WHERE number = 2")
    store = Store.open(path)
    with acting_as(ROOT_PERSON):
        invitations.replace_name(store, "Person 1")
    assert "Row 1" in problem(
        store.own_cursor(), store.path
    )  # what was renamed in a chain that is broken stays broken from its first row
    store.close()


@pytest.mark.slow
def test_rows_of_an_earlier_release_are_where_the_chain_begins(path):
    changed(path, "UPDATE acts SET number = NULL, link = ''", "DELETE FROM store_info WHERE key = 'acts'")
    audit_log.forget_heads_outside(path)  # where an earlier release kept nothing
    store = Store.open(path)
    assert problem(store.own_cursor(), store.path) == ""
    with acting_as(ROOT_PERSON):
        store.record_act("saved a file", "new.csv")
    assert problem(store.own_cursor(), store.path) == "" and store.rows("SELECT max(number) FROM acts") == [(1,)]
    store.close()
    changed(path, "DELETE FROM acts WHERE target = '2.csv'")
    assert "earlier release" in said(path)


def test_a_cut_upload_is_named(path, capsys):
    keep_upload("a.csv", b"whole").write_bytes(b"wh")
    assert main(["verify"]) == 1
    assert "cut or changed" in capsys.readouterr().out


@pytest.mark.slow
def test_a_cut_tail_shows_for_good_and_a_file_that_was_moved_is_no_fault(path, tmp_path):
    """Whoever does something afterwards writes a new end of the chain, and does not cover up the old one."""
    changed(path, "DELETE FROM acts WHERE number > 3", HEAD_OF_3)
    store = Store.open(path)
    with acting_as(ROOT_PERSON):
        store.record_act("saved a file", "after.csv")
        store.record_act("saved a file", "again.csv")
    store.close()
    assert "held 5 rows" in said(path)
    moved = tmp_path / "elsewhere" / "flips.duckdb"
    moved.parent.mkdir()
    path.rename(moved)
    assert said(moved) == ""


def test_an_act_counts_where_nothing_can_be_kept_outside(path, monkeypatch):
    """A home that cannot be written to keeps nobody from working; the chain in the file goes on."""
    monkeypatch.setattr(audit_log, "write", lambda *_: (_ for _ in ()).throw(BadInput("no")))
    store = Store.open(path)
    with acting_as(ROOT_PERSON):
        store.record_act("saved a file", "after.csv")
    assert problem(store.own_cursor(), store.path) == "" and store.rows("SELECT max(number) FROM acts") == [(6,)]
    store.close()


def test_the_acts_of_some_people_are_theirs_and_of_nobody_named_are_all(path):
    store = Store.open(path)
    with acting_as(Person("ada", Level.ADMIN)):
        store.record_act("deleted a study", "abc")
        assert invitations.acts(store, ["ada"])[["who", "target"]].to_numpy().tolist() == [["ada", "abc"]]
        assert set(invitations.acts(store, ["ada", "root"])["who"]) == {"ada", "root"} == set(invitations.acts(store)["who"])
        assert invitations.acts(store, ["eve"]).empty
    store.close()


def test_the_links_of_files_that_are_there_stay_as_they_are():
    """A chain of earlier releases begins with the hash of the acts that have no number."""
    with duckdb.connect(":memory:") as connection:
        names = "act_id, who, level, act, target, n_rows, created_at, number, link, origin"
        connection.execute(f"CREATE TABLE acts AS SELECT * FROM (VALUES {_ACTS}) AS made({names})")
        values = ["a", "Ada", "admin", "saved a file", "x.csv", 1, 1_000_000]
        first = hashlib.sha256(json.dumps(["", 0, *values]).encode()).hexdigest()
        assert audit_log._link_of_unchained(connection) == first
    assert audit_log._link("", 1, ["é"]) == hashlib.sha256(b'["", 1, "\\u00e9"]').hexdigest()


_ACTS = (
    "('a', 'Ada', 'admin', 'saved a file', 'x.csv', 1, TIMESTAMPTZ '1970-01-01 00:00:01+00', NULL::BIGINT, NULL::TEXT, ''),"
    " ('b', 'Bea', 'admin', 'saved a file', 'y.csv', 1, now(), 1, 'link', ''), ('c', '', '', '', '', 1, now(), NULL, NULL, 'b.duckdb')"
)


def test_an_act_about_no_row_counts_as_one(monkeypatch):
    monkeypatch.setattr(audit_log, "is_access_on", lambda: True)
    ((table, (act,)),) = audit_log.act_parts(ROOT_PERSON, "saved a file", "x" * 201)
    assert (table, act["who"], act["level"], act["target"], act["n_rows"]) == ("acts", "root", "admin", "x" * 200, 1)
    assert audit_log.act_parts(ROOT_PERSON, "", "x") == []
    monkeypatch.setattr(audit_log, "is_access_on", lambda: False)
    assert audit_log.act_parts(ROOT_PERSON, "saved a file", "x") == []
