"""Permission that a row of each table needs, whose name it carries, and which rows are acts for the
log of who did what."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flipcore.access.acting import OWNER, Permission, Person, acting, refusal, require
from flipcore.core.errors import AccessDenied


@dataclass(frozen=True)
class Rule:
    """`person_column` has the name of whoever did it, `act` is what the log calls it ("" for rows
    that are no act), `on` the column that says on what."""

    needs: Permission
    person_column: str = ""
    act: str = ""
    on: str = "study_id"


# what looking leaves behind: vectors of a map, a threshold that was moved
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
        Permission.BRING, person_column="", act="brought in paraphrases", on="dataset"
    ),
    "verdicts": Rule(Permission.JUDGE, "reviewer", act="judged a paraphrase", on="pair_id"),
    "flip_verdicts": Rule(Permission.DECIDE, "reviewer", act="marked a flip"),
    "locks": Rule(Permission.DECIDE, "reviewer", act="stored a lock"),
    "decisions": Rule(Permission.DECIDE, "reviewer", act="wrote a decision"),
    "open_questions": Rule(Permission.DECIDE, "author", act="wrote down an open question"),
    "threshold_moves": _TRACE,
    "embeddings": _TRACE,
    "surveys": Rule(Permission.BRING, person_column="", act="built a survey", on="survey_id"),
    "survey_answers": Rule(Permission.ANSWER, "annotator", act="answered a survey", on="survey_id"),
    "holdout_versions": Rule(
        Permission.DECIDE, "author", act="kept a version of a retro set", on="name"
    ),
    "judge_labels": Rule(Permission.DECIDE, "reviewer", act="labelled an output", on="call_id"),
    "key_verdicts": Rule(Permission.DECIDE, "reviewer", act="reviewed a key", on="item_id"),
    "control_pairs": Rule(Permission.BRING, "made_by", act="matched controls", on="benchmark_id"),
    "invitations": Rule(Permission.ACCESS, "issued_by", act="invited somebody", on="name"),
    "invitation_events": Rule(
        Permission.ACCESS, "who", act="changed an invitation", on="invitation_id"
    ),
    "acts": Rule(Permission.READ, "who"),
}
_OTHER = Rule(Permission.FILES)  # a table without a rule is for the admin alone


def rule_of(table: str) -> Rule:
    """Rule of a table's rows; those of one that has no rule are the admin's alone."""
    return RULES.get(table, _OTHER)


def check_write(parts: Sequence[tuple[str, list[dict]]]) -> Person:
    """The person who acts, where they may write these rows. Raises AccessDenied with a sentence
    where they may not: for their level, for rows under another's name, and for another survey than
    theirs."""
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
    """Whoever may not bring in what others did writes rows of their own, of their own survey, as a
    person."""
    for row in rows:
        if (
            row[rule.person_column] != person.name
            or row.get("reviewer_kind", "person") != "person"
            or row.get("is_model")
        ):
            raise AccessDenied(
                "This carries another name than yours, so it was not stored. Open your own "
                "invitation link."
            )
        if table == "survey_answers" and person.survey and row["survey_id"] != person.survey:
            raise AccessDenied(refusal(Permission.READ, person))
