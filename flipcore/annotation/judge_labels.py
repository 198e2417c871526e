"""Labels that people give to outputs, and the gate of a judge that is compared with them.

Labelling is blind: people see neither the model nor what an extractor read. A label belongs to an
output, so it serves every extractor. A judge that has not passed its gate is shown, and excluded
from all conclusions (statistics: gates).
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

from flipcore.annotation.judging import (
    BLOCK,
    SHARED,
    Place,
    items_in_turn,
    left_to_judge,
    queue,
    ratings_table,
)
from flipcore.core.errors import BadInput
from flipcore.core.records import CODE, digest
from flipcore.core.sandbox import FAILED, PASSED
from flipcore.extractors import reads_together
from flipcore.stats.base.agreement import Agreement, cohen_log_agreement, krippendorff_agreement
from flipcore.stats.base.estimate import Estimate, missing, number_text, percent_text
from flipcore.stats.base.gate_rules import KAPPA, JudgeGate, judge_gate, position_bias
from flipcore.stats.base.intervals import wilson
from flipcore.store.connection import Store
from flipcore.store.judgements import OUTPUT_LABELS, signed
from flipcore.store.queries import judgements, judges
from flipcore.text.answers import canonical_number, normalised_text, text_answer

RULE_VERSION = "label-1"
# Labels of outputs that came up in pairs of one item. They never count as single labels.
IN_PAIRS = "label-1/pairs"
# Kind of item -> what an answer to it is, for messages.
KINDS = {
    "choice": "one of its options",
    "number": "a number",
    "text": "the words of the answer",
    CODE: "passed or failed",
}
MIN_LABELS_OF_MODEL = 20  # for a verdict on one model
MIN_PAUSE_S = 300  # a gap of so many seconds between two labels is a break
CANONICAL_FORMS: dict[str, Callable[[str], str | None]] = {
    "number": canonical_number,
    "text": normalised_text,
}


def canonical_answer(kind: str, n_options: int, answer: str) -> str:
    """Return a person's answer in the form of a readout: option index, number or normalised words.

    Raises BadInput for an answer that the item cannot have.
    """
    canonical = CANONICAL_FORMS.get(kind, str)(answer)
    allowed = {"choice": set(map(str, range(n_options))), CODE: {PASSED, FAILED}}
    if not canonical or (kind in allowed and canonical not in allowed[kind]):
        raise BadInput(
            f"{answer!r} is no answer to this question: give {KINDS[kind]}, or say that there is "
            "none."
        )
    return canonical


def label_row(
    text: Mapping,
    reviewer: str,
    answer: str | None,
    *,
    by_choice: bool = False,
    in_pairs: bool = False,
) -> dict:
    """Return the row of `reviewer`'s label of `text` (call_id, item_id, kind, options, text).

    `answer` is None if the text has no single answer. `by_choice` is True if the text did not come
    up at random, `in_pairs` if it came up as one of a random pair (`pairs_to_label`).

    Raises BadInput for an answer that the item cannot have.
    """
    if answer is not None:
        answer = canonical_answer(text["kind"], len(text["options"]), answer=answer)
    values = {
        "item_id": text["item_id"],
        "call_id": text["call_id"],
        "reviewer": signed(reviewer),
        "answer": answer,
        "text_hash": digest(text["text"]),
        "rule_version": IN_PAIRS if in_pairs else RULE_VERSION,
    }
    return OUTPUT_LABELS.row(values, by_choice=by_choice or in_pairs)


def ids_to_label(
    texts: Sequence[Mapping],
    reviewer: str,
    labels: Sequence[Mapping],
    shared: float = SHARED,
    *,
    by_doubt: bool = False,
) -> list[str]:
    """Return the call ids that this reviewer still has to label, in the reviewer's order.

    The order is that of `queue`, with the second text of an item after the first texts of all.
    With `by_doubt` the texts that tell most come first (`doubt` of `judges.outputs`). Such labels
    are no random sample, so their texts come up again at random.
    """
    rows = []
    for text in texts:
        rows.append(
            {"pair_id": text["call_id"], "dataset": text["dataset"], "generator": text["model"]}
        )
    doubts = {text["call_id"]: text["doubt"] for text in texts} if by_doubt else None
    order = queue(rows, reviewer, shared=shared, risk=doubts)
    counted = [row for row in labels if by_doubt or not row.get("by_choice")]
    if not by_doubt:
        order = items_in_turn(order, {text["call_id"]: text["item_id"] for text in texts})
    return left_to_judge(order, reviewer, counted, OUTPUT_LABELS)


def agreed_labels(labels: Sequence[Mapping]) -> tuple[dict[str, str | None], int]:
    """Return call id -> the answer that most people read, and the number of ties.

    Only labels of texts that came up at random count. A text with a tie has no label.
    """
    by_text: dict[str, Counter[str | None]] = {}
    for row in labels:
        if not row.get("by_choice"):
            by_text.setdefault(row["call_id"], Counter())[row["answer"]] += 1
    agreed: dict[str, str | None] = {}
    for call_id, counts in by_text.items():
        n_most = max(counts.values())
        winners = [answer for answer, n in counts.items() if n == n_most]
        if len(winners) == 1:
            agreed[call_id] = winners[0]
    return agreed, len(by_text) - len(agreed)


def labelled_readouts(store: Store, study_id: str) -> list[dict]:
    """Return the study's readouts of labelled outputs (`judges.readouts_of`), with their labels.

    Further columns are `label` (None for no single answer), `label_is_right` (None without a
    target), and `is_same`, whether the extractor read the same.
    """
    agreed, _ = agreed_labels(judgements.standing(store, OUTPUT_LABELS))
    # Most studies have no labels, and the query takes as long as reading all their readouts.
    if not agreed:
        return []
    return [
        row | _label_columns(row, agreed[row["call_id"]])
        for row in judges.readouts_of(store, study_id, call_ids=sorted(agreed))
    ]


def _label_columns(row: Mapping, label: str | None) -> dict:
    """Compare a readout with its label, for the further columns of `labelled_readouts`."""
    target = row["target"]
    answer = text_answer(label, target) if label and row["kind"] == "text" else label
    is_right = None if target is None else answer in target.split("\n")
    is_same = answer == row["answer"] or bool(is_right and row["is_correct"])
    # Such an extractor writes an answer in the words of another text with the same meaning.
    if answer and row["answer"] and reads_together(row["extractor"]):
        # Blanks at both ends, so that only whole words match.
        people_words = f" {normalised_text(answer)} "
        extractor_words = f" {normalised_text(row['answer'])} "
        is_same = is_same or people_words in extractor_words or extractor_words in people_words
    return {"label": label, "label_is_right": is_right, "is_same": is_same}


def people_agreement(labels: Sequence[Mapping]) -> Agreement:
    """Return Krippendorff's alpha of people's answers; "no single answer" counts as an answer."""
    _, _, table = ratings_table(labels, OUTPUT_LABELS, lambda row: row["answer"] or "none")
    return krippendorff_agreement(table)


def median_label_seconds(labels: Sequence[Mapping]) -> float:
    """Return the median seconds between labels of one person, without breaks. NaN for none."""
    times: dict[str, list[float]] = {}
    for row in labels:
        times.setdefault(row["reviewer"], []).append(row["seconds"])
    gaps: list[float] = []
    for seconds in times.values():
        gaps += [later - earlier for earlier, later in pairwise(seconds)]
    reading_times = [gap for gap in gaps if gap < MIN_PAUSE_S]
    return median(reading_times) if reading_times else math.nan


@dataclass(frozen=True)
class JudgeReport:
    """The gate of a study's judge, on `n_texts` texts; people's labels tie on `n_tied` of them."""

    gate: JudgeGate
    n_texts: int
    n_tied: int

    @property
    def sentences(self) -> tuple[str, ...]:
        """Three sentences: on the gate, on the options' positions, and on reruns of the judge."""
        rerun_changes = self.gate.rerun_changes
        position = "The judge was not asked with the options backwards."
        repeated = (
            "No text was put before the judge twice, so how often it contradicts itself is not "
            "known."
        )
        if self.gate.position:
            position = self.gate.position.sentence()
        if rerun_changes.n:
            repeated = (
                f"Asked again with the same prompt, it reads {rerun_changes.text_percent()} of "
                f"{rerun_changes.n} texts differently."
            )
        return self.gate.sentence(), position, repeated


