"""Changes by a re-reading: two readouts of the same stored texts, side by side. Items that are
set aside are in no number."""

from dataclasses import dataclass

import pandas as pd

from flipcore.claims.audit_input import Finding
from flipcore.claims.claim import Claim, description
from flipcore.core.errors import BadInput
from flipcore.core.records import WRITTEN_ANSWER
from flipcore.runs.rereading import versions_of
from flipcore.stats.base.estimate import Estimate, percent_text
from flipcore.stats.base.intervals import mean_interval
from flipcore.store.connection import Store
from flipcore.store.queries import studies

N_LISTED = 200
# What a user has just asked for stands first where it changed something.
_RANK, _RANK_ALIKE = 99.0, 20.0
_TEXT = ["model", "item_id", "axis", "variant_id", "sample"]


@dataclass(frozen=True)
class Change:
    """One model's texts under both readouts. `items` are those where the answer or its status
    differs, `share` of the texts with an interval by items."""

    model: str
    share: Estimate
    claim: Claim
    items: tuple[str, ...]
    axis: str = ""


def old_readout(store: Store, study_id: str, name: str) -> str:
    """The readout that a re-reading is compared with, never itself; "" where there is none.

    The extractor's own, else the reference regex, else the study's first; where the study was only
    read again, the re-reading before it.
    """
    versions = list(versions_of(store, study_id))
    names = studies.axes_and_extractors(store, study_id)[1]
    first_read = [extractor for extractor in names if extractor not in versions]
    for candidate in (name.partition(" v")[0], WRITTEN_ANSWER):
        if candidate in first_read:
            return candidate
    if first_read:
        return first_read[0]
    earlier = versions[: versions.index(name)] if name in versions else []
    return earlier[-1] if earlier else ""


def rereadings(store: Store, study_id: str) -> list[Finding]:
    """Each re-reading of a study against what was read before, as findings of its audit."""
    findings = []
    for name in versions_of(store, study_id):
        old = old_readout(store, study_id, name)
        try:
            by_model = changes(store, study_id, old, name) if old else []
        except BadInput:
            continue  # every text that both read is set aside
        for change in by_model:
            rank, place = _RANK if change.items else _RANK_ALIKE, (change.model, change.axis, name)
            findings.append(Finding("re-read", change.claim, rank, change.items, *place))
    return findings


def changes(store: Store, study_id: str, old: str, new: str) -> list[Change]:
    """Compare two readouts, one change per model. Raises BadInput where the two share no text."""
    frame = studies.readouts(store, study_id, everything=True)
    frame = frame[frame["status"] != "absent"]
    by_old, by_new = frame[frame["extractor"] == old], frame[frame["extractor"] == new]
    merged = by_old.merge(by_new, on=_TEXT, suffixes=("_old", "_new"))
    # A base that several axes share is one text.
    merged = merged.drop_duplicates(["model", "variant_id", "sample"])
    if merged.empty:
        raise BadInput(f"No text was read by both {old} and {new}, so there is nothing to compare.")
    by_model = merged.groupby("model", sort=False)
    return [_change(str(model), part, old, new) for model, part in by_model]


def _change(model: str, part: pd.DataFrame, old: str, new: str) -> Change:
    was = part["answer_old"].fillna("").astype(str)
    now = part["answer_new"].fillna("").astype(str)
    is_changed = (was != now) | (part["status_old"] != part["status_new"])
    share = mean_interval(is_changed.astype(float).to_numpy(), part["item_id"].to_numpy())
    gained = int(((part["status_old"] != "ok") & (part["status_new"] == "ok")).sum())
    lost = int(((part["status_old"] == "ok") & (part["status_new"] != "ok")).sum())
    sentence = (
        f"{model}: {new} and {old} read {share.text_percent()} of the texts differently (n ="
        f" {len(part):,})."
    )
    if not is_changed.any():
        sentence = f"{model}: {new} and {old} read all {len(part):,} texts alike."
    readings = f"Read only by {new}: {gained:,}; only by {old}: {lost:,}."
    detail = f"{readings} {_scores(part, old, new)}".strip()
    changed = part[is_changed]
    items = tuple(dict.fromkeys(changed["item_id"]))[:N_LISTED]
    axis = str(changed["axis"].iloc[0]) if len(changed) else ""
    claim = description(sentence, "re-read", detail=detail, share=share)
    return Change(model, share, claim, items, axis)


def _scores(part: pd.DataFrame, old: str, new: str) -> str:
    base = part[part["variant_old"] == "base"]
    base = base[base["is_correct_old"].notna() & base["is_correct_new"].notna()]
    if base.empty:
        return ""
    was = base["is_correct_old"].astype(float).mean()
    now = base["is_correct_new"].astype(float).mean()
    return (
        f"Score on the base prompts: {percent_text(was, 1)} by {old}, {percent_text(now, 1)} by"
        f" {new}."
    )
