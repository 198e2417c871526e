"""What a lock keeps of a study's state, from rows that no run wrote."""

import datetime as dt

import pytest

from flipcore.core.errors import BadInput
from flipcore.core.records import digest
from flipcore.runs.origins import study_row
from flipcore.store.connection import Store
from flipcore.store.queries import locks
from flipcore.store.queries.paraphrase_states import verdict_state
from flipcore.store.rows import now
from flipcore.store.visible import Sight
from tests.runs.test_runner import tiny_study
from tests.stores import copy_of, empty_store

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


def execute(store, *statements):
    store.writer.transact(lambda connection: connection.execute(";".join(statements)), changes=()).result(30)


@pytest.fixture(scope="module")
def locked_file(tmp_path_factory):
    """A closed store with two items that study s set aside, their readouts by model m, and a lock of them."""
    path = tmp_path_factory.mktemp("locked") / "flips.duckdb"
    store = empty_store(path)
    rows = []
    for item in "ij":
        rows += [
            f"INSERT INTO study_items VALUES ('s', '{item}', 'target', 0, true, NULL)",
            f"INSERT INTO items VALUES ('{item}', 'd', 'choice', 'Which {item}?', [], '0', '', NULL, '', NULL, '{{}}')",
            READOUT.format("s", "m", item),
        ]
    execute(store, *rows)
    locks.keep_lock(store, "s", "holdout", {"level": 0.9}, "Ada")
    store.close()
    return path


@pytest.fixture
def locked(locked_file, tmp_path):
    """An open copy of that store."""
    store = Store.open(copy_of(locked_file, tmp_path))
    yield store
    store.close()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("UPDATE readouts SET answer = 'B' WHERE item_id = 'i'", "another state of the readouts: [2, "),
        ("DELETE FROM readouts WHERE item_id = 'i'", ", [1, "),
        ("UPDATE items SET question = 'Who?' WHERE item_id = 'j'", "another state of the questions: [2, "),
        ("DELETE FROM locks", "is not in this file."),
        ("UPDATE readouts SET reason = 'r'", ""),
        ("DELETE FROM study_items", ""),
    ],
)
def test_each_part_that_differs_from_the_state_of_a_lock_is_said(locked, change, said):
    lock = locks.lock_of_page(locked, "s", "holdout")
    assert locks.differences(locked, lock) == []
    execute(locked, change)
    sentences = locks.differences(locked, lock)
    assert len(sentences) == bool(said)
    assert all(sentence.startswith(f"The lock {lock['lock_id']} of s ") and said in sentence for sentence in sentences)


def test_a_changed_lock_is_not_the_one_that_was_stored(locked):
    lock = locks.lock_of_page(locked, "s", "holdout")
    changed = lock | {"settings": lock["settings"] | {"level": 0.8}}
    (sentence,) = locks.differences(locked, changed)
    assert "was changed after it was stored" in sentence
    of_two_sets = {"page": "holdout", "state": {"items": [["i", ""]]}}  # which fixes no readouts
    lock = {"lock_id": locks.lock_id(of_two_sets), "study_id": "two sets", "settings": of_two_sets}
    assert locks.differences(locked, lock) == []


def test_the_items_of_a_lock_are_read_under_it_alone_and_only_as_they_were(locked):
    lock = locks.lock_of_page(locked, "s", "holdout")
    assert locks.sight(locked, "s", None) == Sight()
    assert locks.sight(locked, "s", lock["lock_id"]) == Sight(locked=True, items=("i", "j"), models=("m",), verdicts={})
    with pytest.raises(BadInput, match="The study t has no lock"):
        locks.sight(locked, "t", lock["lock_id"])
    execute(locked, "UPDATE readouts SET answer = 'B'")
    with pytest.raises(BadInput, match="2 then, 2 here with other content"):
        locks.sight(locked, "s", lock["lock_id"])
    execute(locked, "DELETE FROM readouts WHERE item_id = 'i'")
    with pytest.raises(BadInput, match=r"2 then, 1 here\."):
        locks.sight(locked, "s", lock["lock_id"])


@pytest.mark.parametrize(
    ("state", "is_before"),
    [
        ({}, False),
        ({"extractors": ["regex"]}, False),
        ({"extractors": [], "readouts": [0, "0"]}, False),
        ({"extractors": ["regex"], "readouts": [0, "0"]}, True),
        ({"extractors": ["regex"], "readouts": [1, "7"]}, False),
    ],
)
def test_a_lock_is_before_the_answers_where_a_run_study_had_none(state, is_before):
    assert locks.is_before_answers(state) == is_before


@pytest.mark.parametrize(("models", "said"), [(["m"], ""), (["m", "n"], "3 of 4 answers"), (["n"], "1 of 2 answers")])
def test_a_lock_before_the_answers_opens_once_each_model_answered_each_item(locked, models, said):
    execute(locked, READOUT.format("s", "n", "i"), READOUT.format("t", "n", "j"))
    state = {"items": [["i", "target"], ["j", "target"]], "models": models}
    if said:
        with pytest.raises(BadInput, match=said):
            locks._check_complete(locked, "s", state)
    else:
        locks._check_complete(locked, "s", state)


