"""Answers that a text marks itself, in JSON or in tags, and questions that it repeats before "A:"."""

import re
from collections.abc import Sequence

_KEY = (
    r"(?:final[_ ]?|correct[_ ]?|selected[_ ]?|chosen[_ ]?)?(?:answer|choice|option|label|prediction)(?:[_ ]?(?:letter|label))?"
)
_JSON = re.compile(
    rf"[\"']{_KEY}[\"']\s*:\s*\[?\s*(?:\"(?P<double>(?:[^\"\\\n]|\\.)*)\"|'(?P<single>(?:[^'\\\n]|\\.)*)'"
    r"|(?P<plain>[^\s\"'\[{,}\]][^,}\]\n]*))",
    re.IGNORECASE,
)
_TAG = re.compile(r"<(final[_ ]?answer|answer)>(?P<inside>.*?)(?:</\1>|$)", re.IGNORECASE | re.DOTALL)
_QUESTION_LINE = re.compile(r"(?:^|\n)[ \t*]*(Q(?:uestion)?[ \t]*[:.][^\n]*?\s(?:\*\*)?A(?:nswer)?[ \t]*[:.])")
_ANSWERED = re.compile(r"(?:^|\n)[ \t*]*(A[ \t]*:)[ \t*(\"']*([^\n]*?)[ \t.*)\"']*(?=\n|$)")
# "A: Let's think step by step": the A of question and answer before reasoning that has only begun, no label
_REASONS = re.compile(
    r"(?:^|\n)[ \t*]*(A[ \t]*(?:\*\*)?[:.](?:\*\*)?)(?=\s*(?:(?:okay|ok|sure|well|alright|so|hmm)\b[,.!]?\s+)?"
    r"(?:let['’]?s\b|let\s+(?:us|me)\b|to\s+(?:solve|find|answer|determine|figure|see|decide|compute|calculate|work|begin|start)\b"
    r"|(?:first|firstly|step\s+(?:1|one)|thinking|we\s+(?:need|have|must|want|know|can|are|start)|i\s+(?:need|will|must|have)"
    r"|i['’]ll|looking\s+at|the\s+question)\b))",
    re.IGNORECASE,
)


def marked_answer(text: str) -> tuple[int, int] | None:
    """Where the last marked answer stands: the value of {"answer": …} or the inside of <answer>…</answer>; None without one."""
    spans = [(mark.start("inside"), mark.end("inside")) for mark in _TAG.finditer(text)]
    for mark in _JSON.finditer(text):
        name = mark.lastgroup or 0
        spans.append((mark.start(name), mark.end(name)))
    return max(spans, default=None)


def without_question(text: str, labels: Sequence[str], options: Sequence[str]) -> str:
    """The text with "Q: … A:", a lone "A:" and one before reasoning blanked out, so that no letter of them is taken for a label.
    Blanks keep places.

    A letter that heads its own option's text ("A: rye", "Q. barley") stays, and so does a list of the options.
    """
    own = dict(zip(labels, options, strict=True))
    for mark in _QUESTION_LINE.finditer(text):
        if not _heads(text[mark.end() :], own.get("A")):
            text = _blanked(text, *mark.span(1))
    for mark in _REASONS.finditer(text):
        if not _heads(text[mark.end() :], own.get("A")):
            text = _blanked(text, *mark.span(1))
    for mark in _ANSWERED.finditer(text):
        words = " ".join(mark[2].split()).casefold()
        answers = {*(label.casefold() for label in labels), *(option.casefold().rstrip(" .") for option in options)}
        if not _heads(mark[2], own.get("A")) and ("A" not in own or words in answers):
            text = _blanked(text, *mark.span(1))
    return text


def _heads(rest: str, option: str | None) -> bool:
    return option is not None and option != "" and " ".join(rest.split()).casefold().startswith(option.casefold())


def _blanked(text: str, start: int, end: int) -> str:
    return text[:start] + " " * (end - start) + text[end:]
