"""Marks on single flips: whose a reviewer says the flip is. A mark is an appended row; a reviewer's
last one counts."""

from collections.abc import Mapping, Sequence

from flipcore.access.acting import signature
from flipcore.annotation.paraphrases.verdicts import reviewer_name
from flipcore.core.errors import BadInput
from flipcore.stats.flips.human_share import VERDICTS
from flipcore.store.connection import Store
from flipcore.store.queries import review


def mark_flip(store: Store, flip: Mapping[str, str], verdict: str, reviewer: str) -> None:
    """Stores the mark and waits until it is safe. `flip` names study_id, model, item_id, axis,
    variant_id, other_variant_id and extractor. Raises BadInput for a verdict or a name that is
    none."""
    if verdict not in VERDICTS:
        raise BadInput(
            f"A flip is marked {', '.join(VERDICTS)}; this mark says {str(verdict)[:40]!r}."
        )
    review.keep_flip_mark(
        store, {**flip, "verdict": verdict, "reviewer": reviewer_name(signature(reviewer))}
    )


def own_mark(marks: Sequence[Mapping], flip: Mapping[str, str], reviewer: str) -> str:
    """Last verdict of this reviewer on the flip; "" where they gave none. `marks` as
    `review.flip_marks` gives them."""
    name = " ".join(signature(reviewer).split())
    flip_id = f"{flip['item_id']}|{flip['variant_id']}|{flip['other_variant_id']}"
    for mark in reversed(marks):
        if (mark["flip"], mark["reviewer"]) == (flip_id, name):
            return mark["verdict"]
    return ""
