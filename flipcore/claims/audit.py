"""What a log says, and whether it holds: findings from its own rows, worst first, none where there is nothing.

Most findings describe (a count, a share, two numbers that do not agree). Two assert something of the world beyond the rows:
that two readouts, or two models, differ in score.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from flipcore.claims.audit_flips import answer_flips, score_consistency
from flipcore.claims.audit_input import (
    MOST_READOUTS,
    N_LISTED,
    OURS,
    OWN_PROMPT,
    ROUNDING,
    AuditInput,
    Finding,
    item_scores,
    scored,
    spoken_name,
)
from flipcore.claims.audit_items import flip_rates, golds, repeated_items, standard_errors
from flipcore.claims.claim import Assertion, Claim, description
from flipcore.core.finish import ENDED_EARLY
from flipcore.extractors import EXTRACTORS
from flipcore.stats.audit.paired import PairedScores, paired_scores
from flipcore.stats.base.accuracy import accuracy
from flipcore.stats.base.estimate import Estimate, number_text, p_text, percent_text

READOUTS_DIFFER = Assertion(
    "audit readouts",
    "two readouts of the same texts give different scores",
    0.05,
    2,
    "each claim",
    ("no difference", "templates"),
)
MODELS_DIFFER = Assertion(
    "audit models", "two models score differently on these items", 0.05, 2, "each claim", ("no difference", "templates")
)
ASSERTIONS = (READOUTS_DIFFER, MODELS_DIFFER)


def findings(log: AuditInput) -> list[Finding]:
    """All of them, worst first."""
    frame = scored(log.frame)
    checks: tuple[Callable[..., Iterator[Finding]], ...] = (
        reported_scores,
        own_contradictions,
        calls_lost,
        unreadable,
        readouts_differ,
        models_differ,
        answer_flips,
        score_consistency,
    )
    all_findings = [one for check in checks for one in check(log, frame)]
    all_findings += [*golds(log), *repeated_items(log), *standard_errors(log, frame), *flip_rates(log)]
    return sorted(all_findings, key=lambda one: -one.rank)


def reported_scores(log: AuditInput, frame: pd.DataFrame) -> Iterator[Finding]:
    """Each reported score against the mean of the rows that the log holds."""
    for one in log.reported:
        name = one["readout"]
        rows, n = _reported_rows(frame, one)["score"].dropna(), one.get("n")
        what = f"{one['model']} on {one['task']}, {name}"
        if rows.empty:
            sentence = f"{what}: the log reports {number_text(one['value'], 3)}, and holds no row of it."
            yield Finding("reported score", description(sentence, "no rows"), 40, model=one["model"])
        elif n and len(rows) < n:
            sentence = (
                f"{what}: the reported {number_text(one['value'], 3)} is of {n:,} rows; the log holds {len(rows):,}, "
                f"with mean {number_text(rows.mean(), 3)}."
            )
            claim = description(sentence, "rows missing", "It cannot be recomputed from what is there.")
            yield Finding("reported score", claim, 60, model=one["model"], extractor=name)
        elif abs(rows.mean() - one["value"]) > ROUNDING:
            sentence = (
                f"{what}: reported {number_text(one['value'], 3)}, recomputed {number_text(rows.mean(), 3)} "
                f"from all {len(rows):,} rows."
            )
            yield Finding("reported score", description(sentence, "does not hold"), 100, model=one["model"], extractor=name)


def _reported_rows(frame: pd.DataFrame, one: Mapping[str, Any]) -> pd.DataFrame:
    """The rows that a reported score is made of. A task on the items of another, with a prompt of its own, is a variant that is
    called by the task. Rows of a task whose items all stand under another's name are those of this model and readout."""
    own = frame[(frame["model"] == one["model"]) & frame["extractor"].isin((one["readout"], f"{one['readout']} (log)"))]
    is_base = own["axis"] == OWN_PROMPT
    is_task = (is_base & (own["task"] == one["task"])) | (~is_base & (own["variant"] == one["task"]))
    return own[is_task] if is_task.any() else own[is_base]


