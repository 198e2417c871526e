import datetime as dt
import os
import signal
import subprocess
import sys
import threading
import time
from itertools import pairwise, product

import pytest

from flipcore.annotation.judging import queue
from flipcore.annotation.paraphrases.random_order import pair_view, review_view, take
from flipcore.annotation.paraphrases.verdicts import CHECKS, RULE_VERSION, VOTES, keeps, reviewer_name, verdict_row
from flipcore.core.errors import BadInput
from flipcore.core.records import digest
from flipcore.store.connection import Store
from flipcore.store.judgements import PAIR_VERDICTS
from flipcore.store.queries import judgements, studies
from tests.annotation.paraphrases.pairs import OTHER, SAME, made_pairs, stored
from tests.conftest import ROOT

pytestmark = pytest.mark.usefixtures("allowed_folders", "allowed_callables")


def message(pair, said=SAME, n=0, **rest):
    return {"id": digest("message", pair["pair_id"], n), "kind": "verdict", "pair_id": pair["pair_id"], "said": said} | rest


def states(store):
    return dict(studies.paraphrase_states(store)[["pair_id", "state"]].itertuples(index=False, name=None))


def test_a_verdict_carries_the_hashes_of_the_exact_texts_and_the_rule(store):
    pair = made_pairs(1)[0]
    stored(store, [pair])
    take(store, "Ada", [message(pair, note="  fine ")])
    row = judgements.standing(store, PAIR_VERDICTS)[0]
    assert (row["original_hash"], row["paraphrase_hash"]) == (digest(pair["original"]), digest(pair["paraphrase"]))
    assert (row["reviewer"], row["note"], row["rule_version"]) == ("Ada", "fine", RULE_VERSION)


def n_verdict_rows(store):
    """All rows ever added, undone and undoing ones too."""
    return store.rows("SELECT count(*) FROM verdicts")[0][0]


def test_the_same_message_twice_is_one_verdict(store):
    pair = made_pairs(1)[0]
    stored(store, [pair])
    for _ in range(3):
        taken = take(store, "Ada", [message(pair)])
        assert taken.acknowledged == (message(pair)["id"],)
    assert n_verdict_rows(store) == 1


@pytest.mark.slow
def test_undo_is_a_new_row_and_brings_the_verdict_before_back(store):
    pair = made_pairs(1)[0]
    stored(store, [pair])
    first, second = message(pair), message(pair, OTHER, 1)
    take(store, "Ada", [first])
    take(store, "Ada", [second])
    assert states(store)[pair["pair_id"]] == "rejected"
    take(store, "Ada", [{"id": digest("u"), "kind": "undo", "pair_id": pair["pair_id"], "undoes": second["id"]}])
    assert states(store)[pair["pair_id"]] == "accepted" and n_verdict_rows(store) == 3
    take(store, "Ada", [{"id": digest("v"), "kind": "undo", "pair_id": pair["pair_id"], "undoes": first["id"]}])
    assert states(store)[pair["pair_id"]] == "unreviewed" and judgements.standing(store, PAIR_VERDICTS) == []


def test_a_verdict_and_its_undo_may_arrive_together(store):
    pair = made_pairs(1)[0]
    stored(store, [pair])
    judged = message(pair)
    undo = {"id": digest("u"), "kind": "undo", "pair_id": pair["pair_id"], "undoes": judged["id"]}
    assert take(store, "Ada", [judged, undo, message(pair, OTHER, 2)]).refusals == ()
    assert [row["meaning"] for row in judgements.standing(store, PAIR_VERDICTS)] == ["no"]


def test_nobody_takes_back_what_another_said(store):
    pair = made_pairs(1)[0]
    stored(store, [pair])
    take(store, "Ada", [message(pair)])
    taken = take(store, "Bea", [{"id": digest("u"), "kind": "undo", "pair_id": pair["pair_id"], "undoes": message(pair)["id"]}])
    assert "no standing verdict of yours" in taken.refusals[0] and states(store)[pair["pair_id"]] == "accepted"


@pytest.mark.slow
@pytest.mark.parametrize("bad", [{"said": {"meaning": "maybe"}}, {"said": {}}, {"said": "yes"}, {"pair_id": "gone"}])
def test_a_message_that_makes_no_sense_is_refused_and_harms_no_other(store, bad):
    pair, other = made_pairs(2)
    stored(store, [pair, other])
    taken = take(store, "Ada", [message(pair) | bad, message(other)])
    assert len(taken.refusals) == 1 and len(taken.acknowledged) == 2
    assert [row["pair_id"] for row in judgements.standing(store, PAIR_VERDICTS)] == [other["pair_id"]]


def test_a_desk_resumes_at_the_first_undone_pair_and_shows_nothing_of_others(store):
    pairs = made_pairs(20)
    texts = stored(store, pairs)
    order = queue(pairs, "Ada", shared=1)
    take(store, "Bea", [message(pair, OTHER, 9, note="bad") for pair in pairs])
    take(store, "Ada", [message(texts[place.pair_id]) for place in order[:3]])
    made = review_view(store, "Ada", order)
    assert (made.n_done, made.data["n_left"]) == (3, 17) and made.data["pairs"][0]["id"] == order[3].pair_id
    assert {row["pair"]["id"] for row in made.data["history"]} == {place.pair_id for place in order[:3]}
    assert "Bea" not in str(made.data) and "bad" not in str(made.data)


