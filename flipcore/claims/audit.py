"""Findings of an audit of one log, worst first.

Most findings describe: a count, a share, or two numbers that disagree. Four assert something
beyond the rows. Two readouts differ in score, or scores differ by subject: these share one
false-discovery rate over the log. One model scores higher than another: the claim of the Ranking
page, with its p over all pairs of models. One model is graded higher: Holm over all pairs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, combinations
from typing import Any

import numpy as np
import pandas as pd

from flipcore.claims.audit_input import (
    MAX_COMPARED,
    N_LISTED,
    NO_ANSWER,
    OURS,
    OWN_PROMPT,
    ROUNDING,
    AuditInput,
    Finding,
    comparable_pairs,
    keep_shares,
    legible,
    scored,
    spoken_name,
    what_differs,
    with_scales,
)
from flipcore.claims.audit_items import (
    GROUPS_DIFFER,
    find_contradicting_golds,
    find_group_differences,
    find_impossible_rates,
    find_repeated_items,
    group_scores,
    questions_of,
)
from flipcore.claims.audit_outputs import output_findings, reported_errors
from flipcore.claims.audit_prompts import prompt_findings
from flipcore.claims.claim import Assertion, Claim, description
from flipcore.claims.ranking import contest, lead_claim, lead_words, round_up
from flipcore.core.finish import ENDED_EARLY
from flipcore.core.records import ABSENT, LOWER_IS_BETTER, OTHER_PROMPT
from flipcore.extractors import EXTRACTORS
from flipcore.stats.audit.paired import grade_gap, n_to_decide, paired_scores
from flipcore.stats.audit.score_rate import score_rates
from flipcore.stats.base.accuracy import accuracy
from flipcore.stats.base.estimate import Estimate, number_text, p_text, percent_text
from flipcore.stats.base.families import UNIT, family_numbers
from flipcore.stats.base.guarded import CLUSTERS_LIKE_SEEN, guarded_limits, guarded_t
from flipcore.stats.base.intervals import SIGNED, mean_interval
from flipcore.stats.base.multiplicity import bh, holm
from flipcore.stats.flips.decomposition import default_reference
from flipcore.stats.flips.surface import column_means, surface
from flipcore.stats.memory.frames import CONTROL_ROLES
from flipcore.stats.ranking.order import order
from flipcore.stats.ranking.ways import scores
from flipcore.stats.score.reducers import MEAN, is_known, item_scores
from flipcore.text.counts import count_of

MAX_ERRORS = 3  # errors of failed calls that a sentence names
IMPORT_WORDS = ("The ", "HELM recorded")  # beginnings of what an import says about a missing text
BELOW_LEADING = 15  # taken from the rank of comparisons by another score than the leading one
TWO_MODELS = "two logs"  # Finding.about: two models on the same items
READOUTS_DIFFER = Assertion(
    "audit readouts",
    "two readouts of the same texts give different scores",
    error_rate=0.05,
    sides=2,
    family="all checks of a log that have a p, false-discovery rate",
    worlds=(
        "no difference",
        "templates",
        "losses in templates, gains alone",
        "a log of many pairs",
        "several samples",
    ),
)
GRADES_DIFFER = Assertion(
    "audit grades of models",
    "one model's answers to all items like these are graded higher than another's",
    error_rate=0.05,
    sides=2,
    family="all pairs of models under one extractor, Holm",
    worlds=(
        "equal graded models",
        "equal graded models, grades near the top",
        "equal graded models on clusters",
    ),
)
ASSERTIONS = (READOUTS_DIFFER, GROUPS_DIFFER, GRADES_DIFFER)
NOT_OF_RANKING = (
    "Described, not claimed. Claims about models use the reference extractor and all tasks."
)


def findings(log: AuditInput) -> list[Finding]:
    """Return all findings, worst first; an empty list if nothing was found."""
    frame, questions = scored(log.frame), questions_of(log.items, log.prompts)
    checks: tuple[Callable[..., Iterator[Finding]], ...] = (
        check_reported_scores,
        find_contradictions,
        find_lost_calls,
        find_unread_outputs,
        compare_models,
        compare_grades,
        find_flips,
        check_score_rate,
    )
    all_findings = list(chain.from_iterable(check(log, frame) for check in checks))
    for fact in log.facts:
        about = str(fact["about"])
        # The stored sentence is part of the study's id, with "1 of 48 row holds".
        sentence = str(fact["sentence"]).replace(
            " row holds no score and count in", " rows holds no score and counts in"
        )
        all_findings.append(Finding(about, description(sentence, about), rank=88))
    all_findings += [
        *prompt_findings(replace(log, frame=frame)),
        *output_findings(log, frame),
        *find_contradicting_golds(log, questions),
        *find_repeated_items(log, questions),
        *find_impossible_rates(log),
        *_readout_and_group_findings(log, frame),
    ]
    extractors = list(dict.fromkeys(frame["extractor"]))
    for i, finding in enumerate(all_findings):
        # Models are compared by the leading score first, by others below it.
        if finding.about == TWO_MODELS:
            is_leading = finding.extractor == default_reference(extractors, log.scorers)
            rank = finding.rank - (0 if is_leading else BELOW_LEADING)
            all_findings[i] = replace(finding, rank=rank)
    return sorted(all_findings, key=lambda finding: -finding.rank)


def _readout_and_group_findings(log: AuditInput, frame: pd.DataFrame) -> Iterator[Finding]:
    """Find readouts and groups that differ, with one false-discovery rate over all their p."""
    by_group = group_scores(log, frame)
    p_groups = [grouped.spread.p for grouped in by_group]
    pairs, disagreements = pair_readouts(log, frame)
    yield from compare_readouts(pairs, disagreements, p_groups)
    adjusted = bh([*p_groups, *(pair.p for pair in pairs)])
    yield from find_group_differences(by_group, adjusted[: len(by_group)])


def check_reported_scores(log: AuditInput, frame: pd.DataFrame) -> Iterator[Finding]:
    """Compare each reported score with the mean of the rows that the log holds."""
    for reported in log.reported:
        name = reported["readout"]
        model_rows = _reported_rows(frame, reported)
        # The metric is of all rows together, such as a corpus BLEU: no row has a score to average.
        if len(model_rows) and (model_rows["status"] == ABSENT).all():
            continue
        scored_rows = model_rows.dropna(subset="score")
        row_scores, n_reported = scored_rows["score"], reported.get("n")
        reducer = reported.get("reducer") or MEAN
        by_item = None
        if is_known(reducer):
            by_item = item_scores(row_scores, scored_rows["item_id"], reducer)
        mean = math.nan if by_item is None else by_item.mean()
        subject = f"{reported['model']} on {reported['task']}, {name}"
        if reducer != MEAN:
            subject += f" ({reducer})"
        if row_scores.empty:
            sentence = (
                f"{subject}: the log reports {number_text(reported['value'], 3)}, and holds no "
                "row of it."
            )
            claim = description(sentence, "no rows")
            yield Finding("reported score", claim, 40, model=reported["model"])
        elif n_reported and max(scored_rows["item_id"].nunique(), len(row_scores)) < n_reported:
            sentence = (
                f"{subject}: the reported {number_text(reported['value'], 3)} is of "
                f"{n_reported:,} rows; the log holds {len(row_scores):,}, with mean "
                f"{number_text(mean, 3)}."
            )
            claim = description(
                sentence, "rows missing", detail="It cannot be recomputed from what is there."
            )
            yield Finding("reported score", claim, 60, model=reported["model"], extractor=name)
        elif abs(mean - reported["value"]) > ROUNDING:
            sentence = (
                f"{subject}: reported {number_text(reported['value'], 3)}, recomputed "
                f"{number_text(mean, 3)} from all {len(row_scores):,} rows."
            )
            claim = description(sentence, "does not hold")
            yield Finding("reported score", claim, 100, model=reported["model"], extractor=name)
        elif by_item is not None:
            yield from _reported_error(log, reported, subject, by_item)


def _reported_error(
    log: AuditInput, reported: Mapping[str, Any], subject: str, by_item: pd.Series
) -> Iterator[Finding]:
    """Find a standard error that is far smaller than the rows allow; `by_item` are the scores."""
    clusters = _clusters(log, by_item.index)
    cluster_of_item = None if clusters is None else pd.Series(clusters, index=by_item.index)
    errors = reported_errors(reported, by_item, cluster_of_item)
    if errors:
        stated, error = (number_text(value, 4) for value in errors)
        sentence = (
            f"{subject}: reported standard error {stated}, recomputed {error} from "
            f"{len(by_item):,} items."
        )
        claim = description(
            sentence, "error too small", detail="Repeats of an item are no items of their own."
        )
        name = reported["readout"]
        yield Finding("reported error", claim, 86, model=reported["model"], extractor=name)


def _reported_rows(frame: pd.DataFrame, reported: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows that a reported score averages, by model, readout, file and task.

    A task that asks another task's items with its own prompt is stored as a variant, which has
    the task's name. If no row has that name, return all rows of this model and readout.
    """
    readouts = (reported["readout"], f"{reported['readout']} (log)")
    rows = frame[(frame["model"] == reported["model"]) & frame["extractor"].isin(readouts)]
    task, file = reported["task"], reported.get("file")
    if file and "file" in rows:
        rows = rows[rows["file"] == file]
        # A log usually holds one task. If another log with the same items was read first, the
        # items have that log's task, and these prompts are further prompts of them.
        is_first_prompt = rows["axis"].isin((OWN_PROMPT, OTHER_PROMPT))
        if is_first_prompt.any():
            return rows[is_first_prompt]
    is_base = rows["axis"] == OWN_PROMPT
    is_task = (is_base & (rows["task"] == task)) | (~is_base & (rows["variant"] == task))
    return rows[is_task] if is_task.any() else rows[is_base]


