"""Finds the part of a model's text that is its answer.

The text may go on with another problem or another turn, mark its answer in JSON or in tags, or
repeat the question before "A:".
"""

import re
from collections.abc import Sequence

_NEXT = re.compile(
    r"\n[ \t]*(?:#+[ \t]*|\*\*)?(?:Question|Problem|Q)\s*\d*\s*[:.]"
    r"|\n[ \t]*(?:User|Human)\s*\d*\s*:|\[INST\]|<\||</s>|<end_of_turn>|<start_of_turn>",
    re.IGNORECASE,
)
# It never matches across line breaks: a text of 20,000 empty lines once took 12 seconds.
_REFUSAL = re.compile(
    r"\W*(?:(?:I['’]?m|I am) (?:very |so |really )?sorry|sorry|I apologi[sz]e|"
    r"unfortunately)?\W*(?:but )?(?:as an? (?:AI|language model|"
    r"assistant)[^.\n]{0,60}?)?(?:I (?:can(?:['’]t|not)|am (?:not able|unable) to|won['’]t|"
    r"will not|must decline|decline to|refuse to)|I['’]m (?:not able|"
    r"unable) to)\s*(?:to )?(?:help|assist|answer|provide|comply|fulfil+|do that|discuss|engage|"
    r"respond)",
    re.IGNORECASE,
)
_RESTATED = 40  # letters and digits of a question that a heading must repeat


def may_go_on(text: str) -> bool:
    """Tell whether a text may hold more than this answer: each mark has one of these characters."""
    return "\n" in text or "<" in text or "[" in text


def answer_end(text: str, *questions: str) -> int:
    """Return the number of characters of `text` that belong to this answer.
    A heading that repeats one of `questions` (the item's and the variant's) does not end it."""
    if not may_go_on(text):
        return len(text)
    for mark in _NEXT.finditer(text):
        if text[: mark.start()].strip() and not _restates(text[mark.end() :], questions):
            return mark.start()
    return len(text)


def _restates(text: str, questions: Sequence[str]) -> bool:
    """Tell whether a text begins with one of the questions."""
    openings = [_plain(_HEADING.sub("", question))[:_RESTATED] for question in questions]
    return _plain(text).startswith(tuple(filter(None, openings)))


_HEADING = re.compile(r"^\s*(?:Question|Problem|Q)\s*\d*\s*[:.]", re.IGNORECASE)


def _plain(text: str) -> str:
    """Return only the letters and digits, without spaces, bold marks and line breaks."""
    return re.sub(r"[\W_]+", "", text).casefold()


def is_refusal(text: str) -> bool:
    """Tell whether an answer in which nothing could be read begins by declining to answer."""
    return bool(_REFUSAL.match(text.lstrip()[:200]))


_KEY = (
    r"(?:final[_ ]?|correct[_ ]?|selected[_ ]?|chosen[_ ]?)?(?:answer|choice|option|label|"
    r"prediction)(?:[_ ]?(?:letter|label))?"
)
_JSON = re.compile(
    rf"[\"']{_KEY}[\"']\s*:\s*\[?\s*(?:\"(?P<double>(?:[^\"\\\n]|\\.)*)\"|'(?P<single>(?:[^'\\\n]"
    r"|\\.)*)'"
    r"|(?P<plain>[^\s\"'\[{,}\]][^,}\]\n]*))",
    re.IGNORECASE,
)
_TAG = re.compile(
    r"<(final[_ ]?answer|answer)>(?P<inside>.*?)(?:</\1>|$)", re.IGNORECASE | re.DOTALL
)
_QUESTION_LINE = re.compile(
    r"(?:^|\n)[ \t*]*(Q(?:uestion)?[ \t]*[:.][^\n]*?\s(?:\*\*)?A(?:nswer)?[ \t]*[:.])"
)
_ANSWERED = re.compile(r"(?:^|\n)[ \t*]*(A[ \t]*:)[ \t*(\"']*([^\n]*?)[ \t.*)\"']*(?=\n|$)")
# In "A: Let's think step by step" the A means "answer" and is no label.
_REASONS = re.compile(
    r"(?:^|\n)[ \t*]*(A[ \t]*(?:\*\*)?[:.](?:\*\*)?)(?=\s*(?:(?:okay|ok|sure|well|alright|so|"
    r"hmm)\b[,.!]?\s+)?(?:let['’]?s\b|let\s+(?:us|me)\b|to\s+(?:solve|find|answer|determine|"
    r"figure|see|decide|compute|calculate|work|begin|start)\b|(?:first|firstly|step\s+(?:1|one)|"
    r"thinking|we\s+(?:need|have|must|want|know|can|are|start)|i\s+(?:need|will|must|have)|"
    r"i['’]ll|looking\s+at|the\s+question)\b))",
    re.IGNORECASE,
)


def marked_answer(text: str) -> tuple[int, int] | None:
    """Return the span of the last marked answer, {"answer": …} or <answer>…</answer>, or None."""
    tags = _TAG.finditer(text) if "<" in text else ()
    spans = [(mark.start("inside"), mark.end("inside")) for mark in tags]
    may_be_json = ":" in text and ('"' in text or "'" in text)
    for mark in _JSON.finditer(text) if may_be_json else ():
        name = mark.lastgroup or 0
        spans.append((mark.start(name), mark.end(name)))
    return max(spans, default=None)


def without_question(text: str, labels: Sequence[str], options: Sequence[str]) -> str:
    """Blank out "Q: … A:", a lone "A:" and an "A:" before reasoning: their letters are no labels.

    Blanks keep all positions. A letter before its own option's text ("A: rye", "Q. barley") stays,
    and so does a list of the options.
    """
    option_of = dict(zip(labels, options, strict=True))
    for mark in _QUESTION_LINE.finditer(text):
        if not _begins_with(text[mark.end() :], option_of.get("A")):
            text = _blanked(text, *mark.span(1))
    for mark in _REASONS.finditer(text):
        if not _begins_with(text[mark.end() :], option_of.get("A")):
            text = _blanked(text, *mark.span(1))
    for mark in _ANSWERED.finditer(text):
        words = " ".join(mark[2].split()).casefold()
        answers = {
            *(label.casefold() for label in labels),
            *(option.casefold().rstrip(" .") for option in options),
        }
        if not _begins_with(mark[2], option_of.get("A")) and (
            "A" not in option_of or words in answers
        ):
            text = _blanked(text, *mark.span(1))
    return text


def _begins_with(text: str, option: str | None) -> bool:
    if not option:
        return False
    return " ".join(text.split()).casefold().startswith(option.casefold())


def _blanked(text: str, start: int, end: int) -> str:
    return text[:start] + " " * (end - start) + text[end:]
