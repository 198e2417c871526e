"""What people read in outputs, collected without seeing what an extractor read or whose output it is; and the judge's gate.

A label is of an output, so it serves every extractor that read it. A judge that has not passed is shown and excluded from all conclusions
(statistics: gates).
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

from flipcore.access.acting import signature
from flipcore.annotation.paraphrases.random_order import BLOCK, SHARED, items_in_turn, queue, undone
from flipcore.annotation.paraphrases.verdicts import reviewer_name
from flipcore.core.errors import BadInput
from flipcore.core.records import CODE, digest
from flipcore.core.sandbox import FAILED, PASSED
from flipcore.extractors import reads_together
from flipcore.stats.base.agreement import Agreement, cohen_log_agreement, krippendorff_agreement
from flipcore.stats.base.estimate import Estimate, missing, number_text
from flipcore.stats.base.gate_rules import KAPPA, JudgeGate, judge_gate, position_bias
from flipcore.stats.base.intervals import wilson
from flipcore.store.connection import Store
from flipcore.store.queries import judges
from flipcore.store.rows import now
from flipcore.text.answers import canonical_number, normalised_text, text_answer

RULE_VERSION = "label-1"
IN_PAIRS = "label-1/pairs"  # of an output that came up with another of its item; apart from the single ones, as by choice
KINDS = {"choice": "one of its options", "number": "a number", "text": "the words of the answer", CODE: "passed or failed"}
FEWEST_OF_MODEL = 20  # labels that speak of one model
PAUSE = 300  # seconds
READ_AS: dict[str, Callable[[str], str | None]] = {"number": canonical_number, "text": normalised_text}


def canonical_answer(kind: str, n_options: int, answer: str) -> str:
    """What a person says is the answer, as readouts have it: an option's index, a number, normalised words. Raises BadInput for an answer
    that the item cannot have."""
    reading = READ_AS.get(kind, str)(answer)
    allowed = {"choice": set(map(str, range(n_options))), CODE: {PASSED, FAILED}}
    if not reading or (kind in allowed and reading not in allowed[kind]):
        raise BadInput(f"{answer!r} is no answer to this question: give {KINDS[kind]}, or say that there is none.")
    return reading


def label_row(text: Mapping, reviewer: str, answer: str | None, *, by_choice: bool = False, in_pairs: bool = False) -> dict:
    """What `reviewer` read in `text` (call_id, item_id, kind, options, text): a canonical answer, None for no single one. `by_choice` where
    the text did not come up at random, `in_pairs` where a random pair of texts did (`pair_labels`).

    Raises BadInput for an answer that the item does not have."""
    reading = None if answer is None else canonical_answer(text["kind"], len(text["options"]), answer)
    row = {
        "item_id": text["item_id"],
        "call_id": text["call_id"],
        "reviewer": reviewer_name(signature(reviewer)),
        "answer": reading,
        "text_hash": digest(text["text"]),
        "rule_version": IN_PAIRS if in_pairs else RULE_VERSION,
        "undoes": None,
        "created_at": now(),
    }
    return {"label_id": digest(*map(str, row.values())), **row, "by_choice": by_choice or in_pairs}


def undo_row(label: Mapping) -> dict:
    """The row that takes a label back."""
    row = {name: label[name] for name in ("item_id", "call_id", "reviewer", "text_hash", "rule_version")}
    row |= {"answer": None, "undoes": label["label_id"], "created_at": now()}
    return {"label_id": digest(*map(str, row.values())), **row}


def ids_to_label(
    texts: Sequence[Mapping], reviewer: str, labels: Sequence[Mapping], shared: float = SHARED, *, by_doubt: bool = False
) -> list[str]:
    """Call ids in this reviewer's order, an item's second text after every item's first; as pairs are queued. `by_doubt` the texts that
    say most come first (`doubt` of `judges.outputs`); labels given so are no random sample, and at random their texts come up again."""
    order = queue(
        [{"pair_id": one["call_id"], "dataset": one["dataset"], "generator": one["model"]} for one in texts],
        reviewer,
        shared=shared,
        risk={one["call_id"]: one["doubt"] for one in texts} if by_doubt else None,
    )
    standing = [row for row in labels if by_doubt or not row.get("by_choice")]
    by_reviewer: set[str] = {row["call_id"] for row in standing if row["reviewer"] == reviewer}
    others: Collection[str] = {row["call_id"] for row in standing if row["reviewer"] != reviewer}
    if by_doubt:
        return undone(order, by_reviewer, others)
    return undone(items_in_turn(order, {one["call_id"]: one["item_id"] for one in texts}), by_reviewer, others)


def agreed_labels(labels: Sequence[Mapping]) -> tuple[dict[str, str | None], int]:
    """(text -> what most people read in it, texts on which they are even and which therefore have no label), of those that came up at
    random."""
    by_text: dict[str, list[str | None]] = {}
    for row in labels:
        if row.get("by_choice"):
            continue
        by_text.setdefault(row["call_id"], []).append(row["answer"])
    agreed, n_even = {}, 0
    for call_id, answers in by_text.items():
        counts = sorted(((answers.count(one), str(one), one) for one in set(answers)), reverse=True)
        if len(counts) > 1 and counts[0][0] == counts[1][0]:
            n_even += 1
        else:
            agreed[call_id] = counts[0][2]
    return agreed, n_even


def labelled_readouts(store: Store, study_id: str) -> list[dict]:
    """What each extractor read in the outputs of the study that people read (`judges.readouts_of`), with what people read: `label`, whether
    that is right (`label_is_right`, None without a target) and whether the extractor read the same (`is_same`)."""
    agreed, _ = agreed_labels(judges.labels(store))
    return [row | _against(row, agreed[row["call_id"]]) for row in judges.readouts_of(store, study_id, sorted(agreed))]


def _against(row: Mapping, label: str | None) -> dict:
    target = row["target"]
    answer = text_answer(label, target) if label and row["kind"] == "text" else label
    is_right = None if target is None else answer in target.split("\n")
    is_same = answer == row["answer"] or bool(is_right and row["is_correct"])
    if answer and row["answer"] and reads_together(row["extractor"]):  # called by the words of another text that means the same
        words = [f" {normalised_text(one)} " for one in (answer, row["answer"])]
        is_same = is_same or words[0] in words[1] or words[1] in words[0]
    return {"label": label, "label_is_right": is_right, "is_same": is_same}


def people_agreement(labels: Sequence[Mapping]) -> Agreement:
    """Krippendorff's alpha of what people read in the same outputs; no single answer is an answer of its own."""
    by_reviewer: dict[str, dict[str, str]] = {}
    for row in labels:
        by_reviewer.setdefault(row["reviewer"], {})[row["call_id"]] = row["answer"] or "none"
    calls = sorted({row["call_id"] for row in labels})
    return krippendorff_agreement([[of_one.get(call) for call in calls] for of_one in by_reviewer.values()])


