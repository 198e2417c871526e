"""The place of a model's answer in its text: it may run on into another problem or another turn,
mark its answer in JSON or in tags, or repeat the question before "A:"."""

import re
from collections.abc import Sequence

_NEXT = re.compile(
    r"\n[ \t]*(?:#+[ \t]*|\*\*)?(?:Question|Problem|Q)\s*\d*\s*[:.]"
    r"|\n[ \t]*(?:User|Human)\s*\d*\s*:|\[INST\]|<\||</s>|<end_of_turn>|<start_of_turn>",
    re.IGNORECASE,
)
# Line by line, never across line breaks: a run of 20,000 empty lines once took 12 seconds.
_REFUSAL = re.compile(
    r"\W*(?:(?:I['’]?m|I am) (?:very |so |really )?sorry|sorry|I apologi[sz]e|"
    r"unfortunately)?\W*(?:but )?(?:as an? (?:AI|language model|"
    r"assistant)[^.\n]{0,60}?)?(?:I (?:can(?:['’]t|not)|am (?:not able|unable) to|won['’]t|"
    r"will not|must decline|decline to|refuse to)|I['’]m (?:not able|"
    r"unable) to)\s*(?:to )?(?:help|assist|answer|provide|comply|fulfil+|do that|discuss|engage|"
    r"respond)",
    re.IGNORECASE,
)
_RESTATED = 40  # characters of the question that make a heading a repetition of it


def answer_end(text: str, *questions: str) -> int:
    """Number of characters of `text` that belong to this answer. A heading that repeats one of
    `questions` (the item's, and the wording in which it was asked) does not end it."""
    # Each mark holds one of these signs: the search is slow.
    if "\n" not in text and "<" not in text and "[" not in text:
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
    """Letters and digits only, so that spaces, bold marks and line breaks do not matter."""
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
# "A: Let's think step by step": the A of question and answer before reasoning that has only begun,
# no label
_REASONS = re.compile(
    r"(?:^|\n)[ \t*]*(A[ \t]*(?:\*\*)?[:.](?:\*\*)?)(?=\s*(?:(?:okay|ok|sure|well|alright|so|"
    r"hmm)\b[,.!]?\s+)?(?:let['’]?s\b|let\s+(?:us|me)\b|to\s+(?:solve|find|answer|determine|"
    r"figure|see|decide|compute|calculate|work|begin|start)\b|(?:first|firstly|step\s+(?:1|one)|"
    r"thinking|we\s+(?:need|have|must|want|know|can|are|start)|i\s+(?:need|will|must|have)|"
    r"i['’]ll|looking\s+at|the\s+question)\b))",
    re.IGNORECASE,
)


def marked_answer(text: str) -> tuple[int, int] | None:
    """Span of the last marked answer: the value of {"answer": …} or the inside of
    <answer>…</answer>; None without one."""
    tags = _TAG.finditer(text) if "<" in text else ()
    spans = [(mark.start("inside"), mark.end("inside")) for mark in tags]
    may_be_json = ":" in text and ('"' in text or "'" in text)
    for mark in _JSON.finditer(text) if may_be_json else ():
        name = mark.lastgroup or 0
        spans.append((mark.start(name), mark.end(name)))
    return max(spans, default=None)


def without_question(text: str, labels: Sequence[str], options: Sequence[str]) -> str:
    """The text with "Q: … A:", a lone "A:" and one before reasoning blanked out, so that no letter
    of them is taken for a label. Blanks keep places.

    A letter that heads its own option's text ("A: rye", "Q. barley") stays, and so does a list of
    the options.
    """
    option_of = dict(zip(labels, options, strict=True))
    for mark in _QUESTION_LINE.finditer(text):
        if not _heads(text[mark.end() :], option_of.get("A")):
            text = _blanked(text, *mark.span(1))
    for mark in _REASONS.finditer(text):
        if not _heads(text[mark.end() :], option_of.get("A")):
            text = _blanked(text, *mark.span(1))
    for mark in _ANSWERED.finditer(text):
        words = " ".join(mark[2].split()).casefold()
        answers = {
            *(label.casefold() for label in labels),
            *(option.casefold().rstrip(" .") for option in options),
        }
        if not _heads(mark[2], option_of.get("A")) and ("A" not in option_of or words in answers):
            text = _blanked(text, *mark.span(1))
    return text


def _heads(text: str, option: str | None) -> bool:
    return (
        option is not None
        and option != ""
        and " ".join(text.split()).casefold().startswith(option.casefold())
    )


def _blanked(text: str, start: int, end: int) -> str:
    return text[:start] + " " * (end - start) + text[end:]
