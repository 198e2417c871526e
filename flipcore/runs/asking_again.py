"""Draft a new study from a stored one: the same items, asked again in other ways."""

import json
from collections.abc import Collection
from dataclasses import dataclass, replace

import pandas as pd

from flipcore.core.errors import BadInput
from flipcore.core.records import IDENTITY, WRITTEN_ANSWER
from flipcore.core.study import OTHER_CONTROL, PAIRED_CONTROL, ItemSource, ModelUse, Part, Study
from flipcore.datasets import load_report
from flipcore.datasets.loading import ITEM_ID
from flipcore.models import model_cards
from flipcore.runs.demo import demo_study
from flipcore.store.connection import Store
from flipcore.store.queries import studies
from flipcore.store.uploads import keep_upload

ASKABLE = ("choice", "number")
_COLUMNS = {"key": "key", "question": "question", "target": "target", "category": "category"}


@dataclass(frozen=True)
class Draft:
    """A study to start from, and sentences about what could not be taken over."""

    study: Study
    notes: tuple[str, ...]


def draft_again(store: Store, study_id: str, item_ids: Collection[str] | None = None) -> Draft:
    """Draft a study that asks the models of a stored study about its items again.

    The draft has the open items (only those of `item_ids`, if given) in their roles, and two or
    three axes to begin with. The items are stored as uploaded files. A model is found by its own
    name, or by its name on the server. Raises BadInput if no item can be asked in another way,
    and AccessDenied for people who may not upload files.
    """
    study = studies.declared(store, study_id)
    items = studies.study_items(store, study_id)
    items = items[~items["confirmatory"].astype(bool)]
    if item_ids is not None:
        items = items[items["item_id"].isin(list(item_ids))]
    usable = items[
        items["kind"].isin(ASKABLE)
        & items["target"].notna()
        & ~items["target"].astype(str).str.contains("\n")
    ]
    if usable.empty:
        raise BadInput(
            "No item of this study has options or a number as its one right answer, so none can be"
            " asked in another way."
        )
    notes = []
    if n_left_out := len(items) - len(usable):
        notes.append(
            f"{n_left_out:,} of {len(items):,} items are left out: their right answer is text,"
            " several, or missing."
        )
    sources = []
    for (role, kind), part in usable.groupby(["role", "kind"], sort=False):
        sources.append(_source(part, str(role), str(kind)))
    models, missing = _models(study)
    axes = [Part(IDENTITY), Part("prompt_format")]
    if (usable["kind"] == "choice").any():
        axes.insert(1, Part("option_order"))
    draft = Study(
        name=f"{study.name}, asked again",
        items=tuple(sources),
        axes=tuple(axes),
        extractors=(Part(WRITTEN_ANSWER),),
        models=tuple(models),
        budget_usd=study.budget_usd,
    )
    return Draft(draft, tuple(notes + missing))


def _models(study: Study) -> tuple[list[ModelUse], list[str]]:
    """Return (models that can be asked here, a sentence for each that cannot). If none can, the
    demo's first model takes their place."""
    cards = model_cards()
    name_by_served = {card.model: name for name, card in cards.items() if card.model}
    uses, missing = [], []
    for use in study.models:
        short_name = use.name.rpartition("/")[2]  # without the provider, as in "openai/…"
        name: str | None = use.name
        if use.name not in cards:
            name = name_by_served.get(use.name) or name_by_served.get(short_name)
        if name is None:
            missing.append(
                f"{use.name} is not among your models; add it under Models, or choose another."
            )
        else:
            uses.append(
                ModelUse(
                    name,
                    use.temperature,
                    use.n_samples,
                    seed=use.seed,
                    max_tokens=use.max_tokens,
                    top_p=use.top_p,
                    stop=use.stop,
                )
            )
    return uses or list(demo_study().models[:1]), missing


def _source(items: pd.DataFrame, role: str, kind: str) -> ItemSource:
    """Store items of one role and kind as an uploaded JSONL file, and return it as a source."""
    text = ""
    for row in items.to_dict("records"):
        line = {
            "key": row["item_id"],
            "question": row["question"],
            "target": row["target"],
            "category": row["category"] or "-",
        }
        if kind == "choice":
            line |= {"options": list(row["options"]), "target": int(row["target"])}
        text += json.dumps(line, ensure_ascii=False) + "\n"
    path = keep_upload("asked-again.jsonl", text.encode())
    columns = _COLUMNS | ({"options": "options", "target_as": "index"} if kind == "choice" else {})
    return ItemSource("file", role, path=str(path), columns=columns)


def draft_with_items(store: Store, study_id: str, item_ids: Collection[str]) -> Draft:
    """Draft the study with only the items of `item_ids`, and everything else as declared. For
    recorded outputs, the draft is that of `draft_again`. Items that the study set aside are never
    included. Raises BadInput if no item is left."""
    study = studies.declared(store, study_id)
    if study.is_recorded:
        return draft_again(store, study_id, item_ids)
    members = studies.study_items(store, study_id)
    open_ids = set(members.loc[~members["confirmatory"].astype(bool), "item_id"]) & set(item_ids)
    sources, n_items = [], 0
    for source in study.items:
        source_ids = [
            item.item_id for item in load_report(source).items if item.item_id in open_ids
        ]
        if source_ids:
            sources.append(replace(source, n=0, where={ITEM_ID: source_ids}))
            n_items += len(source_ids)
    if not sources:
        raise BadInput(
            "None of the selected items can be read from the study's sources any more; their files"
            " may have changed."
        )
    name = f"{study.name}, {n_items:,} selected {'item' if n_items == 1 else 'items'}"
    notes = [
        "These items were selected on the flip map for how they flipped: their rates say nothing"
        " about the others."
    ]
    # Some pairs have lost one of their items, so controls can no longer be compared in pairs.
    control = OTHER_CONTROL if study.control == PAIRED_CONTROL else study.control
    narrowed_study = replace(
        study, name=name[:120], items=tuple(sources), confirmatory_share=0.0, control=control
    )
    return Draft(narrowed_study, tuple(notes))
