"""The claim of the word "locked", and when it may not be said."""

from collections.abc import Mapping, Sequence
from typing import Any

from flipcore.claims.claim import Assertion, Claim
from flipcore.core.locks import STATE, lock_id
from flipcore.text.counts import count_of

# The rate is 0: whether a lock holds is looked up and not estimated.
LOCKED = Assertion(
    "locked",
    (
        "computed on answers that nobody could read before these settings were stored, at the "
        "state of that moment"
    ),
    error_rate=0.0,
    sides=1,
    family="each lock",
    worlds=(
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
    *,
    is_first: bool = False,
    n_elsewhere: int = 0,
) -> Claim:
    """Claim that a result is locked, or withhold it with the reason.

    `all_locks` are those of the study, oldest first; `n_changed` verdicts stand differently today;
    `after` says what was asked, read or merged since, "" if nothing was. `is_first`: the lock was
    stored before any answer; `n_elsewhere` items have answers that are older than it all the same,
    which a merge brought.

    It is withheld where the lock was changed, keeps no state or no readouts, came after another
    lock had opened the same items, or where somebody could have read what the same models
    answered: in another study, or before this one was declared.
    """
    state = lock["settings"].get(STATE)
    changes = ""
    if n_changed:
        changes = (
            f"{count_of(n_changed, 'verdict has', 'verdicts have')} changed since; the result is "
            "that of the lock."
        )
    later = " ".join(filter(None, (changes, after))) or "Nothing has changed since."
    n_items = len(state["items"]) if state else 0
    # Where answers existed already, the lock can promise only that nobody could read them.
    moment = "anybody could read what the models answered to them"
    if is_first:
        moment = "any answer of these models to them was here"
    claim = Claim(
        LOCKED,
        "locked",
        f"Locked: {count_of(n_items, 'item was', 'items were')} set aside, and these settings "
        f"were stored before {moment}.",
        asserted=True,
        detail=" ".join(filter(None, (_questions_shown(state), later))),
        numbers={"n_items": n_items, "n_verdicts_changed": n_changed},
    )
    older = ""
    if n_elsewhere:
        older = (
            f"{count_of(n_elsewhere, 'item has an answer', 'items have answers')} that "
            f"{'is' if n_elsewhere == 1 else 'are'} older than this lock."
        )
    return claim.not_claimed(_why_not(lock, state, all_locks) or older)


def _questions_shown(state: Mapping[str, Any] | None) -> str:
    """Name the other studies that show the questions themselves."""
    # A state of an earlier release holds no "seen".
    seen = (state or {}).get("seen", ())
    parts = [f"{name} ({n_shown:,})" for name, n_shown, n_answered in seen if not n_answered]
    if not parts:
        return ""
    studies = ", ".join(parts)
    return f"The questions themselves, and no answer of these models, are shown by {studies}."


def _why_not(
    lock: Mapping[str, Any], state: Mapping[str, Any] | None, all_locks: Sequence[Mapping[str, Any]]
) -> str:
    if state is None:
        return (
            "this lock comes from a release that stored no state, so nobody can check what it "
            "fixed."
        )
    # The id is a hash of the settings.
    if lock_id(lock["settings"]) != lock["lock_id"]:
        return "this lock was changed after it was stored."
    earlier = [
        other_lock for other_lock in all_locks if other_lock["created_at"] < lock["created_at"]
    ]
    if earlier:
        # Locks of the first releases named no page: there was only that of the decomposition.
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
            f"what the same models answered could be read before: {where} of the {n:,} items that "
            "were set aside."
        )
    if state.get("n_older"):
        return (
            f"answers to {state['n_older']:,} of the {n:,} items that were set aside are older "
            "than this study: whoever had them could have read them."
        )
    if "readouts" not in state and "verdicts" in state:
        return (
            "this lock comes from a release that fixed no readouts: what was asked or read after "
            "it is counted."
        )
    return ""