def find_contradictions(log: AuditInput, frame: pd.DataFrame) -> Iterator[Finding]:
    """Find rows whose recorded right or wrong contradicts the answers that the log holds."""
    frame = keep_shares(frame)
    columns = zip(log.items["item_id"], log.items["target"], strict=True)
    right_answers = {
        item: target.split("\n") for item, target in columns if isinstance(target, str) and target
    }
    # If several options are right, a log does not say whether all must be chosen or one.
    ambiguous = {
        item
        for item, options in zip(log.items["item_id"], log.items["options"], strict=True)
        if len(options) and len(right_answers.get(item, ())) > 1
    }
    is_answered = (frame["status"] == "ok") & frame["answer"].notna()
    rows = frame[is_answered & ~frame["extractor"].isin(OURS) & frame["is_base"]]
    has_one_key = rows["item_id"].isin(right_answers.keys() - ambiguous)
    rows = rows[rows["score"].isin((0.0, 1.0)) & has_one_key]
    is_right = [
        answer in right_answers.get(item, ())
        for item, answer in zip(rows["item_id"], rows["answer"], strict=True)
    ]
    wrong = rows[np.asarray(is_right, dtype=bool) != (rows["score"] == 1)]
    for (model, extractor), part in wrong.groupby(["model", "extractor"], sort=False):
        n = int(((rows["model"] == model) & (rows["extractor"] == extractor)).sum())
        n_right_as_wrong = int((part["score"] == 0).sum())
        sentence = (
            f"{model}, {spoken_name(extractor)}: {len(part):,} of {n:,} scores contradict the "
            f"log's own answer; {n_right_as_wrong:,} right answers count as wrong."
        )
        detail = "Compared after removing case, punctuation and number formats."
        claim = description(sentence, "contradiction", detail=detail)
        rank = 80 + 20 * len(part) / n
        items = _listed_items(part)
        yield Finding(
            "score against answer", claim, rank=rank, items=items, model=model, extractor=extractor
        )


