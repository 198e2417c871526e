"""Findings of an audit on the outputs: cached reruns, averaged scores, refusals, empty texts,
silent cuts, and keys that no answer agrees with.

Each finding describes the rows and asserts nothing beyond them. For each of them
`tests/claims/test_audit_outputs.py` has an honest log that looks similar and gives no finding:
greedy answers that repeat, partial credit, a benchmark whose right answer is to refuse, texts of
one length.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from flipcore.claims.audit_input import N_LISTED, OURS, OWN_PROMPT, AuditInput, Finding, spoken_name
from flipcore.claims.claim import description
from flipcore.core.finish import ENDED_EARLY
from flipcore.core.records import RIGHT, WRONG
from flipcore.stats.base.estimate import MIN_N, percent_text
from flipcore.text.counts import count_of

LEAST_RERUN = 5  # least number of items with several runs, for a finding about runs
LEAST_CHARS = 80  # a sampled text of this length does not repeat by chance
LEAST_CUT, CUT_SHARE = 3, 0.02  # outputs at the limit: least count and least share
NEARLY_ALL = 0.95  # if this share of outputs has one length, the prompt asks for that length
NEAR_TOP = 0.95  # lengths above this share of the largest one are compared with it
# Below these numbers of tokens or characters, a common length is just the form of the answer.
LEAST_TOKENS, LEAST_LENGTH = 64, 200
LEAST_KEYS, LEAST_VOTERS = 5, 3  # least suspicious keys for a finding; least votes per item
# A reported error counts as too small below this share of the recomputed one, and if it is smaller
# by more than this difference.
ERROR_SHARE, ERROR_DIFFERENCE = 0.6, 0.001
RIGHT_OR_WRONG = ("includes", "match", "exact", "choice", "pattern", "answer")  # scorers of Inspect
OUTPUT_KEY = ["model", "item_id", "variant_id", "sample"]


def output_findings(log: AuditInput, frame: pd.DataFrame) -> Iterator[Finding]:
    """Return all findings about the outputs; `frame` are the readouts of `scored`."""
    yield from _find_cached_runs(log)
    yield from _find_averaged_runs(log, frame)
    yield from _find_refusals_and_empty(log, frame)
    yield from _find_silent_cuts(log)
    yield from _find_wrong_keys(log, frame)


def _find_cached_runs(log: AuditInput) -> Iterator[Finding]:
    """Find reruns with identical texts: they come from a cache and do not measure noise."""
    # Greedy decoding repeats itself, and so do very short answers. Both are reported only if each
    # rerun took the same time to the millisecond.
    for row in log.reruns.to_dict("records"):
        n, temperature = int(row["n_items"]), row["temperature"]
        if n < LEAST_RERUN or row["n_same"] < n:
            continue
        is_same_time = row["n_timed"] == n
        if not is_same_time and (temperature == 0 or row["n_chars"] < LEAST_CHARS):
            continue
        setting = "" if pd.isna(temperature) else f" at temperature {temperature:g}"
        sentence = (
            f"{row['model']}: all {int(row['n_outputs']):,} runs of {n:,} items repeat the same "
            f"text{setting}. They look cached, so their agreement says nothing about noise."
        )
        detail = "Each repeat took exactly the same time." if is_same_time else ""
        claim = description(sentence, "cached", detail=detail)
        yield Finding("cached runs", claim, rank=83, model=str(row["model"]))


def _find_averaged_runs(log: AuditInput, frame: pd.DataFrame) -> Iterator[Finding]:
    """Find scores between 0 and 1 that are averages over several runs of an item.

    Either all runs of an item have the same mean score although their texts differ, or a scorer
    that only gives right or wrong has scores in between.
    """
    base_scores = frame[
        frame["is_base"] & ~frame["extractor"].isin(OURS) & frame["score"].between(0, 1)
    ]
    are_shares = (base_scores["score"] > 0) & (base_scores["score"] < 1)
    if base_scores.loc[are_shares, "item_id"].nunique() < LEAST_RERUN:
        return
    models_that_vary = {
        str(row["model"])
        for row in log.reruns.to_dict("records")
        if row["n_same"] < row["n_items"] / 2
    }
    for (model, extractor), part in base_scores.groupby(["model", "extractor"], sort=False):
        by_item = part.groupby("item_id", sort=False)["score"].agg(["size", "nunique", "first"])
        is_between = (by_item["first"] > 0) & (by_item["first"] < 1)
        n_between, n_runs = int(is_between.sum()), int(by_item["size"].min())
        shares = by_item["first"] * n_runs
        # A mean of n runs that are right or wrong is a multiple of 1/n.
        are_counts = np.allclose(shares, shares.round(), atol=0.01)
        is_mean = bool((by_item["nunique"] == 1).all() and are_counts)
        is_binary = str(extractor).rpartition("/")[2] in RIGHT_OR_WRONG
        if n_between < LEAST_RERUN:
            continue
        if n_runs > 1 and is_mean and str(model) in models_that_vary:
            sentence = (
                f"{model}, {spoken_name(extractor)}: all {n_runs} runs of an item hold the same "
                f"score, though their texts differ; {n_between:,} of {len(by_item):,} lie between "
                "0 and 1. They are averages."
            )
        elif n_runs == 1 and is_binary:
            sentence = (
                f"{model}, {spoken_name(extractor)}: {n_between:,} of {len(by_item):,} scores lie "
                "between 0 and 1, though this scorer gives right or wrong. They are averages of "
                "runs that the log does not hold."
            )
        else:
            continue
        items = tuple(by_item.index[is_between])[:N_LISTED]
        claim = description(sentence, "averaged", detail="Reruns cannot be counted from averages.")
        yield Finding(
            "averaged runs", claim, rank=81, items=items, model=str(model), extractor=str(extractor)
        )


# Kind of output -> (Finding.about, singular, plural, highest rank).
_KINDS = {
    "refusal": ("refusals", "is a refusal", "are refusals", 68),
    "empty": ("empty answers", "is empty", "are empty", 69),
}


def _find_refusals_and_empty(log: AuditInput, frame: pd.DataFrame) -> Iterator[Finding]:
    """Find refusals that are not right answers, and empty outputs."""
    if log.outputs.empty:
        return
    outputs = log.outputs.merge(_lead_scores(log, frame), on=OUTPUT_KEY, how="left")
    # A refusal that the log's scorer counts as right is the wanted answer.
    is_right = (outputs["what"] == "refusal") & (outputs["score"] >= 1)
    n_by_model = log.calls.groupby("model")["n"].sum()
    for (model, kind), part in outputs[~is_right].groupby(["model", "what"], sort=False):
        about, singular, plural, rank = _KINDS[str(kind)]
        n, n_all = len(part), int(n_by_model.get(model, len(part)))
        share = percent_text(n / n_all, 1)
        sentence = (
            f"{model}: {share} of its {n_all:,} outputs {singular if n == 1 else plural} ({n:,})."
        )
        n_wrong = int((part["score"] == 0).sum())
        detail = f"{n_wrong:,} of them count as wrong." if n_wrong else ""
        items = tuple(dict.fromkeys(part["item_id"]))[:N_LISTED]
        claim = description(sentence, about, detail=detail)
        yield Finding(
            about, claim, rank=rank * (0.5 + 0.5 * n / n_all), items=items, model=str(model)
        )


def _lead_scores(log: AuditInput, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the score of each output by the scorer that leads its model's log."""
    log_scores = frame[~frame["extractor"].isin(OURS) & frame["score"].notna()]
    ordered = log_scores.assign(order=_scorer_order(log, log_scores))
    first = ordered.sort_values("order", kind="stable").drop_duplicates(OUTPUT_KEY)
    # As text, like the keys of `log.outputs` that these are merged with.
    text_keys = ("model", "item_id", "variant_id")
    return first[[*OUTPUT_KEY, "score"]].astype(dict.fromkeys(text_keys, str))


