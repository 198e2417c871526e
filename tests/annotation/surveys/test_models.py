"""A model's reply to a triple counts when it names one text."""

import asyncio

import pytest

from flipcore.annotation.surveys import models as survey_models
from flipcore.core.records import Call, Completion, Request
from flipcore.models import ModelCard


@pytest.mark.parametrize(
    ("reply", "place"),
    [
        ("2", 1),
        (" Text 3.", 2),
        ("**1**", 0),
        ("1 or 2", None),
        ("", None),
        ("12", None),
        ("none", None),
        ("2.5", None),
        ("The answer is 2. Yes, 2.", 1),
        ("v1", None),
    ],
)
def test_a_reply_counts_when_it_names_one_text(reply, place):
    assert survey_models.place_in(reply) == place


def test_no_more_questions_are_on_their_way_than_the_models_card_allows():
    n = {"now": 0, "most": 0}

    class Watching:
        async def complete(self, call):
            n["now"] += 1
            n["most"] = max(n["most"], n["now"])
            await asyncio.sleep(0.001)
            n["now"] -= 1
            return Completion(call.call_id, "ok", "1")

        async def close(self):
            pass

    card = ModelCard("m", "openai_compatible", model="m", endpoint="http://survey.example/v1", n_in_flight=3)
    calls = [Call("m", "", Request("generate", f"Which? {i}")) for i in range(20)]
    pairs = asyncio.run(survey_models._completed(calls, Watching(), card, None))
    assert [call for call, _ in pairs] == calls and n["most"] == 3  # 16 before
