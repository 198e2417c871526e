"""A test finds out every manner of the local server, and what it found out is what a study then sends."""

import pytest

from flipcore.core.errors import BadInput
from flipcore.core.records import Call, Request
from flipcore.models.cards import ModelCard
from flipcore.models.openai.client import OpenAICompatible
from flipcore.models.openai.probe import listed_models, probed
from flipcore.models.openai.replies import body_of
from flipcore.models.probe_record import card_after, changes, lines, record_of, warnings
from tests.models.asking import asked
from tests.models.manners import MANNERS, Manner, Mannered

BY_NAME = {manner.name: manner for manner in MANNERS}


@pytest.fixture(autouse=True)
def short_waits(monkeypatch):
    monkeypatch.setattr("flipcore.models.openai.retries.FIRST_WAIT_S", 0.01)


def card(url, **rest):
    return ModelCard("lab", "openai_compatible", **{"model": "m", "endpoint": url, "price_in": 0.0, "price_out": 0.0} | rest)


def test_there_are_at_least_forty_manners():
    assert len(BY_NAME) == len(MANNERS) >= 40


USUAL = {"plain", "refuses temperature", "refuses max_tokens", "reasoning_content", "think tags", "an error inside", "no usage"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "manner", [one for one in MANNERS if one.name in USUAL], ids=lambda manner: manner.name
)  # all: test_manners
def test_a_test_finds_the_manner_out(manner):
    with Mannered(manner) as server:
        if manner.problem:
            with pytest.raises(BadInput, match=manner.problem):
                probed(card(server.url))
            return
        record = probed(card(server.url))
    assert {key: getattr(record, key) for key in manner.finds} == manner.finds
    assert 7 <= record.n_calls <= 30 and record.seconds > 0


def test_a_plain_server_is_asked_about_ten_small_things():
    with Mannered(BY_NAME["plain"]) as server:
        record = probed(card(server.url))
        assert record.n_calls <= 9 and all(body["max_tokens"] <= 512 for body in server.bodies)
        assert sum(body["max_tokens"] for body in server.bodies) < 700


def test_what_is_refused_is_left_out_of_every_call_and_named_in_the_revision():
    with Mannered(BY_NAME["refuses all sampling"]) as server:
        after = card_after(card(server.url), probed(card(server.url)))
        backend = OpenAICompatible(after)
        server.bodies.clear()
        request = Request("generate", "What is 2 plus 3?", "Be brief.", max_tokens=8, seed=1, stop=("\n",))
        (completion,) = asked(backend, [request])
    (body,) = server.bodies
    assert set(body) == {"model", "messages", "max_completion_tokens"}
    assert completion.status == "ok" and completion.text == "The answer is 5."
    assert backend.revision.endswith(" without seed, stop, temperature, top_p")
    assert OpenAICompatible(card(server.url)).revision == backend.revision.split(" without")[0]


def test_a_stop_that_the_server_refuses_ends_the_text_here():
    refusing = card("http://127.0.0.1:9/v1", refuses=("stop", "system"))
    from flipcore.models.openai.replies import fields_of

    call = Call("lab", "r", Request("generate", "Why?", "Be brief.", max_tokens=8, stop=("\n\n", "Q:")))
    reply = {"choices": [{"message": {"content": "5\n\nQ: 6"}, "finish_reason": "length"}]}
    fields = fields_of(call, reply, refusing)
    assert (fields["text"], fields["finish_reason"]) == ("5", "stop")
    assert body_of(call, refusing)["messages"] == [{"role": "user", "content": "Be brief.\n\nWhy?"}]


def test_a_reasoning_model_is_not_read_by_its_first_token():
    with Mannered(BY_NAME["reasoning_content"]) as server:
        before = card(server.url)
        record = probed(before)
    after = card_after(before, record)
    assert record.n_logprobs == 3 and after.abilities == ("generate",)
    assert "not used" in lines(record)["First-token log-probabilities"]
    assert any("reasons before it answers" in text for text in warnings(after, record))


def test_a_server_that_scores_is_found_to_and_asked_as_it_wants():
    from tests.models.server import Server

    class Completing(Server):
        def routes(self, app):
            super().routes(app)

    with Completing() as server:
        record = probed(card(server.url, api="completions"))
        assert record.scores and record.score_tokens == 0 and record.is_listed is None
        assert card_after(card(server.url, api="completions"), record).abilities == (
            "generate",
            "first_token_logprobs",
            "score",
        )
    with Completing(logprobs="none") as server:
        assert not probed(card(server.url, api="completions")).scores


def test_a_test_that_is_run_again_says_what_changed_and_nothing_where_nothing_did():
    with Mannered(BY_NAME["plain"]) as server:
        first, again = probed(card(server.url)), probed(card(server.url))
    with Mannered(BY_NAME["refuses temperature"]) as server:
        other = probed(card(server.url))
    assert changes(None, first) == [] and changes(first, again) == []
    assert changes(first, other) == ["Refused parameters: was none, is now temperature; left out."]


def test_a_record_survives_its_table_and_a_broken_one_is_a_sentence():
    with Mannered(BY_NAME["limits with headers"]) as server:
        record = probed(card(server.url))
        after = card_after(card(server.url), record)
    assert record_of(after) == record and record_of(card("")) is None
    assert (after.requests_per_minute, after.tokens_per_minute) == (500, 200_000)
    with pytest.raises(BadInput, match="Test the model again"):
        record_of(card("", probe={"at": "2026", "moon": 1}))


def test_prices_come_from_the_list_unless_the_user_says_others():
    with Mannered(BY_NAME["prices in the list"]) as server:
        record = probed(card(server.url, price_in=None, price_out=None))
        unpriced = card_after(card(server.url, price_in=None, price_out=None), record)
        own = card_after(card(server.url, price_in=1.0, price_out=2.0), record)
    assert (unpriced.price_in, unpriced.price_out) == (0.15, 0.6) and (own.price_in, own.price_out) == (1.0, 2.0)
    assert any("another price" in text for text in warnings(own, record))
    with Mannered(BY_NAME["plain"]) as server:
        nameless = card(server.url, price_in=None, price_out=None)
        assert any("price is unknown" in text for text in warnings(nameless, probed(nameless)))


def test_a_server_that_is_not_there_a_wrong_key_and_a_wrong_model_are_sentences(monkeypatch):
    monkeypatch.setenv("LAB_KEY", "sk-secret-and-long")
    with pytest.raises(BadInput, match="Is its server running"):
        probed(card("http://127.0.0.1:9/v1"))
    with Mannered(Manner("none", refuses=("messages",))) as server, pytest.raises(BadInput, match="not supported") as caught:
        probed(card(server.url, model="gone", api_key_env="LAB_KEY"))
    assert "it names m, other" in str(caught.value) and "sk-secret" not in str(caught.value)
    monkeypatch.delenv("LAB_KEY")
    with pytest.raises(BadInput, match="LAB_KEY"):
        probed(card("http://127.0.0.1:9/v1", api_key_env="LAB_KEY"))


def test_the_servers_list_is_read_in_its_usual_forms():
    for name in ("plain", "a bare list"):
        with Mannered(BY_NAME[name]) as server:
            assert next(iter(listed_models(card(server.url)))) == "m"
    with Mannered(BY_NAME["no list of models"]) as server:
        assert listed_models(card(server.url)) == {}
