"""What a model may be asked to paraphrase, and which models can."""

from __future__ import annotations

from flipcore.core.records import Item
from flipcore.core.study import ItemSource
from flipcore.datasets import LOADERS, load
from flipcore.models import model_cards
from flipcore.store.connection import Store
from flipcore.store.queries import review, studies

STUDY = "study:"


def writers() -> list[str]:
    """Models that can write: simulated ones only answer what was planted; the pocket model writes poorly, so it is last."""
    cards = model_cards()
    return sorted(
        (name for name, card in cards.items() if card.backend != "simulated"), key=lambda name: cards[name].backend == "pocket"
    )


def question_sources(store: Store) -> dict[str, str]:
    """Shipped sets and stored studies: key -> a name that says which."""
    rows = studies.studies(store)
    shipped = {name: loader.title for name, loader in LOADERS.items() if loader.local}
    return shipped | {f"{STUDY}{one}": f"study: {name}" for one, name in zip(rows["study_id"], rows["name"], strict=True)}


def items_to_paraphrase(store: Store, source: str, n: int, generator: str) -> list[Item]:
    """The first `n` questions of a source without a paraphrase by this generator; none that a study set aside."""
    states = studies.paraphrase_states(store)
    skip_ids = set(states[states["generator"] == generator]["item_id"])
    if source.startswith(STUDY):
        frame = studies.study_items(store, source.removeprefix(STUDY))
        ids = list(frame[~frame["confirmatory"]]["item_id"])
        by_id = review.items(store, ids)
        items = [by_id[one] for one in ids if one in by_id]
    else:
        items = list(load(ItemSource(source)))
    return [item for item in items if item.item_id not in skip_ids][:n]
