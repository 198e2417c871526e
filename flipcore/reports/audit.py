"""The audit of a stored study, for the page and the command line alike."""

from dataclasses import dataclass

import pandas as pd

from flipcore.claims.audit import findings
from flipcore.claims.audit_checks import Coverage, coverage
from flipcore.claims.audit_input import AuditInput, Finding, spoken_name
from flipcore.core.errors import BadInput
from flipcore.core.records import BASE, IDENTITY
from flipcore.reports.rereading import rereadings
from flipcore.store.connection import Store
from flipcore.store.queries import audit as queries
from flipcore.store.queries import studies
from flipcore.text.counts import count_of

ALONE = (
    "Each p is corrected: of models over all pairs (Holm, as on Ranking), everything else over the log (false-discovery rate)."
)
WRONG, LESS_SURE, UNDECIDED, ASIDE = GRADES = ("Does not hold", "Makes the score less sure", "Undecided", "Worth knowing")
_LESS_SURE = (  # findings that the score may have, and that it needs to be quoted with
    *("readouts", "standard error", "keys at one place", "one answer always", "wordings", "repeated items", "re-read"),
    *("unreadable", "failed", "were cut off"),
)
_ASIDES = ("repeats", "prompts", "two logs")  # what the rows show, whatever they show


def grade(one: Finding) -> str:
    """Whether something does not hold, makes the score less sure, is undecided, or is worth knowing. A test that is undecided
    contradicts nothing, nor does a reading again that changed no answer."""
    if one.about in _ASIDES or (one.about == "re-read" and not one.items):
        return ASIDE
    if one.claim.assertion is not None and not one.claim.is_made:
        return UNDECIDED
    return LESS_SURE if one.about in _LESS_SURE else WRONG


@dataclass(frozen=True)
class Audit:
    """`recognised` in one line, `findings` worst first, `notes` from the import, `coverage`: which checks the log allows. `what` was
    audited: a "log" or a "study"."""

    recognised: str
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    coverage: Coverage
    what: str = "log"

    def of(self, *grades: str) -> tuple[Finding, ...]:
        """The findings of these grades, one grade after the other."""
        graded = self.graded
        return tuple(one for kind in grades for _, one in graded.get(kind, ()))

    @property
    def graded(self) -> dict[str, list[tuple[int, Finding]]]:
        """Each grade that has findings, the worst grade first -> them, each behind its number among all."""
        every = [(grade(one), number, one) for number, one in enumerate(self.findings, start=1)]
        by_grade = {kind: [(number, one) for mine, number, one in every if mine == kind] for kind in GRADES}
        return {kind: several for kind, several in by_grade.items() if several}

    @property
    def headline(self) -> str:
        """Whether the log holds, in a sentence."""
        n_wrong, n_less = len(self.of(WRONG)), len(self.of(LESS_SURE))
        hold, make = ("does not hold" if n_wrong == 1 else "do not hold"), ("makes" if n_less == 1 else "make")
        wrong = f"{count_of(n_wrong, 'thing')} in this {self.what} {hold}"
        if n_wrong:
            return f"{wrong}, and {n_less:,} {make} its score less sure." if n_less else f"{wrong}."
        if n_less:
            return f"Nothing contradicts this {self.what}; {count_of(n_less, 'thing')} {make} its score less sure."
        return f"Nothing that could be checked contradicts this {self.what}. {self.coverage.sentence}"

    def text(self) -> str:
        """For a terminal."""
        lines = [self.headline, self.recognised, ALONE]
        for kind, several in self.graded.items():
            lines += ["", f"{kind}:"]
            for number, one in several:
                lines += [f"{number}. {one.claim.text}"] + [f"   {one.claim.detail}"] * bool(one.claim.detail)
        lines += ["", "Checks that could not be made:"] * bool(self.coverage.lacking)
        lines += [f"- {one}" for one in self.coverage.lines()]
        return "\n".join(lines + [""] * bool(self.notes) + [f"Note: {note}" for note in self.notes])


def audit(store: Store, study_id: str) -> Audit:
    """Raises BadInput for a study that is not stored or has no readout yet."""
    study = studies.study(store, study_id)
    frame = _with_own_prompt(studies.readouts(store, study_id, everything=True))
    if study is None or frame.empty:
        raise BadInput("This study holds no readout to audit. Import a log, or run the study first.")
    audit_input = AuditInput(
        frame,
        queries.items(store, study_id),
        queries.calls(store, study_id),
        _with_own_prompt(studies.readouts(store, study_id)),
        queries.reported(study),
        queries.notes(study),
        study.scorer_names,
        queries.prompts(store, study_id),
        queries.facts(study),
    )
    formats = ", ".join(name for source in study.items for name in source.options.get("formats", ())) or "study"
    models, names = list(frame["model"].unique()), [spoken_name(one) for one in frame["extractor"].unique()]
    recognised = (
        f"{formats}: {count_of(frame['item_id'].nunique(), 'item')}, {count_of(int(audit_input.calls['n'].sum()), 'call')}, "
        f"{', '.join(models[:3])}{f' and {len(models) - 3} more' if len(models) > 3 else ''}; read by {', '.join(names)}."
    )
    several = sorted([*findings(audit_input), *rereadings(store, study_id)], key=lambda one: -one.rank)
    what = "log" if study.is_recorded else "study"
    return Audit(recognised, tuple(several), tuple(audit_input.notes), coverage(audit_input), what)


def _with_own_prompt(frame: pd.DataFrame) -> pd.DataFrame:
    """A table's base stands under the axis of its versions alone; what is said of a log's own prompt is said of it."""
    if frame.empty or (frame["axis"] == IDENTITY).any():
        return frame
    bases = frame[frame["variant"] == BASE].drop_duplicates(["model", "item_id", "sample", "extractor"])
    return pd.concat([frame, bases.assign(axis=IDENTITY)], ignore_index=True)
