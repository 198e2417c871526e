"""Labels that people give to outputs, without seeing what an extractor read or whose output it is;
and the judge's gate.

A label is of an output, so it serves every extractor that read it. A judge that has not passed is
shown and excluded from all conclusions (statistics: gates).
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
from flipcore.stats.base.estimate import Estimate, missing, number_text
from flipcore.stats.base.gate_rules import KAPPA, JudgeGate, judge_gate, position_bias
from flipcore.stats.base.intervals import wilson
from flipcore.store.connection import Store
from flipcore.store.judgements import OUTPUT_LABELS, signed
from flipcore.store.queries import judgements, judges
from flipcore.text.answers import canonical_number, normalised_text, text_answer

RULE_VERSION = "label-1"
# of an output that came up with another of its item; apart from the single ones, as by choice
IN_PAIRS = "label-1/pairs"
KINDS = {
    "choice": "one of its options",
    "number": "a number",
    "text": "the words of the answer",
    CODE: "passed or failed",
}
FEWEST_OF_MODEL = 20  # labels that speak of one model
PAUSE = 300  # seconds
READ_AS: dict[str, Callable[[str], str | None]] = {
    "number": canonical_number,
    "text": normalised_text,
}


def canonical_answer(kind: str, n_options: int, answer: str) -> str:
    """A person's answer as readouts have it: an option's index, a number, normalised words. Raises
    BadInput for an answer that the item cannot have."""
    reading = READ_AS.get(kind, str)(answer)
    allowed = {"choice": set(map(str, range(n_options))), CODE: {PASSED, FAILED}}
    if not reading or (kind in allowed and reading not in allowed[kind]):
        raise BadInput(
            f"{answer!r} is no answer to this question: give {KINDS[kind]}, or say that there is "
            "none."
        )
    return reading


def label_row(
    text: Mapping,
    reviewer: str,
    answer: str | None,
    *,
    by_choice: bool = False,
    in_pairs: bool = False,
) -> dict:
    """Row of `reviewer`'s label of `text` (call_id, item_id, kind, options, text): a canonical
    answer, None for no single one. `by_choice` where the text did not come up at random, `in_pairs`
    where a random pair of texts did (`pair_labels`).

    Raises BadInput for an answer that the item does not have."""
    if answer is None:
        reading = None
    else:
        reading = canonical_answer(text["kind"], len(text["options"]), answer=answer)
    values = {
        "item_id": text["item_id"],
        "call_id": text["call_id"],
        "reviewer": signed(reviewer),
        "answer": reading,
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
    """Call ids in this reviewer's order, an item's second text after every item's first; as pairs
    are queued. `by_doubt` the texts that say most come first (`doubt` of `judges.outputs`); labels
    given so are no random sample, and at random their texts come up again."""
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
    """(text -> what most people read in it, texts on which they are even and which therefore have
    no label), of those that came up at random."""
    by_text: dict[str, Counter[str | None]] = {}
    for row in labels:
        if not row.get("by_choice"):
            by_text.setdefault(row["call_id"], Counter())[row["answer"]] += 1
    agreed: dict[str, str | None] = {}
    for call_id, counts in by_text.items():
        (answer, n_most), *runner_up = counts.most_common(2)
        if not runner_up or runner_up[0][1] < n_most:
            agreed[call_id] = answer
    return agreed, len(by_text) - len(agreed)


def labelled_readouts(store: Store, study_id: str) -> list[dict]:
    """Readouts of the study's outputs that people read (`judges.readouts_of`), with what people
    read: `label`, whether that is right (`label_is_right`, None without a target) and whether the
    extractor read the same (`is_same`)."""
    agreed, _ = agreed_labels(judgements.standing(store, OUTPUT_LABELS))
    return [
        row | _against(row, agreed[row["call_id"]])
        for row in judges.readouts_of(store, study_id, call_ids=sorted(agreed))
    ]


def _against(row: Mapping, label: str | None) -> dict:
    target = row["target"]
    answer = text_answer(label, target) if label and row["kind"] == "text" else label
    is_right = None if target is None else answer in target.split("\n")
    is_same = answer == row["answer"] or bool(is_right and row["is_correct"])
    # called by the words of another text that means the same
    if answer and row["answer"] and reads_together(row["extractor"]):
        words = [f" {normalised_text(words_read)} " for words_read in (answer, row["answer"])]
        is_same = is_same or words[0] in words[1] or words[1] in words[0]
    return {"label": label, "label_is_right": is_right, "is_same": is_same}


def people_agreement(labels: Sequence[Mapping]) -> Agreement:
    """Krippendorff's alpha of what people read in the same outputs; no single answer is an answer
    of its own."""
    _, _, table = ratings_table(labels, OUTPUT_LABELS, lambda row: row["answer"] or "none")
    return krippendorff_agreement(table)


def seconds_of_a_label(labels: Sequence[Mapping]) -> float:
    """Median seconds between labels of one person, up to five minutes; NaN without any."""
    times: dict[str, list[float]] = {}
    for row in labels:
        times.setdefault(row["reviewer"], []).append(row["seconds"])
    gaps: list[float] = []
    for seconds in times.values():
        # A longer gap is a break, and no reading.
        gaps += [later - earlier for earlier, later in pairwise(seconds) if later - earlier < PAUSE]
    return median(gaps) if gaps else math.nan


@dataclass(frozen=True)
class JudgeReport:
    """The gate of one study's judge, on `n_texts` texts; on `n_even` of them people are even."""

    gate: JudgeGate
    n_texts: int
    n_even: int

    @property
    def again(self) -> Estimate:
        """The share of prompts, sent to the judge more than once, that it read differently."""
        return self.gate.rerun_changes

    @property
    def sentences(self) -> tuple[str, ...]:
        """Gate, position, asking again."""
        position = "The judge was not asked with the options backwards."
        repeated = (
            "No text was put before the judge twice, so how often it contradicts itself is not "
            "known."
        )
        if self.gate.position:
            position = self.gate.position.sentence()
        if self.again.n:
            repeated = (
                f"Asked again with the same prompt, it reads {self.again.text()} of {self.again.n} "
                "texts differently."
            )
        return self.gate.sentence(), position, repeated


