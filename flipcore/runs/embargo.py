"""Keep items under embargo from models: a retro set is useful only while no model has read it.

A study's own models may be asked about such items, because the study is made for that. Any other
model (a judge, a proposer of paraphrases, an annotator) gets them only if the user allows it.
Models that are computed on this machine send nothing away, so they may see all items.
"""

from collections.abc import Collection

from flipcore.core.errors import BadInput
from flipcore.extractors import needs_judge, title_of
from flipcore.models import model_cards
from flipcore.runs.plan import Plan
from flipcore.store.connection import Store, text_list

ON_THIS_MACHINE = ("pocket", "simulated", "transformers")

_EMBARGO = """
SELECT DISTINCT item_id FROM study_items WHERE role = 'retro' AND item_id IN (SELECT unnest($ids))
UNION SELECT item_id FROM items WHERE json_extract_string(meta, '$.embargo') = 'true'
    AND item_id IN (SELECT unnest($ids))
"""


def under_embargo(store: Store, item_ids: Collection[str]) -> set[str]:
    """Return ids of items in the retro set of any study, or with `embargo = true` in their file."""
    return {item_id for (item_id,) in store.rows(_EMBARGO, ids=text_list(item_ids))}


def is_sent_away(model: str) -> bool:
    """Return whether a model is asked over a network. Not so for models computed here, and for the
    user's own Python functions ("module:function")."""
    card = model_cards().get(model)
    return card.backend not in ON_THIS_MACHINE if card else ":" not in model


def check_embargo(item_ids: Collection[str], model: str, *, may_send: bool, how: str) -> None:
    """Raise BadInput if items would be sent to a model and `may_send` does not allow it. `how`
    is a sentence on how to allow it."""
    if item_ids and not may_send and is_sent_away(model):
        raise BadInput(
            f"{len(item_ids):,} of these items belong to a holdout, which no other model has"
            f" read, so nothing was sent to {model}. {how}"
        )


def check_judge(study_plan: Plan, store: Store) -> Plan:
    """Check a plan that is about to run, and return it. Raises BadInput if its judge, unless it
    is a model of the study, would see items under embargo. Their role in this study does not
    matter. Raises BadInput, too, where an extractor needs a judge and the study names none."""
    study = study_plan.study
    if study.judge is None and (
        judge_extractors := [part.name for part in study.extractors if needs_judge(part.name)]
    ):
        raise BadInput(
            f"{title_of(judge_extractors[0])} reads by another model, and the study names none."
            ' Write judge = "MODEL" in it.'
        )
    if study.judge is None or study.judge in {use.name for use in study.models}:
        return study_plan
    ids = {item_plan.item.item_id for item_plan in study_plan.items}
    embargoed = under_embargo(store, ids)
    for item_plan in study_plan.items:
        # This study's own roles and files may not be stored yet, so look at the plan as well.
        if item_plan.role == "retro" or item_plan.item.meta.get("embargo") in (True, "true"):
            embargoed.add(item_plan.item.item_id)
    how = "Write judge_sees_retro = true in the study to allow it, or leave the judge out."
    check_embargo(embargoed, study.judge, may_send=study.judge_sees_retro, how=how)
    return study_plan
