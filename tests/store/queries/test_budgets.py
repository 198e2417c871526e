"""What a study has spent, and what a server that bills more than it says can do to it."""

import pytest

from flipcore.store.queries import budgets
from tests.models.server import Server
from tests.runs.test_endings import declared, ended, items, study

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
