"""What the word "locked" claims, and when it may not be said."""

from collections.abc import Mapping, Sequence
from typing import Any

from flipcore.claims.claim import Assertion, Claim
from flipcore.core.locks import STATE, lock_id
from flipcore.text.counts import count_of

LOCKED = Assertion(
    "locked",
    "computed on items that nobody could read before these settings were stored, at the state of that moment",
    0.0,
    1,
    "each lock",
    ("settings changed after the lock", "opened by an earlier lock", "answers shown in another study", "no state stored"),
)
ASSERTIONS = (LOCKED,)


def locked_claim(lock: Mapping[str, Any], all_locks: Sequence[Mapping[str, Any]], n_changed: int = 0) -> Claim:
    """`all_locks` are those of the study, oldest first; `n_changed` verdicts stand differently today.

    Withheld where the lock was changed, keeps no state, came after another lock had opened the same items, or where another
    study shows what the same models answered to them."""
    state = lock["settings"].get(STATE)
    later = (
        f"{count_of(n_changed, 'verdict has', 'verdicts have')} changed since; the result is that of the lock."
        if n_changed
        else "Nothing has changed since."
    )
    n = len(state["items"]) if state else 0
    claim = Claim(
        LOCKED,
        "locked",
        f"Locked: {count_of(n, 'item was', 'items were')} set aside, and these settings were stored before anybody could read them.",
        True,
        later,
        "",
        {"n_items": n, "n_verdicts_changed": n_changed},
    )
    return claim.not_claimed(_why_not(lock, state, all_locks))


def _why_not(lock: Mapping[str, Any], state: Mapping[str, Any] | None, all_locks: Sequence[Mapping[str, Any]]) -> str:
    if state is None:
        return "this lock comes from a release that stored no state, so nobody can check what it fixed."
    if lock_id(lock["settings"]) != lock["lock_id"]:
        return "this lock was changed after it was stored."
    earlier = [one for one in all_locks if one["created_at"] < lock["created_at"]]
    if earlier:
        page = earlier[0]["settings"].get("page", "decomposition").replace("_", " ")
        return f"a lock on {page} had opened these items before these settings were stored."
    if state.get("seen_before"):
        return (
            f"another study shows what the same models answered to {state['seen_before']:,} of the {len(state['items']):,} "
            "items that were set aside."
        )
    return ""
