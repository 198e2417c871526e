"""Which verdicts stand for their source: the server's order decides, whatever a browser, a file or another database says."""

from pathlib import Path

import pytest

from flipcore.annotation.judging import Place, beginning
from flipcore.annotation.paraphrases.effect import source_gates
from flipcore.annotation.paraphrases.pair_files import guessed_columns, incoming, inventory_of, merge_files, store_incoming
from flipcore.annotation.paraphrases.random_order import Order, order_of, review_view, take
from flipcore.annotation.paraphrases.verdicts import settling_row, verdict_row
from flipcore.datasets.reading.rows import Row
from flipcore.store.connection import Store
from flipcore.store.judgements import PAIR_VERDICTS
from flipcore.store.queries import judgements, review, studies
from flipcore.store.queries.review import IMPORT_NOTE
from pages.paraphrase_review import judging
from tests.annotation.paraphrases.pairs import OTHER, SAME, made_pairs, stored
from tests.annotation.paraphrases.test_verdict_messages import message

N = 120


@pytest.fixture
def store(tmp_path):
    opened = Store.open(tmp_path / "flips.duckdb")
    stored(opened, made_pairs(N))
    yield opened
    opened.close()


def gate(store):
    (one,) = source_gates(studies.paraphrase_states(store))
    return one.gate


def counts(store):
    """(pairs that stand for their source, pairs beside)."""
    return gate(store).accepted.n, gate(store).n_chosen


def order(store, name="Ada", **rest):
    return [place.pair_id for place in order_of(store, name, **rest).places]


def say(store, name, ids, said=SAME, **rest):
    return take(store, name, [message({"pair_id": pair}, said, n=name) | rest for pair in ids])


def test_a_gap_ends_the_beginning_and_what_was_left_to_others_is_none():
    a, b, c, d = (Place(name, name in "bd") for name in "abcd")
    assert beginning([a, b, c, d], {"a", "c", "d"}, set()) == {"a"}  # b is everybody's
    assert beginning([a, b, c, d], {"a", "b", "d"}, {"c"}) == {"a", "b", "d"}  # c was left to somebody else
    assert beginning([a, b, c, d], {"b", "d"}, set()) == set()


def test_what_the_server_handed_out_counts_and_a_mark_in_the_message_is_not_read(store):
    say(store, "Ada", order(store)[:60], by_choice=True)
    assert counts(store) == (60, 0) and gate(store).is_open


@pytest.mark.slow
def test_a_forged_message_on_chosen_pairs_opens_no_gate(store):
    picked = order(store)[55:115]
    say(store, "Ada", picked, by_choice=False)
    assert counts(store) == (0, 60) and not gate(store).is_open
    assert "60 reviewed pairs were chosen, not drawn at random" in gate(store).sentence()
    # an order that is somebody else's proves nothing of hers
    take(
        store,
        "Ada",
        [message({"pair_id": pair}, n="again") for pair in picked],
        Order("Bea", tuple(map(in_common, picked)), True),
    )
    assert counts(store) == (0, 60)


def test_the_page_reads_no_mark_of_a_browsers_message(store, monkeypatch):
    """What a browser sends to the page's component, for pairs that it was never shown."""
    messages = [message({"pair_id": pair}, n="page") | {"by_choice": False, "at_random": True} for pair in order(store)[60:]]
    monkeypatch.setattr(judging.session, "store", lambda: store)
    monkeypatch.setattr(judging.st, "session_state", {"desk": {"outbox": {"messages": messages}}})
    judging._receive("desk", "Ada", order_of(store, "Ada"))
    assert len(judging.st.session_state["desk-taken"].acknowledged) == 60 and counts(store) == (0, 60)


def in_common(pair_id):
    return Place(pair_id, True)


@pytest.mark.slow
def test_an_order_that_was_chosen_opens_no_gate_until_the_random_one_has_reached_its_pairs(store):
    first = order(store)
    chosen = order_of(store, "Ada", pair_ids=first[10:70])
    assert not chosen.at_random and not order_of(store, "Ada", risk={first[0]: 1.0}).at_random
    take(store, "Ada", [message({"pair_id": place.pair_id}) for place in chosen.places], chosen)
    assert counts(store) == (0, 60)
    say(store, "Ada", first[:9])
    assert counts(store) == (9, 60)
    say(store, "Ada", first[9:10])  # the gap is closed
    assert counts(store) == (70, 0)


