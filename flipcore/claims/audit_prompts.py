"""Findings of an audit on prompts (wordings, examples, leaks) and on positions of right answers.

Each finding describes the rows. None is made in 200 clean tables of prompts and keys
(`tests/claims/test_audit_prompts.py`).
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd

from flipcore.claims.audit_input import N_LISTED, OURS, OWN_PROMPT, AuditInput, Finding, spoken_name
from flipcore.claims.claim import description
from flipcore.stats.base.estimate import percent_text
from flipcore.text.answers import normalised_text
from flipcore.text.counts import count_of
from flipcore.text.prompts import labels_of

LEAST_ITEMS = 20
MAX_WORDINGS = 4
NEARLY_ALL = 0.9  # share of prompts that repeat their question, or of answers at one place
LEAST_BEYOND_KEYS = 0.25  # share of answers at one place minus share of right answers there
LEAST_QUESTION = 12  # letters; a shorter question may be part of another one by chance
LEAST_SHARE = 0.05  # share of the items that have the second most common wording
MAX_KEYS = 0.6  # share of the right answers that may stand at one place
# A run of option labels ("(A) # (B) #"). Only its first label is kept, so that items with different
# numbers of options have the same wording.
_LABELS = re.compile(
    r"([(\[]?(?:\b[A-Z]\b|#)[.,:)\]]* )(?:(?:(?:or|and|to) )?[(\[]?(?:\b[A-Z]\b|#)[.,:)\]]* )+"
)
_LEAK = re.compile(r"answer(?:\s+is|\s*:|\s*=)\s*\(?([A-Z])\b(?!\s*[a-z])", re.IGNORECASE)
_LEAK_WORD = re.compile(r"(answer|solution|key|target|hint)\W", re.IGNORECASE)


def prompt_findings(log: AuditInput) -> Iterator[Finding]:
    """Return all findings about the base prompts and the keys."""
    prompts = log.prompts.merge(log.items, on="item_id") if len(log.prompts) else log.prompts
    if len(prompts) >= LEAST_ITEMS:
        # Tasks differ in their wording, and so do items with and without options.
        task = prompts["item_id"].astype(str).str.partition("/")[0]
        is_only_task = task.nunique() == 1
        has_options = prompts["options"].map(len) > 0
        for _, part in prompts.groupby([task, has_options], sort=False):
            if is_only_task or len(part) >= LEAST_ITEMS:
                yield from _find_few_wordings(part)
        yield from _find_own_examples(prompts)
        yield from _find_leaks(prompts)
    yield from _find_keys_at_one_place(log.items)
    yield from _find_one_answer(log)


def _wording(text: str, question: str, options: Iterable[str]) -> str:
    """Return a prompt without the item's question, options, numbers, and number of options."""
    # The longest text first, because an option may be part of another one or of the question.
    for item_text in sorted([question, *map(str, options)], key=len, reverse=True):
        text = text.replace(item_text, " ") if len(item_text.strip()) > 1 else text
    words = re.sub(r"\d+", "#", text).split()
    # `_LABELS` needs a blank after each label, so also after the last word.
    return _LABELS.sub(r"\1", " ".join([*words, ""]))


def _find_few_wordings(prompts: pd.DataFrame) -> Iterator[Finding]:
    """Find a few wordings around the question, 2 to `MAX_WORDINGS`: the prompt was changed."""
    columns = zip(prompts["prompt"], prompts["question"], prompts["options"], strict=True)
    wordings = pd.Series(
        [_wording(str(prompt), str(question), options) for prompt, question, options in columns],
        index=prompts.index,
    )
    counts = wordings.value_counts()
    # Many wordings come from prompts with a passage or with examples drawn per item.
    if 1 < len(counts) <= MAX_WORDINGS and counts.iloc[1] >= LEAST_SHARE * len(wordings):
        sizes = " and ".join(f"{n:,}" for n in counts)
        sentence = (
            f"The wording around the question changes: {len(counts)} wordings, of {sizes} items."
        )
        items = tuple(prompts["item_id"][wordings == counts.index[-1]])[:N_LISTED]
        yield Finding("wordings", description(sentence, "wordings"), rank=72, items=items)


def _find_own_examples(prompts: pd.DataFrame) -> Iterator[Finding]:
    """Find items whose question is sent more than once: they are among their own examples."""
    systems = prompts["system"] if "system" in prompts else [""] * len(prompts)
    is_twice = []
    columns = zip(prompts["prompt"], systems, prompts["question"], strict=True)
    for prompt, system, question in columns:
        words = " ".join(str(question).split())
        text = " ".join(f"{system}\n{prompt}".split())
        is_twice.append(len(words) >= LEAST_QUESTION and text.count(words) > 1)
    items = tuple(prompts["item_id"][is_twice])
    # If nearly every prompt repeats its question, the repetition is the layout.
    if items and len(items) < NEARLY_ALL * len(prompts):
        stand = count_of(len(items), "item stands", "items stand")
        whose_prompt = "its" if len(items) == 1 else "their"
        sentence = f"{stand} among the examples of {whose_prompt} own prompt."
        claim = description(sentence, "own examples")
        yield Finding("own examples", claim, rank=84, items=items[:N_LISTED])


