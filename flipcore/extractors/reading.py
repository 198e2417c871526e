"""Reading an answer out of text: which label or number it states, where, or why none can be read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from flipcore.answers import canonical_number

_RUNAWAY = re.compile(r"\n\s*(?:Question|Q|Problem|User|Human)\s*\d*\s*[:.]", re.IGNORECASE)
_STATED = r"(?:answer|choice|option|choose|pick|select)\w*(?:\s+(?:is|would be|must be|are))?\s*(?:[:=]|is)?\s*(?:option\s*)?[*_`\"'(\[{$\\]*(?:boxed\{|text\{)?"
_AFTER = r"(?![A-Za-z0-9])"
_MORE = r"[\s*_)\]}.\"'`]*(?:,|/|&|\band\b|\bor\b)\s*[*_(\[\"'`]*"
_NUMBER = r"-?\$?\s?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?<=\d)(?:\s?/\s?\d+)?%?"
_NUMBER_STATED = re.compile(rf"answer\b[^\n\d$-]{{0,30}}?(?:is|:|=)\s*[*_`$\\({{a-z]*?({_NUMBER})", re.IGNORECASE)
_HASHES = re.compile(rf"####\s*\$?({_NUMBER})")
_ANY_NUMBER = re.compile(rf"(?<![\w.])({_NUMBER})")


@dataclass(frozen=True)
class Found:
    """`answer` is a position (choice) or a canonical number; None with the `reason` when nothing can be read."""

    answer: int | str | None
    span: tuple[int, int] | None = None
    reason: str = ""


def own_part(text: str) -> str:
    """The text up to where the model goes on with a question of its own."""
    runaway = _RUNAWAY.search(text)
    return text[:runaway.start()] if runaway else text


def stated_label(text: str, labels: Sequence[str], options: Sequence[str]) -> Found:
    """The option that a text chooses: an explicit statement (the last one wins), a leading label, the only label, or the only
    option quoted. Abstains when several labels are given."""
    text = own_part(text)
    if not text.strip():
        return Found(None, reason="The text is empty.")
    one = "|".join(re.escape(label) for label in sorted(labels, key=len, reverse=True))
    for find in (_explicit, _leading, _only):
        found = find(text, labels, one)
        if found is not None:
            return found
    return _quoted(text, options)


def _made(match: re.Match, text: str, labels: Sequence[str], one: str) -> Found:
    """The label of group 1, unless more labels are listed right after it."""
    more = re.match(rf"{_MORE}(?:{one}){_AFTER}", text[match.end(1):])
    if more:
        return Found(None, (match.start(1), match.end(1) + more.end()), "Several labels are given.")
    return Found(list(labels).index(match[1]), match.span(1))


def _explicit(text: str, labels: Sequence[str], one: str) -> Found | None:
    matches = list(re.finditer(rf"(?i:{_STATED})({one}){_AFTER}", text))
    matches = [m for m in matches if not _is_word(text, m)]
    return _made(matches[-1], text, labels, one) if matches else None


def _leading(text: str, labels: Sequence[str], one: str) -> Found | None:
    several = re.match(rf"\s*[(\[]?((?:{one}){{2,}})(?![a-z0-9])[)\].:]?(?:\s|$)", text)
    if several and several[1] not in labels:
        return Found(None, several.span(1), "Several labels are given.")
    match = re.match(rf"\s*[*_\"'`]*[(\[]?({one})(?:[)\].:,*_\"'`]|\s*(?:\n|$)|\s+-)", text)
    if match:
        return _made(match, text, labels, one)
    return None


def _only(text: str, labels: Sequence[str], one: str) -> Found | None:
    matches = [m for m in re.finditer(rf"(?<![A-Za-z0-9'’])({one}){_AFTER}(?!['’])", text) if not _is_word(text, m)]
    if not matches:
        return None
    if len({m[1] for m in matches}) > 1:
        return Found(None, None, "Several labels stand in the text and none is stated as the answer.")
    return _made(matches[-1], text, labels, one)


def _is_word(text: str, match: re.Match) -> bool:
    """The article "a" and the pronoun "I" are no labels: followed by a word, without punctuation."""
    return match[1] in ("A", "a", "I", "i") and bool(re.match(r"\s+(?!(?:and|or|is|because|since|as)\b)[a-z]",
                                                              text[match.end(1):]))


def _quoted(text: str, options: Sequence[str]) -> Found:
    spans = {}
    for i, option in enumerate(options):
        match = re.search(rf"(?<!\w){re.escape(option)}(?!\w)", text, re.IGNORECASE) if option else None
        if match:
            spans[i] = match.span()
    kept = {i: span for i, span in spans.items()
            if not any(o != span and o[0] <= span[0] and span[1] <= o[1] for o in spans.values())}
    if len(kept) == 1:
        (i, span), = kept.items()
        return Found(i, span)
    if kept:
        return Found(None, None, "Several options are quoted and none is stated as the answer.")
    return Found(None, None, "Neither a label nor an option stands in the text.")


def stated_number(text: str) -> Found:
    """The number that a text gives as its answer: after ####, after "answer" or "A:", or else the last one."""
    text = own_part(text)
    if not text.strip():
        return Found(None, reason="The text is empty.")
    matches = list(_HASHES.finditer(text))[:1] or list(re.finditer(rf"\bA:\s*\$?({_NUMBER})", text))[-1:] \
        or list(_NUMBER_STATED.finditer(text))[-1:] or list(_ANY_NUMBER.finditer(text))[-1:]
    if not matches:
        return Found(None, reason="No number stands in the text.")
    match = matches[0]
    value = canonical_number(match[1])
    if value is None:
        return Found(None, match.span(1), f"{match[1]!r} is not a number.")
    return Found(value, match.span(1))
