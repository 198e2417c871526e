"""Patterns for answers in other languages than English: phrases, labels, digits, denials.

The languages are Chinese, Japanese, Korean, Hindi, Arabic, Russian, Spanish, French, German and
Portuguese. A letter that may be a label in two alphabets is not read: the Cyrillic В is the third
label of its own alphabet and looks like the second Latin one.
"""

import re
import unicodedata
from collections.abc import Sequence

# A letter or digit of a script with blanks between words.
WORD = r"[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]"
STOPS = "。、）】」』؟،؛।॥»"
# In languages with a comma before decimals.
COMMA_ANSWER_IS = (
    r"\b(?:(?:правильный|верный)\s+)?(?:ответ|вариант)(?:\s+ответа)?\s*(?:[:–—=-]|это\b)|"
    r"\b(?:respuesta|resposta|opción|opção|alternativa)(?:\s+(?:correcta|correta|certa|"
    r"final))?\s*(?:(?:es|é)\b|:)|\bréponse(?:\s+(?:correcte|finale))?\s*(?:est\b|:)|"
    r"\bAntwort\s*(?:lautet\b|ist\b|:)"
)
ANSWER_IS = (
    r"(?:答案|选项|選項|選択肢|回答)(?:应该|应当|应)?(?:选择|选|選|是|为|為|:)|(?:我选择|我选|应选|故选|選擇|选择):?|(?:正解|正答|答え|解答"
    r"|回答)\s*(?:は|:)"
    r"|(?:정답|답변|답)\s*(?:은|는|:)|(?:उत्तर|जवाब|विकल्प)\s*[:–—-]?"
    r"|(?:الإجابة|الاجابة|الجواب|الخيار)(?:\s+(?:الصحيحة|الصحيح|النهائية))?(?:\s+(?:هي|هو))?\s*:?"
    rf"|{COMMA_ANSWER_IS}"
)
FILLERS = (
    r"\b(?:la|el|le|die|der|das|die Option|l['’]option|option|opción|opção|alternativa|letra|"
    r"lettre|Buchstabe|вариант|буква|विकल्प|الخيار|الحرف|a(?=\s+(?:alternativa|opção|letra)))\b|"
    r"选项|選項"
)
GOES_ON = (
    r"(?:porque|pois|car|parce|weil|denn|потому|так|है|हैं|ist|es|est|é|لأن)(?!\w)|です|である|だ|で|입니다|"
    r"이다|번"
)
JOINS = (
    r"、|،|或者?|和|与|與|及|か|と|나|와|과|또는|\b(?:या|और|أو|или|и|y|e|ou|et|oder|und)(?!\w)|\bو"
)
DENIED_BEFORE = r"不是|并非|不选|\bnicht|\bkein\w*|\bpas|\bno\s+es|\bnão(?:\s+é)?|\bне|ليست|ليس"
DENIED_AFTER = (
    r"\s*(?:नहीं|(?:です)?ではな|じゃな|では\s*ありません|[가이은는]\s*아[니닙]|不对|不是|是错|錯|ist\s+(?:falsch|nicht)|"
    r"est\s+(?:faux|fausse)|n['’]est|(?:no\s+)?es\s+(?:falsa|incorrecta)|é\s+(?:falsa|incorreta)|"
    r"неверн|неправильн|خطأ|غلط)"
)
# A number before one of these words is not the number that is meant.
SCALES = re.compile(
    r"\s*(?:[万萬億亿兆만억]|लाख|करोड़|हज़ार|हजार|ألف|مليون|тыс|млн|миллион|(?:mil|mille|tausend)\b"
    r"|millones|millón|milh|Millionen)",
    re.IGNORECASE,
)
_CIRCLES = "①②③④⑤⑥⑦⑧⑨⑩"
# "\0" stands for a letter that may be a label in two alphabets.
_ALPHABETS = ("АБ\0ГД", "कखगघङ", "أبجد", "가나다라마", "アイウエオ", "甲乙丙丁戊")
_BETWEEN = rf"(?:[\s:*(\[\"'«「]|{FILLERS})*"
_AFTER = r"(?=[\s.।。،,:)\]/*»」]|です|で|입|이|번|$)"


_ASCII_PHRASES = ("antwort", "respost", "respuest", "alternativ")


def may_be_foreign(text: str) -> bool:
    """Tell whether a phrase of another language may occur, before the slow search for them."""
    if not text.isascii():
        return True
    folded = text.lower()
    return any(phrase in folded for phrase in _ASCII_PHRASES)


def in_ascii(text: str) -> str:
    """Return a text with digits of all scripts and full-width signs in ASCII; positions stay."""
    if text.isascii():
        return text
    return "".join(map(_ascii_character, text.replace("٫", ".").replace("٬", ",")))


def _ascii_character(character: str) -> str:
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    return unicodedata.normalize("NFKC", character) if "！" <= character <= "～" else character


def with_labels(text: str, labels: Sequence[str]) -> str:
    """Replace labels of other alphabets by the prompt's, where an answer is stated or stands alone.
    Positions stay."""
    if text.isascii() or not all(len(label) == 1 and label.isascii() for label in labels):
        return text
    label_of: dict[str, str] = {}
    for alphabet in _ALPHABETS:
        label_of |= dict(zip(alphabet, labels, strict=False))
    label_of.pop("\0", None)
    # The Cyrillic С is no label of its own alphabet, and looks like the Latin C.
    if "C" in labels:
        label_of["С"] = "C"
    circles = dict(zip(_CIRCLES, labels, strict=False))
    text = re.sub("|".join(_CIRCLES), lambda match: circles.get(match[0], match[0]), text)
    any_label = "|".join(map(re.escape, label_of))
    stated = re.compile(
        rf"(?P<before>(?:{ANSWER_IS}){_BETWEEN}|\A[\s*(]*)(?P<label>{any_label}){_AFTER}",
        re.IGNORECASE,
    )
    joined = re.compile(rf"\s*(?:{JOINS}|[,/;])\s*(?P<label>{any_label}){_AFTER}")
    for start in stated.finditer(text):
        match: re.Match | None = start
        is_announced = bool(start["before"].strip(" \n*("))
        is_alone = not text[start.end() :].strip(" \n.)*。।")
        if is_announced or is_alone:
            while match:
                label = label_of.get(match["label"], match["label"])
                text = text[: match.start("label")] + label + text[match.end("label") :]
                match = joined.match(text, match.end())
    return text
