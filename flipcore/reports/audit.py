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


@dataclass(frozen=True)
class Audit:
    """`recognised` in one line, `findings` worst first, `notes` from the import, `coverage`: which checks the log allows."""

    recognised: str
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    coverage: Coverage

    @property
    def headline(self) -> str:
        """How many findings there are; without any, how many checks could have made one."""
        n = len(self.findings)
        return f"{count_of(n, 'finding')}, worst first" if n else self.coverage.sentence

    def text(self) -> str:
        """For a terminal."""
        lines = [self.recognised, ALONE, ""]
        for number, one in enumerate(self.findings, start=1):
            lines += [f"{number}. {one.claim.text}"] + [f"   {one.claim.detail}"] * bool(one.claim.detail)
        lines += [self.headline] * (not self.findings)
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
    return Audit(recognised, tuple(several), tuple(audit_input.notes), coverage(audit_input))


def _with_own_prompt(frame: pd.DataFrame) -> pd.DataFrame:
    """A table's base stands under the axis of its versions alone; what is said of a log's own prompt is said of it."""
    if frame.empty or (frame["axis"] == IDENTITY).any():
        return frame
    bases = frame[frame["variant"] == BASE].drop_duplicates(["model", "item_id", "sample", "extractor"])
    return pd.concat([frame, bases.assign(axis=IDENTITY)], ignore_index=True)