def _listed_items(part: pd.DataFrame) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part["item_id"]))[:N_LISTED]


def find_lost_calls(log: AuditInput, frame: pd.DataFrame) -> Iterator[Finding]:
    """Find outputs that failed or were cut off."""
    for model, part in log.calls.groupby("model", sort=False):
        n = int(part["n"].sum())
        failed = part[part["status"] == "failed"]
        n_failed = int(failed["n"].sum())
        is_cut = part["finish_reason"].isin(ENDED_EARLY) & (part["status"] != "failed")
        # An output limited to one token (a letter) ends by length and is complete.
        is_longer = part["max_tokens"].fillna(0) != 1
        n_cut = int(part.loc[is_cut & is_longer, "n"].sum())
        cases = ((n_failed, "failed", 75), (n_cut, "were cut off", 70))
        for n_lost, word, rank in cases:
            if n_lost:
                share = n_lost / n
                sentence = (
                    f"{model}: {percent_text(share, 1)} of its {n:,} calls {word} ({n_lost:,})"
                )
                sentence += _error_words(failed) if word == "failed" else "."
                claim = description(sentence, word)
                yield Finding(word, claim, rank * (0.5 + 0.5 * n_lost / n), model=str(model))


def _error_words(failed: pd.DataFrame) -> str:
    """Return the errors of failed calls, the commonest first: ": RateLimitError, TypeError."."""
    if "error" not in failed:
        return "."
    n_by_error = failed.groupby("error", sort=False)["n"].sum()
    named = []
    for error in n_by_error.sort_values(ascending=False, kind="stable").index:
        # Sentences of an import, such as "The log holds no text.", name no error.
        is_named = str(error).lower() not in ("error", "failed")
        if error and is_named and not str(error).startswith(IMPORT_WORDS):
            named.append(str(error))
    if not named:
        return "."
    more = f" and {count_of(len(named) - MAX_ERRORS, 'other error')}"
    return f": {', '.join(named[:MAX_ERRORS])}{more if len(named) > MAX_ERRORS else ''}."


def find_unread_outputs(log: AuditInput, frame: pd.DataFrame) -> Iterator[Finding]:
    """Find outputs that the log's own extractor could not read, and how many another one reads."""
    base = frame[frame["is_base"]]
    key = ["model", "item_id", "variant_id", "sample"]
    for (model, extractor), part in base.groupby(["model", "extractor"], sort=False):
        # The extractor was not run on outputs with status absent.
        part = part[part["status"] != ABSENT]
        lost = part[part["status"] == "unreadable"]
        if lost.empty or extractor in OURS:
            continue
        is_lost = (part["status"] == "unreadable").astype(float)
        share = accuracy(is_lost.groupby(part["item_id"]).mean())
        is_other = (base["model"] == model) & (base["extractor"] != extractor)
        other_readouts = base[is_other & (base["status"] == "ok") & base["answer"].notna()]
        detail = _best_extractor_words(other_readouts.merge(lost[key], on=key), len(lost))
        share_text = share.text_percent()
        sentence = (
            f"{model}: {spoken_name(extractor)} finds no answer in {share_text} of the texts "
            f"({len(lost):,} of {len(part):,})."
        )
        claim = description(sentence, "unreadable", detail=detail, share=share)
        rank, items = 50 + 45 * share.value, _listed_items(lost)
        yield Finding(
            "unreadable", claim, rank=rank, items=items, model=str(model), extractor=str(extractor)
        )


def _best_extractor_words(readouts: pd.DataFrame, n_lost: int) -> str:
    """Say how many of the unread outputs the best other extractor reads; "" if none reads any."""
    if readouts.empty:
        return ""
    # A grade cannot be counted as a right answer.
    right = readouts["score"].where(readouts["is_correct"].notna())
    by_extractor = right.groupby(readouts["extractor"]).agg(["size", "count", "sum"])
    best = by_extractor.sort_values("size", kind="stable").iloc[-1]
    name = spoken_name(best.name)
    if best.name in EXTRACTORS:
        name = f"The {name}"
    n_read, n_judged, n_right = int(best["size"]), int(best["count"]), int(best["sum"])
    counts = ""
    if n_judged == n_read:
        counts = f", {n_right:,} of them right"
    elif n_judged:
        counts = f"; of the {n_judged:,} with a right answer, {n_right:,} right"
    return f"{name} reads {n_read:,} of these {n_lost:,}{counts}."


@dataclass(frozen=True, eq=False)
class ReadoutPair:
    """Scores (items,) of one model under two readouts of the same texts.

    `clusters` (items,) are cluster numbers, None if every item is its own cluster. `low` and
    `high` are the ends of the scale that both readouts use.
    """

    model: str
    first: str
    second: str
    first_scores: np.ndarray
    second_scores: np.ndarray
    clusters: np.ndarray | None = None
    low: float = 0.0
    high: float = 1.0

    @property
    def is_graded(self) -> bool:
        return (self.low, self.high) != UNIT

    @cached_property
    def differences(self) -> np.ndarray:
        """Return (items,) second minus first, as shares of the scale."""
        return (self.second_scores - self.first_scores) / (self.high - self.low)

    @cached_property
    def p(self) -> float:
        """Return the p of this pair, not corrected for other pairs."""
        return float(guarded_t(self.differences, SIGNED, self.clusters).p)