def pair(name, state):
    """A stored paraphrase, with a verdict of one person for or against it."""
    sql = [f"INSERT INTO paraphrases VALUES ('{name}', 'd', 'i', 'o', 'p', '{name}', now(), 'paraphrase')"]
    word = {"accepted": "yes", "rejected": "no"}.get(state)
    if word:
        sql.append(
            "INSERT INTO verdicts (verdict_id, pair_id, reviewer, meaning, note, original_hash, paraphrase_hash, rule_version,"
            f" created_at) VALUES ('{name}', '{name}', 'Ada', '{word}', '', '{digest('o')}', '{digest('p')}', 'majority-1', now())"
        )
    return sql


def test_verdicts_that_changed_since_a_lock_are_counted(store):
    execute(store, *pair("a", "accepted"), *pair("b", "rejected"), *pair("c", ""))
    verdicts = {"a": "accepted", "b": "accepted", "c": "unreviewed", "gone": "unreviewed", "gone too": "accepted"}
    assert locks.current_states(store) == {"a": "accepted", "b": "rejected", "c": "unreviewed"}
    assert locks.n_verdicts_changed(store, {"settings": {"state": {"verdicts": verdicts}}}) == 2
    assert locks.n_verdicts_changed(store, {"settings": {}}) == 0


def test_a_lock_of_an_early_release_holds_while_the_verdicts_are_those_of_its_time(locked):
    execute(locked, *pair("a", "accepted"))
    for settings in ({}, {"verdicts": ""}, {"verdicts": verdict_state(locked)}):
        scope = locks._sight_of_old_lock(locked, "s", settings)
        assert scope == Sight(locked=True, items=("i", "j"), models=("m",), verdicts=None)
    with pytest.raises(BadInput, match="Verdicts have changed since"):
        locks._sight_of_old_lock(locked, "s", {"verdicts": "others"})


@pytest.mark.parametrize(
    ("answers", "sentence"),
    [
        ((), ""),
        (("A",), ""),  # the same as before the lock
        (("B",), "1 readout of these items came after the lock, 1 of them with other content than before it."),
        ((None,), "1 readout of these items came after the lock."),  # of an extractor that had read nothing
        (("B", None), "2 readouts of these items came after the lock, 1 of them with other content than before it."),
    ],
)
def test_readouts_that_came_after_a_lock_are_said(locked, answers, sentence):
    for answer in answers:
        extractor = "regex" if answer else "another"
        row = READOUT.format("s", "m", "i").replace("readouts", "late_readouts").replace("'A'", f"'{answer}'")
        execute(locked, row.replace("'regex'", f"'{extractor}'"))
    execute(locked, READOUT.format("s", "m", "other").replace("readouts", "late_readouts"))  # the lock is not of this item
    found = locks.late_readouts_sentence(locked, locks.lock_of_page(locked, "s", "holdout"))
    assert found == (f"{sentence} They are not counted." if sentence else "")


def test_items_that_were_answered_before_their_lock_are_counted(locked):
    lock = locks.lock_of_page(locked, "s", "holdout")
    source = {"study_id": "s", "model": "m", "axis": "x", "variant_id": "v", "sample": 0, "extractor": "regex", "position": 0}
    completion = {"model": "m", "revision": "", "simulated": False, "request": "{}", "sample": 0, "status": "ok", "text": ""}
    completion |= {"finish_reason": "", "n_attempts": 1, "error": "", "raw_reply": ""}
    for item, seconds in (("i", -1), ("j", 1)):
        created_at = lock["created_at"] + dt.timedelta(seconds=seconds)
        locked.writer.add("completions", [completion | {"call_id": item, "created_at": created_at}])
        locked.writer.add("readout_sources", [source | {"item_id": item, "call_id": item}])
    locked.writer.flush()
    assert locks.n_answered_before(locked, lock) == 1
    assert locks.n_answered_before(locked, lock | {"created_at": now() + dt.timedelta(days=1)}) == 2


@pytest.mark.parametrize(
    ("state", "n_calls", "said"),
    [
        ("done", 4, ""),
        ("incomplete", 4, ""),
        ("running", 4, r"has not ended \(running, after 1 of its 4 planned calls\)"),
        ("over_budget", None, r"has not ended \(over budget, after 1 of its calls\)"),
    ],
)
def test_only_a_study_that_ended_is_locked(store, state, n_calls, said):
    study = tiny_study()
    store.writer.add("studies", [study_row(study, state) | {"n_calls": n_calls}])
    store.writer.add("study_calls", [{"study_id": study.study_id, "call_id": "c"}, {"study_id": "t", "call_id": "d"}])
    store.writer.flush()
    if said:
        with pytest.raises(BadInput, match=said):
            locks._check_ended(store, study.study_id)
    else:
        locks._check_ended(store, study.study_id)
    locks._check_ended(store, "two sets")  # which are no study


def test_a_state_holds_the_states_of_the_paraphrases_that_were_asked(store):
    variant = "INSERT INTO study_variants VALUES ('s', 'i', 'paraphrase', '{0}', '{0}', 0, 'base', {1}, '{{}}')"
    asked = [variant.format("base", "NULL"), variant.format("1", "'a'"), variant.format("2", "'gone'")]
    execute(store, *pair("a", "accepted"), *pair("b", "rejected"), *asked)
    assert locks._state(store, "s")["verdicts"] == {"a": "accepted", "gone": "unreviewed"}