def judge_report(texts: Sequence[Mapping], labels: Sequence[Mapping]) -> JudgeReport:
    """Take `texts` and `labels` of `store.judge_queries`; an unreadable reply is a label too."""
    agreed, n_even = agreed_labels(labels)
    labelled = [text for text in texts if text["call_id"] in agreed]
    asked_both_ways = [
        text for text in texts if text["asked_backwards"] and text["kind"] == "choice"
    ]
    places = []
    for name in ("judged", "judged_backwards"):
        places.append([_place_of(text, name) for text in asked_both_ways])
    gate = judge_gate(
        [agreed[text["call_id"]] for text in labelled],
        [text["judged"] for text in labelled],
        position=position_bias(*places) if asked_both_ways else None,
        rerun_changes=_again(texts),
        has_options=any(text["kind"] == "choice" for text in texts),
        misread=_misread(labelled, agreed),
    )
    return JudgeReport(gate, len(texts), n_even=n_even)


def stored_judge_report(store: Store, study_id: str) -> JudgeReport:
    """Return the report of a study's judge by the labels that stand."""
    labels = judgements.standing(store, OUTPUT_LABELS)
    return judge_report(judges.judged_texts(store, study_id), labels)


def _place_of(text: Mapping, name: str) -> int | None:
    """Place, in the order shown, of the option that the judge named; None for no option."""
    option = text[name]
    return None if option is None else list(text["option_order"]).index(int(option))


def meaning_report(rows: Sequence[Mapping], n_compared: int, n_turned: int) -> JudgeReport:
    """The gate of a reader that calls an answer by the words of another: from its rows of
    `labelled_readouts`, and of how many of its comparisons the judge turned when it was shown the
    two answers the other way round (`judges.both_ways`)."""
    texts = [{**row, "judged": row["label"] if row["is_same"] else row["answer"]} for row in rows]
    agreed = {row["call_id"]: row["label"] for row in rows}
    gate = judge_gate(
        [row["label"] for row in rows],
        [row["judged"] for row in texts],
        rerun_changes=_share(n_turned, n_compared),
        has_options=False,
        misread=_misread(texts, agreed),
    )
    return JudgeReport(gate, len(rows), n_even=0)


def _misread(labelled: Sequence[Mapping], agreed: Mapping[str, str | None]) -> tuple[str, ...]:
    """Models, of several, that the judge is shown to read otherwise than people do; it may be
    good on the others together."""
    pairs: dict[str, list[tuple[str, str]]] = {}
    for text in labelled:
        pairs.setdefault(text["model"], []).append(
            (agreed[text["call_id"]] or "none", text["judged"] or "none")
        )
    # Of a single model the gate itself tells.
    if len(pairs) < 2:
        return ()
    misread = []
    for model, answers in pairs.items():
        by_people, by_judge = zip(*answers, strict=True)
        kappa = cohen_log_agreement(list(by_people), list(by_judge))
        if kappa.n_items >= FEWEST_OF_MODEL and kappa.estimate.high < KAPPA:
            misread.append(f"{model} (kappa {kappa.estimate.text()} on {kappa.n_items})")
    return tuple(misread)