def readout_claims(pairs: Sequence[ReadoutPair], other_ps: Sequence[float] = ()) -> list[Claim]:
    """Return one claim per pair of readouts of a log.

    The p are Benjamini-Hochberg adjusted over all pairs and the p of other checks (`other_ps`).
    Each interval agrees with its p: it excludes 0 exactly where p is .05 or less.
    """
    n_tests = len(pairs) + len(other_ps)
    adjusted = bh([*(pair.p for pair in pairs), *other_ps])[: len(pairs)]
    return [_readout_claim(pair, p, n_tests) for pair, p in zip(pairs, adjusted, strict=True)]


def _alpha_of(p: float, adjusted: float, n_tests: int, rate: float) -> float:
    """Return the one-sided alpha of the limits that exclude 0 exactly if `adjusted` <= `rate`."""
    # An adjusted p of 0 or 1 gives no ratio, so such a pair gets Bonferroni's share of the rate.
    share = p / adjusted if 0 < adjusted < 1 else 1 / n_tests
    return rate * share / 2


def _negated(difference: Estimate) -> Estimate:
    return replace(difference, value=-difference.value, low=-difference.high, high=-difference.low)


def _readout_claim(pair: ReadoutPair, p: float, n_tests: int) -> Claim:
    """Claim that two readouts differ; `p` is adjusted over the `n_tests` checks of the log."""
    alpha = _alpha_of(pair.p, p, n_tests, READOUTS_DIFFER.error_rate)
    compare = _describe_grades if pair.is_graded else _describe_shares
    sentence, detail, gap = compare(pair, p, alpha)
    family = f"{n_tests} checks of this log (false-discovery rate)" if n_tests > 1 else ""
    return _difference_claim(
        READOUTS_DIFFER, sentence, detail, gap=gap, p=p, clusters=pair.clusters, family=family
    )


def _describe_shares(pair: ReadoutPair, p: float, alpha: float) -> tuple[str, str, Estimate]:
    """Return sentence, detail and difference of two readouts that give shares of right answers."""
    scores = paired_scores(pair.first_scores, pair.second_scores, pair.clusters)
    differences = pair.second_scores - pair.first_scores
    # Every difference is known, so its least and its largest value are the same.
    low, high = guarded_limits(differences, differences, SIGNED, alpha, pair.clusters)
    gap = replace(
        scores.difference,
        low=low,
        high=high,
        level=1 - 2 * alpha,
        method="guarded t",
        coverage=None,
        note="",
    )
    higher, lower, unpaired = pair.second, pair.first, scores.unpaired
    # The sentence names the higher readout first, so that the difference is positive.
    if gap.value < 0:
        higher, lower, unpaired = pair.first, pair.second, _negated(scores.unpaired)
        gap = _negated(gap)
    among = count_of(scores.n_items, "item")
    if p <= READOUTS_DIFFER.error_rate:
        sentence = (
            f"{pair.model} scores higher by {higher} than by {lower} on the same {among}: "
            f"{gap.text_points()}, {p_text(p)}."
        )
    else:
        undecided = _undecided_whether_they_differ(pair, among)
        sentence = f"{undecided}: {gap.text_points()} ({higher} − {lower})."
    partly = f"; otherwise in some samples: {scores.n_partly:,}" if scores.n_partly else ""
    right_once = (
        f"Right only under {pair.first}: {scores.first_only:,}; only under {pair.second}: "
        f"{scores.second_only:,}{partly}."
    )
    detail = f"{right_once} Unpaired, as harnesses print it: {unpaired.text_points()}."
    return sentence, detail, gap


def _undecided_whether_they_differ(pair: ReadoutPair, among: str) -> str:
    return f"{pair.model}: undecided whether {pair.first} and {pair.second} differ on {among}"


def _difference_claim(
    assertion: Assertion,
    sentence: str,
    detail: str,
    *,
    gap: Estimate,
    p: float,
    clusters: np.ndarray | None,
    family: str,
) -> Claim:
    """Claim a difference if p is small; `family` names the tests it is corrected for, or is ""."""
    asserted = bool(p <= assertion.error_rate)
    # An asserted sentence gives its p already.
    parts = [
        detail,
        "" if asserted else f"{p_text(p)}.",
        f"p corrected for {family}." if family else "",
        "" if clusters is None else CLUSTERS_LIKE_SEEN,
    ]
    outcome, numbers = "differ" if asserted else "undecided", {"difference": gap, "p": p}
    detail = " ".join(filter(None, parts))
    return Claim(assertion, outcome, sentence, asserted=asserted, detail=detail, numbers=numbers)


def _describe_grades(pair: ReadoutPair, p: float, alpha: float) -> tuple[str, str, Estimate]:
    """Return sentence, detail and difference of two readouts that grade, in the scale's units."""
    first, second = pair.first_scores, pair.second_scores
    gap = grade_gap(first, second, pair.clusters, alpha=alpha, low=pair.low, high=pair.high)
    higher, lower = pair.second, pair.first
    if gap.value < 0:
        higher, lower, gap = pair.first, pair.second, _negated(gap)
    among = count_of(pair.differences.size, "item")
    detail = _grade_words(pair, f"under {pair.first}", f"under {pair.second}")
    if p <= READOUTS_DIFFER.error_rate:
        sentence = (
            f"{pair.model}: {higher} grades higher than {lower} on the same {among}: "
            f"{gap.text()}, {p_text(p)}."
        )
    else:
        undecided = _undecided_whether_they_differ(pair, among)
        sentence = f"{undecided}: {gap.text()} ({higher} − {lower})."
        detail = _undecided_words(pair, alpha) + detail
    return sentence, detail, gap


