"""What a study has spent, and what a server that bills more than it says can do to it."""

import math

import pytest

from flipcore.core.bounds import MAX_BUDGET_USD
from flipcore.core.errors import BadInput
from flipcore.runs.origins import study_row
from flipcore.store.queries import budgets
from tests.models.server import Server
from tests.runs.test_endings import declared, ended, items, study
from tests.runs.test_runner import tiny_study

pytestmark = pytest.mark.usefixtures("allowed_folders")

__all__ = ["declared", "items"]  # fixtures


@pytest.mark.slow
def test_a_server_that_is_not_there_bills_nothing(store, items, declared):
    from tests.models.openai.test_breaker import dead_url

    declared(dead_url(), price_in=1000.0, price_out=0.0)
    asked = study(items, n=4, budget_usd=100.0)
    assert ended(asked, store).state in ("failed", "incomplete")
    assert budgets.spent_usd(store, asked.study_id) == 0.0


@pytest.mark.slow
def test_one_bill_beyond_all_bounds_passes_the_budget_by_itself_alone_and_is_said(store, items, declared):
    dear = {"choices": [{"message": {"content": "4"}}], "usage": {"prompt_tokens": 1, "completion_tokens": 5_000}}
    with Server(*[("reply", dear)] * 100) as server:
        declared(server.url, price_in=0.0, price_out=1000.0)  # $5 a call, where 8 tokens are $0.008
        asked = study(items, n=20, budget_usd=1.0)
        last = ended(asked, store)
        assert len(server.bodies) == 1
    assert last.state == "over_budget" and budgets.spent_usd(store, asked.study_id) == pytest.approx(5.0)
    assert "A server billed more for a call than its text and token limit allow." in last.message


@pytest.mark.parametrize("usd", [math.nan, math.inf, -math.inf, -0.01, MAX_BUDGET_USD + 0.01, "5", None])
def test_an_amount_that_is_none_is_refused_and_sets_nothing(store, tiny, usd):
    with pytest.raises(BadInput, match="it must be a number of US dollars from 0 to 1,000,000"):
        budgets.set_budget(store, tiny.study_id, usd)
    assert budgets.budget_usd(store, tiny) == tiny.budget_usd


@pytest.mark.parametrize("usd", [0, 0.01, 5, MAX_BUDGET_USD])
def test_an_amount_at_and_between_the_bounds_is_set(store, tiny, usd):
    budgets.set_budget(store, tiny.study_id, usd)
    assert budgets.budget_usd(store, tiny) == usd


def test_the_last_budget_counts_and_an_unknown_study_has_none(store, tiny):
    budgets.set_budget(store, tiny.study_id, 5)
    budgets.set_budget(store, tiny.study_id, 2)
    assert budgets.budget_usd(store, tiny) == 2
    with pytest.raises(BadInput, match="no study 'nowhere'"):
        budgets.set_budget(store, "nowhere", 1)


@pytest.fixture
def tiny(store):
    """A declared study with a budget of three dollars that has asked nothing."""
    declared_study = tiny_study(budget_usd=3.0)
    store.writer.add("studies", [study_row(declared_study, "planned")]).result(30)
    return declared_study
