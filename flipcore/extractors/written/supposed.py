"""Tells whether a text only supposes what it names: "if not B then C", "many think the answer is
B", "I doubt it is B", "the wrong answer is B". Such a text does not answer B."""

import re

# Such a clause holds what is supposed, doubted or said by others. "then" ends a condition ("if x is
# 5 then the answer is B").
_CLAUSE = re.compile(
    r"\b(?:if|unless|whether|suppose|supposing|assume|imagine"
    r"|let(?:['’]s| us) (?:check|see|test|try|consider|verify|look at)"
    r"|(?:many|most|some|other|few|several)(?: people| students| readers| others| experts"
    r"| of (?:us|them))? (?:say|think|believe|choose|pick|answer|argue|would|might|may|will|could)"
    r"|others? (?:say|think|believe|choose|pick|answer|argue)"
    r"|(?:one|you|people|students?) (?:might|may|could|would) (?:\w+ )?"
    r"(?:think|say|expect|guess|believe|assume)"
    r"|doubt|unsure|unlikely that|hard to (?:say|tell)"
    r"|never (?:think|believe)|no way|(?:can(?: ?not|['’]t)|could(?: not|n['’]t)) (?:\w+ )?be"
    r"|(?<!\bi )(?<!\bwe )(?:says|said|claims|claimed|thinks|believes)"
    r"|(?<!\bi )(?<!\bwe )would (?:say|pick|choose|answer))\b"
    r"(?:(?!\bthen\b)[^,;:])*$"
    r"|(?:\bnot|n['’]t) (?:(?:sure|certain|clear|convinced|obvious)"
    r" (?:that|if|whether|the|it|this|about|of|which)|think|believe|feel|agree)\b"
    r"(?:(?!\bthen\b)[^,;:])*$",
    re.IGNORECASE,
)
_ADVERSE = (
    r"(?:wrong|incorrect|false|bad|worst|trap|least \w+|second[- ]best|common|popular|usual|naive"
    r"|intuitive|tempting|previous|earlier|opposite|unlikely)"
)
_LEADS = r"(?:[\s:=*_(\[\"'“]|\b(?:is|are|was|were|be|option|choice|answer|letter)\b)*$"
# Words directly before a name.
_BEFORE = re.compile(
    rf"\b(?:{_ADVERSE} (?:answer|option|choice)s?"
    r"|(?:answer|option|choice) (?:that )?(?:most|many|some|other) people \w+"
    r"|(?:i|we|i['’]d|we['’]d|have|had) (?:\w+ )?thought(?: that)?(?: (?:it|the answer|maybe))?"
    r"|going to say|would have (?:said|chosen|picked)|used to be"
    r"|(?:opposite|reverse|inverse) of"
    r"|(?:similar|inferior|superior|close|opposed|contrary|prior) to"
    r"|(?:any|all|everything|anything|none)(?: of (?:the|these|them|those))?(?: above)? but"
    r"|loses to|beats?|consider|avoid|reject(?:s|ed|ing)?|discard(?:s|ed|ing)?|so (?:is|are|does)"
    rf"|before|after|than|as \w+ as)\b{_LEADS}",
    re.IGNORECASE,
)
_FORCED = r"(?!\s+(?:(?:i|we|you)\s+)?(?:had|have|am|were|was)?\s*(?:to\b|forced|pressed))"
_CONDITION_BEHIND = rf"(?:only\s+)?(?:if|unless)\b{_FORCED}"
# Words directly after a name.
_AFTER = re.compile(
    rf"[)\]*_\"'”]*(?: *\([^()\n]{{1,60}}\))? *(?:,? *{_CONDITION_BEHIND}"
    r"|(?:is|would be|could be|may be|might be)\s+"
    rf"(?:(?!(?:so|but|because|since|even|and|as|that)\b)\w+\s+){{0,3}}?{_CONDITION_BEHIND}"
    r"|would be\b[^.!?\n,;]*,\s*had\b"
    r"|(?:is|was|seems|looks)\s+(?:only\s+)?(?:(?:the\s+)?(?:worst|least|second[- ]best)\b"
    r"|an?\s+(?:\w+\s+)?(?:distractor|trap|decoy|red herring)\b|inferior\b"
    r"|(?:not\s+)?as\s+\w+\s+as\b|right\b[^.!?\n,;]*\bbut\b)"
    r"|fails\b)",
    re.IGNORECASE,
)
# A condition on the question or on another answer; the rest of the sentence depends on it.
_CONDITION = re.compile(
    r"\bif (?:(?:it(?:['’]s| is| was)|the answer (?:is|was)) )?not\b[^.!?\n]*$"
    r"|\bif (?:it|this|that|the \w+) (?:had|were)\b[^.!?\n]*$"
    r"|^\W*(?:had|were) (?:it|this|that|the)\b[^.!?\n]*$"
    r"|\bin that case\b[^.!?\n]*\bwould\b[^.!?\n]*$"
    r"|\bif (?:you|the question|they|it)\s+(?:are |is )?(?:mean(?:s|t)?|ask(?:s|ed|ing)?"
    r"|refer(?:s|red|ring)?)\b[^.!?\n]*$",
    re.IGNORECASE,
)
# A conclusion counts as stated, whatever condition stands before it.
_CONCLUDED = re.compile(
    r"\b(?:so|but|therefore|thus|hence|however|contradict\w+|impossible)\b", re.IGNORECASE
)
_STOP = re.compile(r"[.!?][\"'”’)]*(?=\s)|\n")
_REACH = 200  # characters before a name in which the beginning of its sentence is looked for


def condition_on(names: str) -> re.Pattern:
    """Return a pattern for a condition on one of these names: "unless B", "if it's not B"."""
    return re.compile(
        r"\b(?:[Ii]f|[Uu]nless)\s+(?:(?:it|that|this|(?:the\s+)?(?:\w+\s+)?answer|option|choice)"
        r"(?:['’]s|\s+is|\s+was|\s+were|\s+isn['’]t)?\s+)?(?:not\s+)?(?:option\s+)?[\"'(*\[]*"
        rf"(?:{names})(?!\w)[)\]\"'*]*\s*(?:,|;|then\b|isn['’]t\b|(?:is|was|were)\s+"
        r"(?:not|false|true|wrong|right|correct|incorrect)\b)[^.!?\n]*$"
    )


def is_supposed(text: str, start: int, end: int, condition: re.Pattern | None = None) -> bool:
    """Tell whether the sentence only supposes the name from `start` to `end`.

    It doubts it, says that others think so, or depends on a condition; `condition` is a pattern of
    `condition_on` for further ones.
    """
    if _AFTER.match(text, end):
        return True
    before = text[max(0, start - _REACH) : start]
    stops = list(_STOP.finditer(before))
    sentence = before[stops[-1].end() :] if stops else before
    if _CLAUSE.search(sentence) or _BEFORE.search(sentence):
        return True
    for pattern in (_CONDITION, condition):
        match = pattern.search(sentence) if pattern else None
        if match and not _CONCLUDED.search(match.group()):
            return True
    return False
