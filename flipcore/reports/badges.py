"""Badges: one or two words that qualify every number of a study, and what would remove them."""

from collections.abc import Mapping
from typing import Any

MAX_NAMED = 3  # most other models that a badge names
MEANINGS = {
    "SIMULATED": (
        "Every answer comes from a simulated model with planted truth. Run a study on another model"
        " to see a real one."
    ),
    "POCKET": (
        "Answers of the pocket model: real log-probabilities and real memorization of a toy model. "
        "Run a study on another model to remove this."
    ),
    "EXPLORATORY": (
        "Settings may be changed after seeing the result, so intervals are not confirmatory. Lock"
        " the settings on a study with a confirmatory share to remove this."
    ),
    "LOCKED": (
        "Settings were stored before the confirmatory items were read; other settings are refused."
    ),
    "PARTIAL": (
        "The study is still running or was stopped: items are asked in random order, so what is"
        " here is an unbiased part. Let it finish to remove this."
    ),
    "INCOMPLETE": (
        "Some answers are missing: calls failed, or rows could not be stored. They need not be like"
        " the rest. Ask or import again to remove this."
    ),
    "OTHER MODEL": (
        "Some replies name another model than the one that was asked: the server may have routed "
        "calls elsewhere. Check the endpoint and the model's name under Models, then ask again."
    ),
    "UNREVIEWED PARAPHRASES": (
        "Some paraphrases have not been accepted by a reviewer yet. Review them to remove this."
    ),
    "JUDGE NOT PASSED": (
        "The judge's agreement with people has not been shown to reach 0.60, or another of its"
        " tests is open; it is excluded from all conclusions. Label outputs under Review, Outputs,"
        " to remove this."
    ),
}


def badges_of(
    row: Mapping[str, Any], n_unreviewed: int, *, judge_is_closed: bool
) -> list[tuple[str, str]]:
    """Return the (badge, text) pairs of a study; `row` is that of `queries.studies.studies`."""
    # Failed calls are no random part of all calls, so such a study is not called PARTIAL.
    lacks_answers = row["state"] == "incomplete" or bool(
        row["state"] == "failed" and row["n_failed"]
    )
    is_applied = {
        "SIMULATED": row["simulated"],
        "POCKET": any(model.split("-")[0] == "pocket" for model in row["models"]),
        "UNREVIEWED PARAPHRASES": n_unreviewed,
        "JUDGE NOT PASSED": judge_is_closed,
        "INCOMPLETE": lacks_answers,
    }
    pairs = [(badge, badge) for badge, applies in is_applied.items() if applies]
    if len(row["other_models"]):
        pairs.append(("OTHER MODEL", f"OTHER MODEL: {', '.join(row['other_models'][:MAX_NAMED])}"))
    if not lacks_answers and row["state"] != "done":
        share = row["n_calls_done"] / row["n_calls"] if row["n_calls"] else 0.0
        pairs.append(("PARTIAL", f"PARTIAL {min(share, 1.0):.0%}"))
    return pairs
