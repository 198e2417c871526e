"""Items under embargo, and the models that may see them: those of a retro set are worth something
only while no model has read them.

A study's own models are asked about them, because that is what the study is for. A judge, a
proposer of paraphrases or a model as annotator is another model: what it would be sent is held back
until somebody says that it may be. What is computed on this machine is sent nowhere."""

from collections.abc import Collection

from flipcore.core.errors import BadInput
from flipcore.extractors import needs_judge, title_of
from flipcore.models import model_cards
from flipcore.runs.plan import Plan
from flipcore.store.connection import Store

ON_THIS_MACHINE = ("pocket", "simulated", "transformers")

_EMBARGO = """
SELECT DISTINCT item_id FROM study_items WHERE role = 'retro' AND item_id IN (SELECT unnest($ids))
UNION SELECT item_id FROM items WHERE json_extract_string(meta, '$.embargo') = 'true'
    AND item_id IN (SELECT unnest($ids))
"""


def under_embargo(store: Store, item_ids: Collection[str]) -> set[str]:
    """Those of the items that stand in the retro set of any study, or say of themselves `embargo =
    true`."""
    return {item_id for (item_id,) in store.rows(_EMBARGO, ids=list(item_ids) or [""])}


def is_sent_away(model: str) -> bool:
    """Return whether a model is asked over a network: neither computed here nor a Python function
    of the user's own."""
    card = model_cards().get(model)
    return card.backend not in ON_THIS_MACHINE if card else ":" not in model


def check_embargo(item_ids: Collection[str], model: str, *, may_send: bool, how: str) -> None:
    """Raise BadInput where items under embargo would be sent to another model unasked; `how` says
    how to allow it."""
    if item_ids and not may_send and is_sent_away(model):
        raise BadInput(
            f"{len(item_ids):,} of these items belong to a retro set, which no other model has"
            f" read, so nothing was sent to {model}. {how}"
        )


def check_judge(study_plan: Plan, store: Store) -> Plan:
    """Check the same of a study that is about to run and its judge, unless the judge is asked about
    the items itself; return the plan. An item is under embargo here as it is everywhere, whatever
    its role in this study. Raises BadInput, too, where a judge shall read and none is named."""
    study = study_plan.study
    if study.judge is None and (
        lacking := [part.name for part in study.extractors if needs_judge(part.name)]
    ):
        raise BadInput(
            f"{title_of(lacking[0])} reads by another model, and the study names none. Write judge"
            ' = "MODEL" in it.'
        )
    if study.judge is None or study.judge in {use.name for use in study.models}:
        return study_plan
    ids = {item_plan.item.item_id for item_plan in study_plan.items}
    embargoed = under_embargo(store, ids)
    for item_plan in study_plan.items:
        # What this study names so, or its own file says, may not be stored yet.
        if item_plan.role == "retro" or item_plan.item.meta.get("embargo") in (True, "true"):
            embargoed.add(item_plan.item.item_id)
    how = "Write judge_sees_retro = true in the study to allow it, or leave the judge out."
    check_embargo(embargoed, study.judge, may_send=study.judge_sees_retro, how=how)
    return study_plan
