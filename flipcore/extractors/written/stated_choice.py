"""The option that a generated text names, if it names exactly one.

In order: the last statement ("the answer is (C)"), a label at the start (" C", "C. tin"), one on a
line of its own or in brackets, one at the end ("It is tin C"), and the text of exactly one option.
Whoever names several is not answering, a label with the words of another option ("A. galley", where
galley is B) is a contradiction and no answer, and an option that is denied ("not B", "B is wrong")
or supposed ("if not B") is not named. Who takes an answer back ("B. No, C.") gives the other one.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from flipcore.extractors.written import languages
from flipcore.extractors.written.denial import is_denied
from flipcore.extractors.written.scope import without_question
from flipcore.extractors.written.supposed import condition_on, is_supposed

_FILLER = (
    r"[\s:*_`\"'“(\[{$«「『]|\\boxed|\\text|\\textbf|\\mathrm|most likely|likely|probably|clearly|"
    r"therefore|thus|simply|both|either|one of|the|following|letters?|options?|choices?|answers?|"
    r"labels?|would be|is|are|be|="
)
_FILLERS = rf"(?:{_FILLER})*"
_STATED = (
    r"(?:\banswers?\b(?:\s*\([^)\n]{0,60}\)|\s*,[^,.\n]{0,40},)?(?:\s+(?:to|"
    r"for)\b[^.\n:]{0,80}?)?\s*(?:\*\*|_)?\s*(?:is|are|would be|must be|should be|will be|"
    r"could be|[:=：])|\b(?:i|we)\s*(?:would|will|'d|'ll)?\s*(?:therefore\s+)?(?:choose|select|"
    r"pick|prefer|go with|recommend|answer)\b|\bcorrect\s+(?:option|choice|letter)\s*(?:is|[:=])|"
    r"#{1,6}[ \t]*(?:final[ \t]+)?answer[ \t]*\n|####|\\boxed)"
)
_JOINED = (
    r"\s*(?:"
    + languages.JOINS
    + r"|,\s*(?:and|or)|,|;|/|&|\+|\band\b|\bor\b)\s*(?:(?:possibly|maybe|perhaps|even|also"
    r"|either)\s+)?"
)
_GOES_ON = (
    r"(?:is|are|was|because|since|as|for|and|or|if|but|with|based|depending|which|would|in|due|"
    r"given|so|rather|instead|not)\b|[-–—(\[=]|" + languages.GOES_ON
)
# What follows such a word is a reason or a denial, no further answer: "C, since A and B are
# grains", "C, not B or D".
_REASON = (
    r"\b(?:because|since|whereas|while|unlike|rather than|instead of|not|given that|as "
    r"(?!well))\b|n['’]t\b"
)
# What a text says of one option after another: "A) No. B) Yes."
_VERDICT = r"(yes|no|true|false|correct|incorrect|right|wrong|[✓✔✅✗✘❌])"
_AFFIRMED = frozenset(("yes", "true", "correct", "right", "✓", "✔", "✅"))
# words of every sentence
_LONE = frozenset("yes no none all both some any never maybe true false".split())
_PARENTHESIS = re.compile(r"\s*\([^()\n]{2,80}\)")
# between a label and an option's words
_GAP = re.compile(r"[ \t*_`\"'“”]*(?:[.:,)\]]|[-–—(\[](?=[\s\w]))*[ \t*_`\"'“”(]*")
# nothing but an option's words
_ALONE = (
    r"[ \t*_`\"'“”)\].]*(?:$|[;,:!?](?=\s|$)|(?<=[.)])(?=\s)|(?<=\s)(?:\(|[-–—]\s+(?=[^\W\d])))"
)
_SHORT = 30  # words besides the option's own
_SIGNS = re.compile(r"[\s.,:;()\[\]*\"'“”]+")  # between words


@dataclass(frozen=True)
class Choice:
    """Options named, by position, and their place; `reason` says why there is not exactly one."""

    position: int | None
    span: tuple[int, int] | None
    reason: str = ""


class _Labels:
    """Patterns of a prompt's labels: the same for all items that have as many options."""

    def __init__(self, labels: tuple[str, ...]) -> None:
        any_label = "|".join(sorted(map(re.escape, labels), key=len, reverse=True))
        single = "".join(
            re.escape(label) for label in labels if len(label) == 1 and label.isalpha()
        )
        run = f"|[{single}]{{2,}}" if single else ""
        self.label = re.compile(
            rf"(?<!{languages.WORD})(?<!\\)({any_label}{run})(?!{languages.WORD})(?!['’]\w)(?!\.\d)"
        )
        self.bracketed = re.compile(
            r"(?:\b(?:[Oo]ptions?|[Cc]hoices?|[Ll]etters?)\s+[\"'(*\[]*|[(\[]"
            rf"|\*\*)({any_label})(?!\w)"
            r"(?=[\s)\]*.,:;\"']|$)"
        )
        self.own_line = re.compile(rf"(?:^|\n)[ \t*>(\[-]*({any_label})(?:[.):\]*]|[ \t]*(?=\n|$))")
        self.is_answer = re.compile(
            rf"(?<![\w])({any_label})[)\]*\"'”]*\s+is\s+(?:(?:the|my)\s+(?:\w+\s+)?(?:answer|option"
            r"|choice)\b|(?:\w+ly\s+)?(?P<correct>correct|right)(?=[)*]*(?:[.,;!\n]|$)))"
        )
        self.condition = condition_on(any_label)
        # "B. Wait, it's C."
        self.correction = re.compile(
            r"\b(?:wait|correction|actually|sorry|scratch that|i mean|on (?:reflection|second"
            r" thoughts?)|no)\b(?:[\s,.:;…*–—-]|\b(?:wait|no|actually|it(?:['’]s| is| should be"
            r"| must be)|that(?:['’]s| is)|should be|must be|make (?:that|it)|i mean|rather|the"
            rf" answer is|option)\b)*[\"'(*\[]*({any_label})(?!\w)"
            r"(?=[)\]*\"'”]*\s*(?:[.,;!?\n]|$))",
            re.IGNORECASE,
        )
        # "B, and so is C", "B, but C is also correct"
        self.too = re.compile(
            rf"\bas well as\s+(?:option\s+)?[\"'(*\[]*({any_label})(?!\w)"
            rf"|\bso\s+(?:is|are|does)\s+(?:option\s+)?[\"'(*\[]*({any_label})(?!\w)"
            rf"|(?<!\w)({any_label})[)\]*\"'”]*\s+(?:is|are|would be|may be|could be)\s+"
            r"(?:also|equally|just as)\s+(?:correct|right|true|possible|plausible|valid|acceptable"
            r"|an?|the)\b"
        )
        denied = (
            rf"(?:not\s+(?:option\s+)?[\"'(*\[]*(?:{any_label})(?!\w)"
            r"[^.,;\n]{0,40}?,?\s*but\s+(?:rather\s+)?)?"
        )
        fillers = rf"(?:{languages.FILLERS}|{_FILLER})*"
        self.stated = re.compile(_STATED + _FILLERS + denied + _FILLERS, re.IGNORECASE)
        self.stated_abroad = re.compile(
            rf"(?:{_STATED}|{languages.ANSWER_IS})" + fillers + denied + fillers, re.IGNORECASE
        )
        self.verdict = re.compile(
            rf"(?<!{languages.WORD})({any_label})[)\]*]*[.:]?[)\]*]*[ \t]*[-–—:]?[ \t*]*{_VERDICT}"
            r"(?=[\s.,;:!*)\uFE0F]|$)",
            re.IGNORECASE,
        )
        # "B over C, but D is best": what comes last overrules
        self.overruled = re.compile(
            r"[^.!?\n]*\bbut\s+(?:option\s+)?[\"'(*\[]*"
            rf"({any_label})(?!\w)[)\]*\"'”]*\s+(?:is|seems|looks|would be)\s+"
            r"(?:the\s+|still\s+|even\s+)*(?:best|better|right|correct|more\s+likely)\b"
        )
        # "B over C": the first is preferred, the second is no further answer
        self.over = re.compile(
            rf"[)\]*\"'”]*\s+over\s+(?:option\s+)?[\"'(*\[]*(?:{any_label})(?!\w)"
        )
        self.preferred_to = re.compile(
            rf"[)\]*\"'”]*\s+to\s+(?:option\s+)?[\"'(*\[]*(?:{any_label})(?!\w)"
        )
        self.contrast = re.compile(
            r"[)\]*\"'”]*\s+(?:is|are|was|were|would|could|may|might|seems?|looks?|sounds?)\b"
            rf"[^.!?\n]*\b(?:but|unless|however|(?:less\s+\w+|worse)\s+than)\b[^.!?\n]*?(?<!\w)({any_label})(?!\w)"
        )
        self.aside = re.compile(rf"\n|(?<=[^\s(])(?<!\b\w)[.!?](?:\s|$)|{_REASON}", re.IGNORECASE)
        self.several = re.compile(
            rf"(?<!\w)(?:{any_label})(?!\w)[^\w\n]*(?:\b(?:and|or)\b|[,;/&+])[\s\"'(*\[]*(?:and"
            r"|or)?[\s\"'(*\[]*$"
        )
        self.label_behind = re.compile(rf"[\s*]*[(\[]({any_label})[)\]]")
        self.joined = re.compile(
            _JOINED
            + r"(?:[Oo]ptions?\s+)?[\"'(*\[]*"
            + rf"({any_label})(?!{languages.WORD})(?!['’]\w)"
        )


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
        text = languages.with_labels(
            without_question(languages.in_ascii(text), self.labels, options=self.options),
            self.labels,
        )
        for rule in (self._only, self._statement, self._named_first, self._verdicts):
            choice = rule(text)
            if choice:
                return self._corrected(choice, text)
        denied = self._denied(text)
        for rule in (self._start, self._mark, self._end, self._words):
            choice = rule(text)
            if choice and choice.position in denied:
                return self._corrected(choice, text, is_denied=True)
            if choice:
                return self._corrected(choice, text)
        return _no_choice("No label and no option's text was found in the answer.")

    def _corrected(self, choice: Choice, text: str, *, is_denied: bool = False) -> Choice:
        """The choice, or the other option that takes it back behind it: "B. Wait, it's C."."""
        if choice.position is None or choice.span is None:
            return choice
        correction = None
        for mark in self.patterns.correction.finditer(text, choice.span[1]):
            if self._position(mark[1]) not in (None, choice.position):
                correction = mark
        if correction:
            label = correction[1]
            return self._one(self._position(label), text, correction.start(1), len(label))
        if not is_denied:
            return choice
        label = self.labels[choice.position]
        return _no_choice(
            f"The answer denies or only supposes {label}, and states no other option."
        )

    def _denied(self, text: str) -> set[int]:
        """Positions of the options that the text denies somewhere, by label or by words."""
        denied = set()
        for label in self.patterns.label.finditer(text):
            if self._is_denied(label, text):
                denied.add(self._position(label.group(1)))
        for i, option in enumerate(self.options):
            if any(_is_not_said(text, *spot.span()) for spot in _spots(option, text)):
                denied.add(i)
        return {place for place in denied if place is not None}

    def _only(self, text):
        """The whole answer is one label, in whatever case."""
        bare = text.strip(" \t\n.()[]*:\"'")
        places = [i for i, label in enumerate(self.labels) if label.casefold() == bare.casefold()]
        if bare and len(places) == 1:
            return self._one(places[0], text, text.find(bare), len(bare))
        return None

    def _is_denied(self, label: re.Match, text: str) -> bool:
        """Tell whether a label is denied, or only supposed, where it stands. An option's own words
        after it are no denial: "C) Do not worry"."""
        position = self._position(label.group(1))
        if position is not None and _folded(text[label.end(1) :]).startswith(
            _folded(self.options[position])
        ):
            return False
        return _is_not_said(text, *label.span(1), self.patterns.condition)

    def _statement(self, text):
        """The last statement that names a label, or failing that an option's words."""
        last = None
        stated = self.patterns.stated_abroad if languages.may_state(text) else self.patterns.stated
        for mark in stated.finditer(text):
            label = self.patterns.label.match(text, mark.end())
            if label and self._stands(label, text):
                overruled = self.patterns.overruled.match(text, label.end(1))
                if overruled and overruled[1] != label[1]:
                    last = _no_choice(
                        f"The answer names {label[1]} and calls {overruled[1]} better."
                    )
                    continue
                last = last if self._is_denied(label, text) else self._group(label, text)
            else:
                last = self._worded(text, mark.end()) or last
        return last

    def _named_first(self, text) -> Choice | None:
        """The last "C is the answer". Two that are correct are no answer."""
        marks = [m for m in self.patterns.is_answer.finditer(text) if not self._is_denied(m, text)]
        named = sorted({mark[1] for mark in marks})
        if len(named) > 1 and any(mark["correct"] for mark in marks):
            return _no_choice(f"The answer calls {len(named)} labels correct ({', '.join(named)}).")
        if not marks:
            return None
        last = marks[-1]
        return self._agreed([(last[1], last.start(1)), *self._too(last.end(1), text)], text)

    def _verdicts(self, text: str) -> Choice | None:
        """The one option that is affirmed where a text says yes or no of one after another.

        None where fewer than two are judged, or where yes and no are options themselves.
        """
        if any(re.fullmatch(_VERDICT, option, re.IGNORECASE) for option in self.options):
            return None
        judged = [mark for mark in self.patterns.verdict.finditer(text) if mark[1] in self.labels]
        if len({mark[1] for mark in judged}) < 2:
            return None
        affirmed = {mark[1]: mark for mark in judged if mark[2].casefold() in _AFFIRMED}
        if len(affirmed) != 1:
            return _no_choice(f"The answer affirms {len(affirmed)} of the options that it judges.")
        [mark] = affirmed.values()
        return self._one(self._position(mark[1]), text, mark.start(1), len(mark[1]))

    def _start(self, text):
        opening = re.match(r"[\s*_(\[\"'>]*", text)
        begin = opening.end() if opening else 0
        label = self.patterns.label.match(text, begin)
        if not label or not self._stands(label, text) or self._is_denied(label, text):
            return None
        contrast = self.patterns.contrast.match(text, label.end())
        if contrast and contrast[1] != label[1]:
            return _no_choice(
                f"The answer weighs {label[1]} against {contrast[1]} and states neither."
            )
        if text[label.end() :].startswith("?"):
            for mark in self.patterns.label.finditer(text, label.end()):
                if self._is_other(mark, label, text):
                    return _no_choice(f"The answer asks about {label[1]} and {mark[1]}.")
        listed = self._next_line(label.end(), text)
        if listed and listed.group(1) != label.group(1):
            return _no_choice(
                f"The answer lists several options ({label.group(1)}, {listed.group(1)})."
            )
        return self._group(label, text)

    def _next_line(self, end: int, text: str) -> re.Match | None:
        """The label that the next line begins with; behind empty lines it must stand alone."""
        line_end = text.find("\n", end)
        if line_end < 0:
            return None
        blank = re.compile(r"[ \t.)\]*:]*\n\s*(?=\n)").match(text, end)
        if blank:
            label = self.patterns.own_line.match(text, blank.end())
            is_alone = label and re.compile(r"[ \t.)\]*:]*(?:\n|$)").match(text, label.end())
            return label if is_alone else None
        return self.patterns.own_line.match(text, line_end)

    def _mark(self, text):
        """Label in brackets, after "option" or at the head of a line, if there is only one."""
        spots: list[tuple[str, int]] = []
        further: list[tuple[str, int]] = []
        for pattern in (self.patterns.own_line, self.patterns.bracketed):
            for mark in pattern.finditer(text):
                if not self._is_denied(mark, text):
                    spots.append((mark.group(1), mark.start(1)))
                    further += self._further(mark.end(1), text)
        # Labels joined to a mark ("(A) or B") come behind all marks: the last of the list gives the
        # place of the answer.
        spots += further
        return self._agreed(spots, text)

    def _end(self, text):
        """Last token of the first paragraph, unless it ends an option's words ("vitamin C")."""
        blank = re.search(r"\n\s*\n", text.strip("\n"))
        last = blank.start() if blank else len(text.strip("\n"))
        stop = last + len(text) - len(text.lstrip("\n"))
        head = text[:stop].rstrip(" \t\n.*)]\"'")
        spots = list(self.patterns.label.finditer(head))
        if not spots or spots[-1].end() != len(head) or len(head.split()) > _SHORT:
            return None
        label = spots[-1]
        if self.patterns.several.search(head[: label.start()]):
            return _no_choice("The answer names several labels at once.")
        rivals = {spot[1] for spot in spots[:-1] if self._is_other(spot, label, text)}
        if rivals:
            return _no_choice(
                f"The answer ends in {label[1]}, names {', '.join(sorted(rivals))} too, "
                "and states neither."
            )
        before = _folded(head[: label.start()])
        if any(
            _folded(head).endswith(_folded(option)) and option.endswith(label.group(1))
            for option in self.options
        ):
            return None
        worded = any(before.endswith(_folded(option)) for option in self.options)
        return self._group(label, text) if worded or not label.group(1).isdigit() else None

    def _is_other(self, earlier: re.Match, last: re.Match, text: str) -> bool:
        """Tell whether a label before the last is another answer: no article, number or denial."""
        word = earlier[1]
        is_article = word in ("A", "I", "a", "i") and re.match(r"\s+[a-z]", text[earlier.end() :])
        if word == last[1] or word.isdigit() or is_article or self._position(word) is None:
            return False
        return not self._is_denied(earlier, text)

    def _words(self, text):
        """The only option whose words occur in a short answer; one inside a longer one that occurs
        does not count. In a long answer they are part of the reasoning: MMLU-Pro's unfinished
        chains name an option nine times in ten by accident."""
        if len(text.split()) > _SHORT + max(len(option.split()) for option in self.options):
            return None
        # A word of one option may lie inside of another option's: "tin" in "tin ore".
        hits = []
        for i, option in enumerate(self.options):
            for spot in _spots(option, text):
                if not _is_not_said(text, *spot.span()) and self._is_said(option, spot, text):
                    hits.append((spot.start(), spot.end(), i))
        outer = [hit for hit in hits if not _is_inside_a_longer(hit, hits)]
        options_said = {i for _, _, i in outer}
        if len(options_said) > 1:
            n_said = len(options_said)
            return _no_choice(f"The answer has the words of {n_said} options and names no label.")
        return Choice(outer[-1][2], outer[-1][:2]) if outer else None

    @staticmethod
    def _is_said(option: str, match: re.Match, text: str) -> bool:
        """A word of every sentence ("There is no way") is an option only where it stands alone."""
        if option.casefold().strip(" .") not in _LONE:
            return True
        behind = text[match.end() :]
        return not behind.strip() or bool(re.match(r"\s*[.,;:!?)\]*\"'”\n]", behind))

    def _worded(self, text, start):
        """An option whose words follow a statement directly ("the answer is tin")."""
        fits = []
        for i, option in enumerate(self.options):
            may_begin = option and _begins(option, text[start : start + len(option) + 9])
            match = None
            if may_begin:
                match = re.compile(_loose(option) + r"(?!\w)", re.IGNORECASE).match(text, start)
            if match:
                fits.append((match.end(), i))
        longest = [(end, i) for end, i in fits if end == max(fits)[0]]
        if len(longest) != 1:
            return None
        end, place = longest[0]
        if is_supposed(text, start, end):
            return None
        for i, option in enumerate(self.options):
            if i != place and re.match(
                rf"\s+or\s+{_loose(option)}(?!\w)", text[end:], re.IGNORECASE
            ):
                return _no_choice("The answer names the words of two options to choose from.")
        label = self.patterns.label_behind.match(text, end)
        if label and label[1] != self.labels[place]:
            return self._contradiction(label[1], place)
        return Choice(place, (start, end))

    def _stands(self, label, text) -> bool:
        """Is this a label and not the word "A", "I" or a number? Its own option, an end or a
        connective must follow."""
        behind = text[label.end() :]
        if not behind.strip() or re.match(
            rf"\s*(?:[`.,:;)\]}}*_!?\"'”/\\$<{languages.STOPS}]|\n)", behind
        ):
            return True
        if self.patterns.over.match(text, label.end(1)):
            return True
        is_preferred = re.search(r"\bprefer\W*$", text[: label.start(1)], re.IGNORECASE)
        if is_preferred and self.patterns.preferred_to.match(text, label.end(1)):
            return True
        position = self._position(label.group(1))
        return bool(
            re.match(r"(?:\s+|(?=[^\W\d_]))(?:" + _GOES_ON + "|" + languages.JOINS + ")", behind)
            or (
                position is not None and _folded(behind).startswith(_folded(self.options[position]))
            )
        )

    def _further(self, end: int, text: str) -> Iterator[tuple[str, int]]:
        """Labels joined to one that ends at `end`, in its sentence: "C, Rarely; or E, Never"."""
        aside = _PARENTHESIS.match(text, end)
        if aside and re.match(r"\s*\((?:or|and|possibly|maybe|perhaps)\b", aside.group()):
            for mark in self.patterns.label.finditer(aside.group()):
                yield mark[1], aside.start() + mark.start(1)
        end = aside.end() if aside else end
        yield from self._too(end, text)
        stop = self.patterns.aside.search(text, end)
        for more in self.patterns.joined.finditer(text, end, stop.start() if stop else len(text)):
            word = more.group(1)
            if (
                not (word in ("a", "i", "I") and re.match(r"\s+[a-z]", text[more.end() :]))
                and not word.isdigit()
            ):
                yield word, more.start(1)
            elif word.isdigit() and re.match(r"\s*(?:[.,;)]|$)", text[more.end() :]):
                yield word, more.start(1)

    def _too(self, end: int, text: str) -> Iterator[tuple[str, int]]:
        """Labels that the rest of the line calls right as well."""
        line_end = text.find("\n", end)
        for mark in self.patterns.too.finditer(text, end, line_end if line_end >= 0 else len(text)):
            yield mark[mark.lastindex or 0], mark.start(mark.lastindex or 0)

    def _group(self, label, text):
        word = label.group(1)
        if self._position(word) is None:
            return _no_choice(f"The answer names several labels at once ({word}).")
        listed = self._listed(label.start(1), text)
        if len(listed) > 2:
            return _no_choice(f"The answer lists several options ({', '.join(sorted(listed))}).")
        return self._agreed([(word, label.start(1)), *self._further(label.end(1), text)], text)

    def _listed(self, start: int, text: str) -> set[str]:
        """Labels with their own options' words, in the line from `start` on."""
        line = text[start:].partition("\n")[0]
        listed = set()
        for mark in self.patterns.label.finditer(line):
            position = self._position(mark[1])
            words = "" if position is None else _folded(self.options[position])
            if words and _folded(line[mark.end() :]).startswith(words):
                listed.add(mark[1])
        return listed

    def _agreed(self, spots, text):
        words = list(dict.fromkeys(word for word, _ in spots))
        if len(words) > 1:
            return _no_choice(f"The answer names {len(words)} labels ({', '.join(sorted(words))}).")
        if words:
            return self._one(self._position(words[0]), text, spots[-1][1], len(words[0]))
        return None

    def _one(self, position, text, start, length):
        """Label, unless it is also the words of another option ("2" as label of 7)."""
        label = self.labels[position].casefold()
        twins = [
            i
            for i, option in enumerate(self.options)
            if i != position and option.casefold() == label
        ]
        has_own_words = _folded(text[start + length :]).startswith(_folded(self.options[position]))
        if twins and not has_own_words and text[start - 1 : start] not in ("(", "["):
            return _no_choice(
                f"{self.labels[position]!r} is both a label and the text of another option."
            )
        contradicted = self._contradicted(position, text, start, start + length)
        if contradicted is not None:
            return self._contradiction(self.labels[position], contradicted)
        return Choice(position, (start, start + length))

    def _contradiction(self, label: str, contradicted: int) -> Choice:
        return _no_choice(
            f"The answer has the label {label} and the words of {self.labels[contradicted]}."
        )

    def _contradicted(self, position: int, text: str, start: int, end: int) -> int | None:
        """The other option whose words, all of them and nothing else, stand behind a label ("A.
        galley"), or before one in brackets ("galley (A)"). None where the line also has the label's
        own words, or words that begin them."""
        gap = _GAP.match(text, end)
        line = text[gap.end() if gap else end :].partition("\n")[0]
        before = text[:start].rpartition("\n")[2] if text[start - 1 : start] in ("(", "[") else ""
        # Most labels end their line: no option's words stand there.
        if not (before or _plain(line)):
            return None
        own_words = _plain(self.options[position])
        has_own = {
            side: any(_spots(self.options[position], side)) or _plain(side).startswith(own_words)
            for side in (line, before)
        }
        for i, option in enumerate(self.options):
            words = _plain(option)
            if i == position or not words or own_words.startswith(words):
                continue
            ends = r"[\s.*]*$" if words in _LONE else _ALONE
            is_behind = _begins(option, line) and re.match(
                _loose(option) + ends, line, re.IGNORECASE
            )
            if is_behind and (words.startswith(own_words) or not has_own[line]):
                return i
            if (
                before
                and not has_own[before]
                and re.search(rf"(?<!\w){_loose(option)}[\s*]*[(\[]$", before, re.IGNORECASE)
            ):
                return i
        return None

    def _position(self, word: str) -> int | None:
        return self.labels.index(word) if word in self.labels else None