def judge_report(texts: Sequence[Mapping], labels: Sequence[Mapping]) -> JudgeReport:
    """Return the judge's report on `judges.judged_texts`; an unreadable reply is an answer too."""
    agreed, n_tied = agreed_labels(labels)
    labelled = [text for text in texts if text["call_id"] in agreed]
    asked_both_ways = [
        text for text in texts if text["asked_backwards"] and text["kind"] == "choice"
    ]
    forward_places = [_place_of(text, "judged") for text in asked_both_ways]
    backward_places = [_place_of(text, "judged_backwards") for text in asked_both_ways]
    gate = judge_gate(
        [agreed[text["call_id"]] for text in labelled],
        [text["judged"] for text in labelled],
        position=position_bias(forward_places, backward_places) if asked_both_ways else None,
        rerun_changes=_rerun_changes(texts),
        has_options=any(text["kind"] == "choice" for text in texts),
        misread=_misread(labelled, agreed),
    )
    return JudgeReport(gate, len(texts), n_tied=n_tied)


def stored_judge_report(store: Store, study_id: str) -> JudgeReport:
    """Return the report of a study's judge, by the labels that were not taken back."""
    labels = judgements.standing(store, OUTPUT_LABELS)
    return judge_report(judges.judged_texts(store, study_id), labels)


