"""The audit of a stored study, for the page and the command line alike."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from flipcore.annotation.gates import OWN_PROMPT, UNCOMPARED_JUDGE, UNPASSED_JUDGE, closed_gates
from flipcore.annotation.judge_labels import labelled_readouts
from flipcore.claims.audit import TWO_MODELS, findings
from flipcore.claims.audit_checks import Coverage, coverage
from flipcore.claims.audit_input import AuditInput, Finding, legible, scored, spoken_name
from flipcore.claims.claim import Claim
from flipcore.claims.score import readout_words
from flipcore.core.errors import BadInput
from flipcore.core.grade_scales import scale_of
from flipcore.core.records import BASE, IDENTITY
from flipcore.core.study import Study
from flipcore.datasets.tables.graders import pairs_of_one_aspect, says_half_right
from flipcore.datasets.tables.stems import words_of
from flipcore.extractors import count_alike
from flipcore.reports.choices import choices_report, leaders_report, leading_models
from flipcore.reports.log_scores import leading
from flipcore.reports.rereading import rereadings
from flipcore.reports.rows import claim_fields
from flipcore.reports.whole_study import WholeStudy
from flipcore.stats.base.estimate import number_text, percent_text
from flipcore.store.connection import Store
from flipcore.store.queries import audit as queries
from flipcore.store.queries import studies
from flipcore.store.queries.locks import sight
from flipcore.store.queries.readout_rows import all_and_comparable
from flipcore.text.counts import count_of, with_capital, without_capital

LEAST_SHARED = 0.9  # share of the items that a variant needs to be compared with others
LEAST_SPREAD = 0.005  # smallest disagreement of extractors that the headline mentions
# An extractor that read fewer items than this share of the most that any extractor read is not
# compared.
LEAST_READ = 0.5
COMPARISONS_NOTE = (
    "Scores are compared on the own prompt. Each p is corrected: of models over all pairs (Holm, as"
    " on Ranking), everything else over the log (false-discovery rate)."
)
WRONG, LESS_SURE, UNDECIDED, ASIDE = GRADES = (
    "Does not hold",
    "Makes the score less sure",
    "Undecided",
    "Worth knowing",
)
# Kinds of findings that do not refute a score but have to be stated with it.
_LESS_SURE = set(
    "readouts|standard error|keys at one place|one answer always|wordings|repeated items|re-read"
    "|unreadable|failed|were cut off|refusals|empty answers|silent cuts|cached runs|averaged runs"
    "|keys alone|part of the items|model by its file|no score|two columns|percentages|rows alike"
    "|formulas".split("|")
)
# Kinds of findings that are never a fault.
_ASIDES = ("repeats", "prompts", TWO_MODELS, "keys of one model")
MAX_MODELS = 3  # most models that the line about the log names
# Most pairs of models in the short text. They have a place of their own there, because most people
# open a log to see which model is better.
MAX_COMPARED = 3


def grade(finding: Finding) -> str:
    """Return how grave a finding is, as one of `GRADES`."""
    # A re-reading that changed no answer contradicts nothing.
    if finding.about in _ASIDES or (finding.about == "re-read" and not finding.items):
        return ASIDE
    # A test that does not assert its claim contradicts nothing either.
    if finding.claim.assertion is not None and not finding.claim.is_made:
        return UNDECIDED
    return LESS_SURE if finding.about in _LESS_SURE else WRONG


@dataclass(frozen=True)
class Audit:
    """The result of an audit.

    `recognised` describes the log in one line. The worst of the `findings` come first. `notes` are
    those of the import. `coverage` says which checks the log allows. `subject` is "log" or "study".
    `spread` is a sentence on how far extractors disagree, or "".
    """

    recognised: str
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    coverage: Coverage
    subject: str = "log"
    spread: str = ""

    def of_grades(self, *grades: str) -> tuple[Finding, ...]:
        """Return the findings of these grades, in the order of `grades`."""
        by_grade = self.graded
        matching: list[Finding] = []
        for name in grades:
            matching += [finding for _, finding in by_grade.get(name, ())]
        return tuple(matching)

    @property
    def graded(self) -> dict[str, list[tuple[int, Finding]]]:
        """Grade -> (number among all findings, finding), the worst grade first."""
        by_grade: dict[str, list[tuple[int, Finding]]] = {name: [] for name in GRADES}
        for number, finding in enumerate(self.findings, start=1):
            by_grade[grade(finding)].append((number, finding))
        return {name: numbered for name, numbered in by_grade.items() if numbered}

    @property
    def compared(self) -> list[tuple[int, Finding]]:
        """The findings on pairs of models in the short text, each as (number among all findings,
        finding)."""
        compared = []
        for number, finding in enumerate(self.findings, start=1):
            if finding.about == TWO_MODELS:
                compared.append((number, finding))
        return compared[:MAX_COMPARED]

    @property
    def comparisons(self) -> str:
        """A sentence on the prompt that scores are compared on, and on the correction of p."""
        return COMPARISONS_NOTE if self.subject == "log" else _of_study(COMPARISONS_NOTE)

    @property
    def headline(self) -> str:
        """The number of checks and failures, and how far extractors disagree."""
        n_wrong, n_less = len(self.of_grades(WRONG)), len(self.of_grades(LESS_SURE))
        make = "makes" if n_less == 1 else "make"
        less = f"{count_of(n_less, 'thing')} {make} the score less sure" if n_less else ""
        checks = self.coverage.sentence
        if n_wrong:
            hold = "does not hold" if n_wrong == 1 else "do not hold"
            wrong = f"{count_of(n_wrong, 'thing')} in this {self.subject} {hold}"
            sentence = f"{wrong}, and {less}. {checks}" if less else f"{wrong}. {checks}"
        elif self.coverage.n_possible:
            none_failed = f"{checks.removesuffix('.')}; none failed"
            sentence = f"{none_failed}, but {less}." if less else f"{none_failed}."
        else:
            sentence = f"{checks} {with_capital(less)}." if less else checks
        return f"{sentence} {self.spread}".rstrip()

    def text(self) -> str:
        lines, number = [self.headline, self.recognised, self.comparisons], 0
        for name, numbered in self.graded.items():
            lines += ["", f"{name}:"]
            for _, finding in numbered:
                # The text is sorted by grade, so its numbers are not those of `graded`.
                number += 1
                lines.append(f"{number}. {finding.claim.text}")
                if finding.claim.detail:
                    lines.append(f"   {finding.claim.detail}")
        if self.coverage.lacking:
            lines += ["", "Checks that could not be made:"]
        lines += [f"- {line}" for line in self.coverage.lines()]
        if self.notes:
            lines.append("")
        return "\n".join([*lines, *(f"Note: {note}" for note in self.notes)])


def audit(store: Store, study_id: str) -> Audit:
    """Audit a stored study. Raises BadInput if it is not stored or has no readout yet."""
    study = studies.study(store, study_id)
    scope = sight(store, study_id, None)
    everything, harmless = all_and_comparable(store, study_id, scope, "standing")
    frame = _at_own_prompt(everything)
    if study is None or frame.empty:
        raise BadInput(
            "This study holds no readout to audit. Import a log, or run the study first."
        )
    reported = queries.reported(study)
    # Each of several logs reports scores of its own rows, so each row needs its file.
    if any("file" in score for score in reported):
        frame = _with_files(frame, queries.files_of_outputs(store, study_id))
    outputs = queries.output_tables(store, study_id)
    scales = {}
    for scorer in study.scorers:
        if "low" in scorer and "high" in scorer:
            scales[str(scorer["task"]), str(scorer["scorer"])] = scale_of(scorer)
    extractors = list(map(str, frame["extractor"].unique()))
    audit_input = AuditInput(
        frame=frame,
        items=queries.items(store, study_id),
        calls=queries.calls(store, study_id),
        harmless=_scored_alike(_at_own_prompt(harmless, keeps_versions=True)),
        reported=reported,
        notes=queries.notes(study),
        scorers=study.scorer_names,
        one_aspect=pairs_of_one_aspect(extractors, _graders(study)),
        half_right=frozenset(filter(says_half_right, extractors)),
        scales=scales,
        prompts=queries.prompts(store, study_id),
        facts=queries.facts(study),
        reruns=outputs.reruns,
        unchecked=_unchecked(store, study, extractors),
        has_raters=study.has_raters,
        outputs=outputs.named,
        lengths=outputs.lengths,
    )
    all_findings = [*findings(audit_input), *rereadings(store, study_id)]
    worst_first = sorted(all_findings, key=lambda finding: -finding.rank)
    covered = coverage(audit_input)
    # The sentences speak of a log; a study that asked the models itself is not one.
    if not study.is_recorded:
        for i, finding in enumerate(worst_first):
            sentence, detail = _of_study(finding.claim.sentence), _of_study(finding.claim.detail)
            claim = replace(finding.claim, sentence=sentence, detail=detail)
            worst_first[i] = replace(finding, claim=claim)
        lacking = tuple((title, _of_study(reason)) for title, reason in covered.lacking)
        covered = replace(covered, lacking=lacking)
    formats: list[str] = []
    for source in study.items:
        formats += source.options.get("formats", ())
    models = list(frame["model"].unique())
    named = ", ".join(models[:MAX_MODELS])
    if len(models) > MAX_MODELS:
        named += f" and {len(models) - MAX_MODELS} more"
    subject, kind = ("log", "table") if study.is_recorded else ("study", "study")
    scorers = ", ".join(map(spoken_name, extractors))
    n_items = count_of(frame["item_id"].nunique(), "item")
    n_calls = count_of(int(audit_input.calls["n"].sum()), "call")
    recognised = (
        f"{', '.join(formats) or kind}: {n_items}, {n_calls}, {named}; scores by {scorers}."
    )
    return Audit(
        recognised=recognised,
        findings=tuple(worst_first),
        notes=tuple(audit_input.notes),
        coverage=covered,
        subject=subject,
        spread=_spread(frame, subject, study.table_scores),
    )


def _graders(study: Study) -> frozenset[str]:
    """Return the names that a table's column of judges or raters holds, or its numbers of grades.

    A column of metrics names what was measured, and not who graded.
    """
    graders: set[str] = set()
    for source in study.items:
        words = set(words_of(source.columns.get("scorer", "")))
        if words and not words & _ABOUT_ASPECTS:
            graders |= {str(scorer["scorer"]) for scorer in source.options.get("scorers", ())}
    return frozenset(graders)


# Words of a column that names the aspects of an output, or the metrics.
_ABOUT_ASPECTS = set("scorer metric aspect dimension criterion criteria".split())


def _spread(frame: pd.DataFrame, subject: str, table_scores: Collection[str] = ()) -> str:
    """Say how far extractors disagree on the share of right answers. The sentence is about the
    model and task with the widest disagreement. `table_scores` read nothing."""
    base = frame[(frame["variant"] == BASE) & (frame["axis"] == IDENTITY)]
    if base["extractor"].nunique() < 2:
        return ""
    base = scored(base)
    is_right_or_wrong = base["score"].isna() | base["score"].isin((0.0, 1.0))
    # Of a score with grades, the items whose grade is 0 or 1 are no fair part of all.
    graders = base.loc[~is_right_or_wrong, "extractor"].unique()
    base = legible(base[base["score"].notna() & ~base["extractor"].isin(graders)])
    widest, sentence = LEAST_SPREAD, ""
    for (model, task), part in base.groupby(["model", "task"], sort=False, observed=True):
        by_extractor = part.groupby("extractor", sort=False, observed=True)
        n_read = by_extractor["item_id"].nunique()
        shares = by_extractor["score"].mean()[n_read >= LEAST_READ * n_read.max()]
        if len(shares) < 2 or shares.max() - shares.min() < widest:
            continue
        lower, higher, n_shared = _disagreement(part[part["extractor"].isin(shares.index)])
        (low, low_name), (high, high_name) = lower, higher
        if high - low < widest:
            continue
        widest = high - low
        where = f" on {task}" if base["task"].nunique() > 1 else ""
        where += f" for {model}" if base["model"].nunique() > 1 else ""
        if (frame["variant"] != BASE).any():
            where += f", in the {subject}'s own prompt"
        if n_shared:
            where += f", on the {count_of(n_shared, 'output')} that both scored"
        between = f"{number_text(100 * low, 0)} to {percent_text(high)} right{where}"
        sentence = f"Extractors disagree: {between}, depending on which reads the outputs."
        own_names = {low_name, high_name} & set(table_scores)
        if len(own_names) == 2:
            sentence = f"Scores disagree: {between}, by {low_name} and {high_name}."
        elif own_names:
            own_share, equal_share = (low, high) if low_name in own_names else (high, low)
            sentence = (
                f"By {own_names.pop()}, {percent_text(own_share)} are right{where};"
                f" {percent_text(equal_share)} of the answers equal the right one."
            )
    return sentence


def _disagreement(part: pd.DataFrame) -> tuple[tuple[float, str], tuple[float, str], int]:
    """Return the lower and the higher score, each with its name, of the two extractors that differ
    most on the outputs that both scored.

    The third value counts these outputs. It is 0 if both scored all outputs of `part`.
    """
    key = ["item_id", "variant_id", "sample"]
    by_output = part.groupby([*key, "extractor"], sort=False, observed=True)["score"].first()
    wide = by_output.unstack()
    lower, higher, n_shared = (0.0, ""), (0.0, ""), 0
    for first, second in combinations(map(str, wide.columns), 2):
        if not count_alike(first, second):
            continue
        shared = wide[[first, second]].dropna()
        means = sorted((float(shared[name].mean()), name) for name in (first, second))
        if means[1][0] - means[0][0] > higher[0] - lower[0]:
            lower, higher = means
            n_shared = len(shared) if len(shared) < len(wide) else 0
    return lower, higher, n_shared


def _with_files(frame: pd.DataFrame, files: pd.DataFrame) -> pd.DataFrame:
    """Return the readouts with a column `file`: the log that holds the output."""
    output_key = ["model", "item_id", "variant_id", "sample"]
    # An output in several files counts for the first.
    files = files.drop_duplicates(output_key)
    # Categorical columns do not merge with text, so they become text.
    readout_keys = frame[output_key].astype({"model": str, "item_id": str, "variant_id": str})
    merged = readout_keys.merge(files, on=output_key, how="left")
    return frame.assign(file=merged["file"].to_numpy())


def _of_study(words: str) -> str:
    """Replace "log" by "study" in a text about a study that asked the models itself."""
    return re.sub(r"\b(this|the) log\b", r"\1 study", words)


def _at_own_prompt(frame: pd.DataFrame, *, keeps_versions: bool = False) -> pd.DataFrame:
    """Move answers to the own prompt under the identity axis, each once.

    Every axis of a study stores that prompt as its base. An imported table of several versions of
    its prompts stores it only under the axis of these versions. Checks of the own prompt read the
    identity axis. The bases of other axes also stay where they are, to be compared with their
    variants. Those of a table stay only with `keeps_versions`.
    """
    if frame.empty:
        return frame
    axes = frame["axis"].cat.categories.union([IDENTITY])
    has_identity = (frame["axis"] == IDENTITY).any()
    frame = frame.assign(axis=frame["axis"].cat.set_categories(axes))
    bases = frame[frame["variant"] == BASE]
    # Where the identity axis has the answer already, that one is kept.
    bases = bases.sort_values("axis", key=lambda axis: axis != IDENTITY, kind="stable")
    bases = bases.drop_duplicates(["model", "item_id", "sample", "extractor"]).sort_index()
    if keeps_versions or has_identity:
        bases = bases[bases["axis"] != IDENTITY]
    else:
        frame = frame[frame["variant"] != BASE]
    moved = bases.assign(axis=pd.Categorical([IDENTITY] * len(bases), axes))
    return pd.concat([moved, frame], ignore_index=True)


def _scored_alike(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the readouts with scores only if the prompts of an axis can be compared.

    Per axis variants count that at least `LEAST_SHARED` of the items were asked in, and items that
    were asked in all these variants. All other scores become None or NaN.
    """
    if frame.empty:
        return frame
    if frame["variant"].nunique() < 2:
        # A single prompt has nothing to be compared with.
        return frame.assign(is_correct=None, value=np.nan)
    has_score = frame["is_correct"].notna() | frame["value"].notna()
    is_comparable = pd.Series(data=False, index=frame.index)
    for _, part in frame[has_score].groupby(["model", "extractor", "axis"], observed=True):
        n_asked = part.groupby(["item_id", "variant"], observed=True).size()
        was_asked = n_asked.unstack(fill_value=0) > 0
        was_asked = was_asked[was_asked.sum(axis=1) > 1]
        # Items may lack a variant: a question with four options has no fifth rotation.
        variants = was_asked.columns[was_asked.mean() >= LEAST_SHARED]
        items = was_asked.index[was_asked[variants].all(axis=1)]
        is_in_all = part["variant"].isin(variants) & part["item_id"].isin(items)
        is_comparable[part.index[is_in_all]] = True
    is_correct = frame["is_correct"].where(is_comparable, None)
    return frame.assign(is_correct=is_correct, value=frame["value"].where(is_comparable))