def _undecided_words(pair: ReadoutPair | GradedPair, alpha: float) -> str:
    """Say how many items would decide which side is graded higher; "" if that is not known."""
    if pair.clusters is not None:
        return ""
    shares = (pair.first_scores - pair.second_scores) / (pair.high - pair.low)
    needed = n_to_decide(shares, alpha)
    if not math.isfinite(needed) or needed <= shares.size:
        return ""
    return (
        f"With {shares.size:,} graded items only a large difference can be shown; about "
        f"{round_up(needed):,} would decide it, should the difference stay what it is. "
    )


def _grade_words(pair: ReadoutPair | GradedPair, first: str, second: str) -> str:
    """Count the items on which each side is graded higher, and name the scale.

    `first` and `second` name the sides, as in "under A" or "of model B".
    """
    n_first = int((pair.first_scores > pair.second_scores).sum())
    n_second = int((pair.second_scores > pair.first_scores).sum())
    return (
        f"Higher {first}: {n_first:,}; {second}: {n_second:,}. Grades from {pair.low:g} to "
        f"{pair.high:g}."
    )


@dataclass(frozen=True, eq=False)
class Disagreement:
    """Share of the outputs that two readouts score differently, and the items of these outputs.

    `extractor` names the first readout.
    """

    extractor: str
    share: float
    items: pd.Index


def pair_readouts(
    log: AuditInput, frame: pd.DataFrame
) -> tuple[list[ReadoutPair], list[Disagreement]]:
    """Pair the readouts of each model on outputs that both scored; one disagreement per pair.

    Metrics of different things are no pair.
    """
    base = frame[frame["is_base"] & (frame["axis"] == OWN_PROMPT) & frame["score"].notna()]
    base = with_scales(legible(base), log.scales)
    comparable = comparable_pairs(log, base)
    pairs, disagreements = [], []
    for (model, *_), part in base.groupby(["model", "low", "high"], sort=False):
        low, high = float(part["low"].iloc[0]), float(part["high"].iloc[0])
        names = list(dict.fromkeys(part["extractor"]))[:MAX_COMPARED]
        # If an output has several rows, its first one counts.
        wide = part.pivot_table(
            index=["item_id", "sample"],
            columns="extractor",
            values="score",
            aggfunc="first",
            sort=False,
        )
        for first, second in combinations(names, 2):
            if (first, second) not in comparable and (second, first) not in comparable:
                continue
            shared = wide[[first, second]].dropna()
            differing = shared[shared[first] != shared[second]]
            if shared.empty:
                continue
            means = shared.groupby(level="item_id", sort=False).mean()
            pair = ReadoutPair(
                str(model),
                spoken_name(first),
                spoken_name(second),
                means[first].to_numpy(dtype=float),
                means[second].to_numpy(dtype=float),
                clusters=_cluster_numbers(log, means.index),
                low=low,
                high=high,
            )
            pairs.append(pair)
            items = differing.index.get_level_values("item_id")
            share = len(differing) / len(shared)
            disagreements.append(Disagreement(first, share, items=items))
    return pairs, disagreements


def compare_readouts(
    pairs: Sequence[ReadoutPair], disagreements: Sequence[Disagreement], other_ps: Sequence[float]
) -> Iterator[Finding]:
    """Find pairs of readouts that score some output differently.

    `other_ps` are the p of the other checks in the same false-discovery family.
    """
    claims = readout_claims(pairs, other_ps)
    for claim, pair, disagreement in zip(claims, pairs, disagreements, strict=True):
        if disagreement.share:
            rank = (55 if claim.asserted else 30) + 40 * disagreement.share
            items = tuple(dict.fromkeys(disagreement.items))[:N_LISTED]
            extractor = disagreement.extractor
            yield Finding(
                "readouts", claim, rank=rank, items=items, model=pair.model, extractor=extractor
            )


def _cluster_numbers(log: AuditInput, items: pd.Index) -> np.ndarray | None:
    """Return (items,) cluster numbers; None if every item is its own cluster."""
    clusters = _clusters(log, items)
    return None if clusters is None else family_numbers(clusters)


def _clusters(log: AuditInput, items: pd.Index) -> np.ndarray | None:
    """Return (items,) cluster names; None if every item is its own cluster."""
    if "family" not in log.items:
        return None
    item_ids = pd.Series(items, index=items)
    clusters = log.items.set_index("item_id")["family"].reindex(items).fillna(item_ids)
    return None if clusters.nunique() == len(clusters) else clusters.to_numpy()