@pytest.mark.slow
def test_ten_reviewers_at_once_lose_nothing(store):
    pairs = made_pairs(30)
    stored(store, pairs)
    names = [f"reviewer {i}" for i in range(10)]

    def judge(name):
        for place in queue(pairs, name, shared=1):
            pair = next(pair for pair in pairs if pair["pair_id"] == place.pair_id)
            take(store, name, [message(pair, n=name)])

    threads = [threading.Thread(target=judge, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    rows = judgements.standing(store, PAIR_VERDICTS)
    assert len(rows) == 300 and {row["reviewer"] for row in rows} == set(names)
    assert set(states(store).values()) == {"accepted"}


_KILLED = """
import sys
from flipcore.annotation.paraphrases.random_order import take
from flipcore.store.connection import Store
from tests.annotation.paraphrases.pairs import SAME, made_pairs, stored
from flipcore.core.records import digest
store = Store.open(sys.argv[1])
pairs = made_pairs(400)
stored(store, pairs)
for pair in pairs:
    taken = take(store, "Ada", [{"id": digest(pair["pair_id"]), "kind": "verdict", "pair_id": pair["pair_id"], "said": SAME}])
    print(taken.acknowledged[0], flush=True)
"""


@pytest.mark.slow
def test_a_killed_process_loses_no_acknowledged_verdict(tmp_path):
    path = tmp_path / "flips.duckdb"
    child = subprocess.Popen([sys.executable, "-c", _KILLED, str(path)], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    acknowledged, start = [], time.monotonic()
    while len(acknowledged) < 12 and time.monotonic() - start < 60:
        acknowledged.append(child.stdout.readline().strip())
    os.kill(child.pid, signal.SIGKILL)
    acknowledged += [line.strip() for line in child.stdout if len(line) == 21]
    child.wait(20)
    child.stdout.close()
    store = Store.open(path)
    there = {row["verdict_id"] for row in judgements.standing(store, PAIR_VERDICTS)}
    store.close()
    assert len(acknowledged) >= 12 and set(acknowledged) <= there


def test_a_later_verdict_of_the_same_reviewer_replaces_the_earlier(store):
    pair = made_pairs(1)[0]
    stored(store, [pair])
    start = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    judgements.keep(
        store,
        PAIR_VERDICTS,
        [verdict_row(pair, "Ada", said, created_at=start + dt.timedelta(days=day)) for day, said in ((2, SAME), (1, OTHER))],
    )
    assert states(store)[pair["pair_id"]] == "accepted" and len(judgements.standing(store, PAIR_VERDICTS)) == 1


def test_the_store_and_the_pages_read_a_verdict_alike(store):
    words = [dict(zip(CHECKS, said, strict=True)) for said in product((*VOTES, None), repeat=3) if any(said)]
    pairs = list(stored(store, made_pairs(len(words))).values())
    judgements.keep(store, PAIR_VERDICTS, [verdict_row(pair, "Ada", said) for pair, said in zip(pairs, words, strict=True)])
    found = states(store)
    for pair, said in zip(pairs, words, strict=True):
        assert found[pair["pair_id"]] == ("accepted" if keeps(said) else "rejected"), said


# One verdict as a row: whose it is, what keeps a pair, what an undo says.


def test_a_reviewer_is_a_person_or_a_model():
    with pytest.raises(BadInput, match="a person or a model"):
        verdict_row(made_pairs(1)[0], "Ada", dict.fromkeys(CHECKS, "yes"), reviewer_kind="robot")


def test_names_are_trimmed_and_must_be_there():
    assert reviewer_name("  Ada   Lovelace ") == "Ada Lovelace"
    for name in ("", "   ", "x" * 81, "a\u0007b"):
        with pytest.raises(BadInput, match="1 to 80 printable"):
            reviewer_name(name)


def test_unsure_is_not_yes_and_a_check_that_was_not_asked_does_not_count():
    assert keeps(SAME) and keeps(SAME | {"solution_path": None})
    assert not keeps(SAME | {"difficulty": "unsure"}) and not keeps(SAME | {"meaning": None})
    assert keeps(SAME | {"difficulty": None, "solution_path": None})  # nobody asked


def test_an_undo_row_says_nothing_itself():
    verdict = verdict_row(made_pairs(1)[0], "Ada", SAME)
    row = PAIR_VERDICTS.undo(verdict)
    assert row["undoes"] == verdict["verdict_id"] and row["meaning"] is None and row["verdict_id"] != verdict["verdict_id"]


# What a reviewer is shown of a pair: the words that differ, and both texts whole.


def test_marked_words_join_over_spaces_and_the_texts_stay_whole():
    pair = made_pairs(1)[0] | {"kind": None, "options": None, "target": None}
    shown = pair_view(pair)
    assert "".join(text for _, text in shown["original"]) == pair["original"]
    assert "".join(text for _, text in shown["paraphrase"]) == pair["paraphrase"]
    assert {kind for kind, _ in shown["original"]} == {"same", "gone"} and shown["answer"] is None
    runs = [kind for kind, _ in shown["paraphrase"]]
    assert all(a != b for a, b in pairwise(runs))
