"""Review of right answers (keys): suspicious items, the order of review, and people's verdicts.

A reviewer answers the question and sees neither its key nor any model's answer. Nothing here
changes a key. People dispute an item, and results are given with and without disputed items.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from flipcore.annotation.judge_labels import canonical_answer
from flipcore.annotation.judging import left_to_judge, queue
from flipcore.core.records import CODE, Item, digest
from flipcore.stats.audit.suspects import Suspicion, suspicions
from flipcore.stats.base.accuracy import accuracy
from flipcore.stats.base.estimate import Estimate
from flipcore.store.connection import Store
from flipcore.store.judgements import AMBIGUOUS, ANSWER, KEY_VERDICTS, UNANSWERABLE, signed
from flipcore.store.queries import judgements, review, studies
from flipcore.text.answers import answer_text, text_answer

RIGHT, OTHER, UNDECIDED = "key right", "other", "undecided"
RULE_VERSION = "key-1"
OUTPUT = ["model", "item_id", "variant_id", "sample"]
# One or two outputs against a key are as likely to be wrong as the key is.
MIN_OUTPUTS = 3


@dataclass(frozen=True)
class Suspect:
    """An item, and how strongly the answers speak against its key."""

    item: Item
    suspicion: Suspicion


def suspects(readouts: pd.DataFrame, items: Mapping[str, Item]) -> list[Suspect]:
    """Return every item of `studies.readouts` with a key and answers, the most suspicious first.

    Items with fewer outputs than `MIN_OUTPUTS` get no suspicion. Programs are left out, because
    failing programs do not agree on an answer.
    """
    has_key = {
        item_id for item_id, item in items.items() if item.target is not None and item.kind != CODE
    }
    # An output counts once, even if several extractors read it.
    outputs = readouts[readouts["answer"].notna()].drop_duplicates(OUTPUT)
    n_outputs = outputs.groupby("item_id", observed=True).size()
    answers: dict[str, list[str]] = {}
    for item_id, item_answers in answers_of(readouts).items():
        if item_id in has_key:
            answers[item_id] = item_answers if n_outputs[item_id] >= MIN_OUTPUTS else []
    keys = [str(items[item_id].target).split("\n") for item_id in answers]
    subjects = [items[item_id].category for item_id in answers]
    all_suspicions = suspicions(list(answers.values()), keys, subjects=subjects)
    all_suspects = [
        Suspect(items[item_id], suspicion)
        for item_id, suspicion in zip(answers, all_suspicions, strict=True)
    ]
    return sorted(all_suspects, key=lambda suspect: -suspect.suspicion.score)


def answers_of(readouts: pd.DataFrame) -> dict[str, list[str]]:
    """Return item id -> its answers, one per output and extractor.

    A prompt that several axes share counts once. An answer that is stable over models, wordings and
    extractors speaks most against a key, so all of them count.
    """
    with_answer = readouts["answer"].notna() & readouts["is_correct"].notna()
    answered = readouts[with_answer].drop_duplicates([*OUTPUT, "extractor"])
    answers = {}
    for item, item_answers in answered.groupby("item_id", observed=True)["answer"]:
        answers[str(item)] = list(map(str, item_answers))
    return answers


def ids_to_review(
    all_suspects: Sequence[Suspect],
    reviewer: str,
    verdicts: Sequence[Mapping],
    *,
    by_suspicion: bool = True,
) -> list[str]:
    """Return the items that this reviewer still has to judge; everybody judges every item.

    With `by_suspicion` they are the suspicious items, the most suspicious first. Without, they are
    all items in the reviewer's random order, including those judged by suspicion before.
    """
    to_judge = list(all_suspects)
    risk = None
    if by_suspicion:
        to_judge = [suspect for suspect in to_judge if suspect.suspicion.is_suspect]
        risk = {suspect.item.item_id: suspect.suspicion.score for suspect in to_judge}
    rows = []
    for suspect in to_judge:
        item = suspect.item
        rows.append({"pair_id": item.item_id, "dataset": item.dataset, "generator": ""})
    counted = [row for row in verdicts if by_suspicion or not row["by_choice"]]
    order = queue(rows, reviewer, shared=1, risk=risk)
    return left_to_judge(order, reviewer, counted, KEY_VERDICTS)


def key_verdict_row(
    item: Item, reviewer: str, verdict: str, answer: str | None = None, *, by_choice: bool = False
) -> dict:
    """Return the row of `key_verdicts` for the verdict of `reviewer` on the question.

    `answer` counts only for the verdict `ANSWER`. Raises BadInput for an unknown verdict or an
    answer that the item cannot have.
    """
    canonical = None
    if verdict == ANSWER:
        canonical = canonical_answer(item.kind, len(item.options), answer=answer or "")
    values = {
        "item_id": item.item_id,
        "reviewer": signed(reviewer),
        "verdict": verdict,
        "answer": canonical,
        "item_hash": digest(item.question, list(item.options)),
        "rule_version": RULE_VERSION,
    }
    return KEY_VERDICTS.row(values, by_choice=by_choice)


@dataclass(frozen=True)
class KeyReview:
    """The reviews of one item; `rows` are rows of `key_verdicts`."""

    item: Item
    rows: tuple[Mapping, ...]

    @cached_property
    def verdict_counts(self) -> Counter[str]:
        """Number of reviewers per verdict: `RIGHT`, `OTHER`, `AMBIGUOUS` or `UNANSWERABLE`."""
        return Counter(self._verdict_on_key(row) for row in self.rows)

    def _verdict_on_key(self, row: Mapping) -> str:
        if row["verdict"] != ANSWER:
            return str(row["verdict"])
        target = self.item.target
        answer = text_answer(row["answer"], target) if self.item.kind == "text" else row["answer"]
        return RIGHT if answer in (target or "").split("\n") else OTHER

    @property
    def outcome(self) -> str:
        """`RIGHT` if most say so, `UNDECIDED` at a tie, else the most frequent other verdict."""
        n_right = self.verdict_counts[RIGHT]
        against = {word: n for word, n in self.verdict_counts.items() if word != RIGHT}
        n_against = sum(against.values())
        if n_right > n_against:
            return RIGHT
        if n_right == n_against:
            return UNDECIDED
        return min(against, key=lambda word: (-against[word], word))

    @property
    def is_disputed(self) -> bool:
        return self.outcome not in (RIGHT, UNDECIDED)


def key_reviews(items: Mapping[str, Item], verdicts: Sequence[Mapping]) -> dict[str, KeyReview]:
    """Return item id -> reviews, of items whose question and options did not change since."""
    by_item: dict[str, list[Mapping]] = {}
    for row in verdicts:
        item = items.get(row["item_id"])
        if item and row["item_hash"] == digest(item.question, list(item.options)):
            by_item.setdefault(item.item_id, []).append(row)
    return {item_id: KeyReview(items[item_id], tuple(rows)) for item_id, rows in by_item.items()}


def rate_of_disputed(reviews: Mapping[str, KeyReview]) -> Estimate:
    """Return the share of disputed items among those that came up at random."""
    is_disputed = []
    for item_review in reviews.values():
        at_random = tuple(row for row in item_review.rows if not row["by_choice"])
        if at_random:
            is_disputed.append(KeyReview(item_review.item, at_random).is_disputed)
    return accuracy(is_disputed)


def errata(all_suspects: Sequence[Suspect], reviews: Mapping[str, KeyReview]) -> list[dict]:
    """Return one row per item that people dispute or tie on, with the evidence."""
    by_item = {suspect.item.item_id: suspect.suspicion for suspect in all_suspects}
    rows = []
    for item_id, item_review in sorted(reviews.items()):
        if item_review.outcome == RIGHT:
            continue
        item = item_review.item
        answers = {answer_text(item, row["answer"]) for row in item_review.rows if row["answer"]}
        row = {
            "item_id": item_id,
            "dataset": item.dataset,
            "question": item.question,
            "options": " | ".join(item.options),
            "key": answer_text(item, item.target),
            "people say": item_review.outcome,
            "their answers": ", ".join(sorted(answers)),
            "reviewers": len(item_review.rows),
        }
        for word in (RIGHT, OTHER, AMBIGUOUS, UNANSWERABLE):
            row[f"say {word}"] = item_review.verdict_counts[word]
        rows.append(row | _evidence(item, by_item.get(item_id)))
    return rows


def errata_of(store: Store, study_id: str) -> list[dict]:
    """Return the errata of a study, by all reviews so far; empty if nobody disputes a key."""
    frame = studies.readouts(store, study_id)
    ids = list(map(str, frame["item_id"].unique()))
    all_suspects = suspects(frame, review.items(store, ids))
    items = {suspect.item.item_id: suspect.item for suspect in all_suspects}
    return errata(all_suspects, key_reviews(items, judgements.standing(store, KEY_VERDICTS)))


def _evidence(item: Item, suspicion: Suspicion | None) -> dict:
    if suspicion is None:
        return {}
    other_answer = None if suspicion.other_answer is None else str(suspicion.other_answer)
    return {
        "most answers say": answer_text(item, other_answer),
        "share that says so": round(suspicion.share, 3),
        "share that says the key": round(suspicion.key_share, 3),
        "answers": suspicion.n,
    }