def compare_models(log: AuditInput, frame: pd.DataFrame) -> Iterator[Finding]:
    """Compare each pair of models at the log's own prompts, on the items of the leading role.

    Under the reference extractor over all tasks, this is the claim of the Ranking page. Other
    extractors, those in `log.unchecked` and single tasks are only described.
    """
    if frame["model"].nunique() < 2:
        return
    base = keep_shares(frame[frame["is_base"] & (frame["axis"] == OWN_PROMPT)])
    base = base.assign(is_correct=base["score"], role=base.get("role", ""))
    base = base[base["role"] == _leading_role(base)]
    extractors = list(dict.fromkeys(base["extractor"]))
    has_own_scorers = not set(extractors) <= set(OURS)
    by_extractor = base.groupby("extractor", sort=False)
    parts = [(str(extractor), "", part) for extractor, part in by_extractor]
    if base["task"].nunique() > 1:
        by_task = base.groupby(["extractor", "task"], sort=False)
        parts += [(str(extractor), str(task), part) for (extractor, task), part in by_task]
    for extractor, task, part in parts:
        n_scored = part["score"].notna().groupby(part["model"]).any().sum()
        # If a log has scorers of its own, those are enough for single tasks.
        if n_scored < 2 or (task and has_own_scorers and extractor in OURS):
            continue
        is_ranking = extractor == default_reference(extractors, log.scorers) and not task
        why_not = log.unchecked.get(extractor, "")
        yield from _pairs_of_models(
            part, extractor, task, is_ranking=is_ranking and not why_not, why_not=why_not
        )


def _leading_role(base: pd.DataFrame) -> str:
    """Return the role whose items models are compared on; controls only if there is no other."""
    return str(min(base["role"].unique(), key=lambda role: role in CONTROL_ROLES, default=""))


def compare_grades(log: AuditInput, frame: pd.DataFrame) -> Iterator[Finding]:
    """Compare each pair of models whose outputs for the same items are graded on one scale."""
    base = frame[frame["is_base"] & (frame["axis"] == OWN_PROMPT) & frame["score"].notna()]
    base = with_scales(base, log.scales).assign(role=frame.get("role", ""))
    base = base[base["role"] == _leading_role(base)]
    unit_low, unit_high = UNIT
    base = base[(base["low"] != unit_low) | (base["high"] != unit_high)]
    n_tasks = base["task"].nunique()
    for (extractor, task), part in base.groupby(["extractor", "task"], sort=False, observed=True):
        means = part.pivot_table(
            index="item_id",
            columns="model",
            values="score",
            aggfunc="mean",
            sort=False,
            observed=True,
        )
        scale = float(part["low"].iloc[0]), float(part["high"].iloc[0])
        pairs = _graded_pairs(log, means, scale)
        subject = spoken_name(str(extractor))
        if n_tasks > 1:
            subject += f" on {task}"
        claims = graded_pair_claims(pairs, subject, log.unchecked.get(str(extractor), ""))
        for pair, claim in zip(pairs, claims, strict=True):
            items = tuple(map(str, pair.items[pair.first_scores != pair.second_scores]))
            if items:
                yield Finding(
                    TWO_MODELS,
                    claim,
                    rank=30 + 10 * claim.asserted,
                    items=items[:N_LISTED],
                    model=pair.first,
                    extractor=str(extractor),
                    other_model=pair.second,
                )


@dataclass(frozen=True)
class GradedPair:
    """Grades (items,) of two models on one scale from `low` to `high`.

    `clusters` (items,) are cluster numbers, None if every item is its own cluster.
    """

    first: str
    second: str
    first_scores: np.ndarray
    second_scores: np.ndarray
    low: float
    high: float
    clusters: np.ndarray | None = None
    items: pd.Index = field(default_factory=lambda: pd.Index([]))

    @cached_property
    def p(self) -> float:
        """Return the p of this pair, not corrected for other pairs."""
        differences = (self.first_scores - self.second_scores) / (self.high - self.low)
        return float(guarded_t(differences, SIGNED, self.clusters).p)


def _graded_pairs(
    log: AuditInput, means: pd.DataFrame, scale: tuple[float, float]
) -> list[GradedPair]:
    """Pair the models on the items that both have a grade of; `means` is items x models."""
    low, high = scale
    pairs = []
    for first, second in combinations(list(means.columns)[:MAX_COMPARED], 2):
        shared = means[[first, second]].dropna()
        if len(shared) < 2:
            continue
        pair = GradedPair(
            str(first),
            str(second),
            first_scores=shared[first].to_numpy(dtype=float),
            second_scores=shared[second].to_numpy(dtype=float),
            low=low,
            high=high,
            clusters=_cluster_numbers(log, shared.index),
            items=shared.index,
        )
        pairs.append(pair)
    return pairs


def graded_pair_claims(pairs: Sequence[GradedPair], subject: str, why_not: str = "") -> list[Claim]:
    """Return one claim per pair; Holm over the pairs. `subject` names the extractor that grades.

    With `why_not`, a clause that says why it claims nothing, each pair is only described.
    """
    adjusted = holm([pair.p for pair in pairs])
    claims = []
    for pair, p in zip(pairs, adjusted, strict=True):
        rate = GRADES_DIFFER.error_rate
        alpha = _alpha_of(pair.p, p, len(pairs), rate)
        # `grade_gap` takes its first grades from its second: a positive gap has pair.first ahead.
        gap = grade_gap(
            pair.second_scores,
            pair.first_scores,
            pair.clusters,
            alpha=alpha,
            low=pair.low,
            high=pair.high,
        )
        ahead, behind = pair.first, pair.second
        if gap.value < 0:
            ahead, behind, gap = pair.second, pair.first, _negated(gap)
        among = count_of(pair.first_scores.size, "item")
        detail = _grade_words(pair, f"of {pair.first}", f"of {pair.second}")
        if p <= rate:
            sentence = (
                f"{ahead} is graded higher than {behind} on the same {among} by {subject}: "
                f"{gap.text()}, {p_text(p)}."
            )
        else:
            sentence = (
                f"Undecided whether {ahead} or {behind} is graded higher by {subject}: "
                f"{gap.text()} on {among}."
            )
            detail = _undecided_words(pair, alpha) + detail
        family = f"{len(pairs)} pairs of models (Holm)" if len(pairs) > 1 else ""
        claim = _difference_claim(
            GRADES_DIFFER, sentence, detail, gap=gap, p=p, clusters=pair.clusters, family=family
        )
        if why_not:
            sentence = _with_reason(claim.sentence, why_not)
            claim = description(sentence, detail=claim.detail, **claim.numbers)
        claims.append(claim)
    return claims


