"""Slots of a server hold over every event loop of the process."""

import asyncio
import gc
import threading
from dataclasses import replace

import pytest

from flipcore.models.cards import ModelCard
from flipcore.models.slots import FEW_AT_ONCE, Slots, slots_of

CARD = ModelCard(name="m", backend="openai", endpoint="http://one.example/v1", model="m", n_in_flight=3)


class Watch:
    """How many hold a slot at once, and at most."""

    def __init__(self):
        self.lock, self.n, self.most, self.n_done = threading.Lock(), 0, 0, 0

    async def call(self, slots, seconds=0.002):
        async with slots:
            with self.lock:
                self.n += 1
                self.most = max(self.most, self.n)
            await asyncio.sleep(seconds)
            with self.lock:
                self.n -= 1
                self.n_done += 1


def in_threads(*jobs):
    threads = [threading.Thread(target=asyncio.run, args=(job,)) for job in jobs]
    for one in threads:
        one.start()
    for one in threads:
        one.join(30)
    assert not any(one.is_alive() for one in threads)


def test_runs_in_several_threads_share_the_slots_of_one_server():
    watch = Watch()

    async def run():
        slots = slots_of(CARD)
        await asyncio.gather(*(watch.call(slots) for _ in range(60)))

    in_threads(run(), run(), run())
    assert watch.n_done == 180 and watch.n == 0
    assert watch.most == 3  # nine before: three a run


def test_another_server_or_key_and_a_model_without_a_server_have_their_own():
    mine = slots_of(CARD)
    assert slots_of(replace(CARD, name="the same by another name")) is mine
    assert slots_of(replace(CARD, endpoint="http://two.example/v1")) is not mine
    assert slots_of(replace(CARD, api_key_env="OTHER_KEY")) is not mine
    assert slots_of(replace(CARD, endpoint="")) is not slots_of(replace(CARD, endpoint=""))
    assert slots_of(None).most == FEW_AT_ONCE


def test_the_newest_card_says_how_many_and_nothing_is_kept_when_all_are_done():
    mine = slots_of(CARD)
    assert slots_of(replace(CARD, n_in_flight=9)) is mine and mine.most == 9
    del mine
    gc.collect()
    assert slots_of(CARD).most == 3


@pytest.mark.parametrize("when", ["while it waits", "after the slot was handed over"])
def test_who_stops_waiting_takes_no_slot_along(when):
    async def run():
        slots = Slots(1)
        watch = Watch()
        async with slots:
            waiting = [asyncio.create_task(watch.call(slots)) for _ in range(3)]
            await asyncio.sleep(0)
            if when == "while it waits":
                waiting[0].cancel()
        if when != "while it waits":
            waiting[0].cancel()  # its turn is on its way, not yet there
        ended = await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), 5)
        assert isinstance(ended[0], asyncio.CancelledError) and ended[1:] == [None, None]
        await asyncio.wait_for(watch.call(slots), 5)
        assert (watch.most, watch.n_done) == (1, 3)

    asyncio.run(run())


def test_a_run_that_died_with_its_waiters_holds_nobody_up():
    slots, watch = Slots(1), Watch()
    dead = asyncio.new_event_loop()

    async def wait_in_line():
        await slots.__aenter__()

    async def run():
        async with slots:
            thread = threading.Thread(
                target=lambda: (dead.create_task(wait_in_line()), dead.run_until_complete(asyncio.sleep(0.05)))
            )
            thread.start()
            await asyncio.to_thread(thread.join)
            dead.close()
        await asyncio.wait_for(watch.call(slots), 5)

    asyncio.run(run())
    assert watch.n_done == 1
