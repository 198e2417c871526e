"""Queries for a study's budget and spending, over all its runs."""

import math

from flipcore.access.acting import Permission, require, signature
from flipcore.core.bounds import MAX_BUDGET_USD
from flipcore.core.errors import BadInput
from flipcore.core.records import Call, Completion, digest
from flipcore.core.study import Study
from flipcore.store import rows
from flipcore.store.connection import Store
from flipcore.store.queries import studies

# Completions from before purchases were recorded count for the study that was declared before them.
_SPENT = """
SELECT coalesce((SELECT sum(cost_usd) FROM purchases WHERE study_id = $study_id), 0)
     + coalesce((SELECT sum(c.cost_usd) FROM study_calls s JOIN completions c USING (call_id)
         JOIN studies t USING (study_id)
                 WHERE s.study_id = $study_id AND c.created_at >= t.created_at
                   AND NOT EXISTS (SELECT 1 FROM purchases p WHERE p.call_id = c.call_id)), 0)
"""


def spent_usd(store: Store, study_id: str) -> float:
    """Return what runs of the study paid, in USD, without calls that other studies paid for."""
    return float(store.value(_SPENT, study_id=study_id))


def overbilling(store: Store) -> dict[str, float]:
    """Return model -> largest ratio so far of a call's cost to its bound, at least 1."""
    sql = """SELECT c.model, greatest(1, max(p.cost_usd / p.bound_usd))
             FROM purchases p JOIN completions c USING (call_id)
             WHERE p.bound_usd > 0 AND c.status = 'ok' GROUP BY c.model"""
    return dict(store.rows(sql))


def budget_usd(store: Store, study: Study) -> float | None:
    """Return the study's present cap in USD: the last one set, or the declared one, or None."""
    caps = store.rows(
        "SELECT budget_usd FROM budgets WHERE study_id = $study_id "
        "ORDER BY created_at DESC LIMIT 1",
        study_id=study.study_id,
    )
    return caps[0][0] if caps else study.budget_usd


def set_budget(store: Store, study_id: str, usd: float) -> None:
    """Set the study's cap, without changing its declaration or id. Raises BadInput for an invalid
    amount or an unknown study."""
    require(Permission.RUN)
    if not (isinstance(usd, (int, float)) and math.isfinite(usd) and 0 <= usd <= MAX_BUDGET_USD):
        raise BadInput(
            f"A budget of {usd!r} was given; it must be a number of US dollars from 0 to"
            f" {MAX_BUDGET_USD:,.0f}."
        )
    if studies.study(store, study_id) is None:
        raise BadInput(
            f"There is no study {study_id!r}, so no budget was set. Choose one that is listed under"
            " Studies."
        )
    timestamp = rows.now()
    row = {
        "budget_id": digest(study_id, usd, timestamp.isoformat()),
        "study_id": study_id,
        "budget_usd": float(usd),
        "author": signature(""),
        "created_at": timestamp,
    }
    store.writer.add("budgets", [row]).result(30)


def purchase_row(
    study_id: str, call: Call, completion: Completion, cost_usd: float, bound_usd: float
) -> dict:
    """Return the row of `purchases` for a completion that was paid for."""
    timestamp = rows.now()
    return {
        "purchase_id": digest(study_id, call.call_id, timestamp.isoformat(), completion.n_attempts),
        "study_id": study_id,
        "call_id": call.call_id,
        "cost_usd": cost_usd,
        "bound_usd": bound_usd,
        "created_at": timestamp,
    }