def gate_rows(report: JudgeReport) -> list[dict]:
    """The gate as a table: what is asked of the judge, what came, and what must be."""
    agreement, position = report.gate.agreement, report.gate.position
    least = f"lower bound {number_text(report.gate.threshold)}"
    rows = [
        (
            "Does it read as people do? (Cohen's kappa)",
            agreement.estimate.text(),
            least,
            agreement.n_items,
        ),
        ("Raw agreement with people", number_text(agreement.raw), "", agreement.n_items),
    ]
    if position:
        moved = position.flip_rate
        rows.append(
            (
                "Does the order of the options move it? (exact McNemar)",
                moved.text(),
                "no position favoured, p ≥ .05",
                moved.n,
            )
        )
    rows.append(
        ("Does it contradict itself when asked again?", report.again.text(), "", report.again.n)
    )
    return [dict(zip(("asked", "found", "must be", "texts"), row, strict=True)) for row in rows]


def _again(texts: Sequence[Mapping]) -> Estimate:
    """Share of the judge's prompts for several equal texts that have more than one reading."""
    readings: dict[str, list[str | None]] = {}
    for text in texts:
        readings.setdefault(text["judge_prompt"], []).append(text["judged"])
    repeated = [group for group in readings.values() if len(group) > 1]
    return _share(sum(len(set(group)) > 1 for group in repeated), len(repeated))


def _share(k: int, n: int) -> Estimate:
    low, high = wilson(k, n)
    if n:
        return Estimate(k / n, low, high=high, level=0.95, method="wilson", n=n, seed=None)
    return missing()


# Labels of both outputs of a pair: what people say of a flip. A random pair of each model, item and
# axis is served, its outputs apart and blind, in the reviewer's own order. These labels stand by
# themselves: base prompts come up more often in them than among all outputs, so they are in no
# estimate of single outputs, and no single label is in a pair.


Side = Mapping[str, Any]


def _two_by_two(sides: Sequence[Side]) -> Iterator[tuple[Side, Side]]:
    return zip(sides[::2], sides[1::2], strict=True)


@dataclass(frozen=True)
class Pairs:
    """`rows` are the labelled pairs: model, item_id, axis, `variants` (their keys), `samples`, and
    whether it `flips` by people. `n_drawn` pairs there are to label; `n_labels` labels by
    `n_people` people took `seconds` each."""

    rows: tuple[Mapping[str, Any], ...]
    n_drawn: int
    n_labels: int
    n_people: int
    seconds: float


def pairs_to_label(
    sides: Sequence[Side], reviewer: str, labels: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Call ids in this reviewer's order, from `judges.pair_sides`: an item's second pair after
    every item's first, and the outputs of every ten pairs mixed, so that nobody sees which belong
    together."""
    pairs = {}
    rows = []
    for first, second in _two_by_two(sides):
        name = first["call_id"] + second["call_id"]
        pairs[name] = (first, second)
    for name, (first, _) in pairs.items():
        generator = f"{first['model']}|{first['axis']}"
        rows.append({"pair_id": name, "dataset": first["dataset"], "generator": generator})
    order = queue(rows, reviewer)
    served = items_in_turn(order, {name: first["item_id"] for name, (first, _) in pairs.items()})
    places: list[Place] = []
    for start in range(0, len(served), BLOCK):
        mixed = []
        for place in served[start : start + BLOCK]:
            mixed += [Place(side["call_id"], place.shared) for side in pairs[place.pair_id]]
        places += sorted(mixed, key=lambda side: digest("pairs", reviewer, side.pair_id))
    in_pairs = [row for row in labels if row["rule_version"] == IN_PAIRS]
    # An output may be a side of several pairs.
    return list(dict.fromkeys(left_to_judge(places, reviewer, in_pairs, OUTPUT_LABELS)))


def labelled_pairs(store: Store, study_id: str) -> Pairs:
    """The pairs of the study whose two outputs people labelled in this order; of an output on which
    they are even there is no label."""
    sides = judges.pair_sides(store, study_id)
    call_ids = {side["call_id"] for side in sides}
    labels = [
        row
        for row in judgements.standing(store, OUTPUT_LABELS)
        if row["rule_version"] == IN_PAIRS and row["call_id"] in call_ids
    ]
    agreed, _ = agreed_labels([{**row, "by_choice": False} for row in labels])
    rows = []
    for first, second in _two_by_two(sides):
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
        seconds=seconds_of_a_label(labels),
    )


def _answer(side: Side, agreed: Mapping[str, str | None]) -> str | None:
    """People's answer as extractors have it: a text that is the target is one answer."""
    label = agreed[side["call_id"]]
    return text_answer(label, side["target"]) if label and side["kind"] == "text" else label
