"""What the word "locked" claims, and when it may not be said."""

from collections.abc import Mapping, Sequence
from typing import Any

from flipcore.claims.claim import Assertion, Claim
from flipcore.core.locks import STATE, lock_id
from flipcore.text.counts import count_of

LOCKED = Assertion(
    "locked",
    "computed on answers that nobody could read before these settings were stored, at the state "
    "of that moment",
    0.0,
    1,
    "each lock",
    (
        "settings changed after the lock",
        "opened by an earlier lock",
        "answers shown in another study, under whatever id",
        "answers older than the study",
        "no state stored",
        "no readouts stored",
    ),
)
ASSERTIONS = (LOCKED,)


def locked_claim(
    lock: Mapping[str, Any],
    all_locks: Sequence[Mapping[str, Any]],
    n_changed: int = 0,
    after: str = "",
    is_first: bool = False,
    n_elsewhere: int = 0,
) -> Claim:
    """`all_locks` are those of the study, oldest first; `n_changed` verdicts stand differently today; `after` says what was asked,
    read or merged since, "" where nothing was. `is_first`: the lock was stored before any answer; `n_elsewhere` items have answers
    that are older than it all the same, which a merge brought.

    Withheld where the lock was changed, keeps no state or no readouts, came after another lock had opened the same items, or where
    somebody could have read what the same models answered: in another study, or before this one was declared."""
    state = lock["settings"].get(STATE)
    verdicts = (
        f"{count_of(n_changed, 'verdict has', 'verdicts have')} changed since; the result is that "
        "of the lock."
        if n_changed
        else ""
    )
    later = " ".join(filter(None, (verdicts, after))) or "Nothing has changed since."
    n = len(state["items"]) if state else 0
    before = (
        "any answer of these models to them was here"
        if is_first
        else "anybody could read what the models answered to them"
    )
    claim = Claim(
        LOCKED,
        "locked",
        f"Locked: {count_of(n, 'item was', 'items were')} set aside, and these settings were "
        f"stored before {before}.",
        True,
        " ".join(filter(None, (_questions_shown(state), later))),
        "",
        {"n_items": n, "n_verdicts_changed": n_changed},
    )
    older = (
        f"{count_of(n_elsewhere, 'item has an answer', 'items have answers')} that "
        f"{'is' if n_elsewhere == 1 else 'are'} older than "
    )
    return claim.not_claimed(
        _why_not(lock, state, all_locks) or (f"{older}this lock." if n_elsewhere else "")
    )


def _questions_shown(state: Mapping[str, Any] | None) -> str:
    """Which other studies show the questions themselves."""
    parts = [
        f"{name} ({n:,})" for name, n, n_answered in (state or {}).get("seen", ()) if not n_answered
    ]
    return (
        f"The questions themselves, and no answer of these models, are shown by {', '.join(parts)}."
        if parts
        else ""
    )


def _why_not(
    lock: Mapping[str, Any], state: Mapping[str, Any] | None, all_locks: Sequence[Mapping[str, Any]]
) -> str:
    if state is None:
        return (
            "this lock comes from a release that stored no state, so nobody can check what it "
            "fixed."
        )
    if lock_id(lock["settings"]) != lock["lock_id"]:
        return "this lock was changed after it was stored."
    earlier = [one for one in all_locks if one["created_at"] < lock["created_at"]]
    if earlier:
        page = earlier[0]["settings"].get("page", "decomposition").replace("_", " ")
        return f"a lock on {page} had opened these items before these settings were stored."
    n = len(state["items"])
    places = [
        f"{name} shows them for {n_answered:,}"
        for name, _, n_answered in state.get("seen", ())
        if n_answered
    ]
    if places or state.get("seen_before"):
        where = "; ".join(places) or f"another study shows them for {state['seen_before']:,}"
        return (
            f"what the same models answered could be read before: {where} of the {n:,} items "
            "that were set aside."
        )
    if state.get("n_older"):
        return (
            f"answers to {state['n_older']:,} of the {n:,} items that were set aside are older "
            "than this study: whoever had them "
            "could have read them."
        )
    if "readouts" not in state and "verdicts" in state:
        return (
            "this lock comes from a release that fixed no readouts: what was asked or read after "
            "it is counted."
        )
    return ""
