"""A study on some of its items: a draft that asks only these."""

from collections.abc import Collection
from dataclasses import replace

from flipcore.core.errors import BadInput
from flipcore.core.study import OTHER_CONTROL, PAIRED_CONTROL
from flipcore.datasets import load_report
from flipcore.datasets.loading import ITEM_ID
from flipcore.runs.asking_again import Draft, asked_again
from flipcore.store.connection import Store
from flipcore.store.queries import studies


def narrowed(store: Store, study_id: str, item_ids: Collection[str]) -> Draft:
    """The study with `item_ids` alone, each in its role, and everything else as declared; of recorded outputs what
    `asked_again` makes of these items. What the study set aside is never taken. Raises BadInput where no
    item is left."""
    study = studies.declared(store, study_id)
    if study.is_recorded:
        return asked_again(store, study_id, item_ids)
    members = studies.study_items(store, study_id)
    open_ids = set(members.loc[~members["confirmatory"].astype(bool), "item_id"]) & set(item_ids)
    sources, n = [], 0
    for source in study.items:
        own = [item.item_id for item in load_report(source).items if item.item_id in open_ids]
        if own:
            sources.append(replace(source, n=0, where={ITEM_ID: own}))
            n += len(own)
    if not sources:
        raise BadInput(
            "None of the selected items can be read from the study's sources any more; their files may have changed."
        )
    name = f"{study.name}, {n:,} selected {'item' if n == 1 else 'items'}"
    notes = ["These items were selected on the flip map for how they flipped: their rates say nothing about the others."]
    control = (
        OTHER_CONTROL if study.control == PAIRED_CONTROL else study.control
    )  # pairs whose other half is not asked are none
    narrow = replace(study, name=name[:120], items=tuple(sources), confirmatory_share=0.0, control=control)
    return Draft(narrow, tuple(notes))