def _folded(text: str) -> str:
    return _SIGNS.sub(" ", text).strip().casefold()


def _plain(text: str) -> str:
    """Letters, digits and signs without what is written between words."""
    return _SIGNS.sub("", text).casefold()


def _loose(option: str) -> str:
    """A pattern for an option's words whatever the spaces between them, without its final stop."""
    return r"\s+".join(re.escape(word) for word in option.rstrip(" .").split())


def _first_word(option: str) -> str:
    return next(iter(option.rstrip(" .").casefold().split()), "")


def _no_choice(reason: str) -> Choice:
    return Choice(position=None, span=None, reason=reason)


def _is_not_said(text: str, start: int, end: int, condition: re.Pattern | None = None) -> bool:
    return is_denied(text, start, end) or is_supposed(text, start, end, condition)


def _is_inside_a_longer(hit: tuple[int, int, int], hits: Sequence[tuple[int, int, int]]) -> bool:
    start, end, _ = hit
    size = end - start
    return any(low <= start and end <= high and high - low > size for low, high, _ in hits)


def _begins(option: str, text: str) -> bool:
    """Tell whether a text may begin with an option's words: compiling a pattern of them is slow."""
    return text.casefold().startswith(_first_word(option))


def _spots(option: str, text: str) -> Iterator[re.Match]:
    """Places where the option's words stand on their own."""
    if option.strip(" .") and _first_word(option) in text.casefold():
        yield from re.finditer(rf"(?<!\w){_loose(option)}(?!\w)", text, re.IGNORECASE)
