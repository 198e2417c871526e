"""Every reader on real outputs that somebody labelled, by set and model: `python -m tests.lab.readers` writes the table beside this file.

People's labels come first. A verdict of the authors' program is no label by a person and is called so. Sets lie beside the repository
(tests' `shared_data`) and are never part of it.
"""

import argparse
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from flipcore.core.contracts import Extractor
from flipcore.core.records import OK, Completion, Item, Prompt, Variant
from flipcore.extractors import extractor_of
from flipcore.stats.base.accuracy import accuracy
from flipcore.stats.base.estimate import Estimate
from flipcore.text.answers import canonical_number
from tests.conftest import ROOT
from tests.extractors.test_real_outputs import rows, survey

TABLE = Path(__file__).with_suffix(".md")
DATA = ROOT.parent / "shared" / "data"
PEOPLE, PROGRAM = "people", "authors' program"
BY_LETTER = ("regex", "pattern", "first_token", "first_token_gated")


@dataclass(frozen=True)
class Output:
    """An output with what its label says of a reading: `agrees` of the answer read (None where nothing was), and whether the label names an
    answer at all."""

    item: Item
    variant: Variant
    completion: Completion
    agrees: Callable[[str | None], bool]
    has_answer: bool = True


@dataclass(frozen=True)
class Labelled:
    """The outputs of one model on one set, who labelled them, and the readers that can read them."""

    name: str
    model: str
    by: str
    readers: tuple[str, ...]
    outputs: tuple[Output, ...]


def _first_token(shot: dict, variant: Variant) -> dict[str, float]:
    """Log-probabilities of the letters, from recorded scores: with the likeliest token where that was kept, else among themselves."""
    scores = shot.get("id_scores") or shot["scores_letter"]
    top = {label: float(scores[label]) for label in variant.labels if label in scores}
    if "max_first_token" in shot:
        top[shot["max_first_token"]] = float(shot["max_first_token_score"])
    most = max(top.values())
    norm = most + math.log(sum(math.exp(one - most) for one in top.values()))
    return {token: one - norm for token, one in top.items()}


def _letters(paths: list[Path]) -> Iterator[Output]:
    """Prose that a person read: one letter, several ("ACE"), or a word for none."""
    for path in paths:
        for item, variant, text, label, shot in survey(path):
            one = re.match(r"([A-Z])\.", label)
            letter = one.group(1) if one else None

            def agrees(answer: str | None, letter: str | None = letter, variant: Variant = variant) -> bool:
                return (variant.labels[int(answer)] if answer is not None else None) == letter

            completion = Completion("c", "ok", text=text, top_logprobs=_first_token(shot, variant))
            yield Output(item, variant, completion, agrees, letter is not None)


def _verdict(kind: str, question: str, target: str, text: str, is_right: bool) -> Output:
    """An answer that was called right or wrong."""
    item = Item.make(dataset="real", key="1", kind=kind, question=question, target=target)
    variant = Variant(item.item_id, "identity", "base", Prompt((("stem", question),)), target)
    return Output(item, variant, Completion("c", "ok", text=text), lambda answer: (answer == target) == is_right)


def sets(data: Path = DATA) -> Iterator[Labelled]:
    """Every labelled output of the sets at hand."""
    for folder in sorted((data / "mcq_mismatch").glob("*")):
        if paths := sorted(folder.glob("*_labeled.json")):
            yield Labelled("OpinionQA", folder.name, PEOPLE, BY_LETTER, tuple(_letters(paths)))
    for folder, name in (("shards", "MMLU, 4 options"), ("shards_add_ref", "MMLU, 7 options")):
        paths = sorted((data / "mcq_robustness" / "gemma-7b" / folder).glob("*.json"))
        yield Labelled(name, "gemma-7b", PEOPLE, BY_LETTER, tuple(_letters(paths)))
    yield from _gsm8k(data / "gsm8k" / "example_model_solutions.jsonl")
    math_rows = rows(data / "math_equal" / "math_cot_100.jsonl")
    outputs = [
        _verdict(
            "number" if canonical_number(row["answer"]) else "text", row["question"], _target(row["answer"]), text, bool(score)
        )
        for row in math_rows
        for text, score in zip(row["response"], row["score"], strict=True)
    ]
    yield Labelled("MATH, 100 problems × 8", "one model", PROGRAM, ("math", "regex", "text_match"), tuple(outputs))


def _target(answer: str) -> str:
    return canonical_number(answer) or answer


def _gsm8k(path: Path) -> Iterator[Labelled]:
    of_model: dict[str, list[Output]] = {}
    for row in rows(path):
        target = canonical_number(row["ground_truth"].rsplit("A: ", 1)[1]) or ""
        for model, one in row.items():
            if isinstance(one, dict):
                output = _verdict("number", row["question"], target, one["solution"], bool(one["is_correct"]))
                of_model.setdefault(model, []).append(output)
    for model, outputs in of_model.items():
        yield Labelled("GSM8K", model, PROGRAM, ("regex", "pattern", "math"), tuple(outputs))


@dataclass(frozen=True)
class Count:
    """Of `n` outputs: an answer was `read`; `right` and `wrong` are the readings that the label agrees with and not, `abstained` where the
    label names an answer and none was read. Nothing read where the label names none is right."""

    n: int
    read: int
    right: int
    wrong: int
    abstained: int
    wrong_share: Estimate


def count(reader: Extractor, outputs: tuple[Output, ...]) -> Count:
    """Of the outputs of a kind that the reader applies to."""
    here = [one for one in outputs if one.item.kind in reader.applies_to]
    read = right = abstained = 0
    wrong = []
    for one in here:
        found = reader.read(one.item, one.variant, [one.completion])
        answer = found.answer if found.status == OK else None
        is_abstained, agrees = answer is None and one.has_answer, one.agrees(answer)
        read += answer is not None
        abstained += is_abstained
        right += agrees and not is_abstained
        wrong.append(not agrees and not is_abstained)
    share = accuracy(wrong, [one.item.item_id for one in here])
    return Count(len(here), read, right, sum(wrong), abstained, share)


def table(data: Path = DATA) -> list[str]:
    """The page, line by line."""
    lines = [
        "# Readers on real outputs",
        "",
        "Written by `python -m tests.lab.readers`. **Right**: the reading is what the label says (nothing read where it names no single",
        "answer is right); **abstained**: nothing was read where the label names an answer. Labels of *authors' program* are no labels by",
        "people: right there means the same verdict as theirs. First token: from recorded scores, with the likeliest token where that was",
        "kept (not of mixtral, so its gate sees letters alone). Stored `pred` of MMLU-Pro is left out: a filled-in guess where the text",
        "states nothing. Intervals are by question.",
        "",
        "| set | model | labelled by | reader | n | read | right | wrong | abstained | wrong, share [95%] |",
        "|---|---|---|---|--:|--:|--:|--:|--:|---|",
    ]
    for one in sets(data):
        for name in one.readers:
            reader = extractor_of(name)
            found = count(reader, one.outputs)
            if not found.n:
                continue
            share = found.wrong_share.text(3)
            cells = f"{found.n:,} | {found.read:,} | {found.right:,} | {found.wrong:,} | {found.abstained:,}"
            lines.append(f"| {one.name} | {one.model} | {one.by} | {reader.title} | {cells} | {share} |")
            print(lines[-1], flush=True)
    return lines


def main() -> None:
    """Writes the table."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    TABLE.write_text("\n".join(table()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
