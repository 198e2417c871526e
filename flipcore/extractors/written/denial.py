"""Tells whether a text denies what it names: "not B", "B is wrong", "anything but B"."""

import re

from flipcore.extractors.written import languages

_NOT = (
    r"(?:\bnot|\bcannot|n['’]t|\bnever|\bneither|\bnor|\bno longer|\bexcept(?: for)?|\b(?:all|"
    r"anything|everything) but|\bother than|\brather than|\binstead of|\bunlike|\bru(?:le|led|"
    r"ling) out|\beliminat(?:e|ed|ing)|\bexclud(?:e|ed|ing)|" + languages.DENIED_BEFORE + ")"
)
_BETWEEN = (
    r"(?:be|been|choose|pick|select|say|mean|is|it|an?|the|option|answer|choice|letter|equal|to|"
    r"just|simply|really|necessarily|actually)"
)
_BEFORE = re.compile(
    rf"{_NOT}(?:[\s\"'“(*\[$]+|(?<=[^\x00-\x7f]))(?:{_BETWEEN}[\s\"'“(*\[$]+)*$", re.IGNORECASE
)
_WRONG = (
    r"(?:wrong|incorrect|false|invalid|impossible|ruled out|eliminated|out\b|excluded|implausible|"
    r"unlikely)"
)
_AFTER = re.compile(
    r"[)\]*\"'”]{0,3}\s*(?:\?\s*(?:no|nope|not|never)\b|(?:is|are|was|were|would "
    r"be|seems|looks|can be)(?:\s+\w+ly)?\s+"
    rf"(?:not\b|{_WRONG})|(?:is|are|was|were|does|do|did|can|could|would|will|ca|wo)(?:n['’]t"
    rf"|\s+not)\b|cannot\b)|{languages.DENIED_AFTER}",
    re.IGNORECASE,
)
# Every denial before a name holds one of these, in small letters.
_HINT = re.compile(
    "не|pas|não|nicht|kein|不|并非|ليس|n['’]t|no|nev|nei|except|but|than|instead|unlike|out|"
    "eliminat|exclud"
)
_NO_DENIAL = ("", ".", ",")  # no denial after a name begins so
_REACH = 60  # characters before a name in which a denial is looked for


def is_denied(text: str, start: int, end: int) -> bool:
    """Tell whether the words directly before or after deny the name from `start` to `end`."""
    before = text[max(0, start - _REACH) : start]
    # The search is slow, and almost no text has one of the hints.
    if _HINT.search(before.casefold()) and _BEFORE.search(before):
        return True
    return text[end : end + 1] not in _NO_DENIAL and bool(_AFTER.match(text, end))