def _find_leaks(prompts: pd.DataFrame) -> Iterator[Finding]:
    """Find items whose right answer is in the prompt after the question, not as an option."""
    columns = (prompts[name] for name in ("item_id", "prompt", "question", "options", "target"))
    leaking_items = []
    for item, prompt, question, options, target in zip(*columns, strict=True):
        if not isinstance(target, str):
            continue
        if _leaks_answer(str(prompt), str(question), list(options), target.split("\n")):
            leaking_items.append(item)
    if leaking_items:
        n_items = count_of(len(leaking_items), "item")
        sentence = f"The right answer of {n_items} stands in the prompt behind the question."
        claim = description(sentence, "leaked answers")
        yield Finding("leaked answers", claim, rank=90, items=tuple(leaking_items)[:N_LISTED])


def _leaks_answer(prompt: str, question: str, options: list[str], targets: list[str]) -> bool:
    """Return whether the text after the question states a right answer."""
    if question not in prompt:
        return False
    text_after = prompt.rpartition(question)[2]
    if options:
        labels = labels_of("upper", len(options))
        stated_labels = [label for label in _LEAK.findall(text_after) if label.isupper()]
        places = (int(target) for target in targets if target.isdecimal())
        right_labels = {labels[place] for place in places if place < len(labels)}
        # The last label counts, because earlier ones may belong to examples.
        return bool(stated_labels) and stated_labels[-1] in right_labels
    if not _LEAK_WORD.search(text_after):
        return False
    words, question_words = normalised_text(text_after).split(), normalised_text(question).split()
    for target in targets:
        target_words = target.split()
        # An answer of two letters, or one that is in the question too, may be there by chance.
        is_telling = len("".join(target_words)) > 2 and not _contains(question_words, target_words)
        if is_telling and _contains(words, target_words):
            return True
    return False


def _contains(words: list[str], part: list[str]) -> bool:
    """Return whether the words of `part` follow each other in `words`."""
    return any(words[i : i + len(part)] == part for i in range(len(words) - len(part) + 1))


def _find_keys_at_one_place(items: pd.DataFrame) -> Iterator[Finding]:
    """Find sets of items whose right answers mostly stand at one place among the options."""
    places = []
    for target, options in zip(items["target"], items["options"], strict=True):
        if len(options) > 1 and _is_place(target):
            places.append(int(target))
    if len(places) < LEAST_ITEMS:
        return
    share, place = _top_share(places)
    n_options = max(map(len, items["options"]))
    # A clear majority, and at least twice the share of a place by chance.
    if share > max(MAX_KEYS, 2 / n_options):
        label = labels_of("upper", n_options)[place]
        sentence = (
            f"{percent_text(share, 0)} of {len(places):,} right answers stand at {label}: always "
            f"answering {label} scores as much."
        )
        yield Finding("keys at one place", description(sentence, "keys"), rank=78)


def _find_one_answer(log: AuditInput) -> Iterator[Finding]:
    """Find a model that nearly always chooses one place, although the right answers vary."""
    n_options = log.items["options"].map(len)
    targets = dict(zip(log.items["item_id"], log.items["target"].astype(str), strict=True))
    is_own_prompt = log.frame["is_base"] & (log.frame["axis"] == OWN_PROMPT)
    base = log.frame[is_own_prompt & log.frame["answer"].notna()]
    base = base[base["item_id"].isin(log.items["item_id"][n_options > 1])]
    for (model, extractor), part in base.groupby(["model", "extractor"], sort=False):
        # If the log has scorers of its own, their readouts are the model's answers.
        if extractor in OURS and (base["extractor"] != extractor).any():
            continue
        places = [int(answer) for answer in part["answer"] if _is_place(answer)]
        share, place = _top_share(places)
        n_items = part["item_id"].nunique()
        keys = part.drop_duplicates("item_id")["item_id"].map(targets)
        # No finding if the right answers are mostly at this place too.
        key_share = (keys == str(place)).mean()
        is_like_keys = share - key_share < LEAST_BEYOND_KEYS
        if n_items >= LEAST_ITEMS and share >= NEARLY_ALL and not is_like_keys:
            label = labels_of("upper", int(n_options.max()))[place]
            among = f"{percent_text(share, 0)} of {len(places):,} answers are {label}"
            sentence = f"{model}, {spoken_name(extractor)}: {among}, whatever the question is."
            items = tuple(dict.fromkeys(part["item_id"]))[:N_LISTED]
            claim = description(sentence, "one answer")
            yield Finding(
                "one answer always",
                claim,
                rank=76,
                items=items,
                model=str(model),
                extractor=str(extractor),
            )


def _is_place(value: object) -> bool:
    return isinstance(value, str) and value.isdecimal()


def _top_share(places: list[int]) -> tuple[float, int]:
    """Return (share of the most common place, that place); (NaN, 0) without places."""
    if not places:
        return np.nan, 0
    place, n = Counter(places).most_common(1)[0]
    return n / len(places), place
