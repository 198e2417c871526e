"""Reviewers' marks on single flips: genuine or artifact.

A mark is an appended row, and the last one of a reviewer counts.
"""

from collections.abc import Mapping, Sequence

from flipcore.access.acting import signature
from flipcore.store.connection import Store
from flipcore.store.judgements import FLIP_MARKS, signed
from flipcore.store.queries import judgements


def mark_flip(store: Store, flip: Mapping[str, str], verdict: str, reviewer: str) -> None:
    """Store the mark and wait until it is on disk.

    `flip` has study_id, model, item_id, axis, variant_id, other_variant_id and extractor. Raises
    BadInput for an unknown verdict or an empty name.
    """
    mark = {**flip, "verdict": verdict, "reviewer": signed(reviewer)}
    judgements.keep(store, FLIP_MARKS, [mark])


def flip_marks(store: Store, study_id: str, model: str, axis: str, extractor: str) -> list[dict]:
    """Return the marks on the flips of one axis under one extractor, each with its `flip` id."""
    marks = judgements.standing(
        store, FLIP_MARKS, study_id=study_id, model=model, axis=axis, extractor=extractor
    )
    return [row | {"flip": _flip_id(row)} for row in marks]


def own_mark(marks: Sequence[Mapping], flip: Mapping[str, str], reviewer: str) -> str:
    """Return the last verdict of this reviewer on the flip, of `flip_marks`; "" for none."""
    name = " ".join(signature(reviewer).split())
    for mark in reversed(marks):
        if (mark["flip"], mark["reviewer"]) == (_flip_id(flip), name):
            return mark["verdict"]
    return ""


def _flip_id(flip: Mapping[str, str]) -> str:
    return f"{flip['item_id']}|{flip['variant_id']}|{flip['other_variant_id']}"
