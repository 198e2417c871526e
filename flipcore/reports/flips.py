"""One sentence for a study: how right, how unstable, and how much of that is the readout."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from flipcore.stats.base.estimate import MIN_N, Estimate
from flipcore.stats.base.intervals import mean_interval
from flipcore.stats.base.joint import joint_means
from flipcore.stats.flips import surface
from flipcore.stats.holdout.verdict import inflation

REFERENCE = "regex"
FIELD = "first_token"


@dataclass(frozen=True)
class Headline:
    """`sentence` for people; T and G as Estimates over items (mean over axes first), None before there is anything."""

    sentence: str
    model: str = ""
    accuracy: Estimate | None = None
    total: Estimate | None = None
    genuine: Estimate | None = None


def headline(frame: pd.DataFrame, n_models: int = 1) -> Headline:
    """Of the first model of `frame` (readouts): the base prompt's accuracy under the reference, T of the field readout and
    G of the reference on the items where both are defined."""
    if frame.empty:
        return Headline("No answer has come back yet.")
    model = frame["model"].iloc[0]
    frame = frame[frame["model"] == model]
    names = list(dict.fromkeys(frame["extractor"]))
    reference = REFERENCE if REFERENCE in names else names[-1]
    field = FIELD if FIELD in names else names[0]
    base = frame[(frame["extractor"] == reference) & (frame["variant"] == "base")]
    accuracy = _accuracy(base)
    first, second = surface.aligned(
        surface.surface(frame, field), surface.surface(frame, reference), list(dict.fromkeys(frame["item_id"]))
    )
    total, genuine = joint_means(surface.shared_means(first, second))
    said = f"{model}: " if n_models > 1 else ""
    said += _accuracy_words(base, accuracy)
    if math.isnan(total.value):
        asked = set(frame["axis"]) - {"identity"}
        why = "no flip rate is defined yet" if asked else "nothing was reworded, so there is no flip rate"
        return Headline(f"{said}; {why}.", model, accuracy)
    if field == reference:
        return Headline(f"{said}; {total.text()} of variant pairs flip, read one way only.", model, accuracy, total, genuine)
    said += f"; {total.text()} of variant pairs flip in the field readout, "
    said += (
        f"of which {genuine.text()} is genuine"
        if genuine.value <= total.value
        else f"no more than in the reference: {genuine.text()}"
    )
    return Headline(f"{said} ({total.n:,} items).", model, accuracy, total, genuine)


def _accuracy_words(base: pd.DataFrame, accuracy: Estimate) -> str:
    """Sets in different roles are not pooled: what differs between them is the question."""
    if math.isnan(accuracy.value):
        return "Accuracy not defined"
    roles = list(dict.fromkeys(base["role"])) if "role" in base else []
    if len(roles) < 2:
        few = "" if accuracy.has_interval else ", too few for an interval"
        return f"Accuracy {accuracy.text()} of {accuracy.n:,} item{'' if accuracy.n == 1 else 's'}{few}"
    said = ", ".join(f"{role.replace('_', ' ')} {_accuracy(base[base['role'] == role]).text()}" for role in roles)
    return f"Accuracy {said}{_inflation_words(base)}"


def _inflation_words(base: pd.DataFrame) -> str:
    """What target and retro differ by; empty where one is absent, or an item was asked several times."""
    target, retro = (_item_means(base[base["role"] == role]) for role in ("target", "retro"))
    if not len(target) or not len(retro) or not np.isin(np.concatenate([target, retro]), (0, 1)).all():
        return ""
    return f": inflation {inflation(int(target.sum()), len(target), int(retro.sum()), len(retro)).text_pp()}"


def claimed_headline(frame: pd.DataFrame, closed: Collection[str], n_models: int = 1) -> Headline:
    """The headline of what may be claimed: the axes and readouts in `closed` are left out, and named."""
    claimed = frame[~(frame["axis"].isin(closed) & (frame["variant"] != "base") | frame["extractor"].isin(closed))]
    found = headline(claimed, n_models)
    if len(claimed) == len(frame):
        return found
    left_out = ", ".join(name.replace("_", " ") for name in closed)
    if found.total is None:
        undefined = found.sentence.rpartition("; ")[0]
        said = f"{undefined}; no flip rate may be claimed, because too little was reviewed: {left_out}."
        return replace(found, sentence=said)
    return replace(found, sentence=f"{found.sentence} Not reviewed enough to be claimed: {left_out}.")


def _accuracy(base: pd.DataFrame) -> Estimate:
    """Item means of correctness; unreadable is wrong, absent is left out."""
    values = _item_means(base)
    return mean_interval(values, kind="wilson" if len(values) >= MIN_N and np.isin(values, (0, 1)).all() else "default")


def _item_means(base: pd.DataFrame) -> np.ndarray:
    known = base[base["is_correct"].notna()].drop_duplicates(["item_id", "variant_id", "sample"])
    return known.groupby("item_id")["is_correct"].mean().to_numpy(dtype=float)
