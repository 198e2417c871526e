"""Count which controls were published before and after a model's training cut-off."""

from collections.abc import Sequence

import pandas as pd

from flipcore.text import dates

AFTER, BEFORE, UNKNOWN = "after the cut-off", "before the cut-off", "unknown"
_WHEN = {dates.NO: AFTER, dates.YES: BEFORE, dates.UNKNOWN: UNKNOWN}


def control_rows(items: pd.DataFrame, roles: Sequence[str], cutoff: str | None) -> pd.DataFrame:
    """Count the items in `roles` by data set, role, and publication before or after the cut-off.

    `items` has the columns dataset, role and published. `cutoff` is an ISO date, or None if it is
    unknown. An item without a date counts as unknown.
    """
    rows = items[items["role"].isin(roles)]
    dates_published = pd.to_datetime(rows["published"], errors="coerce")
    days = [None if pd.isna(date) else date.date().isoformat() for date in dates_published]
    when = [_WHEN[dates.could_have_been_seen(day, cutoff).answer] for day in days]
    groups = rows.assign(published=when).groupby(["dataset", "role", "published"], sort=False)
    return groups.size().rename("items").reset_index()


def control_sentence(
    rows: pd.DataFrame, model: str, cutoff: str | None, *, doses_known: bool
) -> str:
    """Say what is known and what is assumed about the controls. `rows` are those of `control_rows`;
    `doses_known` is True for a model that was trained in this repository."""
    if doses_known:
        return (
            f"The controls were never in {model}'s training data: it was trained in this "
            "repository, and its manifest lists every item and how often it was shown."
        )
    counts = rows.groupby("published")["items"].sum() if len(rows) else pd.Series(dtype=int)
    n = int(counts.sum())
    n_after, n_before = int(counts.get(AFTER, 0)), int(counts.get(BEFORE, 0))
    if cutoff is None:
        return (
            f"{model}'s training cut-off is not declared (edit it under Models), so it is an "
            f"assumption that the {n:,} controls could not have been seen."
        )
    if n_before:
        return (
            f"{n_before:,} of {n:,} controls were published before {model}'s training cut-off "
            f"({cutoff}): they may have been seen, and then a test against them is too kind to "
            "the model."
        )
    if n_after == n:
        return (
            f"All {n:,} controls were published after {model}'s training cut-off ({cutoff}): it "
            "could not have seen them."
        )
    return (
        f"{n - n_after:,} of {n:,} controls have no publication date, or one too near a cut-off "
        f"({cutoff}) that names no day: that they could not have been seen is an assumption."
    )
