"""SQL says of most calls that their id is their hash, and of none that Python refuses."""

import json
from collections import Counter
from concurrent.futures import Future
from types import SimpleNamespace

import duckdb
import pyarrow as pa
import pytest

from flipcore.core.errors import BadInput, NotStored
from flipcore.core.records import Call, Request, digest
from flipcore.store import merge as merging
from flipcore.store.merge import _is_call, _unproven_calls
from tests.runs.test_runner import tiny_study

TRUE = {
    "plain": Request("generate", "What is 1 plus 1?", max_tokens=16),
    "all fields": Request("generate", "Hi", "Be brief.", " ", 5, 0.7, 0.95, 7, ("\n\n", "Q:"), 3, "low", 100, (2,)),
    "other characters": Request("score", 'Größe "½"\n\t\\ 数 😀 </b>', continuation="ñ"),
}
LEFT_TO_PYTHON = {
    "a small temperature": Request("generate", "Hi", temperature=1e-05),
    "a brace in a stop": Request("generate", "Hi", stop=("{",)),
    "a control character": Request("generate", "bell \x1f"),
}
HONEST = TRUE["plain"].declared()


def stored(call_id, request, sample=0, parent_id=None):
    return (
        call_id,
        "m",
        "r",
        request if isinstance(request, str) else json.dumps(request, ensure_ascii=False),
        sample,
        parent_id,
    )


def of(request, **how):
    call = Call("m", "r", request, **how)
    return stored(call.call_id, request.declared(), call.sample, call.parent_id)


TEXT = json.dumps(HONEST)
TRUE_ID = Call("m", "r", TRUE["plain"]).call_id
EMPTY_ID = digest("m", "r", {}, 0, None)
UNTRUE = {
    "another id": stored("0" * 20, HONEST),
    "another prompt": stored(TRUE_ID, HONEST | {"prompt": "What is 2 plus 2?"}),
    "another sample": stored(TRUE_ID, HONEST, 1),
    "another parent": stored(TRUE_ID, HONEST, 0, "x"),
    "a prompt twice": stored(TRUE_ID, TEXT[:-1] + ', "prompt": "evil"}'),
    "a prompt twice, the true one last": stored(TRUE_ID, '{"prompt": "evil", ' + TEXT[1:]),
    "a field more": stored(TRUE_ID, HONEST | {"more": 1}),
    "no object": stored(EMPTY_ID, "[]"),
    "a text": stored(EMPTY_ID, '"x"'),
    "an object within": stored(digest("m", "r", HONEST | {"stop": 1}, 0, None), HONEST | {"stop": {"a": 1}}),
}


@pytest.fixture(scope="module")
def unproven():
    """Name -> whether SQL leaves the row to Python."""
    rows = {name: of(request) for name, request in (TRUE | LEFT_TO_PYTHON).items()} | UNTRUE
    rows["a parent"] = of(TRUE["plain"], sample=3, parent_id="a" * 20)
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE theirs_completions (name TEXT, call_id TEXT, model TEXT, revision TEXT, request JSON, sample INT, parent_id TEXT)"
        )
        left = {}
        for name, row in rows.items():
            connection.execute("DELETE FROM theirs_completions")
            connection.execute("INSERT INTO theirs_completions VALUES (?, ?, ?, ?, ?, ?, ?)", (name, *row))
            left[name] = connection.execute(_unproven_calls("parent_id")).fetchall()
    assert all(map(_is_call, (rows[name] for name in (*TRUE, *LEFT_TO_PYTHON, "a parent"))))
    return left


@pytest.mark.parametrize("name", [*TRUE, "a parent"])
def test_a_true_call_is_proven_in_sql(unproven, name):
    assert unproven[name] == []


@pytest.mark.parametrize("name", UNTRUE)
def test_what_is_no_such_call_is_never_proven_and_python_refuses_it(unproven, name):
    """The second of two prompts is the one that Python reads, so that row is a true call, left to it."""
    assert [_is_call(row) for row in unproven[name]] == [name == "a prompt twice, the true one last"]


@pytest.mark.parametrize("name", LEFT_TO_PYTHON)
def test_what_the_two_write_in_other_ways_is_proven_or_left_to_python(unproven, name):
    assert all(map(_is_call, unproven[name]))


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (BadInput("It is so."), "b.duckdb could not be merged. It is so. Nothing of it was taken over."),
        (NotStored("The disk is full."), "b.duckdb could not be merged (The disk is full.). Nothing of it was taken over."),
        (duckdb.Error("\n First.\nSecond."), "b.duckdb could not be merged (First.). Nothing of it was taken over."),
        (pa.ArrowInvalid("x" * 201), f"b.duckdb could not be merged ({'x' * 200}). Nothing of it was taken over."),
    ],
)
def test_a_file_that_cannot_be_merged_is_a_sentence(error, reason):
    def transact(*words, **more):
        future = Future()
        future.set_exception(error)
        return future

    report, store = merging.Merged(), SimpleNamespace(writer=SimpleNamespace(transact=transact))
    with pytest.raises(BadInput) as refused:
        merging._merge_one("b.duckdb", {}, store, report)
    assert str(refused.value) == reason and report == merging.Merged()


def test_a_study_is_what_its_declaration_says_or_what_a_later_version_wrote():
    study = tiny_study()
    assert merging._is_study((study.study_id, study.to_toml())) and merging._is_study(("any", "later = ["))
    assert not merging._is_study(("another", study.to_toml()))


