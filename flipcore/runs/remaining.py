"""What a study that was begun would still cost: the calls that are not stored yet."""

from __future__ import annotations

from collections.abc import Callable

from flipcore.models import open_backend
from flipcore.runs import cost, plan
from flipcore.runs.plan import ItemPlan, Plan, priced, projection
from flipcore.store.connection import Store
from flipcore.store.queries import studies


def _none_ended(item_plan: ItemPlan, model: str) -> bool:
    return False


def remaining(study_plan: Plan, store: Store, is_ended: Callable[[ItemPlan, str], bool] = _none_ended) -> cost.Projection:
    """The projection of the calls that are not stored yet. Where nothing is, that is the whole; else every item is looked at,
    because stored calls are those of the first items. `is_ended` says of an item and a model that nothing is missing, so that its
    calls need not be made up to be looked for; with a judge they are, to know how many it may be shown."""
    study_id, cards, whole = study_plan.study.study_id, plan.model_cards(), projection(study_plan)
    if not studies.n_answers_of(store, [use.name for use in study_plan.study.models]):
        return whole
    judge = open_backend(study_plan.study.judge, cards) if study_plan.study.judge else None
    total, first = cost.NOTHING, cost.NOTHING
    most = study_plan.protocol.most_calls
    for use in study_plan.study.models:
        backend = open_backend(use.name, cards)
        study_plan.prepare(backend)
        calls = {
            call.call_id: call
            for item_plan in study_plan.items
            if judge is not None or not is_ended(item_plan, use.name)
            for call in most(study_plan.history(item_plan, use, backend, {}, judge))
        }
        stored_ids = studies.stored_ids(store, list(calls)) if calls else set()
        first = first + priced(list(calls.values()), backend, cards.get(use.name))
        total = total + priced([call for key, call in calls.items() if key not in stored_ids], backend, cards.get(use.name))
    if judge is None:
        return total
    # what a judge will be shown is not there yet, so its calls are known by their number alone
    n_judged = max(1, whole.n_calls - first.n_calls)
    remaining_share = max(0.0, 1 - studies.n_stored_of(store, study_id, study_plan.study.judge or "") / n_judged)
    judge_calls = cost.Projection(
        n_judged,
        max(0, whole.n_tokens_in - first.n_tokens_in),
        max(0, whole.n_tokens_out - first.n_tokens_out),
        None if whole.cost_usd is None or first.cost_usd is None else max(0.0, whole.cost_usd - first.cost_usd),
        n_judged / cost.rate(cards.get(study_plan.study.judge or "")),
    )
    return total + judge_calls.scaled(remaining_share)