def test_what_somebody_chose_comes_up_at_random_for_others_all_the_same(store):
    """Else all that looks bad could be picked out, and the rest would pass for a sample."""
    left = [place.pair_id for place in order_of(store, "Ada").places if not place.is_shared][:20]
    chosen = order_of(store, "Bea", pair_ids=left)
    take(store, "Bea", [message({"pair_id": pair}, OTHER, n="Bea") for pair in left], chosen)
    assert review.judged_by_others(store, "Ada") == set(left) and review.judged_by_others(store, "Ada", at_random=True) == set()
    assert review_view(store, "Ada", order_of(store, "Ada").places).data["n_left"] == N
    assert review_view(store, "Ada", order_of(store, "Ada").places, by_choice=True).data["n_left"] == N - 20


def imported(store, name, ids):
    rows = [Row(n, {"pair_id": pair, "reviewer": name, "by_choice": "false", **SAME}) for n, pair in enumerate(ids)]
    names = ("pair_id", "reviewer", "by_choice", *SAME)
    return incoming(rows, guessed_columns(names), dataset="d", generator="g", inventory=inventory_of(store))


@pytest.mark.slow
def test_a_file_opens_no_gate_unless_it_holds_the_beginning_of_a_random_order(store):
    batch = imported(store, "Cem", order(store, "Cem")[30:100])
    assert len(batch.verdicts) == 70 and IMPORT_NOTE in batch.notes
    assert store_incoming(store, batch) == "0 pairs and 70 verdicts are stored."
    assert counts(store) == (0, 70) and not gate(store).is_open
    said = store_incoming(store, imported(store, "Dan", order(store, "Dan")[:20]))
    assert said == "0 pairs and 20 verdicts are stored. 20 verdicts from elsewhere now count as drawn at random."
    assert counts(store)[0] == 20


def other_machine(tmp_path, verdicts):
    with_verdicts = Store.open(tmp_path / "there.duckdb")
    pairs = stored(with_verdicts, made_pairs(N))
    judgements.keep(
        with_verdicts, PAIR_VERDICTS, [verdict_row(pairs[pair], name, SAME) for name, ids in verdicts.items() for pair in ids]
    )
    with_verdicts.close()
    return with_verdicts.path


@pytest.mark.slow
def test_a_merged_database_with_a_forged_mark_opens_no_gate(store, tmp_path):
    path = other_machine(tmp_path, {"Cem": order(store, "Cem")[30:100]})  # all marked as drawn at random
    assert IMPORT_NOTE in merge_files([path], store)
    assert counts(store) == (0, 70)


@pytest.mark.slow
def test_two_reviewers_of_another_machine_who_left_pairs_to_each_other_count_after_a_merge(store, tmp_path):
    judged = {"Ada": [], "Bea": []}
    orders = {name: list(order_of(store, name).places) for name in judged}
    for _ in range(40):  # by turns, each the first that is left to them
        for name, others in (("Ada", "Bea"), ("Bea", "Ada")):
            place = next(
                p for p in orders[name] if p.pair_id not in judged[name] and (p.is_shared or p.pair_id not in judged[others])
            )
            judged[name].append(place.pair_id)
    said = merge_files([other_machine(tmp_path, judged)], store)
    assert said[-1] == "80 verdicts from elsewhere now count as drawn at random."
    assert counts(store) == (len({*judged["Ada"], *judged["Bea"]}), 0)


@pytest.mark.slow
def test_settling_the_good_ones_alone_opens_no_gate(store):
    ids = order(store)[:60]
    texts = {pair["pair_id"]: pair for pair in review.pairs(store)}
    say(store, "Ada", ids)
    say(store, "Bea", order(store, "Bea")[:60], OTHER)
    rows = studies.paraphrase_states(store).set_index("pair_id")
    split = list(rows.index[(rows["n_reviewers"] == 2)])
    assert len(split) > 5
    before = round(gate(store).accepted.value * gate(store).accepted.n)
    settle = lambda pair: settling_row(texts[pair], {"Ada", "Bea"}, "Cem", SAME, "the same")  # noqa: E731
    judgements.keep(store, PAIR_VERDICTS, [settle(pair) for pair in split[1:]])
    assert round(gate(store).accepted.value * gate(store).accepted.n) == before  # one disagreement is open
    judgements.keep(store, PAIR_VERDICTS, [settle(split[0])])
    assert round(gate(store).accepted.value * gate(store).accepted.n) == before + len(split)


@pytest.mark.slow
def test_nobody_chooses_an_order_by_trying_names(store, monkeypatch):
    """Where nobody is told apart a name costs nothing; where people are, each has an order of their own."""
    names = [f"Ada {number}" for number in range(30)]
    assert len({tuple(order(store, name)) for name in names}) == 1
    monkeypatch.setattr("flipcore.access.acting.access_file", lambda: Path(__file__))
    assert len({tuple(order(store, name)) for name in names}) == 30
