"""Which option a generated text names, if it names exactly one.

In order: the last statement ("the answer is (C)"), a label at the start (" C", "C. tin"), one on a line of its own or in
brackets, one at the end ("It is tin C"), and the text of exactly one option. Whoever names several is not answering, a label with
the words of another option ("A. galley", where galley is B) is a contradiction and no answer, and an option that is denied ("not B",
"B is wrong") is not named.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from flipcore.extractors.written import languages
from flipcore.extractors.written.denial import is_denied
from flipcore.extractors.written.scope import without_question

_FILLER = (
    r"[\s:*_`\"'“(\[{$«「『]|\\boxed|\\text|\\textbf|\\mathrm|most likely|likely|probably|clearly|therefore|thus|simply"
    r"|both|either|one of|the|following|letters?|options?|choices?|answers?|labels?|would be|is|are|be|="
)
_FILLERS = rf"(?:{_FILLER})*"
_STATED = (
    r"(?:\banswers?\b(?:\s*\([^)\n]{0,60}\)|\s*,[^,.\n]{0,40},)?(?:\s+(?:to|for)\b[^.\n:]{0,80}?)?\s*(?:\*\*|_)?\s*"
    r"(?:is|are|would be|must be|should be|will be|could be|[:=：])"
    r"|\b(?:i|we)\s*(?:would|will|'d|'ll)?\s*(?:therefore\s+)?(?:choose|select|pick|go with|recommend|answer)\b"
    r"|\bcorrect\s+(?:option|choice|letter)\s*(?:is|[:=])|#{1,6}[ \t]*(?:final[ \t]+)?answer[ \t]*\n|####|\\boxed)"
)
_JOINED = (
    r"\s*(?:"
    + languages.JOINS
    + r"|,\s*(?:and|or)|,|;|/|&|\+|\band\b|\bor\b)\s*(?:(?:possibly|maybe|perhaps|even|also|either)\s+)?"
)
_GOES_ON = (
    r"(?:is|are|was|because|since|as|for|and|or|if|but|with|based|depending|which|would|in|due|given|so|rather|instead|not)\b"
    r"|[-–—(\[=]|" + languages.GOES_ON
)
# What follows such a word is a reason or a denial, no further answer: "C, since A and B are grains", "C, not B or D".
_REASON = r"\b(?:because|since|whereas|while|unlike|rather than|instead of|not|given that|as (?!well))\b|n['’]t\b"
_LONE = frozenset("yes no none all both some any never maybe true false".split())  # words of every sentence
_PARENTHESIS = re.compile(r"\s*\([^()\n]{2,80}\)")
_GAP = re.compile(r"[ \t*_`\"'“”]*(?:[.:,)\]]|[-–—(\[](?=[\s\w]))*[ \t*_`\"'“”(]*")  # between a label and an option's words
_ALONE = r"[ \t*_`\"'“”)\].]*(?:$|[;,:!?](?=\s|$)|(?<=[.)])(?=\s)|(?<=\s)(?:\(|[-–—]\s+(?=[^\W\d])))"  # nothing but an option's words
_SHORT = 30  # words besides the option's own


@dataclass(frozen=True)
class Choice:
    """Positions of the options named, and where in the text; `reason` says why there is not exactly one."""

    position: int | None
    span: tuple[int, int] | None
    reason: str = ""


class _Labels:
    """What names the labels of a prompt: the same for all items that have as many options."""

    def __init__(self, labels: tuple[str, ...]) -> None:
        one = "|".join(sorted(map(re.escape, labels), key=len, reverse=True))
        single = "".join(re.escape(label) for label in labels if len(label) == 1 and label.isalpha())
        run = f"|[{single}]{{2,}}" if single else ""
        self.label = re.compile(rf"(?<!{languages.WORD})(?<!\\)({one}{run})(?!{languages.WORD})(?!['’]\w)(?!\.\d)")
        self.bracketed = re.compile(
            rf"(?:\b(?:[Oo]ptions?|[Cc]hoices?|[Ll]etters?)\s+[\"'(*\[]*|[(\[]|\*\*)({one})(?!\w)"
            r"(?=[\s)\]*.,:;\"']|$)"
        )
        self.own_line = re.compile(rf"(?:^|\n)[ \t*>(\[-]*({one})(?:[.):\]*]|[ \t]*(?=\n|$))")
        self.is_answer = re.compile(rf"(?<![\w])({one})[)\]*\"'”]*\s+is\s+(?:the|my)\s+(?:\w+\s+)?(?:answer|option|choice)\b")
        denied = rf"(?:not\s+(?:option\s+)?[\"'(*\[]*(?:{one})(?!\w)[^.,;\n]{{0,40}}?,?\s*but\s+(?:rather\s+)?)?"
        fillers = rf"(?:{languages.FILLERS}|{_FILLER})*"
        self.stated = re.compile(_STATED + _FILLERS + denied + _FILLERS, re.IGNORECASE)
        self.stated_abroad = re.compile(rf"(?:{_STATED}|{languages.ANSWER_IS})" + fillers + denied + fillers, re.IGNORECASE)
        self.aside = re.compile(rf"\n|(?<=[^\s(])(?<!\b\w)[.!?](?:\s|$)|{_REASON}", re.IGNORECASE)
        self.several = re.compile(
            rf"(?<!\w)(?:{one})(?!\w)[^\w\n]*(?:\b(?:and|or)\b|[,;/&+])[\s\"'(*\[]*(?:and|or)?[\s\"'(*\[]*$"
        )
        self.label_behind = re.compile(rf"[\s*]*[(\[]({one})[)\]]")
        self.joined = re.compile(_JOINED + r"(?:[Oo]ptions?\s+)?[\"'(*\[]*" + rf"({one})(?!{languages.WORD})(?!['’]\w)")


_of_labels = lru_cache(64)(_Labels)


class ChoiceText:
    """The options of one prompt as a text may name them: by label, or by their words."""

    def __init__(self, labels: Sequence[str], options: Sequence[str]) -> None:
        self.labels = list(labels)
        # an option that is its label alone has no words: "a" is an article
        self.options = [
            f"\0{label}" if option.strip() == label else " ".join(option.split())
            for label, option in zip(labels, options, strict=True)
        ]
        self.patterns = _of_labels(tuple(labels))

    def choice(self, text: str) -> Choice:
        """The one option that `text` names."""
        text = languages.with_labels(without_question(languages.in_ascii(text), self.labels, self.options), self.labels)
        for rule in (self._only, self._statement, self._named_first):
            choice = rule(text)
            if choice:
                return choice
        denied = self._denied(text)
        for rule in (self._start, self._mark, self._end, self._words):
            choice = rule(text)
            if choice and choice.position in denied:
                return Choice(None, None, f"The answer denies {self.labels[choice.position]} and states no other option.")
            if choice:
                return choice
        return Choice(None, None, "No label and no option's text was found in the answer.")

    def _denied(self, text: str) -> set[int]:
        """Positions of the options that the text denies somewhere, by label or by words."""
        labels = {self._position(m.group(1)) for m in self.patterns.label.finditer(text) if self._is_denied(m, text)}
        words = {i for i, option in enumerate(self.options) for m in _spots(option, text) if is_denied(text, *m.span())}
        return {place for place in labels | words if place is not None}

    def _only(self, text):
        """The whole answer is one label, in whatever case."""
        bare = text.strip(" \t\n.()[]*:\"'")
        at = [i for i, label in enumerate(self.labels) if label.casefold() == bare.casefold()]
        return self._one(at[0], text, text.find(bare), len(bare)) if bare and len(at) == 1 else None

    def _is_denied(self, label: re.Match, text: str) -> bool:
        """Whether a label is denied where it stands. An option's own words after it are no denial: "C) Do not worry"."""
        own = self._position(label.group(1))
        if own is not None and _folded(text[label.end(1) :]).startswith(_folded(self.options[own])):
            return False
        return is_denied(text, *label.span(1))

    def _statement(self, text):
        """The last statement that names a label, or failing that an option's words."""
        last = None
        stated = self.patterns.stated_abroad if languages.may_state(text) else self.patterns.stated
        for mark in stated.finditer(text):
            label = self.patterns.label.match(text, mark.end())
            if label and self._stands(label, text):
                last = last if self._is_denied(label, text) else self._group(label, text)
            else:
                last = self._worded(text, mark.end()) or last
        return last

    def _named_first(self, text) -> Choice | None:
        """The last "C is the answer"."""
        marks = [m for m in self.patterns.is_answer.finditer(text) if not self._is_denied(m, text)]
        return self._one(self._position(marks[-1][1]), text, marks[-1].start(1), len(marks[-1][1])) if marks else None

    def _start(self, text):
        opening = re.match(r"[\s*_(\[\"'>]*", text)
        begin = opening.end() if opening else 0
        label = self.patterns.label.match(text, begin)
        if not label or not self._stands(label, text) or self._is_denied(label, text):
            return None
        line_end = text.find("\n", label.end())
        listed = self.patterns.own_line.match(text, line_end) if line_end >= 0 else None
        if listed and listed.group(1) != label.group(1):
            return Choice(None, None, f"The answer lists several options ({label.group(1)}, {listed.group(1)}).")
        return self._group(label, text)

    def _mark(self, text):
        """Labels in brackets, after "option", or heading a line: one label however often, else several."""
        marks = [
            m
            for m in (*self.patterns.own_line.finditer(text), *self.patterns.bracketed.finditer(text))
            if not self._is_denied(m, text)
        ]
        spots = [(m.group(1), m.start(1)) for m in marks] + [more for m in marks for more in self._further(m.end(1), text)]
        return self._agreed(spots, text)

    def _end(self, text):
        """The last token of the first paragraph, unless it ends an option's own words ("vitamin C")."""
        blank = re.search(r"\n\s*\n", text.strip("\n"))
        last = blank.start() if blank else len(text.strip("\n"))
        stop = last + len(text) - len(text.lstrip("\n"))
        head = text[:stop].rstrip(" \t\n.*)]\"'")
        spots = list(self.patterns.label.finditer(head))
        if not spots or spots[-1].end() != len(head) or len(head.split()) > _SHORT:
            return None
        label = spots[-1]
        if self.patterns.several.search(head[: label.start()]):
            return Choice(None, None, "The answer names several labels at once.")
        before = _folded(head[: label.start()])
        if any(_folded(head).endswith(_folded(option)) and option.endswith(label.group(1)) for option in self.options):
            return None
        worded = any(before.endswith(_folded(option)) for option in self.options)
        return self._group(label, text) if worded or not label.group(1).isdigit() else None

    def _words(self, text):
        """The only option whose words occur in a short answer; one inside a longer one that occurs does not count. In a long
        answer they are part of the reasoning: MMLU-Pro's unfinished chains name an option nine times in ten by accident."""
        if len(text.split()) > _SHORT + max(len(option.split()) for option in self.options):
            return None
        hits = [
            (m.start(), m.end(), i)
            for i, option in enumerate(self.options)
            for m in _spots(option, text)
            if not is_denied(text, *m.span()) and self._is_said(option, m, text)
        ]
        outer = [(a, b, i) for a, b, i in hits if not any(c <= a and b <= d and (d - c) > (b - a) for c, d, _ in hits)]
        which = {i for _, _, i in outer}
        if len(which) > 1:
            return Choice(None, None, f"The answer has the words of {len(which)} options and names no label.")
        return Choice(outer[-1][2], outer[-1][:2]) if outer else None

    @staticmethod
    def _is_said(option: str, match: re.Match, text: str) -> bool:
        """A word of every sentence ("There is no way") is an option only where it stands alone."""
        if option.casefold().strip(" .") not in _LONE:
            return True
        rest = text[match.end() :]
        return not rest.strip() or bool(re.match(r"\s*[.,;:!?)\]*\"'”\n]", rest))

    def _worded(self, text, start):
        """An option whose words follow a statement directly ("the answer is tin")."""
        fits = []
        for i, option in enumerate(self.options):
            may_begin = option and _begins(option, text[start : start + len(option) + 9])
            match = re.compile(_loose(option) + r"(?!\w)", re.IGNORECASE).match(text, start) if may_begin else None
            if match:
                fits.append((match.end(), i))
        longest = [(end, i) for end, i in fits if end == max(fits)[0]]
        if len(longest) != 1:
            return None
        end, place = longest[0]
        label = self.patterns.label_behind.match(text, end)
        if label and label[1] != self.labels[place]:
            return self._contradiction(label[1], place)
        return Choice(place, (start, end))

    def _stands(self, label, text) -> bool:
        """Is this a label and not the word "A", "I" or a number? Its own option, an end or a connective must follow."""
        rest = text[label.end() :]
        if not rest.strip() or re.match(rf"\s*(?:[`.,:;)\]}}*_!?\"'”/\\$<{languages.STOPS}]|\n)", rest):
            return True
        own = self._position(label.group(1))
        return bool(
            re.match(r"(?:\s+|(?=[^\W\d_]))(?:" + _GOES_ON + "|" + languages.JOINS + ")", rest)
            or (own is not None and _folded(rest).startswith(_folded(self.options[own])))
        )

    def _further(self, end: int, text: str) -> Iterator[tuple[str, int]]:
        """Further labels joined to one that ends at `end`, in the same sentence: "C, Rarely; or E, Never"."""
        aside = _PARENTHESIS.match(text, end)
        end = aside.end() if aside else end
        stop = self.patterns.aside.search(text, end)
        for more in self.patterns.joined.finditer(text, end, stop.start() if stop else len(text)):
            word = more.group(1)
            if not (word in ("a", "i", "I") and re.match(r"\s+[a-z]", text[more.end() :])) and not word.isdigit():
                yield word, more.start(1)
            elif word.isdigit() and re.match(r"\s*(?:[.,;)]|$)", text[more.end() :]):
                yield word, more.start(1)

    def _group(self, label, text):
        word = label.group(1)
        if self._position(word) is None:
            return Choice(None, None, f"The answer names several labels at once ({word}).")
        return self._agreed([(word, label.start(1)), *self._further(label.end(1), text)], text)

    def _agreed(self, spots, text):
        words = list(dict.fromkeys(word for word, _ in spots))
        if len(words) > 1:
            return Choice(None, None, f"The answer names {len(words)} labels ({', '.join(sorted(words))}).")
        return self._one(self._position(words[0]), text, spots[-1][1], len(words[0])) if words else None

    def _one(self, position, text, start, length):
        """The label, unless it is at the same time the words of another option ("2" as label of 7, and an option 2)."""
        label = self.labels[position].casefold()
        twins = [i for i, option in enumerate(self.options) if i != position and option.casefold() == label]
        own = _folded(text[start + length :]).startswith(_folded(self.options[position]))
        if twins and not own and text[start - 1 : start] not in ("(", "["):
            return Choice(None, None, f"{self.labels[position]!r} is both a label and the text of another option.")
        other = self._contradicted(position, text, start, start + length)
        if other is not None:
            return self._contradiction(self.labels[position], other)
        return Choice(position, (start, start + length))

    def _contradiction(self, label: str, other: int) -> Choice:
        return Choice(None, None, f"The answer has the label {label} and the words of {self.labels[other]}.")

    def _contradicted(self, position: int, text: str, start: int, end: int) -> int | None:
        """The other option whose words, all of them and nothing else, stand behind a label ("A. galley"), or before one in brackets
        ("galley (A)"). None where the line also has the label's own words, or words that begin them."""
        gap = _GAP.match(text, end)
        line = text[gap.end() if gap else end :].partition("\n")[0]
        before = text[:start].rpartition("\n")[2] if text[start - 1 : start] in ("(", "[") else ""
        own = _plain(self.options[position])
        has_own = {side: any(_spots(self.options[position], side)) or _plain(side).startswith(own) for side in (line, before)}
        for i, option in enumerate(self.options):
            words = _plain(option)
            if i == position or not words or own.startswith(words):
                continue
            ends = r"[\s.*]*$" if words in _LONE else _ALONE
            is_behind = _begins(option, line) and re.match(_loose(option) + ends, line, re.IGNORECASE)
            if is_behind and (words.startswith(own) or not has_own[line]):
                return i
            if before and not has_own[before] and re.search(rf"(?<!\w){_loose(option)}[\s*]*[(\[]$", before, re.IGNORECASE):
                return i
        return None

    def _position(self, word: str) -> int | None:
        return self.labels.index(word) if word in self.labels else None


def _folded(text: str) -> str:
    return re.sub(r"[\s.,:;()\[\]*\"'“”]+", " ", text).strip().casefold()


def _plain(text: str) -> str:
    """Letters, digits and signs without what is written between words."""
    return re.sub(r"[\s.,:;()\[\]*\"'“”]+", "", text).casefold()


def _loose(option: str) -> str:
    """A pattern for an option's words whatever the spaces between them, without its final stop."""
    return r"\s+".join(re.escape(word) for word in option.rstrip(" .").split())


def _first_word(option: str) -> str:
    return next(iter(option.rstrip(" .").casefold().split()), "")


def _begins(option: str, text: str) -> bool:
    """Whether a text may begin with an option's words: what a pattern of them is worth compiling for."""
    return text.casefold().startswith(_first_word(option))


def _spots(option: str, text: str) -> Iterator[re.Match]:
    """Where the option's words stand on their own."""
    if option.strip(" .") and _first_word(option) in text.casefold():
        yield from re.finditer(rf"(?<!\w){_loose(option)}(?!\w)", text, re.IGNORECASE)
