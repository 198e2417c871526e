"""Runs on one cluster have together what a server takes, whoever drives them, and a part each."""

import asyncio
from itertools import pairwise

import pytest

from flipcore.models import ModelCard
from flipcore.runs.cluster import place
from flipcore.runs.cluster.place import LEASE_S, RUN_ENDED, TURN_S, ServerParts, SharedSlots, WorkerLost
from flipcore.runs.cluster.where import ClusterPlace
from tests.models.test_slots import Watch, in_threads
from tests.runs.cluster.in_process import InProcess

CARD = ModelCard("lab", "openai_compatible", endpoint="http://lab.example/v1", model="lab", n_in_flight=4)


@pytest.fixture(autouse=True)
def quickly(monkeypatch):
    monkeypatch.setattr(place, "RENEW_S", 0.01)


def run_of(cluster, watch, n=60, card=CARD):
    """What a run does with its place: it opens the model and holds a slot a call."""

    async def asks():
        place = ClusterPlace(cluster)
        place.open("lab", {"lab": card})
        slots = place.slots("lab", {"lab": card})
        await asyncio.gather(*(watch.call(slots) for _ in range(n)))

    return asks()


@pytest.mark.slow
@pytest.mark.parametrize("n_runs", [2, 3, 6])
def test_runs_on_one_cluster_share_the_slots_of_one_server(n_runs, monkeypatch):
    monkeypatch.setattr(place, "TURN_S", 0.05)
    cluster, watch = InProcess(3), Watch()
    in_threads(*(run_of(cluster, watch) for _ in range(n_runs)))
    assert watch.n_done == 60 * n_runs and watch.n == 0
    assert watch.most == 4  # 4 a run before


def test_a_run_alone_has_them_all_and_what_it_leaves_is_the_others():
    parts = ServerParts(0.0)
    assert parts.renew("a", "one", 8, 0) == 8
    assert parts.renew("b", "one", 5, 0) == 5  # another server
    assert parts.renew("a", "two", 8, 0) == 0  # nothing is free yet
    assert parts.renew("a", "one", 8, 8) == 4
    assert parts.renew("a", "two", 8, 0) == 0  # the first may have heard so, or not
    assert parts.renew("a", "one", 8, 4) == 4
    assert parts.renew("a", "two", 8, 0) == 4
    assert parts.renew("a", "one", RUN_ENDED, 0) == 0
    assert parts.renew("a", "two", 8, 4) == 8


def test_the_sum_holds_whenever_runs_are_heard_and_nobody_is_left_out():
    """Five runs, heard in any order, on a server that takes three: never more than three, and each has its turn."""
    moment = [0.0]
    parts, n_now, turns = ServerParts(0.0, lambda: moment[0]), dict.fromkeys("abcde", 0), dict.fromkeys("abcde", 0)
    for step in range(400):
        run = "abcde"[(step * step + step // 7) % 5]
        n_now[run] = parts.renew("s", run, 3, n_now[run])
        turns[run] += n_now[run]
        assert sum(n_now.values()) <= 3
        moment[0] += 0.21
    assert min(turns.values()) > 0


def test_who_is_not_heard_for_long_is_gone_and_a_new_count_waits_for_those_at_work():
    moment = [0.0]
    parts = ServerParts(1.0, lambda: moment[0])
    assert parts.renew("s", "new", 4, 0) == 0  # others may be at work
    assert parts.renew("s", "old", 4, 4) == 0
    moment[0] = 1.1
    assert parts.renew("s", "new", 4, 0) == 0 and parts.renew("s", "old", 4, 4) == 2
    moment[0] += LEASE_S + 0.1
    assert parts.renew("s", "new", 4, 0) == 4


def test_an_uneven_rest_goes_round():
    moment = [0.0]
    parts, seen = ServerParts(0.0, lambda: moment[0]), {"a": [], "b": []}
    for _ in range(60):
        for run, ns in seen.items():
            ns.append(parts.renew("s", run, 1, ns[-1] if ns else 0))
        moment[0] += TURN_S / 10
    assert max(map(sum, zip(*seen.values(), strict=True))) == 1
    assert all(sum(before != after for before, after in pairwise(ns)) >= 4 for ns in seen.values())


@pytest.mark.parametrize("fault", [WorkerLost("It is gone."), ModuleNotFoundError("flipcore")])
def test_where_nobody_keeps_the_parts_a_run_goes_by_its_card(fault):
    async def renew(*words):
        raise fault

    async def asks():
        watch, slots = Watch(), SharedSlots(CARD, 4, renew)
        await asyncio.gather(*(watch.call(slots) for _ in range(20)))
        return watch

    watch = asyncio.run(asyncio.wait_for(asks(), 10))
    assert watch.n_done == 20 and watch.most == 4
