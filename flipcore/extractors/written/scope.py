"""Where a model's answer ends: it may run on into another problem, another turn, or repeat the question first."""

import re

_NEXT = re.compile(
    r"\n[ \t]*(?:#+[ \t]*|\*\*)?(?:Question|Problem|Q)\s*\d*\s*[:.]"
    r"|\n[ \t]*(?:User|Human)\s*\d*\s*:|\[INST\]|<\||</s>|<end_of_turn>|<start_of_turn>",
    re.IGNORECASE,
)
# Line by line, never across line breaks: a run of 20,000 empty lines once took 12 seconds.
_REFUSAL = re.compile(
    r"\W*(?:(?:I['’]?m|I am) (?:very |so |really )?sorry|sorry|I apologi[sz]e|unfortunately)?\W*(?:but )?"
    r"(?:as an? (?:AI|language model|assistant)[^.\n]{0,60}?)?"
    r"(?:I (?:can(?:['’]t|not)|am (?:not able|unable) to|won['’]t|will not|must decline|decline to|refuse to)|"
    r"I['’]m (?:not able|unable) to)\s*(?:to )?(?:help|assist|answer|provide|comply|fulfil+|do that|discuss|engage|respond)",
    re.IGNORECASE,
)
_RESTATED = 40  # characters of the question that make a heading a repetition of it


def answer_end(text: str, *questions: str) -> int:
    """How many characters of `text` belong to this answer. A heading that repeats one of `questions` (the item's, and the wording in
    which it was asked) does not end it."""
    openings = tuple(filter(None, (_plain(_HEADING.sub("", question))[:_RESTATED] for question in questions)))
    for mark in _NEXT.finditer(text):
        if text[: mark.start()].strip() and not (openings and _plain(text[mark.end() :]).startswith(openings)):
            return mark.start()
    return len(text)


_HEADING = re.compile(r"^\s*(?:Question|Problem|Q)\s*\d*\s*[:.]", re.IGNORECASE)


def _plain(text: str) -> str:
    """Letters and digits only, so that spaces, bold marks and line breaks do not matter."""
    return re.sub(r"[\W_]+", "", text).casefold()


def is_refusal(text: str) -> bool:
    """Whether an answer in which nothing could be read begins by declining to answer."""
    return bool(_REFUSAL.match(text.lstrip()[:200]))