def seconds_of_a_label(labels: Sequence[Mapping]) -> float:
    """The median time between two labels of one person that lie less than five minutes apart; NaN without any."""
    times: dict[str, list[float]] = {}
    for row in labels:
        times.setdefault(row["reviewer"], []).append(row["seconds"])
    gaps = [later - one for of_one in times.values() for one, later in pairwise(of_one) if later - one < PAUSE]
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
        return self.gate.again

    @property
    def sentences(self) -> tuple[str, ...]:
        """Gate, position, asking again."""
        position = "The judge was not asked with the options backwards."
        again = "No text was put before the judge twice, so how often it contradicts itself is not known."
        if self.gate.position:
            position = self.gate.position.sentence()
        if self.again.n:
            again = f"Asked again with the same prompt, it reads {self.again.text()} of {self.again.n} texts differently."
        return self.gate.sentence(), position, again


def judge_report(texts: Sequence[Mapping], labels: Sequence[Mapping]) -> JudgeReport:
    """`texts` and `labels` as `store.judge_queries` gives them. An unreadable reply is a label of its own."""
    agreed, n_even = agreed_labels(labels)
    labelled = [one for one in texts if one["call_id"] in agreed]
    both = [one for one in texts if one["asked_backwards"] and one["kind"] == "choice"]
    places = [
        [None if one[name] is None else list(one["option_order"]).index(int(one[name])) for one in both]
        for name in ("judged", "judged_backwards")
    ]
    gate = judge_gate(
        [agreed[one["call_id"]] for one in labelled],
        [one["judged"] for one in labelled],
        position_bias(*places) if both else None,
        _again(texts),
        has_options=any(one["kind"] == "choice" for one in texts),
        misread=_misread(labelled, agreed),
    )
    return JudgeReport(gate, len(texts), n_even)


def meaning_report(rows: Sequence[Mapping], n_compared: int, n_turned: int) -> JudgeReport:
    """The gate of a reader that calls an answer by the words of another: from its rows of `labelled_readouts`, and of how many of its
    comparisons the judge turned when it was shown the two answers the other way round (`judges.both_ways`)."""
    texts = [{**row, "judged": row["label"] if row["is_same"] else row["answer"]} for row in rows]
    agreed = {row["call_id"]: row["label"] for row in rows}
    gate = judge_gate(
        [row["label"] for row in rows],
        [row["judged"] for row in texts],
        again=_share(n_turned, n_compared),
        has_options=False,
        misread=_misread(texts, agreed),
    )
    return JudgeReport(gate, len(rows), 0)


def _misread(labelled: Sequence[Mapping], agreed: Mapping[str, str | None]) -> tuple[str, ...]:
    """Of several models those that the judge is shown to read otherwise than people do; it may be good on the others together."""
    pairs: dict[str, list[tuple[str, str]]] = {}
    for one in labelled:
        pairs.setdefault(one["model"], []).append((agreed[one["call_id"]] or "none", one["judged"] or "none"))
    kappas = {
        model: cohen_log_agreement([people for people, _ in both], [judge for _, judge in both])
        for model, both in pairs.items()
        if len(pairs) > 1
    }
    return tuple(
        f"{model} (kappa {one.estimate.text()} on {one.n_items})"
        for model, one in kappas.items()
        if one.n_items >= FEWEST_OF_MODEL and one.estimate.high < KAPPA
    )