def _with_reason(sentence: str, why_not: str) -> str:
    """Return a sentence that ends with the reason why it is not claimed, if there is one."""
    return f"{sentence.removesuffix('.')} (not claimed: {why_not})." if why_not else sentence


def _pairs_of_models(
    part: pd.DataFrame, extractor: str, task: str, *, is_ranking: bool, why_not: str = ""
) -> Iterator[Finding]:
    """Find the pairs of models with different scores; claimed if `is_ranking`, else described.

    `why_not` is a clause that says why the extractor claims nothing, or "".
    """
    model_contest = contest(order(scores(part)), extractor)
    values = model_contest.order.scores.values[model_contest.declared_way]
    n_compared = min(len(model_contest.models), MAX_COMPARED)
    has_verdicts = bool(part["score"].dropna().isin((0.0, 1.0)).all())
    is_in_points = has_verdicts and not extractor.endswith(LOWER_IS_BETTER)
    for first, second in combinations(range(n_compared), 2):
        # NaN if either model has no score, so that both are compared on the same items.
        differences = values[:, first] - values[:, second]
        differing = np.flatnonzero(np.nan_to_num(differences))
        if not differing.size or (~np.isnan(differences)).sum() < 2:
            continue
        ahead, behind = (second, first) if np.nansum(differences) < 0 else (first, second)
        title = spoken_name(extractor)
        if is_ranking:
            claim = lead_claim(model_contest, ahead, behind, title, is_in_points=is_in_points)
        else:
            sentence = lead_words(
                model_contest, ahead, behind, title, task, is_in_points=is_in_points
            )
            detail = "Described, not claimed." if why_not else NOT_OF_RANKING
            claim = description(_with_reason(sentence, why_not), "described", detail=detail)
        items = tuple(model_contest.order.scores.items[i] for i in differing)[:N_LISTED]
        rank = 30 + 10 * claim.asserted - 5 * (not is_ranking)
        yield Finding(
            TWO_MODELS,
            claim,
            rank=rank,
            items=items,
            model=model_contest.models[ahead],
            extractor=extractor,
            other_model=model_contest.models[behind],
        )


def find_flips(log: AuditInput, frame: pd.DataFrame) -> Iterator[Finding]:
    """Find answers that change between repeats of a prompt and between prompts of an item."""
    readouts = (frame, log.harmless)
    # Nothing can flip if no prompt was repeated and no item has several prompts.
    if all(part["sample"].nunique() < 2 and part["variant"].nunique() < 2 for part in readouts):
        return
    columns = list(_flip_columns(log.harmless))
    yield from _flips_of_repeats(columns, frame, has_raters=log.has_raters)
    graders = {str(scorer) for scorer in log.scorers} if log.has_raters else set()
    yield from _flips_of_prompts(columns, log.harmless, graders)


def _flips_of_repeats(
    columns: Sequence[FlipColumn], frame: pd.DataFrame, *, has_raters: bool = False
) -> Iterator[Finding]:
    """Find prompts whose repeats get different answers: the noise floor of any comparison.

    If a log has scores and no answers, count repeats whose scores differ. With `has_raters` the
    repeats are ratings of one output by several people, whose disagreement is no noise of a model.
    """
    own_prompt_rows = frame[
        (frame["axis"] == OWN_PROMPT) & frame["is_base"] & ~frame["status"].isin(NO_ANSWER)
    ]
    column_by_readout = {
        (column.model, column.extractor): column for column in columns if column.axis == OWN_PROMPT
    }
    for (model, extractor), part in own_prompt_rows.groupby(["model", "extractor"], sort=False):
        column = column_by_readout.get((str(model), str(extractor)))
        if column:
            rates = column.rates
        else:
            by_item = part.groupby("item_id", sort=False)["score"]
            rates = by_item.agg(_disagreement).dropna().astype(float)
        if rates.empty or not rates.sum():
            continue
        floor = column.mean if column else mean_interval(rates)
        basis = f"by {spoken_name(extractor)} (n = {len(rates):,} items)"
        unit = what_differs(part) if column else "scores"
        sentence = (
            f"{model}: noise floor, {floor.text_percent()} of pairs of runs give different {unit},"
            f" {basis}."
        )
        detail = (
            "How often two runs of the study's own prompt disagree on an item. A score over many "
            "items moves far less."
        )
        if has_raters:
            share = floor.text_percent()
            sentence = f"{model}: {share} of pairs of ratings of one output differ, {basis}."
            detail = "How often two raters of one output disagree. The output is the same."
        claim = description(sentence, "floor", detail=detail, floor=floor)
        rank, items = 35 + 20 * floor.value, tuple(rates.index[rates > 0])[:N_LISTED]
        yield Finding(
            "repeats", claim, rank=rank, items=items, model=str(model), extractor=str(extractor)
        )


def _disagreement(scores: pd.Series) -> float:
    """Return the share of pairs of samples that differ; NaN for one sample."""
    n = len(scores)
    counts = scores.value_counts(dropna=False).to_numpy()
    return math.nan if n < 2 else 1 - float((counts * (counts - 1)).sum()) / (n * (n - 1))


