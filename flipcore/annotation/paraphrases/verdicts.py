"""Verdicts on paraphrases: appended rows with hashes of the exact texts and a rule version.

Rows are never changed. To undo, a new row names the one that it takes back. The current state is
derived when reading (`store.queries.paraphrase_states`).
"""

import datetime as dt
from collections.abc import Collection, Mapping

from flipcore.core.errors import BadInput
from flipcore.core.records import digest
from flipcore.store.judgements import CHECKS, PAIR_VERDICTS, reviewer_name, signed
from flipcore.store.rows import RULE_VERSION

VOTES = ("yes", "no", "unsure")
# Rule version of verdicts given after seeing the others', which are no evidence of agreement.
ADJUDICATION = "majority-1/adjudication"
PERSON, MODEL = "person", "model"
KINDS = (PERSON, MODEL)
MAX_NOTE_CHARS = 2_000


def verdict_row(
    pair: Mapping,
    reviewer: str,
    answers: Mapping[str, str | None],
    note: str = "",
    *,
    verdict_id: str = "",
    reviewer_kind: str = PERSON,
    by_choice: bool = False,
    rule_version: str = RULE_VERSION,
    created_at: dt.datetime | None = None,
) -> dict:
    """Return a verdict on `pair` (pair_id, original, paraphrase) as a row of `verdicts`.

    `answers` maps a check to yes, no, unsure, or None if it was not asked. `by_choice` is True if
    the pair did not come up at random but was selected or came first by risk.

    Raises BadInput for any other answer, for a verdict without answers, and for one that settles a
    pair without a person and a reason.
    """
    if reviewer_kind not in KINDS:
        raise BadInput(
            f"A reviewer is a person or a model; this verdict says {str(reviewer_kind)[:40]!r}."
        )
    if rule_version == ADJUDICATION and (reviewer_kind != PERSON or not str(note).strip()):
        raise BadInput(f"The verdict that settles {pair['pair_id']} needs a person and a reason.")
    wrong_answers = [
        f"{check} = {vote!r}"
        for check, vote in answers.items()
        if check not in CHECKS or vote not in (*VOTES, None)
    ]
    if wrong_answers:
        raise BadInput(
            f"A verdict says yes, no or unsure about {', '.join(CHECKS)}; this one says "
            f"{'; '.join(wrong_answers)}."
        )
    if not any(answers.values()):
        raise BadInput(
            f"The verdict on {pair['pair_id']} says nothing: answer at least one of "
            f"{', '.join(CHECKS)}."
        )
    values = {
        "pair_id": pair["pair_id"],
        "reviewer": reviewer_name(reviewer),
        "reviewer_kind": reviewer_kind,
        **{check: answers.get(check) for check in CHECKS},
        "note": str(note).strip()[:MAX_NOTE_CHARS],
        "original_hash": digest(pair["original"]),
        "paraphrase_hash": digest(pair["paraphrase"]),
        "rule_version": rule_version,
    }
    return PAIR_VERDICTS.row(values, row_id=verdict_id, created_at=created_at, by_choice=by_choice)


def settling_row(
    pair: Mapping,
    blind_reviewers: Collection[str],
    reviewer: str,
    answers: Mapping[str, str | None],
    reason: str,
) -> dict:
    """Return the verdict that settles a pair on which the `blind_reviewers` differ.

    Raises BadInput if the reviewer is one of them, or if a check or the reason is missing.
    """
    name = signed(reviewer)
    if name in blind_reviewers:
        raise BadInput(f"{name} has judged this pair already: somebody else has to settle it.")
    if None in answers.values() or set(answers) != set(CHECKS) or not reason.strip():
        raise BadInput("To settle a pair, answer all three questions and give the reason.")
    return verdict_row(pair, name, answers=answers, note=reason, rule_version=ADJUDICATION)


def keeps(verdict: Mapping) -> bool:
    """Return whether this verdict keeps the pair: the meaning is kept and every other check passes.

    Unsure is not yes. A check that was not asked (None, in audits from elsewhere) passes.
    """
    return verdict["meaning"] == "yes" and all(verdict[check] in ("yes", None) for check in CHECKS)
