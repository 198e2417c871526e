"""Compare two readouts of the same stored texts: what did reading them again change?

Items that are set aside do not count.
"""

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

N_LISTED = 200  # most items that a change lists
# Rank among the findings of an audit. A re-reading that changed something comes first, because the
# user has just asked for it.
_RANK, _RANK_ALIKE = 99.0, 20.0
# The columns that identify a text.
_TEXT = ["model", "item_id", "axis", "variant_id", "sample"]


@dataclass(frozen=True)
class Change:
    """The texts of one model whose answer or status differs between two readouts.

    `share` is their share of all texts, with an interval by items. `items` lists their items, and
    `axis` is that of the first one ("" if nothing differs).
    """

    model: str
    share: Estimate
    claim: Claim
    items: tuple[str, ...]
    axis: str = ""


def old_readout(store: Store, study_id: str, name: str) -> str:
    """Return the readout that a re-reading is compared with; "" if there is none.

    It is the same extractor's first readout, else the written answer, else the study's first
    extractor. In a study with re-readings alone it is the re-reading before this one.
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
    """Return the findings of an audit on a study's re-readings, one per model and re-reading."""
    findings = []
    for name in versions_of(store, study_id):
        old = old_readout(store, study_id, name)
        try:
            by_model = changes(store, study_id, old, name) if old else []
        except BadInput:
            continue  # all texts that both read are set aside
        for change in by_model:
            rank = _RANK if change.items else _RANK_ALIKE
            model, items = change.model, change.items
            findings.append(Finding("re-read", change.claim, rank, items, model, change.axis, name))
    return findings


def changes(store: Store, study_id: str, old: str, new: str) -> list[Change]:
    """Compare two readouts, per model. Raises BadInput if they share no text."""
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
    old_answer = part["answer_old"].fillna("").astype(str)
    new_answer = part["answer_new"].fillna("").astype(str)
    was_read, is_read = part["status_old"] == "ok", part["status_new"] == "ok"
    is_changed = (old_answer != new_answer) | (part["status_old"] != part["status_new"])
    share = mean_interval(is_changed.astype(float).to_numpy(), part["item_id"].to_numpy())
    n_gained, n_lost = int((~was_read & is_read).sum()), int((was_read & ~is_read).sum())
    sentence = (
        f"{model}: {new} and {old} read {share.text_percent()} of the texts differently (n ="
        f" {len(part):,})."
    )
    if not is_changed.any():
        sentence = f"{model}: {new} and {old} read all {len(part):,} texts alike."
    readings = f"Read only by {new}: {n_gained:,}; only by {old}: {n_lost:,}."
    detail = f"{readings} {_scores_text(part, old, new)}".strip()
    changed = part[is_changed]
    items = tuple(dict.fromkeys(changed["item_id"]))[:N_LISTED]
    axis = str(changed["axis"].iloc[0]) if len(changed) else ""
    claim = description(sentence, "re-read", detail=detail, share=share)
    return Change(model, share, claim, items, axis)


def _scores_text(part: pd.DataFrame, old: str, new: str) -> str:
    """State both scores on the base prompts; "" if neither says right or wrong."""
    base = part[part["variant_old"] == "base"]
    base = base[base["is_correct_old"].notna() & base["is_correct_new"].notna()]
    if base.empty:
        return ""
    old_score = percent_text(base["is_correct_old"].astype(float).mean(), 1)
    new_score = percent_text(base["is_correct_new"].astype(float).mean(), 1)
    return f"Score on the base prompts: {old_score} by {old}, {new_score} by {new}."