def own_contradictions(log: AuditInput, frame: pd.DataFrame) -> Iterator[Finding]:
    """Rows whose recorded right or wrong contradicts the recorded answer and the right answer."""
    right = {item: str(target).split("\n") for item, target in zip(log.items["item_id"], log.items["target"], strict=True)}
    rows = frame[(frame["status"] == "ok") & frame["answer"].notna() & ~frame["extractor"].isin(OURS) & frame["is_base"]]
    rows = rows[rows["score"].isin((0.0, 1.0))]
    is_right = [answer in right.get(item, ()) for item, answer in zip(rows["item_id"], rows["answer"], strict=True)]
    wrong = rows[np.asarray(is_right, dtype=bool) != (rows["score"] == 1)]
    for (model, extractor), part in wrong.groupby(["model", "extractor"], sort=False):
        n = int(((rows["model"] == model) & (rows["extractor"] == extractor)).sum())
        calls_wrong = int((part["score"] == 0).sum())
        sentence = (
            f"{model}, {spoken_name(extractor)}: {len(part):,} of {n:,} scores contradict the log's own answer; "
            f"{calls_wrong:,} right answers count as wrong."
        )
        claim = description(sentence, "contradiction", "Compared after removing case, punctuation and number formats.")
        yield Finding("score against answer", claim, 80 + 20 * len(part) / n, _some(part), model, extractor=extractor)


def _some(part: pd.DataFrame) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part["item_id"]))[:N_LISTED]


def calls_lost(log: AuditInput, frame: pd.DataFrame) -> Iterator[Finding]:
    """Completions that failed and those that were cut off."""
    for model, part in log.calls.groupby("model", sort=False):
        n = int(part["n"].sum())
        failed = int(part.loc[part["status"] == "failed", "n"].sum())
        short = part["finish_reason"].isin(ENDED_EARLY)
        # a completion of one token by design (a letter) ends by length and is whole
        cut = int(part.loc[short & (part["status"] != "failed") & (part["max_tokens"].fillna(0) != 1), "n"].sum())
        for k, word, rank in ((failed, "failed", 75), (cut, "were cut off", 70)):
            if k:
                sentence = f"{model}: {percent_text(k / n, 1)} of its {n:,} calls {word} ({k:,})."
                yield Finding(word, description(sentence, word), rank * (0.5 + 0.5 * k / n), model=str(model))


def unreadable(log: AuditInput, frame: pd.DataFrame) -> Iterator[Finding]:
    """Answers that a recorded readout could not read, and how many of them another readout reads, and reads right."""
    base = frame[frame["is_base"]]
    key = ["model", "item_id", "variant_id", "sample"]
    for (model, extractor), part in base.groupby(["model", "extractor"], sort=False):
        lost = part[part["status"] == "unreadable"]
        if lost.empty or extractor in OURS:
            continue
        share = accuracy((part["status"] == "unreadable").astype(float).groupby(part["item_id"]).mean())
        others = base[(base["model"] == model) & (base["extractor"] != extractor) & (base["status"] == "ok")]
        others = others[others["answer"].notna()].merge(lost[key], on=key)
        detail = ""
        if len(others):
            best = others.groupby("extractor")["score"].agg(["size", "sum"]).sort_values("size", kind="stable").iloc[-1]
            name = f"The {spoken_name(best.name)}" if best.name in EXTRACTORS else spoken_name(best.name)
            detail = f"{name} reads {int(best['size']):,} of these {len(lost):,}, {int(best['sum']):,} of them right."
        share_text = share.text(2 if share.value >= 0.1 else 3)
        sentence = (
            f"{model}: {spoken_name(extractor)} finds no answer in {share_text} of the texts ({len(lost):,} of {len(part):,})."
        )
        claim = description(sentence, "unreadable", detail, share=share)
        yield Finding("unreadable", claim, 50 + 45 * share.value, _some(lost), str(model), extractor=str(extractor))