# The short text of an audit, in ten lines: the score, what does not hold, and what to do about it.

MAX_SCORES = 3  # most models whose score the short text states
MAX_FINDINGS = 4  # most findings that the short text states
_PLAN = (
    "Run the items and epochs that are missing, and drop what is there twice, before quoting the"
    " score."
)
# What a finding is about -> what to do.
ADVICE = {
    **dict.fromkeys(("rows doubled", "rows missing", "epochs missing", "items of no plan"), _PLAN),
    "no score": "Find out why these rows have no score: they count in no mean.",
    "outside the scale": "Correct the score outside the scale, or name the column that is meant.",
    "two columns": "Say which column is meant, with --map as above.",
    "percentages": "Write percentages with their sign, or as shares.",
    "rows alike": "Say what tells these rows apart, with --map as above.",
    "formulas": "Install what reads formulas, and look at the files again.",
    "rows refused": "Mend the rows that were refused, or say what tells them apart.",
    "files left out": "Give the files that were left out, or leave them away.",
    "several models": "Split the log by the model that answered.",
    "several temperatures": "Split the log by temperature.",
    "wordings": "Ask all items in one wording, or compare the wordings as variants.",
    "own examples": "Take each item out of its own examples and ask it again.",
    "leaked answers": "Take the answer out of the prompt and ask again.",
    "keys at one place": "Shuffle the options, so that no place is right more often.",
    "one answer always": "Look at what the model writes: it does not answer the question.",
    "reported score": (
        "Do not quote the reported score: take the one from the rows, and ask for the rows that are"
        " missing."
    ),
    "score against answer": (
        "Look at the answers that contradict their scores, and mend the scorer."
    ),
    "impossible rate": "Ask how the reported rate was counted: it cannot come from these scores.",
    "contradicting golds": (
        "Settle the right answers that contradict each other before comparing models."
    ),
    "reported error": "Do not quote the reported standard error: take the interval from the rows.",
    "cached runs": "Ask again with the cache turned off before quoting the noise floor.",
    "averaged runs": "Keep the score of each run, and import those.",
    "refusals": "Say how many answers are refusals beside the score.",
    "empty answers": "Find out why these outputs are empty, and ask them again.",
    "silent cuts": "Raise the token limit and ask the cut items again.",
    "keys alone": "Look at these keys first: no answer agrees with them.",
    "model by its file": (
        "Put the results files beside the sample files, or name the models with --map."
    ),
    "part of the items": "Say beside the score that it is of a part of the items.",
    "SCORE rate": "Quote the share of pairs that agree, not lm-eval's rate.",
    "failed": "Run the failed calls again: until then they are left out, or count as wrong.",
    "were cut off": "Raise the token limit and ask the cut items again.",
    "unreadable": "Look at the outputs without an answer, and give their number beside the score.",
    "readouts": "Say which scorer the score is by: another one gives a different score.",
    "repeated items": "Count each question once.",
    "standard error": "Give the interval by subject or template.",
}
DEFAULT_ADVICE = "Open the items behind it: keep the study (--keep) and look at its page Audit."