@dataclass(frozen=True)
class FlipColumn:
    """One axis of one model's flip map under one extractor.

    `rates` has one flip rate per item that has one, by item id; `mean` is the map's own mean.
    """

    model: str
    extractor: str
    axis: str
    rates: pd.Series
    mean: Estimate


def _flip_columns(harmless: pd.DataFrame) -> Iterator[FlipColumn]:
    """Return every column of the flip maps of harmless readouts."""
    # The same functions as on the Flips page, so that an audit never gives another number.
    clusters = {}
    for name, model_rows in harmless.groupby("model", observed=True):
        items = model_rows.drop_duplicates("item_id")
        clusters[str(name)] = dict(zip(items["item_id"], items["family"], strict=True))
    by_readout = harmless.groupby(["model", "extractor"], sort=False, observed=True)
    for (model, extractor), part in by_readout:
        cells = surface(part, str(extractor))
        means = column_means(cells, clusters[str(model)])
        for axis, mean, rates in zip(cells.columns, means, cells.rate.T, strict=True):
            item_rates = pd.Series(rates, cells.items).dropna()
            yield FlipColumn(str(model), str(extractor), axis, item_rates, mean)


def _flips_of_prompts(
    columns: Sequence[FlipColumn], harmless: pd.DataFrame, raters: Collection[str]
) -> Iterator[Finding]:
    """Find prompts of one item that get different answers, with the range of their scores.

    `raters` are the extractors whose readouts are ratings by several people.
    """
    if not columns:
        return
    by_column = scored(harmless).groupby(["model", "extractor", "axis"], observed=True)
    for column in columns:
        if column.axis == OWN_PROMPT or column.rates.empty or not column.rates.sum():
            continue
        part = by_column.get_group((column.model, column.extractor, column.axis))
        means = part.groupby("variant", observed=True)["score"].mean().dropna()
        lowest, highest = (number_text(mean, 3) for mean in (means.min(), means.max()))
        n, n_scored = len(column.rates), part.loc[part["score"].notna(), "item_id"].nunique()
        basis = "" if n_scored == n else f" of {n_scored:,} items, unread answers as wrong,"
        span = f" Scores{basis} range from {lowest} to {highest}." if lowest != highest else ""
        change, name = column.axis.replace("_", " "), spoken_name(column.extractor)
        unit = "ratings" if column.extractor in raters else what_differs(part)
        share = f"{column.mean.text_percent()} of pairs of variants get different {unit}"
        sentence = f"{column.model}: {share} under {change}, by {name}."
        detail = f"{n:,} items, counted as on Flips.{span}"
        claim = description(sentence, "flips", detail=detail, flips=column.mean)
        items = tuple(column.rates.index[column.rates > 0])[:N_LISTED]
        rank = 45 + 30 * column.mean.value
        yield Finding(
            "prompts",
            claim,
            rank=rank,
            items=items,
            model=column.model,
            axis=column.axis,
            extractor=column.extractor,
        )


def check_score_rate(log: AuditInput, frame: pd.DataFrame) -> Iterator[Finding]:
    """Compare lm-eval's SCORE rate with the true agreement, if the log moved the right option."""
    moved = frame[frame["axis"] == "option_order"]
    if moved.empty:
        return
    moved = moved[moved["variant"].str.match("base|right at ")]
    right = log.items.set_index("item_id")["target"]
    for (model, extractor), part in moved.groupby(["model", "extractor"], sort=False):
        part = part[part["item_id"].map(right).astype(str).str.isdecimal() & part["answer"].notna()]
        if not part["variant"].str.startswith("right at ").any():
            continue
        items = list(dict.fromkeys(part["item_id"]))
        right_options = np.array([int(right[item]) for item in items])
        answer_places, right_places = _places(part, items, right_options)
        harness_rate, true_rate = score_rates(answer_places, right_places, right_options)
        if abs(harness_rate - true_rate) > ROUNDING:
            sentence = (
                f"{model}, {extractor}: lm-eval's SCORE consistency is "
                f"{number_text(harness_rate, 3)}; {number_text(true_rate, 3)} of the pairs of "
                "answers agree."
            )
            detail = (
                "SCORE counts an answer at the right option's original place as the right option, "
                "whatever stands there."
            )
            claim = description(sentence, "SCORE", detail=detail)
            yield Finding(
                "SCORE rate",
                claim,
                82,
                _listed_items(part),
                model=str(model),
                axis="option_order",
                extractor=str(extractor),
            )


def _places(
    part: pd.DataFrame, items: Sequence[str], right_options: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return (items, versions) places of the answer and of the right option; -1 if not read.

    An answer is an option's index in the item's original order, here turned into the place where
    the version shows it. A version swaps the right option with the one at its new place.
    `right_options` (items,) are indices in the original order.
    """
    item_index = {item: i for i, item in enumerate(items)}
    versions = list(dict.fromkeys(part["variant"]))
    answer_places = np.full((len(items), len(versions)), -1)
    right_places = answer_places.copy()
    for item, variant, answer in zip(part["item_id"], part["variant"], part["answer"], strict=True):
        i, version = item_index[item], versions.index(variant)
        right_option = right_options[i]
        # A variant "right at C" puts the right option at the third place.
        place = right_option if variant == "base" else ord(variant[-1]) - ord("A")
        option = int(answer)
        right_places[i, version] = place
        if option == right_option:
            answer_places[i, version] = place
        elif option == place:
            answer_places[i, version] = right_option
        else:
            answer_places[i, version] = option
    return answer_places, right_places