def difference_claim(
    scores: PairedScores, assertion: Assertion, first: str, second: str, *, model: str = "", reader: str = ""
) -> Claim:
    """The sentence on a paired difference, of one `model`, or of two under one `reader`: asserted where the two-sided test
    rejects at the assertion's rate and an interval could be given."""
    model, under = f"{model}: " if model else "", f", read by {reader}" if reader else ""
    asserted = scores.difference.has_interval and scores.p < assertion.error_rate
    low, high = (first, second) if scores.difference.value >= 0 else (second, first)
    turned = asserted and high == first  # the gap of a claim is that of the higher over the lower
    difference, unpaired_gap = (_negated(one) if turned else one for one in (scores.difference, scores.unpaired))
    gap = f"{difference.text_pp()} ({f'{first} − {second}' if turned else f'{second} − {first}'})"
    if asserted:
        sentence = (
            f"{model}{high} scores higher than {low} on the same {scores.n_items:,} items{under}: {gap}, {p_text(scores.p)}."
        )
    else:
        among = f"{scores.n_items:,} item{'s' * (scores.n_items != 1)}{under}"
        start = f"{model}undecided" if model else "Undecided"
        sentence = f"{start} whether {first} and {second} differ on {among}: {gap}, {p_text(scores.p)}."
    flips = f"Right only under {first}: {scores.first_only:,}; only under {second}: {scores.second_only:,}."
    unpaired = f"Unpaired, as harnesses print it: {unpaired_gap.text_pp()}."
    outcome = "differ" if asserted else "undecided"
    return Claim(assertion, outcome, sentence, asserted, f"{flips} {unpaired}", "", {"difference": scores.difference})


def _negated(one: Estimate) -> Estimate:
    return replace(one, value=-one.value, low=-one.high, high=-one.low)


def readouts_differ(log: AuditInput, frame: pd.DataFrame) -> Iterator[Finding]:
    """Each pair of readouts of one model on the texts that both saw: where they call different things right."""
    base = frame[frame["is_base"] & (frame["axis"] == OWN_PROMPT) & frame["score"].notna()]
    for model, part in base.groupby("model", sort=False):
        names = list(dict.fromkeys(part["extractor"]))[:MOST_READOUTS]
        wide = part.pivot_table(index=["item_id", "sample"], columns="extractor", values="score", aggfunc="first", sort=False)
        for first, second in combinations(names, 2):
            both = wide[[first, second]].dropna()
            apart = both[both[first] != both[second]]
            if apart.empty:
                continue
            means = both.groupby(level="item_id", sort=False).mean()
            scores = paired_scores(means[first], means[second], _templates(log, means.index))
            claim = difference_claim(scores, READOUTS_DIFFER, spoken_name(first), spoken_name(second), model=str(model))
            rank = (55 if claim.asserted else 30) + 40 * len(apart) / len(both)
            items = tuple(dict.fromkeys(apart.index.get_level_values("item_id")))[:N_LISTED]
            yield Finding("readouts", claim, rank, items, str(model), extractor=first)


def _templates(log: AuditInput, items: pd.Index) -> np.ndarray | None:
    """The template of each item where the items say one (`source_id`); None where every item is its own."""
    if "source_id" not in log.items:
        return None
    sources = log.items.set_index("item_id")["source_id"].reindex(items)
    return None if sources.isna().all() else sources.where(sources.notna(), pd.Series(items, index=items)).to_numpy()


def models_differ(log: AuditInput, frame: pd.DataFrame) -> Iterator[Finding]:
    """Each pair of models on the items of one task that both were asked, under each recorded readout."""
    base = frame[frame["is_base"] & (frame["axis"] == OWN_PROMPT) & frame["score"].notna()]
    for (task, extractor), part in base.groupby(["task", "extractor"], sort=False):
        models = list(dict.fromkeys(part["model"]))
        for first, second in combinations(models[:MOST_READOUTS], 2):
            a, b = (item_scores(part[part["model"] == model]) for model in (first, second))
            items = a.index.intersection(b.index, sort=False)
            if len(items) < 2 or (extractor in OURS and part["extractor"].nunique() > 1):
                continue
            scores = paired_scores(a[items], b[items], _templates(log, items))
            if scores.first_only == scores.second_only == 0 and scores.difference.value == 0:
                continue
            where = f" on {task}" if base["task"].nunique() > 1 else ""
            claim = difference_claim(scores, MODELS_DIFFER, first, second, reader=f"{spoken_name(extractor)}{where}")
            apart = tuple(items[(a[items] != b[items]).to_numpy()])[:N_LISTED]
            yield Finding("two logs", claim, 30 + 10 * claim.asserted, apart, first, extractor=str(extractor))
