"""Marks on single flips: whose a reviewer says the flip is. A mark is an appended row; a reviewer's
last one counts."""

from collections.abc import Mapping, Sequence

from flipcore.access.acting import signature
from flipcore.store.connection import Store
from flipcore.store.judgements import FLIP_MARKS, signed
from flipcore.store.queries import judgements


def mark_flip(store: Store, flip: Mapping[str, str], verdict: str, reviewer: str) -> None:
    """Stores the mark and waits until it is safe. `flip` names study_id, model, item_id, axis,
    variant_id, other_variant_id and extractor. Raises BadInput for a verdict or a name that is
    none."""
    mark = {**flip, "verdict": verdict, "reviewer": signed(reviewer)}
    judgements.keep(store, FLIP_MARKS, [mark])


def flip_marks(store: Store, study_id: str, model: str, axis: str, extractor: str) -> list[dict]:
    """Return what people said of the flips of one axis under one extractor, with the `flip` that
    each row is about."""
    marks = judgements.standing(
        store, FLIP_MARKS, study_id=study_id, model=model, axis=axis, extractor=extractor
    )
    return [row | {"flip": _flip_id(row)} for row in marks]


def own_mark(marks: Sequence[Mapping], flip: Mapping[str, str], reviewer: str) -> str:
    """Last verdict of this reviewer on the flip; "" where they gave none. `marks` as `flip_marks`
    gives them."""
    name = " ".join(signature(reviewer).split())
    for mark in reversed(marks):
        if (mark["flip"], mark["reviewer"]) == (_flip_id(flip), name):
            return mark["verdict"]
    return ""


def _flip_id(flip: Mapping[str, str]) -> str:
    return f"{flip['item_id']}|{flip['variant_id']}|{flip['other_variant_id']}"
