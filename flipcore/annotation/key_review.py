"""Is this key right? Which items most answers speak against, who reviews them in which order, and what people say.

A reviewer answers the question and sees neither its key nor any model's answer. A key is never changed here: an item is disputed by
people, and what is measured is given with and without it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from flipcore.access.acting import signature
from flipcore.annotation.judge_labels import canonical_answer
from flipcore.annotation.paraphrases.random_order import queue
from flipcore.annotation.paraphrases.verdicts import reviewer_name
from flipcore.core.errors import BadInput
from flipcore.core.records import CODE, Item, digest
from flipcore.stats.audit.suspects import Suspicion, suspicions
from flipcore.stats.base.accuracy import accuracy
from flipcore.stats.base.estimate import Estimate
from flipcore.store.connection import Store
from flipcore.store.queries import review, studies
from flipcore.store.rows import now
from flipcore.text.answers import answer_text, text_answer

ANSWER, AMBIGUOUS, UNANSWERABLE = "answer", "ambiguous", "unanswerable"
VERDICTS = (ANSWER, AMBIGUOUS, UNANSWERABLE)
RIGHT, OTHER, UNDECIDED = "key right", "other", "undecided"
RULE_VERSION = "key-1"
PLACE = ["model", "item_id", "variant_id", "sample", "extractor"]
FEWEST_OUTPUTS = 3  # of an item; what one or two outputs say against its key is a wrong answer as likely as a wrong key


@dataclass(frozen=True)
class Suspect:
    """An item with what most answers say against its key."""

    item: Item
    suspicion: Suspicion


def suspects(readouts: pd.DataFrame, items: Mapping[str, Item]) -> list[Suspect]:
    """Of readouts (`studies.readouts`) every item with a key and answers, the most suspect first. Programs that fail agree on nothing, and
    an item with fewer outputs than `FEWEST_OUTPUTS` has nothing said against it."""
    has_key = {name for name, item in items.items() if item.target is not None and item.kind != CODE}
    of_item = readouts[readouts["answer"].notna()].drop_duplicates(PLACE[:-1]).groupby("item_id", observed=True).size()
    answers = {
        name: several if of_item[name] >= FEWEST_OUTPUTS else []
        for name, several in answers_of(readouts).items()
        if name in has_key
    }
    keys, subjects = [str(items[one].target).split("\n") for one in answers], [items[one].category for one in answers]
    every = suspicions(list(answers.values()), keys, subjects)
    return sorted((Suspect(items[one], s) for one, s in zip(answers, every, strict=True)), key=lambda one: -one.suspicion.score)


def answers_of(readouts: pd.DataFrame) -> dict[str, list[str]]:
    """Item -> every answer that was read of it. A prompt that stands on several axes counts once, an output once for each extractor: what
    is stable over models, wordings and extractors is what speaks against a key."""
    there = readouts[readouts["answer"].notna() & readouts["is_correct"].notna()].drop_duplicates(PLACE)
    return {str(item): [str(one) for one in part] for item, part in there.groupby("item_id", observed=True)["answer"]}


def ids_to_review(of: Sequence[Suspect], reviewer: str, verdicts: Sequence[Mapping], *, by_suspicion: bool = True) -> list[str]:
    """The items that this reviewer has still to judge: suspects, the most suspect first; or all items in the reviewer's own random order,
    in which those that were judged as suspects come up again. Everybody judges every item."""
    some = [one for one in of if one.suspicion.is_suspect] if by_suspicion else list(of)
    rows = [{"pair_id": one.item.item_id, "dataset": one.item.dataset, "generator": ""} for one in some]
    risk = {one.item.item_id: one.suspicion.score for one in some} if by_suspicion else None
    own = {row["item_id"] for row in verdicts if row["reviewer"] == reviewer and (by_suspicion or not row["by_choice"])}
    return [place.pair_id for place in queue(rows, reviewer, shared=1, risk=risk) if place.pair_id not in own]


def key_verdict_row(item: Item, reviewer: str, verdict: str, answer: str | None = None, *, by_choice: bool = False) -> dict:
    """What `reviewer` says of the question as a row of `key_verdicts`. Raises BadInput for a verdict or an answer that is none."""
    if verdict not in VERDICTS:
        raise BadInput(
            f"A question is answered, or it is {AMBIGUOUS} or {UNANSWERABLE}; this verdict says {str(verdict)[:40]!r}."
        )
    row = {
        "item_id": item.item_id,
        "reviewer": reviewer_name(signature(reviewer)),
        "verdict": verdict,
        "answer": canonical_answer(item.kind, len(item.options), answer or "") if verdict == ANSWER else None,
        "item_hash": digest(item.question, list(item.options)),
        "rule_version": RULE_VERSION,
        "undoes": None,
        "created_at": now(),
    }
    return {"verdict_id": digest(*map(str, row.values())), **row, "by_choice": by_choice}


def undo_key_verdict(row: Mapping) -> dict:
    """The row that takes a verdict back."""
    new = {name: row[name] for name in ("item_id", "reviewer", "verdict", "answer", "item_hash", "rule_version")}
    new |= {"undoes": row["verdict_id"], "created_at": now()}
    return {"verdict_id": digest(*map(str, new.values())), **new}


@dataclass(frozen=True)
class KeyReview:
    """What people say of one item (rows of `key_verdicts`)."""

    item: Item
    rows: tuple[Mapping, ...]

    @cached_property
    def words(self) -> Counter[str]:
        """How many say that the key is right, that another answer is, that the question is ambiguous or cannot be answered."""
        return Counter(self._word(row) for row in self.rows)

    def _word(self, row: Mapping) -> str:
        if row["verdict"] != ANSWER:
            return str(row["verdict"])
        target = self.item.target
        answer = text_answer(row["answer"], target) if self.item.kind == "text" else row["answer"]
        return RIGHT if answer in (target or "").split("\n") else OTHER

    @property
    def outcome(self) -> str:
        """`RIGHT` where most say so, `UNDECIDED` at a tie, else what most of the others say."""
        against = Counter({word: n for word, n in self.words.items() if word != RIGHT})
        n_right, n_against = self.words[RIGHT], against.total()
        if n_right > n_against:
            return RIGHT
        return UNDECIDED if n_right == n_against else min(against, key=lambda word: (-against[word], word))

    @property
    def is_disputed(self) -> bool:
        return self.outcome not in (RIGHT, UNDECIDED)


def key_reviews(items: Mapping[str, Item], verdicts: Sequence[Mapping]) -> dict[str, KeyReview]:
    """Of each of these items that somebody reviewed, while its question and options are as they were then."""
    by_item: dict[str, list[Mapping]] = {}
    for row in verdicts:
        item = items.get(row["item_id"])
        if item and row["item_hash"] == digest(item.question, list(item.options)):
            by_item.setdefault(item.item_id, []).append(row)
    return {name: KeyReview(items[name], tuple(rows)) for name, rows in by_item.items()}


def rate_of_disputed(reviews: Mapping[str, KeyReview]) -> Estimate:
    """The share of disputed items among those that came up at random."""
    random = (KeyReview(one.item, tuple(row for row in one.rows if not row["by_choice"])) for one in reviews.values())
    return accuracy([one.is_disputed for one in random if one.rows])


def errata(of: Sequence[Suspect], reviews: Mapping[str, KeyReview]) -> list[dict]:
    """The items that people dispute, or are even on, with the evidence: one row each, for a table or a file."""
    by_item = {one.item.item_id: one.suspicion for one in of}
    return [
        {
            "item_id": name,
            "dataset": one.item.dataset,
            "question": one.item.question,
            "options": " | ".join(one.item.options),
            "key": answer_text(one.item, one.item.target),
            "people say": one.outcome,
            "their answers": ", ".join(sorted({answer_text(one.item, row["answer"]) for row in one.rows if row["answer"]})),
            "reviewers": len(one.rows),
            **{f"say {word}": one.words[word] for word in (RIGHT, OTHER, AMBIGUOUS, UNANSWERABLE)},
            **_evidence(one.item, by_item.get(name)),
        }
        for name, one in sorted(reviews.items())
        if one.outcome != RIGHT
    ]


def errata_of(store: Store, study_id: str) -> list[dict]:
    """The errata of a study, by what people have said so far; empty where nobody disputes a key."""
    frame = studies.readouts(store, study_id)
    of = suspects(frame, review.items(store, [str(one) for one in frame["item_id"].unique()]))
    return errata(of, key_reviews({one.item.item_id: one.item for one in of}, review.key_verdicts(store)))


def _evidence(item: Item, one: Suspicion | None) -> dict:
    if one is None:
        return {}
    other = None if one.other is None else str(one.other)
    return {
        "most answers say": answer_text(item, other),
        "share that says so": round(one.share, 3),
        "share that says the key": round(one.of_key, 3),
        "answers": one.n,
    }
