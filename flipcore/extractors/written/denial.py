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
_BLANKS = r"[\s\"'“(*\[$]+"
# Between a denial and the name are blanks, which scripts without them lack, and perhaps such words.
_AFTER_LETTER = r"(?<=[^\x00-\x7f])"
_WORDS_TO_NAME = rf"(?:{_BETWEEN}{_BLANKS})*$"
_BEFORE = re.compile(rf"{_NOT}(?:{_BLANKS}|{_AFTER_LETTER}){_WORDS_TO_NAME}", re.IGNORECASE)
# Finds all that _BEFORE finds, and more, in small letters. It takes a tenth of the time, because
# each alternative begins with a letter, so the search skips to one of these letters.
_MAY_DENY = re.compile(
    r"(?:не|pas|não(?:\s+é)?|nicht|kein|不是|并非|不选|ليست|ليس|n['’]t|not|never|neither|nor|"
    r"no longer|no\s+es|except(?: for)?|but|than|instead of|unlike|out|eliminate|eliminated|"
    r"eliminating|exclude|excluded|excluding)"
    rf"(?:{_BLANKS}|{_AFTER_LETTER}|(?<=kein)(?s:.*)){_WORDS_TO_NAME}"
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
_NO_DENIAL = ("", ".", ",")  # no denial after a name begins so
_REACH = 60  # characters before a name in which a denial is looked for


def is_denied(text: str, start: int, end: int) -> bool:
    """Tell whether the words directly before or after deny the name from `start` to `end`."""
    before = text[max(0, start - _REACH) : start]
    if _MAY_DENY.search(before.casefold()) and _BEFORE.search(before):
        return True
    return text[end : end + 1] not in _NO_DENIAL and bool(_AFTER.match(text, end))