@dataclass(frozen=True)
class Verdict:
    """The scores of a log, one line per model, and the `audit` of the same rows.

    `every_choice` claims that the best model leads, or is above a bar, in every way of counting. It
    is None if nothing can be varied, and for one model without a bar.
    """

    score_lines: tuple[str, ...]
    audit: Audit
    every_choice: Claim | None = None

    def advice(self) -> list[str]:
        """Return what to do, the most urgent first, each once."""
        faults = self.audit.of_grades(WRONG, LESS_SURE)
        advice = [ADVICE.get(finding.about, DEFAULT_ADVICE) for finding in faults]
        return list(dict.fromkeys(advice))

    def text(self) -> str:
        """Return the answer in ten lines."""
        lines = [*self.score_lines[:MAX_SCORES]]
        n_more_models = len(self.score_lines) - len(lines)
        if n_more_models:
            lines.append(f"… and {count_of(n_more_models, 'further model')} (--all).")
        lines.append(self.audit.headline)
        compared = [finding for _, finding in self.audit.compared]
        lines += [f"- {finding.claim.text}" for finding in compared]
        if self.every_choice:
            lines.append(f"- {self.every_choice.text}")
        faults = self.audit.of_grades(WRONG, LESS_SURE)
        shown = list(faults[:MAX_FINDINGS])
        if not faults:
            other_findings = self.audit.of_grades(ASIDE, UNDECIDED)
            shown = [finding for finding in other_findings if finding not in compared]
            # With the pairs of models these are two lines, so that the text stays short.
            shown = shown[: max(0, 2 - len(compared))]
        lines += [f"- {finding.claim.text}" for finding in shown]
        n_more_faults = len(faults[MAX_FINDINGS:])
        if n_more_faults:
            lines.append(f"- … and {count_of(n_more_faults, 'further finding')} (--all).")
        if faults:
            lines.append(f"What to do: {self.advice()[0]}")
        return "\n".join([*lines, self.audit.recognised])

    def as_dict(self) -> dict[str, Any]:
        return {
            "holds": not self.audit.of_grades(WRONG),
            "headline": self.audit.headline,
            "scores": list(self.score_lines),
            "findings": [_finding_as_dict(finding) for finding in self.audit.of_grades(*GRADES)],
            "every_choice": claim_fields(self.every_choice) if self.every_choice else None,
            "advice": self.advice(),
            "recognised": self.audit.recognised,
            "checks": self.audit.coverage.sentence,
            "notes": list(self.audit.notes),
        }