def test_rows_whose_id_is_not_theirs_are_dropped_and_counted(monkeypatch):
    monkeypatch.setattr(merging, "_BATCH", 2)
    skipped = Counter()
    with duckdb.connect(":memory:") as connection:
        connection.execute(
            "CREATE TABLE theirs_studies AS SELECT * FROM (VALUES ('a', 1), ('b', 2), ('c', 3), ('d', 4)) t(id, n)"
        )
        sql = "SELECT id, n FROM theirs_studies ORDER BY n"
        merging._drop_unproven(connection, "studies", "id", sql, lambda row: row[1] in (1, 3), skipped, "why")
        assert connection.execute("SELECT id FROM theirs_studies ORDER BY id").fetchall() == [("a",), ("c",)]
        assert skipped == {("studies", "why"): 2}
        merging._drop_unproven(connection, "studies", "id", sql, lambda row: True, skipped, "another")
    assert skipped == {("studies", "why"): 2}


@pytest.mark.parametrize("request_text", ["{", "[" * 100_000, '{"prompt": ' * 100_000])
def test_requests_that_python_cannot_read_are_no_calls(request_text):
    assert not _is_call(stored(EMPTY_ID, request_text))


def checked(*statements, files=()):
    """Table -> its rows after the checks of a file with these tables, and table -> how many were skipped why."""
    skipped = Counter()
    with duckdb.connect(":memory:") as connection:
        connection.execute("CREATE TABLE studies (study_id TEXT)")
        connection.execute("INSERT INTO studies VALUES ('here')")
        for statement, *rows in statements:
            connection.execute(statement)
            for row in rows:
                values = ", ".join("?" * len(row))
                connection.execute(f"INSERT INTO {statement.split()[2]} VALUES ({values})", row)
        merging._drop_invalid(connection, set(files), skipped, "b.duckdb")
        kept = {name: connection.execute(f"SELECT * FROM theirs_{name} ORDER BY ALL").fetchall() for name in files}
    return kept, +skipped


def test_completions_of_a_file_are_the_answers_to_their_calls_whether_it_knows_parents_or_not():
    columns = "call_id TEXT, model TEXT, revision TEXT, request JSON, sample INT"
    child = of(TRUE["plain"], sample=3, parent_id="a" * 20)
    plain, forged = of(TRUE["plain"]), UNTRUE["another prompt"]
    table = f"CREATE TABLE theirs_completions ({columns}, parent_id TEXT)"
    kept, skipped = checked((table, plain, child, UNTRUE["another id"]), files=["completions"])
    assert {row[0] for row in kept["completions"]} == {plain[0], child[0]}
    assert skipped == {("completions", merging._OTHER_CALL): 1}
    older = f"CREATE TABLE theirs_completions ({columns})"
    assert checked((older, plain[:5]), files=["completions"])[0]["completions"] == [plain[:5]]
    assert checked((older, forged[:5]), files=["completions"])[0]["completions"] == []


def test_rows_of_a_file_belong_to_a_study_that_is_here_or_in_it():
    study = tiny_study()
    studies = (
        "CREATE TABLE theirs_studies (study_id TEXT, toml TEXT)",
        (study.study_id, study.to_toml()),
        ("forged", study.to_toml()),
    )
    ids = [("here", "i"), (study.study_id, "i"), ("forged", "i")]
    items = ("CREATE TABLE theirs_study_items (study_id TEXT, item_id TEXT)", *ids)
    locks = ("CREATE TABLE theirs_locks (lock_id TEXT, study_id TEXT)", ("l", "nowhere"))
    kept, skipped = checked(studies, items, locks, files=["studies", "study_items", "locks"])
    assert kept["studies"] == [(study.study_id, study.to_toml())]
    assert kept["study_items"] == sorted(ids[:2]) and kept["locks"] == [("l", "nowhere")]
    assert skipped == {("studies", merging._OTHER_STUDY): 1, ("study_items", merging._NO_STUDY): 1}
    assert checked(items, files=["study_items"])[0]["study_items"] == ids[:1]


def test_acts_and_verdicts_of_a_file_claim_nothing_about_this_database():
    acts = "CREATE TABLE theirs_acts (act_id TEXT, origin TEXT, number INT, link TEXT)"
    rows = [("a", "", 1, "x"), ("b", None, 2, "y"), ("c", "a.duckdb", None, "")]
    invitations = ("CREATE TABLE theirs_invitations (invitation_id TEXT)", ("i",))
    verdicts = ("CREATE TABLE theirs_verdicts (verdict_id TEXT, by_choice BOOLEAN)", ("v", False), ("w", None))
    budgets = ("CREATE TABLE theirs_budgets (budget_id TEXT, study_id TEXT)", ("b", "here"), ("c", "new"))
    files = ["acts", "invitations", "verdicts", "budgets"]
    kept, skipped = checked((acts, *rows), invitations, verdicts, budgets, files=files)
    assert kept == {
        "acts": [("a", "b.duckdb"), ("b", "b.duckdb"), ("c", "b.duckdb < a.duckdb")],
        "invitations": [("i", "b.duckdb")],
        "verdicts": [("v", True), ("w", True)],
        "budgets": [("c", "new")],
    }
    assert skipped == {("budgets", merging._OWN_BUDGET): 1}
    older = ("CREATE TABLE theirs_verdicts (verdict_id TEXT)", ("v",))
    assert checked(older, files=["verdicts"])[0]["verdicts"] == [("v", True)]
