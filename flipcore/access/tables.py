"""Rules per table: the permission to write a row, the column of the person, and the logged act."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flipcore.access.acting import OWNER, Permission, Person, acting, refusal, require
from flipcore.core.errors import AccessDenied


@dataclass(frozen=True)
class Rule:
    """The rule of one table.

    `person_column` has the name of the person of a row, "" for tables without one. `act` is the
    name of the act in the log, "" if it is not logged. `target_column` says on what it was done.
    """

    needs: Permission
    person_column: str = ""
    act: str = ""
    target_column: str = "study_id"


# Rows that reading leaves behind: vectors of a map, a threshold that was moved.
_TRACE = Rule(Permission.READ)
_RUN, _BRING = Rule(Permission.RUN), Rule(Permission.BRING)
RULES: dict[str, Rule] = {
    "store_info": _BRING,
    "items": _BRING,
    "studies": _RUN,
    "study_items": Rule(Permission.DECIDE),
    "variants": _RUN,
    "study_variants": _RUN,
    "completions": _RUN,
    "study_calls": _RUN,
    "purchases": _RUN,
    "budgets": Rule(Permission.RUN, "author", act="set a budget"),
    "readouts": _RUN,
    "late_readouts": _RUN,
    "readout_sources": _RUN,
    "item_runs": _RUN,
    "paraphrases": Rule(
        Permission.BRING, person_column="", act="brought in paraphrases", target_column="dataset"
    ),
    "verdicts": Rule(
        Permission.JUDGE, "reviewer", act="judged a paraphrase", target_column="pair_id"
    ),
    "flip_verdicts": Rule(Permission.DECIDE, "reviewer", act="marked a flip"),
    "locks": Rule(Permission.DECIDE, "reviewer", act="stored a lock"),
    "decisions": Rule(Permission.DECIDE, "reviewer", act="wrote a decision"),
    "open_questions": Rule(Permission.DECIDE, "author", act="wrote down an open question"),
    "threshold_moves": _TRACE,
    "embeddings": _TRACE,
    "surveys": Rule(
        Permission.BRING, person_column="", act="built a survey", target_column="survey_id"
    ),
    "survey_answers": Rule(
        Permission.ANSWER, "annotator", act="answered a survey", target_column="survey_id"
    ),
    "holdout_versions": Rule(
        Permission.DECIDE, "author", act="kept a version of a retro set", target_column="name"
    ),
    "judge_labels": Rule(
        Permission.DECIDE, "reviewer", act="labelled an output", target_column="call_id"
    ),
    "key_verdicts": Rule(
        Permission.DECIDE, "reviewer", act="reviewed a key", target_column="item_id"
    ),
    "control_pairs": Rule(
        Permission.BRING, "made_by", act="matched controls", target_column="benchmark_id"
    ),
    "invitations": Rule(
        Permission.ACCESS, "issued_by", act="invited somebody", target_column="name"
    ),
    "invitation_events": Rule(
        Permission.ACCESS, "who", act="changed an invitation", target_column="invitation_id"
    ),
    "acts": Rule(Permission.READ, "who"),
}
_OTHER = Rule(Permission.FILES)


def rule_of(table: str) -> Rule:
    """Return the rule of a table; only admins may write to a table without one."""
    return RULES.get(table, _OTHER)


def check_write(parts: Sequence[tuple[str, list[dict]]]) -> Person:
    """Return the acting person, if they may write these parts: (table, rows) each.

    Raises AccessDenied, with a sentence, for their level, for rows with another person's name, and
    for answers to another survey than theirs.
    """
    person = acting()
    if person == OWNER:
        return person
    for table, rows in parts:
        rule = rule_of(table)
        require(rule.needs, person)
        if not person.may(Permission.BRING) and rule.person_column:
            _check_own(table, rule, rows=rows, person=person)
    return person


def _check_own(table: str, rule: Rule, rows: Sequence[Mapping[str, Any]], person: Person) -> None:
    """Check rows of a person who may write only their own ones, of their own survey."""
    for row in rows:
        is_model = row.get("is_model") or row.get("reviewer_kind", "person") != "person"
        if is_model or row[rule.person_column] != person.name:
            raise AccessDenied(
                "This carries another name than yours, so it was not stored. Open your own "
                "invitation link."
            )
        if table == "survey_answers" and person.survey and row["survey_id"] != person.survey:
            raise AccessDenied(refusal(Permission.READ, person))