def _finding_as_dict(finding: Finding) -> dict[str, Any]:
    return {
        "about": finding.about,
        "grade": grade(finding),
        "sentence": finding.claim.text,
        "detail": finding.claim.detail,
        "model": finding.model,
        "extractor": finding.extractor,
        "items": list(finding.items),
    }


def verdict(study: WholeStudy, study_audit: Audit, above: float | None = None) -> Verdict:
    """Return the scores of a study with the findings of its audit.

    `above` is a bar, as a share. With it, `every_choice` says whether the best model's score is
    above the bar, otherwise whether that model leads. Raises BadInput for a bar where nothing has a
    score.
    """
    score_lines = tuple(_score_line(study, model) for model in study.models)
    if above is None:
        report = leaders_report(study)
    else:
        report = choices_report(study, leading_models(study)[0], margin=above)
    return Verdict(score_lines, study_audit, report.claims[0] if report else None)


def _score_line(study: WholeStudy, model: str) -> str:
    """Return the sentence of a model's score and its scorer. A score without an error bar has the
    sentence of the headline of flips."""
    model_score = study.score.find_model(model) if study.score else None
    if model_score:
        claim, scorer = model_score.claim, spoken_name(model_score.reference)
        detail = without_capital(claim.detail)
        line = f"{claim.text} By {scorer}; {detail}".rstrip("; ")
        if claim.withheld == OWN_PROMPT:
            readout = readout_words(model, model_score.bar, scorer, why_unchecked(study.study))
            line = f"{readout} {claim.detail}".rstrip()
        elif claim.withheld:
            # Other reasons say that the number itself is wrong, so it is not shown.
            line = f"{model}: {line}"
        passes = [score.passes_words() for score in leading(study.task_scores, model)]
        return "\n".join([line, *filter(None, passes)])
    score = study.flips[model].headline.score
    sentence = score.text.removeprefix(f"{model}: ") if score else "No score was recorded."
    return f"{model}: {sentence} {study.mismatch(model)}".rstrip()


def _unchecked(store: Store, study: Study, extractors: Sequence[str]) -> dict[str, str]:
    """Return extractor -> why nothing is claimed of it, as a clause, if its gate is closed."""
    reasons = closed_gates(store, study.study_id, axes=(), extractors=extractors)
    if not reasons:
        return {}
    labelled = {row["extractor"] for row in labelled_readouts(store, study.study_id)}
    why_not = {}
    for name in reasons:
        why_not[name] = UNPASSED_JUDGE if name in labelled else why_unchecked(study)
    return why_not


def why_unchecked(study: Study) -> str:
    """Say in a clause why nothing is claimed of a judge's readouts."""
    has_people = any(source.columns.get("people") for source in study.items)
    return UNPASSED_JUDGE if has_people else UNCOMPARED_JUDGE
