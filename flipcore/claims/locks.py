"""The claim that a result is locked, and the reasons that withhold it."""

from collections.abc import Mapping, Sequence
from typing import Any

from flipcore.claims.claim import Assertion, Claim
from flipcore.core.locks import STATE, lock_id
from flipcore.text.counts import count_of

# The rate is 0, because a lock is looked up and not estimated.
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
    """Claim that a result is locked, or withhold the claim with the reason.

    `all_locks` are the study's locks, oldest first. `n_changed` counts verdicts that are no longer
    those of the lock. `after` says what was asked, read or merged since, "" for nothing. `is_first`
    is True if the lock was stored before any answer. `n_elsewhere` counts items whose answers are
    older than the lock, because a merge brought them.

    The claim is withheld if the lock was changed, has no state or no readouts, or came after
    another lock on the same items. It is also withheld if somebody could have read answers of the
    same models, in another study or before this study was declared.
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
    # If answers existed already, the lock can only promise that nobody could read them.
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
    return claim.not_claimed(_reason_to_withhold(lock, state, all_locks) or older)


def _questions_shown(state: Mapping[str, Any] | None) -> str:
    """Name the other studies that show these questions without answers; "" for none."""
    # States of earlier releases have no "seen".
    seen = (state or {}).get("seen", ())
    parts = [f"{name} ({n_shown:,})" for name, n_shown, n_answered in seen if not n_answered]
    if not parts:
        return ""
    studies = ", ".join(parts)
    return f"The questions themselves, and no answer of these models, are shown by {studies}."


def _reason_to_withhold(
    lock: Mapping[str, Any], state: Mapping[str, Any] | None, all_locks: Sequence[Mapping[str, Any]]
) -> str:
    """Return why a result under this lock is not called locked; "" if it may be."""
    if state is None:
        return (
            "this lock comes from a release that stored no state, so nobody can check what it "
            "fixed."
        )
    # The id is a hash of the settings, so another hash shows a change.
    if lock_id(lock["settings"]) != lock["lock_id"]:
        return "this lock was changed after it was stored."
    earlier = [
        other_lock for other_lock in all_locks if other_lock["created_at"] < lock["created_at"]
    ]
    if earlier:
        # Locks of the first releases name no page: they all belong to the decomposition.
        page = earlier[0]["settings"].get("page", "decomposition").replace("_", " ")
        return f"a lock on {page} had opened these items before these settings were stored."
    n = len(state["items"])
    studies_shown = [
        f"{name} shows them for {n_answered:,}"
        for name, _, n_answered in state.get("seen", ())
        if n_answered
    ]
    if studies_shown or state.get("seen_before"):
        where = "; ".join(studies_shown) or f"another study shows them for {state['seen_before']:,}"
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