def _scorer_order(log: AuditInput, readouts: pd.DataFrame) -> pd.Series:
    """Return each readout's extractor as an index into the log's scorers; others come last."""
    indexes = {name: index for index, name in enumerate(log.scorers)}
    return readouts["extractor"].astype(str).map(indexes).fillna(len(indexes))


def _find_silent_cuts(log: AuditInput) -> Iterator[Finding]:
    """Find outputs that stop exactly at a limit of length although the log calls them complete."""
    if log.lengths.empty:
        return
    for model, part in log.lengths.groupby("model", sort=False):
        n_all = int(part["n"].sum())
        ended = part[~part["finish_reason"].isin(ENDED_EARLY)]
        at_limit = ended[(ended["max_tokens"] > 1) & (ended["n_tokens_out"] >= ended["max_tokens"])]
        n, limit = int(at_limit["n"].sum()), at_limit["max_tokens"].max()
        # If nearly all outputs have this length, the prompt asks for it.
        if n >= max(LEAST_CUT, CUT_SHARE * n_all) and n < NEARLY_ALL * n_all:
            where = f"have all {int(limit):,} tokens that were allowed"
        else:
            n, where = _outputs_at_top_length(ended, n_all)
        if n:
            sentence = (
                f"{model}: {percent_text(n / n_all, 1)} of its {n_all:,} outputs {where} ({n:,}), "
                "and the log does not say that they were cut off."
            )
            claim = description(sentence, "silent cuts")
            yield Finding("silent cuts", claim, rank=71, model=str(model))


