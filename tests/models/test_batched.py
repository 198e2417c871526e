"""Calls that arrive together are computed together, and what fails fails alone."""

import asyncio
from dataclasses import replace

from flipcore.core.records import Call, Completion, Request
from flipcore.models.batched import Batched, prompt_of, sampling_seed


class Counting(Batched):
    name = revision = "counting"
    abilities = frozenset({"generate"})
    batch = 3

    def __init__(self):
        super().__init__()
        self.sizes = []

    def complete_batch(self, calls):
        self.sizes.append(len(calls))
        if any("bad" in call.request.prompt for call in calls):
            raise ValueError("a bad one")
        return [Completion(call.call_id, "ok", call.request.prompt) for call in calls]


def asked(backend, prompts, **settings):
    async def main():
        calls = [Call("m", "r", Request("generate", prompt, **settings)) for prompt in prompts]
        made = await asyncio.gather(*(backend.complete(call) for call in calls))
        await backend.close()
        return made

    return asyncio.run(main())


def test_calls_are_gathered_in_batches_and_each_gets_its_own_answer():
    backend = Counting()
    assert [one.text for one in asked(backend, "abcdefg")] == list("abcdefg") and backend.sizes == [3, 3, 1]


def test_only_what_is_at_fault_fails():
    backend = Counting()
    made = asked(backend, ["a", "bad", "c"])
    assert [one.status for one in made] == ["ok", "failed", "ok"] and "The model failed: a bad one" in made[1].error
    assert backend.sizes == [3, 1, 1, 1]


def test_a_seed_is_its_own_for_each_sample_prompt_and_study_seed():
    call = Call("m", "r", Request("generate", "x", "Be brief.", seed=1))
    others = [replace(call, sample=1), replace(call, request=replace(call.request, seed=2)), replace(call, model="n")]
    assert len({sampling_seed(one) for one in (call, *others)}) == 3 and sampling_seed(others[2]) == sampling_seed(call)
    assert prompt_of(call) == "Be brief.\n\nx" and prompt_of(Call("m", "r", Request("generate", "x"))) == "x"