def _place_of(text: Mapping, name: str) -> int | None:
    """Return the place, in the order shown, of the option that the judge chose; None for none."""
    option = text[name]
    return None if option is None else list(text["option_order"]).index(int(option))


def meaning_report(rows: Sequence[Mapping], n_compared: int, n_changed: int) -> JudgeReport:
    """Return the gate of an extractor that compares answers by meaning (`reads_together`).

    `rows` are its rows of `labelled_readouts`. The judge changed `n_changed` of `n_compared`
    comparisons when the two answers were swapped (`judges.both_ways`).
    """
    # It names an answer by the words of another text, so the same meaning counts as the same label.
    texts = [{**row, "judged": row["label"] if row["is_same"] else row["answer"]} for row in rows]
    agreed = {row["call_id"]: row["label"] for row in rows}
    gate = judge_gate(
        [row["label"] for row in rows],
        [row["judged"] for row in texts],
        rerun_changes=_share(n_changed, n_compared),
        has_options=False,
        misread=_misread(texts, agreed),
    )
    return JudgeReport(gate, len(rows), n_tied=0)


def _misread(labelled: Sequence[Mapping], agreed: Mapping[str, str | None]) -> tuple[str, ...]:
    """Return the models whose outputs the judge is shown to misread; () for a single model."""
    pairs: dict[str, list[tuple[str, str]]] = {}
    for text in labelled:
        pairs.setdefault(text["model"], []).append(
            (agreed[text["call_id"]] or "none", text["judged"] or "none")
        )
    # For a single model the gate itself is the answer.
    if len(pairs) < 2:
        return ()
    misread = []
    for model, answers in pairs.items():
        by_people, by_judge = zip(*answers, strict=True)
        kappa = cohen_log_agreement(list(by_people), list(by_judge))
        if kappa.n_items >= MIN_LABELS_OF_MODEL and kappa.estimate.high < KAPPA:
            misread.append(f"{model} (kappa {kappa.estimate.text()} on {kappa.n_items})")
    return tuple(misread)


def gate_rows(report: JudgeReport) -> list[dict]:
    """Return the gate as table rows: question, finding, what is required, number of texts."""
    agreement, position = report.gate.agreement, report.gate.position
    required = f"lower bound {number_text(report.gate.threshold)}"
    reruns = report.gate.rerun_changes
    rows = [
        (
            "Does it read as people do? (Cohen's kappa)",
            agreement.estimate.text(),
            required,
            agreement.n_items,
        ),
        ("Raw agreement with people", percent_text(agreement.raw), "", agreement.n_items),
    ]
    if position:
        flip_rate = position.flip_rate
        rows.append(
            (
                "Does the order of the options move it? (exact McNemar)",
                flip_rate.text_percent(),
                "no position favoured, p ≥ .05",
                flip_rate.n,
            )
        )
    rows.append(
        ("Does it contradict itself when asked again?", reruns.text_percent(), "", reruns.n)
    )
    return [dict(zip(("asked", "found", "must be", "texts"), row, strict=True)) for row in rows]


def _rerun_changes(texts: Sequence[Mapping]) -> Estimate:
    """Return the share of the judge's repeated prompts that got more than one answer."""
    readings: dict[str, list[str | None]] = {}
    for text in texts:
        readings.setdefault(text["judge_prompt"], []).append(text["judged"])
    repeated = [group for group in readings.values() if len(group) > 1]
    return _share(sum(len(set(group)) > 1 for group in repeated), len(repeated))


