"""Numbers that a solution may use although the question does not state them: unit conversions, and what words say.

A constant is licensed by words. Where the question states the same value, only the step's own line can license a conversion,
since the number is more likely the stated one.
"""

import re
from collections.abc import Mapping
from fractions import Fraction

F = Fraction

_MONTH = r"month|\b(?:january|february|march|april|june|july|august|september|october|november|december)\b"

# Unit conversions: value -> words of the question or of the step's line.
UNITS: Mapping[Fraction, str] = {
    F(7): r"\bweek|\bdays?\b|\bdaily",
    F(12): r"dozen|\byear|annual|\bfeet\b|\bfoot\b|inch|month",
    F(24): r"\bday|hour|daily",
    F(60): r"minute|hour|seconds\b",
    F(3600): r"seconds\b|hour",
    F(1440): r"\bday|minute",
    F(365): r"\byear|annual|\bday",
    F(366): r"leap",
    F(52): r"\byear|\bweek|annual",
    F(30): r"month|\bdays?\b|daily",
    F(31): r"month|\bdays?\b|daily",
    F(28): r"february",
    F(29): r"february|leap",
    F(14): r"fortnight|two weeks",
    F(48): r"two days",
    F(100): r"percent|%|\bcents?\b|dollar|\$|century|met(?:er|re)",
    F(1000): r"kilo|\bkg\b|\bk?m\b|\bgrams?\b|\blit(?:er|re)|met(?:er|re)|thousand|\btons?\b|\bml\b",
    F(2000): r"\btons?\b",
    F(5280): r"\bmile|\bfeet",
    F(36): r"\byard",
    F(16): r"ounce|pound|\bcup|gallon|\boz\b",
    F(8): r"\bcups?\b|gallon|\bpints?\b",
    F(9): r"square yard",
    F(3): r"\byards?\b|\bfeet\b",
    F(90): r"right[- ]angle",
    F(180): r"triangle|angle|degree",
    F(360): r"circle|angle|degree",
    F(25): r"\bquarters?\b",
    F(20): r"\bscore\b|nickel",
    F(10): r"\bdimes?\b|decade",
    F(5): r"\bnickels?\b|weekday|work ?week|monday",
    F(4): r"\bquarters?\b|\bquarts?\b|gallon|\bseasons?\b|month",
    F(2): r"\bpints?\b|weekend|saturday",
    F(1, 100): r"percent|%|\bcents?\b|penn",
    F(1, 20): r"nickel",
    F(1, 10): r"\bdime",
}

# The same where the question states that very number too: what the step's own line must say.
STATED_UNITS: Mapping[Fraction, str] = {
    F(7): r"\bweek",
    F(12): r"dozen|\byear|annual|\bfeet\b|\bfoot\b|inch",
    F(24): r"\bday",
    F(60): r"minute|hour|seconds\b",
    F(365): r"\byear|annual",
    F(52): r"\byear|annual",
    F(30): _MONTH,
    F(31): _MONTH,
    F(28): r"february",
    F(100): r"percent|%|\bcents?\b|[/*x] ?100\b",
    F(1000): r"kilo|\bkg\b|\bkm\b",
    F(2000): r"\btons?\b",
    F(36): r"\byard",
    F(16): r"\bounce.*pound|pound.*ounce",
    F(8): r"\bpints?\b.*gallon",
    F(3): r"\byards?\b",
    F(25): r"\bquarters?\b",
    F(20): r"nickel",
    F(10): r"\bdimes?\b|decade",
    F(5): r"weekday|work ?week|nickel",
    F(4): r"month|quarters?\b|quarts?\b",
    F(2): r"weekend",
}

# What the story says in words: value -> words anywhere in the question or on the line.
PHRASES: Mapping[Fraction, str] = {
    F(1): r".",
    F(2): r"half|halves|halv|twice|doubl|\bpairs?\b|twin|couple|\bboth\b|average|back and forth|there and back|round ?trip"
    r"|\bparents\b|husband and wife",
    F(3): r"triple|thrice|thirds\b|(?:one|a)[- ]third|third of|triplet|trio",
    F(4): r"quadrupl|fourths\b|(?:one|a)[- ]fourth|quarter",
    F(5): r"quintupl|fifths?\b",
    F(6): r"half[- ]dozen|half a dozen|sixths?\b",
    F(7): r"sevenths?\b",
    F(8): r"eighths?\b",
    F(9): r"ninths?\b",
    F(10): r"tenths?\b",
    F(1, 2): r"half|halv|50 ?%|fifty percent|average",
    F(1, 3): r"third",
    F(2, 3): r"third",
    F(1, 4): r"quarter|fourth",
    F(3, 4): r"quarter|fourth",
    F(1, 5): r"fifth",
    F(1, 6): r"sixth",
    F(1, 8): r"eighth",
    F(1, 10): r"tenth",
    F(3, 2): r"half",
}


def licensed(value: Fraction, question: str, line: str, *, is_stated: bool) -> bool:
    """Whether words allow the constant at a step; `is_stated` says that the question states the same number."""
    text = f"{question}\n{line}"
    unit, phrase = (STATED_UNITS if is_stated else UNITS).get(value), PHRASES.get(value)
    return bool(
        (unit and re.search(unit, line if is_stated else text, re.IGNORECASE))
        or (phrase and re.search(phrase, text, re.IGNORECASE))
    )
