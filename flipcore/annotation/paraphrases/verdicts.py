"""Verdicts on paraphrases: rows that are only ever added, each with hashes of the exact texts and
the rule it counts under.

Undo is a row that names the one it takes back. What stands is derived when reading
(`store.queries.paraphrase_states`).
"""

import datetime as dt
from collections.abc import Collection, Mapping

from flipcore.core.errors import BadInput
from flipcore.core.records import digest
from flipcore.store.judgements import CHECKS, PAIR_VERDICTS, reviewer_name, signed
from flipcore.store.rows import RULE_VERSION

VOTES = ("yes", "no", "unsure")
# given after seeing the others' verdicts, so it is no evidence of agreement
ADJUDICATION = "majority-1/adjudication"
PERSON, MODEL = "person", "model"
KINDS = (PERSON, MODEL)
MOST_NOTE_CHARS = 2_000


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
    """A verdict on `pair` (pair_id, original, paraphrase) as a row of `verdicts`. A check that was
    not asked is None. `by_choice` says that the pair did not come up at random: it was selected, or
    came first by risk.

    Raises BadInput for a word that is not yes, no or unsure, for a verdict that says nothing, and
    for one that settles a pair without a person's reason."""
    if reviewer_kind not in KINDS:
        raise BadInput(
            f"A reviewer is a person or a model; this verdict says {str(reviewer_kind)[:40]!r}."
        )
    if rule_version == ADJUDICATION and (reviewer_kind != PERSON or not str(note).strip()):
        raise BadInput(f"The verdict that settles {pair['pair_id']} needs a person and a reason.")
    wrong = [
        f"{check} = {word!r}"
        for check, word in answers.items()
        if check not in CHECKS or word not in (*VOTES, None)
    ]
    if wrong:
        raise BadInput(
            f"A verdict says yes, no or unsure about {', '.join(CHECKS)}; this one says "
            f"{'; '.join(wrong)}."
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
        "note": str(note).strip()[:MOST_NOTE_CHARS],
        "original_hash": digest(pair["original"]),
        "paraphrase_hash": digest(pair["paraphrase"]),
        "rule_version": rule_version,
    }
    return PAIR_VERDICTS.row(values, row_id=verdict_id, created_at=created_at, by_choice=by_choice)


def settling_row(
    pair: Mapping,
    blind: Collection[str],
    reviewer: str,
    answers: Mapping[str, str | None],
    reason: str,
) -> dict:
    """The verdict that settles a pair on which the reviewers in `blind` differ; it decides,
    whatever they said.

    Raises BadInput where one of them would settle their own pair, or a check or the reason is
    missing."""
    name = signed(reviewer)
    if name in blind:
        raise BadInput(f"{name} has judged this pair already: somebody else has to settle it.")
    if None in answers.values() or set(answers) != set(CHECKS) or not reason.strip():
        raise BadInput("To settle a pair, answer all three questions and give the reason.")
    return verdict_row(pair, name, answers=answers, note=reason, rule_version=ADJUDICATION)


def keeps(verdict: Mapping) -> bool:
    """Did this reviewer find the meaning kept, and all else that was asked? Unsure is not yes; a
    check that was not asked (None: an audit brought in from elsewhere) does not count against the
    pair."""
    return verdict["meaning"] == "yes" and all(verdict[check] in ("yes", None) for check in CHECKS)