def _share(k: int, n: int) -> Estimate:
    """Return k / n with Wilson's interval; missing for no texts."""
    low, high = wilson(k, n)
    if n:
        return Estimate(k / n, low, high=high, level=0.95, method="wilson", n=n, seed=None)
    return missing()


# Labels of both outputs of a pair show flips according to people. One random pair per model, item
# and axis is labelled; its outputs come up separately and blind, in the reviewer's own order. Base
# prompts are more frequent in pairs than among all outputs. So labels of pairs are in no estimate
# of single outputs, and labels of single outputs are in no pair.
Side = Mapping[str, Any]


def _pairs_of(sides: Sequence[Side]) -> Iterator[tuple[Side, Side]]:
    # The two sides of a pair follow each other.
    return zip(sides[::2], sides[1::2], strict=True)


@dataclass(frozen=True)
class Pairs:
    """Pairs of outputs of one item that people labelled.

    `rows` have model, item_id, axis, `variants` (two keys), `samples` (two), and `flips`, True if
    people's answers differ. `n_drawn` counts all pairs to label. `n_people` people gave `n_labels`
    labels, with a median of `seconds` per label (NaN if unknown).
    """

    rows: tuple[Mapping[str, Any], ...]
    n_drawn: int
    n_labels: int
    n_people: int
    seconds: float


def pairs_to_label(
    sides: Sequence[Side], reviewer: str, labels: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Return the call ids of `sides` (`judges.pair_sides`) that this reviewer still has to label.

    They are in the reviewer's order, with the second pair of an item after the first pairs of all.
    The outputs of every `BLOCK` pairs are mixed, so that nobody sees which belong together.
    """
    pairs = {}
    rows = []
    for first, second in _pairs_of(sides):
        name = first["call_id"] + second["call_id"]
        pairs[name] = (first, second)
    for name, (first, _) in pairs.items():
        generator = f"{first['model']}|{first['axis']}"
        rows.append({"pair_id": name, "dataset": first["dataset"], "generator": generator})
    order = queue(rows, reviewer)
    in_turn = items_in_turn(order, {name: first["item_id"] for name, (first, _) in pairs.items()})
    places: list[Place] = []
    for start in range(0, len(in_turn), BLOCK):
        mixed = []
        for place in in_turn[start : start + BLOCK]:
            mixed += [Place(side["call_id"], place.is_shared) for side in pairs[place.pair_id]]
        places += sorted(mixed, key=lambda side: digest("pairs", reviewer, side.pair_id))
    in_pairs = [row for row in labels if row["rule_version"] == IN_PAIRS]
    # An output may be a side of several pairs.
    return list(dict.fromkeys(left_to_judge(places, reviewer, in_pairs, OUTPUT_LABELS)))


def labelled_pairs(store: Store, study_id: str) -> Pairs:
    """Return the study's pairs with labels of both outputs; an output with a tie has no label."""
    sides = judges.pair_sides(store, study_id)
    call_ids = {side["call_id"] for side in sides}
    labels = [
        row
        for row in judgements.standing(store, OUTPUT_LABELS)
        if row["rule_version"] == IN_PAIRS and row["call_id"] in call_ids
    ]
    # Stored as by choice, to keep them out of estimates of single outputs. The pairs are random.
    agreed, _ = agreed_labels([{**row, "by_choice": False} for row in labels])
    rows = []
    for first, second in _pairs_of(sides):
        if first["call_id"] in agreed and second["call_id"] in agreed:
            rows.append(
                {
                    "model": first["model"],
                    "item_id": first["item_id"],
                    "axis": first["axis"],
                    "variants": (first["variant"], second["variant"]),
                    "samples": (first["sample"], second["sample"]),
                    "flips": _answer(first, agreed) != _answer(second, agreed),
                }
            )
    return Pairs(
        tuple(rows),
        len(sides) // 2,
        n_labels=len(labels),
        n_people=len({row["reviewer"] for row in labels}),
        seconds=median_label_seconds(labels),
    )


def _answer(side: Side, agreed: Mapping[str, str | None]) -> str | None:
    """Return people's answer in the form of a readout, for which right texts are all equal."""
    label = agreed[side["call_id"]]
    return text_answer(label, side["target"]) if label and side["kind"] == "text" else label
