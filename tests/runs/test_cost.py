import pytest

from flipcore.core.records import Call, Completion, Request
from flipcore.models.cards import ModelCard
from flipcore.runs.cost import NOTHING, call_price, projected, rate, refusal, usage

PAID = ModelCard("paid", "openai_compatible", price_in=2.0, price_out=8.0, n_in_flight=10)
FREE = ModelCard("free", "simulated", price_in=0.0, price_out=0.0)
UNKNOWN = ModelCard("unknown", "openai_compatible")


def calls(n, chars=400, max_tokens=50):
    return [Call("m", "r", Request("generate", "x" * chars, max_tokens=max_tokens), i) for i in range(n)]


def test_a_projection_is_the_most_that_the_calls_can_cost():
    # 400 characters = 100 tokens in at $2, 50 out at $8, a million: 200e-6 + 400e-6 = $0.0006 a call
    made = projected(calls(1000), PAID)
    assert (made.n_calls, made.n_tokens_in, made.n_tokens_out) == (1000, 100_000, 50_000)
    assert made.cost_usd == pytest.approx(0.60) and not made.is_measured
    assert made.seconds == pytest.approx(1000 / rate(PAID))


def test_systems_and_continuations_are_tokens_too():
    call = Call("m", "r", Request("score", "x" * 40, system="y" * 40, continuation="z" * 20))
    assert call_price(call, PAID) == pytest.approx(25 * 2.0 / 1e6)


def test_an_unknown_price_is_an_unknown_cost_and_stays_unknown_in_a_sum():
    made = projected(calls(2), UNKNOWN)
    assert made.cost_usd is None and (made + projected(calls(2), PAID)).cost_usd is None
    assert (made + NOTHING).n_calls == 2


def test_a_python_function_and_a_free_model_cost_nothing():
    assert projected(calls(3), None).cost_usd == 0.0 == projected(calls(3), FREE).cost_usd


def test_a_pilot_scales_to_the_study():
    # 4 calls of 10 tokens in, 5 out, $0.01 each in 2 s, scaled to 10 times as many
    pilot = usage([Completion("c", "ok", n_tokens_in=10, n_tokens_out=5, cost_usd=0.01) for _ in range(4)], seconds=2.0)
    whole = pilot.scaled(10)
    assert (whole.n_calls, whole.n_tokens_in, whole.n_tokens_out, whole.is_measured) == (40, 400, 200, True)
    assert (whole.cost_usd, whole.seconds) == pytest.approx((0.4, 20.0))


def test_a_pilot_with_one_unknown_cost_has_an_unknown_cost():
    rows = [Completion("c", "ok", cost_usd=0.01), Completion("d", "failed")]
    assert usage(rows, 1.0).cost_usd is None


def test_over_budget_is_refused_with_the_projection():
    made = projected(calls(1000), PAID)
    said = refusal(made, 0.50, {"paid": PAID})
    assert "$0.50" in said and "$0.60" in said and "1,000 calls" in said and said.endswith("Nothing was asked.")
    assert refusal(made, 0.60 + 1e-9, {"paid": PAID}) == ""


def test_without_a_budget_no_paid_model_is_asked_and_free_ones_are():
    assert "no budget" in refusal(projected(calls(1), PAID), None, {"paid": PAID})
    assert refusal(projected(calls(1), FREE), None, {"free": FREE, "lab:answer": None}) == ""


def test_an_unknown_price_keeps_no_budget_so_it_is_refused():
    assert "edit it under Models" in refusal(projected(calls(1), UNKNOWN), 100.0, {"unknown": UNKNOWN})


def test_a_projection_of_nothing_is_a_sentence():
    assert NOTHING.sentence() == "0 calls, 0 tokens in and 0 out, $0.00, about 0 s"
