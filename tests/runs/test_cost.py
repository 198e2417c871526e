import pytest

from flipcore.core.records import Call, Completion, Request
from flipcore.models.cards import ModelCard
from flipcore.runs.cost import NOTHING, Projection, call_bound, call_price, dollars, lost_price, projected, rate, refusal, usage

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
    assert "so far" not in said and refusal(made, 0.60 + 1e-9, {"paid": PAID}) == ""


def test_without_a_budget_no_paid_model_is_asked_and_free_ones_are():
    assert "no budget" in refusal(projected(calls(1), PAID), None, {"paid": PAID})
    assert refusal(projected(calls(1), FREE), None, {"free": FREE, "lab:answer": None}) == ""


def test_an_unknown_price_keeps_no_budget_so_it_is_refused():
    assert "edit it under Models" in refusal(projected(calls(1), UNKNOWN), 100.0, {"unknown": UNKNOWN})


def test_a_projection_of_nothing_is_a_sentence():
    assert NOTHING.sentence() == "0 calls, 0 tokens in and 0 out, $0.00, about 0 s"


@pytest.mark.parametrize(
    ("budget", "spent", "is_refused"), [(1.0, 0.5, False), (1.0, 0.51, True), (0.5, 0.0, False), (0.49, 0.0, True)]
)
def test_a_budget_may_be_spent_to_its_last_cent_by_all_runs_together(budget, spent, is_refused):
    said = refusal(Projection(1, 0, 0, 0.5, 0.0), budget, {"paid": PAID}, spent)
    assert bool(said) == is_refused and (f"budget of {dollars(budget)}." in said) == is_refused
    assert ("It has spent $0.51 so far." in said) == (is_refused and spent > 0)


def test_a_study_that_has_nothing_left_to_ask_needs_no_budget():
    assert refusal(projected([], PAID), None, {"paid": PAID}) == ""
    halves = [
        ModelCard("in", "openai_compatible", price_in=1.0, price_out=0.0),
        ModelCard("out", "openai_compatible", price_in=0.0),
    ]
    assert "in costs money" in refusal(projected(calls(1), halves[0]), None, {"in": halves[0]})
    assert "The price of out is unknown" in refusal(projected(calls(1), halves[1]), None, {"out": halves[1]})


@pytest.mark.parametrize(
    ("usd", "text"),
    [
        (0, "$0.00"),
        (0.01, "$0.01"),
        (0.0099, "$0.0099"),
        (0.00123, "$0.0012"),
        (0.1, "$0.10"),
        (1234.5, "$1,234.50"),
        (-0.5, "$-0.50"),
    ],
)
def test_amounts_below_a_cent_have_two_digits_that_say_something(usd, text):
    assert dollars(usd) == text


def test_a_card_says_how_fast_its_model_answers_before_anybody_measured():
    pocket = ModelCard("pocket", "pocket", n_in_flight=1)
    assert [rate(card) for card in (None, FREE, pocket, PAID)] == [200.0, 3_000.0, 60.0, 5.0]


def test_the_most_that_a_call_can_cost_counts_bytes_and_what_a_template_adds():
    call = Call("m", "r", Request("generate", "é", system="ab", continuation="c", max_tokens=50))
    n_in = 2 + 2 + 1 + 64  # and what a template may add
    assert call_bound(call, PAID) == pytest.approx((n_in * 2 + 50 * 8) / 1e6)
    assert lost_price(call, PAID) == pytest.approx(n_in * 2 / 1e6)
    scored = Call("m", "r", Request("score", "é", max_tokens=0))
    assert call_bound(scored, PAID) == pytest.approx(((2 + 64) * 2 + 8) / 1e6)
    assert (call_bound(call, UNKNOWN), lost_price(call, UNKNOWN), lost_price(call, None)) == (None, 0.0, 0.0)


def test_projections_are_added_and_scaled_in_all_their_parts():
    first, second = Projection(1, 20, 300, 0.5, 4.0, True, n_more=5), Projection(10, 200, 3_000, 0.25, 40.0, n_more=50)
    assert first + second == Projection(11, 220, 3_300, 0.75, 44.0, n_more=55) == second + first
    assert (first + first).is_measured and not (first + second).is_measured
    assert second.scaled(3) == Projection(30, 600, 9_000, 0.75, 120.0, n_more=150)


@pytest.mark.parametrize(
    ("projection", "sentence"),
    [
        (
            Projection(1_000, 2_000, 3_000, 4.0, 50.4, n_more=60),
            "1,000 calls and up to 60 more where the first token is blank, about 2,000 tokens in and at most 3,000 out, about $4.00, "
            "about 50 s",
        ),
        (Projection(1, 2, 3, None, 5.0), "1 call, about 2 tokens in and at most 3 out, an unknown price, about 5 s"),
        (Projection(1, 2, 3, 4.0, 5.0, True), "1 call, 2 tokens in and 3 out, $4.00, about 5 s"),
    ],
)
def test_a_projection_says_what_is_guessed(projection, sentence):
    assert projection.sentence() == sentence