def gate_rows(report: JudgeReport) -> list[dict]:
    """The gate as a table: what is asked of the judge, what came, and what must be."""
    agreement, position = report.gate.agreement, report.gate.position
    least = f"lower bound {number_text(report.gate.threshold)}"
    rows = [
        ("Does it read as people do? (Cohen's kappa)", agreement.estimate.text(), least, agreement.n_items),
        ("Raw agreement with people", number_text(agreement.raw), "", agreement.n_items),
    ]
    if position:
        moved = position.flip_rate
        rows.append(
            ("Does the order of the options move it? (exact McNemar)", moved.text(), "no position favoured, p ≥ .05", moved.n)
        )
    rows.append(("Does it contradict itself when asked again?", report.again.text(), "", report.again.n))
    return [dict(zip(("asked", "found", "must be", "texts"), row, strict=True)) for row in rows]


def _again(texts: Sequence[Mapping]) -> Estimate:
    """The share of the judge's prompts, sent for several texts that read the same, with more than one reading."""
    readings: dict[str, list[str | None]] = {}
    for one in texts:
        readings.setdefault(one["judge_prompt"], []).append(one["judged"])
    repeated = [group for group in readings.values() if len(group) > 1]
    return _share(sum(len(set(group)) > 1 for group in repeated), len(repeated))


def _share(k: int, n: int) -> Estimate:
    low, high = wilson(k, n)
    return Estimate(k / n, low, high, 0.95, "wilson", n, None) if n else missing()


# Labels of both outputs of a pair: what people say of a flip. A random pair of each model, item and axis is served, its outputs apart and
# blind, in the reviewer's own order. These labels stand by themselves: base prompts come up more often in them than among all outputs,
# so they are in no estimate of single outputs, and no single label is in a pair.


Side = Mapping[str, Any]


def _two_by_two(sides: Sequence[Side]) -> Iterator[tuple[Side, Side]]:
    return zip(sides[::2], sides[1::2], strict=True)


@dataclass(frozen=True)
class Pairs:
    """`rows` are the labelled pairs: model, item_id, axis, `variants` (their keys), `samples`, and whether it `flips` by people. `n_drawn`
    pairs there are to label; `n_labels` labels by `n_people` people took `seconds` each."""

    rows: tuple[Mapping[str, Any], ...]
    n_drawn: int
    n_labels: int
    n_people: int
    seconds: float


def pairs_to_label(sides: Sequence[Side], reviewer: str, labels: Sequence[Mapping[str, Any]]) -> list[str]:
    """Call ids in this reviewer's order, from `judges.pair_sides`: an item's second pair after every item's first, and the outputs of
    every ten pairs mixed, so that nobody sees which belong together."""
    pairs = {one["call_id"] + two["call_id"]: (one, two) for one, two in _two_by_two(sides)}
    order = queue(
        [
            {"pair_id": name, "dataset": one["dataset"], "generator": f"{one['model']}|{one['axis']}"}
            for name, (one, _) in pairs.items()
        ],
        reviewer,
    )
    standing = [row for row in labels if row["rule_version"] == IN_PAIRS]
    mine: Collection[str] = {row["call_id"] for row in standing if row["reviewer"] == reviewer}
    others: Collection[str] = {row["call_id"] for row in standing if row["reviewer"] != reviewer}
    left: list[str] = []
    served = items_in_turn(order, {name: one["item_id"] for name, (one, _) in pairs.items()})
    for start in range(0, len(served), BLOCK):
        calls = [
            (digest("pairs", reviewer, side["call_id"]), side["call_id"], place.shared)
            for place in served[start : start + BLOCK]
            for side in pairs[place.pair_id]
        ]
        left += [call for _, call, is_shared in sorted(calls) if call not in mine and (is_shared or call not in others)]
    return list(dict.fromkeys(left))


def labelled_pairs(store: Store, study_id: str) -> Pairs:
    """The pairs of the study whose two outputs people labelled in this order; of an output on which they are even there is no label."""
    sides = judges.pair_sides(store, study_id)
    here = {one["call_id"] for one in sides}
    labels = [row for row in judges.labels(store) if row["rule_version"] == IN_PAIRS and row["call_id"] in here]
    agreed, _ = agreed_labels([{**row, "by_choice": False} for row in labels])
    rows = [
        {name: one[name] for name in ("model", "item_id", "axis")}
        | {"variants": (one["variant"], two["variant"]), "samples": (one["sample"], two["sample"])}
        | {"flips": _answer(one, agreed) != _answer(two, agreed)}
        for one, two in _two_by_two(sides)
        if one["call_id"] in agreed and two["call_id"] in agreed
    ]
    return Pairs(
        tuple(rows), len(sides) // 2, len(labels), len({row["reviewer"] for row in labels}), seconds_of_a_label(labels)
    )


def _answer(side: Side, agreed: Mapping[str, str | None]) -> str | None:
    """What people read, as extractors have it: a text that is the target is one answer in whatever words."""
    label = agreed[side["call_id"]]
    return text_answer(label, side["target"]) if label and side["kind"] == "text" else label
