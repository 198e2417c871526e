"""Verdicts on paraphrases: rows that are only ever added, each with hashes of the exact texts and
the rule it counts under.

Undo is a row that names the one it takes back. What stands is derived when reading
(`store.queries.paraphrase_states`).
"""

import datetime as dt
import re
from collections.abc import Collection, Mapping

from flipcore.access.acting import signature
from flipcore.core.errors import BadInput
from flipcore.core.records import digest
from flipcore.store.rows import RULE_VERSION, now

CHECKS = {
    "meaning": "Does it mean the same?",
    "difficulty": "Is it as hard?",
    "solution_path": "Is it solved the same way?",
}
VOTES = ("yes", "no", "unsure")
# given after seeing the others' verdicts, so it is no evidence of agreement
ADJUDICATION = "majority-1/adjudication"
PERSON, MODEL = "person", "model"
KINDS = (PERSON, MODEL)
MOST_NOTE_CHARS = 2_000
MOST_NAME_CHARS = 80
_ID = re.compile(r"[0-9a-f]{20}")


def reviewer_name(name: str) -> str:
    """The name under which verdicts are kept: trimmed, inner spaces single. Raises BadInput for
    none or an overlong one."""
    name = " ".join(str(name).split())
    if not name or len(name) > MOST_NAME_CHARS or not name.isprintable():
        raise BadInput(
            f"A reviewer's name has 1 to {MOST_NAME_CHARS} printable characters; this one has "
            f"{len(name)}."
        )
    return name


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
    row = {
        "pair_id": pair["pair_id"],
        "reviewer": reviewer_name(reviewer),
        "reviewer_kind": reviewer_kind,
        **{check: answers.get(check) for check in CHECKS},
        "note": str(note).strip()[:MOST_NOTE_CHARS],
        "original_hash": digest(pair["original"]),
        "paraphrase_hash": digest(pair["paraphrase"]),
        "rule_version": rule_version,
        "undoes": None,
        "created_at": created_at or now(),
    }
    own_id = verdict_id if _ID.fullmatch(verdict_id) else digest(*map(str, row.values()))
    return {"verdict_id": own_id, **row, "by_choice": by_choice}


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
    name = reviewer_name(signature(reviewer))
    if name in blind:
        raise BadInput(f"{name} has judged this pair already: somebody else has to settle it.")
    if None in answers.values() or set(answers) != set(CHECKS) or not reason.strip():
        raise BadInput("To settle a pair, answer all three questions and give the reason.")
    return verdict_row(pair, name, answers=answers, note=reason, rule_version=ADJUDICATION)


def undo_row(
    verdict: Mapping, *, verdict_id: str = "", created_at: dt.datetime | None = None
) -> dict:
    """The row that takes a verdict back, in the name of the reviewer who gave it."""
    copied = (
        "pair_id",
        "reviewer",
        "reviewer_kind",
        "original_hash",
        "paraphrase_hash",
        "rule_version",
    )
    row = {name: verdict[name] for name in copied}
    row |= dict.fromkeys(CHECKS) | {
        "note": "",
        "undoes": verdict["verdict_id"],
        "created_at": created_at or now(),
    }
    return {
        "verdict_id": verdict_id if _ID.fullmatch(verdict_id) else digest(*map(str, row.values())),
        **row,
    }


def keeps(verdict: Mapping) -> bool:
    """Did this reviewer find the meaning kept, and all else that was asked? Unsure is not yes; a
    check that was not asked (None: an audit brought in from elsewhere) does not count against the
    pair."""
    return verdict["meaning"] == "yes" and all(verdict[check] in ("yes", None) for check in CHECKS)