def _outputs_at_top_length(ended: pd.DataFrame, n_all: int) -> tuple[int, str]:
    """Return (number of outputs with the largest length, words for it); (0, "") if nothing looks
    cut."""
    for column, least, unit in (
        ("n_tokens_out", LEAST_TOKENS, "tokens"),
        ("n_chars", LEAST_LENGTH, "characters"),
    ):
        lengths = ended.dropna(subset=column)
        if lengths.empty or (top := lengths[column].max()) < least:
            continue
        at_top = lengths[lengths[column] == top]
        near = lengths[(lengths[column] < top) & (lengths[column] >= NEAR_TOP * top)]
        n = int(at_top["n_texts"].sum())
        n_open = int(at_top.loc[at_top["ends_open"], "n_texts"].sum())
        # Without a limit, few texts have the largest length. A cut piles them up there.
        is_pile = n >= max(LEAST_RERUN, CUT_SHARE * n_all) and n > int(near["n"].sum())
        # Texts of a fixed form also share one length, but they end as they should.
        if is_pile and n < NEARLY_ALL * n_all and n_open >= n / 2:
            n_outputs = int(at_top["n"].sum())
            return n_outputs, f"have exactly {int(top):,} {unit}, which no other exceeds"
    return 0, ""


def _find_wrong_keys(log: AuditInput, frame: pd.DataFrame) -> Iterator[Finding]:
    """Find items whose right answer no model gives, while all models agree on another answer. Their
    keys, the stored right answers, may be wrong."""
    keys_by_item = {
        item: set(target.split("\n"))
        for item, target in zip(log.items["item_id"], log.items["target"], strict=True)
        if isinstance(target, str) and target
    }
    is_answered = (frame["status"] == "ok") & frame["answer"].notna()
    base = frame[frame["is_base"] & (frame["axis"] == OWN_PROMPT) & is_answered]
    base = base[base["item_id"].isin(keys_by_item.keys()) & ~base["answer"].isin((RIGHT, WRONG))]
    if base["model"].nunique() * base["sample"].nunique() < LEAST_VOTERS:
        return
    # One vote per output: the answer of the log's leading extractor.
    by_lead = base.assign(order=_scorer_order(log, base)).sort_values("order", kind="stable")
    votes = by_lead.drop_duplicates(["model", "item_id", "sample"])
    votes = votes.astype({"item_id": str, "answer": str})
    n_models = votes["model"].nunique()
    by_item = votes.groupby("item_id", sort=False)
    n_votes, n_models_by_item = by_item.size(), by_item["model"].nunique()
    n_votes = n_votes[n_votes >= LEAST_VOTERS]
    if n_votes.empty:
        return
    counts = votes.groupby(["item_id", "answer"], sort=False).size().reset_index(name="n")
    largest = counts.sort_values("n", ascending=False, kind="stable").drop_duplicates("item_id")
    largest = largest.set_index("item_id").loc[n_votes.index]
    # Models may share an error on a hard item with a right key. Then they are rarely unanimous. If
    # six answers in ten fall for a trap, there are half as many items on which all of three models
    # fall for it as items on which just two of them do. So unanimous items must outnumber plain
    # majorities. In 2,000 simulated sets of 20 traps the finding was made in 5%; with a dozen wrong
    # keys and 90% accuracy, in 93%.
    unanimous_items, n_majorities = [], 0
    columns = zip(largest.index, largest["answer"], largest["n"], n_votes, strict=True)
    for item, answer, n, n_all in columns:
        if answer in keys_by_item[item]:
            continue
        if n == n_all and n_models_by_item[item] == n_models:
            unanimous_items.append(item)
        elif 2 * n > n_all:
            n_majorities += 1
    if len(unanimous_items) < LEAST_KEYS or len(unanimous_items) < n_majorities + 2:
        return
    voters = f"all {n_models} models" if n_models > 1 else "all its runs"
    sentence = (
        f"On {count_of(len(unanimous_items), 'item')} no answer agrees with the right answer, and "
        f"{voters} give one other answer."
    )
    about = "keys alone" if n_models > 1 else "keys of one model"
    claim = description(sentence, about, detail="Look at these keys first.")
    yield Finding(about, claim, rank=66, items=tuple(unanimous_items)[:N_LISTED])


def reported_errors(
    reported: Mapping[str, Any], scores: pd.Series, clusters: pd.Series | None
) -> tuple[float, float] | None:
    """Return (reported standard error, recomputed one); None unless the first is far too small.

    `scores` and `clusters` have one row per item.
    """
    stated, n = reported.get("stderr"), len(scores)
    if stated is None or n < MIN_N or scores.nunique() < 2:
        return None
    errors = [float(scores.std(ddof=1) / np.sqrt(n))]
    if clusters is not None and (n_clusters := clusters.nunique()) > 1:
        sums = (scores - scores.mean()).groupby(clusters.to_numpy()).sum()
        errors.append(float(np.sqrt((sums**2).sum() * n_clusters / (n_clusters - 1)) / n))
    # Clusters usually widen the error, and nobody knows whether the log's error counts with them.
    # So the reported error is compared with the smaller one.
    error = min(errors)
    is_too_small = 0 <= stated < ERROR_SHARE * error and error - stated > ERROR_DIFFERENCE
    return (float(stated), error) if is_too_small else None
