"""Finds the option that a generated text names, if it names exactly one.

The rules, in order: the last statement ("the answer is (C)"), a label at the start (" C", "C.
tin"), a label on a line of its own or in brackets, a label at the end ("It is tin C"), and the
words of exactly one option. A text that names several options gives no answer. Neither does a label
with the words of another option ("A. galley", where galley is B). Options that are denied ("not B",
"B is wrong") or supposed ("if not B") do not count as named. A correction replaces the answer
before it ("B. No, C.").
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
# These words begin a reason or a denial, so labels after them are no further answers: "C, since A
# and B are grains", "C, not B or D".
_REASON = (
    r"\b(?:because|since|whereas|while|unlike|rather than|instead of|not|given that|as "
    r"(?!well))\b|n['’]t\b"
)
# The verdicts of a text that judges one option after another: "A) No. B) Yes."
_VERDICT = r"(yes|no|true|false|correct|incorrect|right|wrong|[✓✔✅✗✘❌])"
_AFFIRMED = frozenset(("yes", "true", "correct", "right", "✓", "✔", "✅"))
# Common words, which are the words of an option only if they stand alone.
_COMMON_WORDS = frozenset("yes no none all both some any never maybe true false".split())
_PARENTHESIS = re.compile(r"\s*\([^()\n]{2,80}\)")
# What may stand between a label and an option's words.
_GAP = re.compile(r"[ \t*_`\"'“”]*(?:[.:,)\]]|[-–—(\[](?=[\s\w]))*[ \t*_`\"'“”(]*")
# What may follow an option's words that stand alone.
_ALONE = (
    r"[ \t*_`\"'“”)\].]*(?:$|[;,:!?](?=\s|$)|(?<=[.)])(?=\s)|(?<=\s)(?:\(|[-–—]\s+(?=[^\W\d])))"
)
_MAX_EXTRA = 30  # in a short answer, besides the option's own words
_SEPARATORS = re.compile(r"[\s.,:;()\[\]*\"'“”]+")


@dataclass(frozen=True)
class Choice:
    """The option that a text names: its position and its span in the text.
    Both are None if the text does not name exactly one; `reason` then says why."""

    position: int | None
    span: tuple[int, int] | None
    reason: str = ""


class _Labels:
    """Patterns with a prompt's labels, the same for all items with as many options."""

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
        self.also_right = re.compile(
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
        self.stated_in_any_language = re.compile(
            rf"(?:{_STATED}|{languages.ANSWER_IS})" + fillers + denied + fillers, re.IGNORECASE
        )
        self.verdict = re.compile(
            rf"(?<!{languages.WORD})({any_label})[)\]*]*[.:]?[)\]*]*[ \t]*[-–—:]?[ \t*]*{_VERDICT}"
            r"(?=[\s.,;:!*)\uFE0F]|$)",
            re.IGNORECASE,
        )
        # "B over C, but D is best": the last one counts.
        self.overruled = re.compile(
            r"[^.!?\n]*\bbut\s+(?:option\s+)?[\"'(*\[]*"
            rf"({any_label})(?!\w)[)\]*\"'”]*\s+(?:is|seems|looks|would be)\s+"
            r"(?:the\s+|still\s+|even\s+)*(?:best|better|right|correct|more\s+likely)\b"
        )
        # "B over C": the first is preferred, the second is no further answer.
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
        # The end of a list of joined labels: a line break, the end of a sentence, or a reason.
        self.list_end = re.compile(
            rf"\n|(?<=[^\s(])(?<!\b\w)[.!?](?:\s|$)|{_REASON}", re.IGNORECASE
        )
        self.several = re.compile(
            rf"(?<!\w)(?:{any_label})(?!\w)[^\w\n]*(?:\b(?:and|or)\b|[,;/&+])[\s\"'(*\[]*(?:and"
            r"|or)?[\s\"'(*\[]*$"
        )
        self.label_after = re.compile(rf"[\s*]*[(\[]({any_label})[)\]]")
        self.joined = re.compile(
            _JOINED
            + r"(?:[Oo]ptions?\s+)?[\"'(*\[]*"
            + rf"({any_label})(?!{languages.WORD})(?!['’]\w)"
        )


_patterns_of = lru_cache(64)(_Labels)


class ChoiceText:
    """The labels and options of one prompt, by which a text may name an option."""

    def __init__(self, labels: Sequence[str], options: Sequence[str]) -> None:
        self.labels = list(labels)
        # An option that is only its label has no words of its own; "a" would match the article.
        self.options = [
            f"\0{label}" if option.strip() == label else " ".join(option.split())
            for label, option in zip(labels, options, strict=True)
        ]
        self.patterns = _patterns_of(tuple(labels))

    def choice(self, text: str) -> Choice:
        """Find the one option that `text` names; the choice has no position where there is none."""
        text = languages.with_labels(
            without_question(languages.in_ascii(text), self.labels, options=self.options),
            self.labels,
        )
        for rule in (
            self._label_alone,
            self._last_statement,
            self._label_called_answer,
            self._affirmed_option,
        ):
            choice = rule(text)
            if choice:
                return self._corrected(choice, text)
        denied = self._denied(text)
        for rule in (
            self._label_at_start,
            self._marked_label,
            self._label_at_end,
            self._option_words,
        ):
            choice = rule(text)
            if choice:
                return self._corrected(choice, text, is_denied=choice.position in denied)
        return _no_choice("No label and no option's text was found in the answer.")

    def _corrected(self, choice: Choice, text: str, *, is_denied: bool = False) -> Choice:
        """Return the choice, or the option of a later correction: "B. Wait, it's C."."""
        if choice.position is None or choice.span is None:
            return choice
        correction = None
        _, end = choice.span
        for mark in self.patterns.correction.finditer(text, end):
            if self._position(mark[1]) not in (None, choice.position):
                correction = mark
        if correction:
            label = correction[1]
            return self._choice_at(self._position(label), text, correction.start(1), len(label))
        if not is_denied:
            return choice
        label = self.labels[choice.position]
        return _no_choice(
            f"The answer denies or only supposes {label}, and states no other option."
        )

    def _denied(self, text: str) -> set[int]:
        """Return the positions of the options that the text denies, by label or by words."""
        denied = set()
        for label in self.patterns.label.finditer(text):
            if self._is_denied(label, text):
                denied.add(self._position(label.group(1)))
        for i, option in enumerate(self.options):
            if any(_is_not_stated(text, *match.span()) for match in _occurrences(option, text)):
                denied.add(i)
        return {position for position in denied if position is not None}

    def _label_alone(self, text: str) -> Choice | None:
        """Read a text that is nothing but one label, in upper or lower case."""
        bare = text.strip(" \t\n.()[]*:\"'")
        matching = [i for i, label in enumerate(self.labels) if label.casefold() == bare.casefold()]
        if bare and len(matching) == 1:
            return self._choice_at(matching[0], text, text.find(bare), len(bare))
        return None

    def _is_denied(self, label: re.Match, text: str) -> bool:
        """Tell whether a mention of a label is denied or only supposed.
        The option's own words after it are no denial: "C) Do not worry"."""
        position = self._position(label.group(1))
        if position is not None and _folded(text[label.end(1) :]).startswith(
            _folded(self.options[position])
        ):
            return False
        return _is_not_stated(text, *label.span(1), self.patterns.condition)

    def _last_statement(self, text: str) -> Choice | None:
        """Read the last statement that names a label, or else an option's words."""
        last = None
        may_be_foreign, patterns = languages.may_be_foreign(text), self.patterns
        stated = patterns.stated_in_any_language if may_be_foreign else patterns.stated
        for mark in stated.finditer(text):
            label = self.patterns.label.match(text, mark.end())
            if label and self._is_label(label, text):
                overruled = self.patterns.overruled.match(text, label.end(1))
                if overruled and overruled[1] != label[1]:
                    last = _no_choice(
                        f"The answer names {label[1]} and calls {overruled[1]} better."
                    )
                    continue
                last = last if self._is_denied(label, text) else self._choice_of(label, text)
            else:
                last = self._stated_words(text, mark.end()) or last
        return last

    def _label_called_answer(self, text: str) -> Choice | None:
        """Read the last "C is the answer". Two labels that are called correct give no answer."""
        marks = [m for m in self.patterns.is_answer.finditer(text) if not self._is_denied(m, text)]
        named = sorted({mark[1] for mark in marks})
        if len(named) > 1 and any(mark["correct"] for mark in marks):
            return _no_choice(f"The answer calls {len(named)} labels correct ({', '.join(named)}).")
        if not marks:
            return None
        last = marks[-1]
        also_right = self._also_right_labels(last.end(1), text)
        return self._single_choice([(last[1], last.start(1)), *also_right], text)

    def _affirmed_option(self, text: str) -> Choice | None:
        """Read the one option that is affirmed where a text says yes or no to one after another.
        None if fewer than two are judged, or if yes and no are options themselves."""
        if any(re.fullmatch(_VERDICT, option, re.IGNORECASE) for option in self.options):
            return None
        judged = [mark for mark in self.patterns.verdict.finditer(text) if mark[1] in self.labels]
        if len({mark[1] for mark in judged}) < 2:
            return None
        affirmed = {mark[1]: mark for mark in judged if mark[2].casefold() in _AFFIRMED}
        if len(affirmed) != 1:
            return _no_choice(f"The answer affirms {len(affirmed)} of the options that it judges.")
        [mark] = affirmed.values()
        return self._choice_at(self._position(mark[1]), text, mark.start(1), len(mark[1]))

    def _label_at_start(self, text: str) -> Choice | None:
        opening = re.match(r"[\s*_(\[\"'>]*", text)
        begin = opening.end() if opening else 0
        label = self.patterns.label.match(text, begin)
        if not label or not self._is_label(label, text) or self._is_denied(label, text):
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
        return self._choice_of(label, text)

    def _next_line(self, end: int, text: str) -> re.Match | None:
        """Return the label at the start of the next line; after empty lines it must stand alone."""
        line_end = text.find("\n", end)
        if line_end < 0:
            return None
        blank = re.compile(r"[ \t.)\]*:]*\n\s*(?=\n)").match(text, end)
        if blank:
            label = self.patterns.own_line.match(text, blank.end())
            is_alone = label and re.compile(r"[ \t.)\]*:]*(?:\n|$)").match(text, label.end())
            return label if is_alone else None
        return self.patterns.own_line.match(text, line_end)

    def _marked_label(self, text: str) -> Choice | None:
        """Read the only label in brackets, after "option" or at the start of a line."""
        marked: list[tuple[str, int]] = []
        joined: list[tuple[str, int]] = []
        for pattern in (self.patterns.own_line, self.patterns.bracketed):
            for mark in pattern.finditer(text):
                if not self._is_denied(mark, text):
                    marked.append((mark.group(1), mark.start(1)))
                    joined += self._joined_labels(mark.end(1), text)
        # Labels joined to a mark ("(A) or B") follow all marks, because the last entry gives the
        # place of the answer.
        return self._single_choice(marked + joined, text)

    def _label_at_end(self, text: str) -> Choice | None:
        """Read the last word of the first paragraph, unless it ends an option ("vitamin C")."""
        n_leading = len(text) - len(text.lstrip("\n"))
        blank_line = re.search(r"\n\s*\n", text.strip("\n"))
        paragraph_end = blank_line.start() if blank_line else len(text.strip("\n"))
        head = text[: n_leading + paragraph_end].rstrip(" \t\n.*)]\"'")
        labels = list(self.patterns.label.finditer(head))
        if not labels or labels[-1].end() != len(head) or len(head.split()) > _MAX_EXTRA:
            return None
        *earlier_labels, label = labels
        if self.patterns.several.search(head[: label.start()]):
            return _no_choice("The answer names several labels at once.")
        rivals = {earlier[1] for earlier in earlier_labels if self._is_other(earlier, label, text)}
        if rivals:
            return _no_choice(
                f"The answer ends in {label[1]}, names {', '.join(sorted(rivals))} too, "
                "and states neither."
            )
        before = _folded(head[: label.start()])
        follows_option = False
        for option in self.options:
            if _folded(head).endswith(_folded(option)) and option.endswith(label[1]):
                return None
            follows_option = follows_option or before.endswith(_folded(option))
        # A number at the end counts as a label only after an option's words.
        if not follows_option and label[1].isdigit():
            return None
        return self._choice_of(label, text)

    def _is_other(self, earlier: re.Match, last: re.Match, text: str) -> bool:
        """Tell whether an earlier label is another answer, and no article, number or denial."""
        word = earlier[1]
        is_article = word in ("A", "I", "a", "i") and re.match(r"\s+[a-z]", text[earlier.end() :])
        if word == last[1] or word.isdigit() or is_article or self._position(word) is None:
            return False
        return not self._is_denied(earlier, text)

    def _option_words(self, text: str) -> Choice | None:
        """Read the only option whose words occur in a short answer.

        In a long answer they are part of the reasoning: in MMLU-Pro's unfinished chains nine in ten
        named options are accidental.
        """
        if len(text.split()) > _MAX_EXTRA + max(len(option.split()) for option in self.options):
            return None
        named = []  # (start, end, position of the option)
        for i, option in enumerate(self.options):
            for words in _occurrences(option, text):
                if not _is_not_stated(text, *words.span()) and self._is_option(option, words, text):
                    named.append((words.start(), words.end(), i))
        # The words of one option may be inside another's: "tin" in "tin ore".
        named = [mention for mention in named if not _is_inside_a_longer(mention, named)]
        n_named = len({position for _, _, position in named})
        if n_named > 1:
            return _no_choice(f"The answer has the words of {n_named} options and names no label.")
        if not named:
            return None
        start, end, position = named[-1]
        return Choice(position, (start, end))

    @staticmethod
    def _is_option(option: str, match: re.Match, text: str) -> bool:
        """Tell whether words mean the option: common words ("There is no way") must stand alone."""
        if option.casefold().strip(" .") not in _COMMON_WORDS:
            return True
        after = text[match.end() :]
        return not after.strip() or bool(re.match(r"\s*[.,;:!?)\]*\"'”\n]", after))

    def _stated_words(self, text: str, start: int) -> Choice | None:
        """Read an option whose words directly follow a statement ("the answer is tin")."""
        ends: dict[int, int] = {}  # position of an option that fits -> end of its words
        for i, option in enumerate(self.options):
            if option and _begins(option, text[start : start + len(option)]):
                words = re.compile(_loose(option) + r"(?!\w)", re.IGNORECASE)
                if match := words.match(text, start):
                    ends[i] = match.end()
        end = max(ends.values(), default=start)
        longest = [i for i, option_end in ends.items() if option_end == end]
        if len(longest) != 1:
            return None
        [position] = longest
        if is_supposed(text, start, end):
            return None
        for i, option in enumerate(self.options):
            if i != position and re.match(
                rf"\s+or\s+{_loose(option)}(?!\w)", text[end:], re.IGNORECASE
            ):
                return _no_choice("The answer names the words of two options to choose from.")
        label = self.patterns.label_after.match(text, end)
        if label and label[1] != self.labels[position]:
            return self._contradiction(label[1], position)
        return Choice(position, (start, end))

    def _is_label(self, label: re.Match, text: str) -> bool:
        """Tell whether a match is a label, and not the word "A" or "I" or a number.
        Its own option, the end of a part of the text or a connective must follow."""
        after = text[label.end() :]
        if not after.strip() or re.match(
            rf"\s*(?:[`.,:;)\]}}*_!?\"'”/\\$<{languages.STOPS}]|\n)", after
        ):
            return True
        if self.patterns.over.match(text, label.end(1)):
            return True
        is_preferred = re.search(r"\bprefer\W*$", text[: label.start(1)], re.IGNORECASE)
        if is_preferred and self.patterns.preferred_to.match(text, label.end(1)):
            return True
        position = self._position(label.group(1))
        return bool(
            re.match(r"(?:\s+|(?=[^\W\d_]))(?:" + _GOES_ON + "|" + languages.JOINS + ")", after)
            or (position is not None and _folded(after).startswith(_folded(self.options[position])))
        )

    def _joined_labels(self, end: int, text: str) -> Iterator[tuple[str, int]]:
        """Yield labels, with their starts, that are joined to one that ends at `end`.
        They are in its sentence: "C, Rarely; or E, Never"."""
        parenthesis = _PARENTHESIS.match(text, end)
        if parenthesis:
            if re.match(r"\s*\((?:or|and|possibly|maybe|perhaps)\b", parenthesis.group()):
                for mark in self.patterns.label.finditer(parenthesis.group()):
                    yield mark[1], parenthesis.start() + mark.start(1)
            end = parenthesis.end()
        yield from self._also_right_labels(end, text)
        list_end = self.patterns.list_end.search(text, end)
        stop = list_end.start() if list_end else len(text)
        for mark in self.patterns.joined.finditer(text, end, stop):
            word, after = mark.group(1), text[mark.end() :]
            if word.isdigit():
                is_label = bool(re.match(r"\s*(?:[.,;)]|$)", after))
            else:
                is_label = not (word in ("a", "i", "I") and re.match(r"\s+[a-z]", after))
            if is_label:
                yield word, mark.start(1)

    def _also_right_labels(self, end: int, text: str) -> Iterator[tuple[str, int]]:
        """Yield labels, with their starts, that the rest of the line calls right as well."""
        line_end = text.find("\n", end)
        stop = line_end if line_end >= 0 else len(text)
        for mark in self.patterns.also_right.finditer(text, end, stop):
            group = mark.lastindex or 0
            yield mark[group], mark.start(group)

    def _choice_of(self, label: re.Match, text: str) -> Choice | None:
        """Return the choice of a label; none where the text names further labels with it."""
        word = label.group(1)
        if self._position(word) is None:
            return _no_choice(f"The answer names several labels at once ({word}).")
        listed = self._listed(label.start(1), text)
        if len(listed) > 2:
            return _no_choice(f"The answer lists several options ({', '.join(sorted(listed))}).")
        joined = self._joined_labels(label.end(1), text)
        return self._single_choice([(word, label.start(1)), *joined], text)

    def _listed(self, start: int, text: str) -> set[str]:
        """Return the labels with their own options' words, in the rest of the line from `start`."""
        line = text[start:].partition("\n")[0]
        listed = set()
        for mark in self.patterns.label.finditer(line):
            position = self._position(mark[1])
            words = "" if position is None else _folded(self.options[position])
            if words and _folded(line[mark.end() :]).startswith(words):
                listed.add(mark[1])
        return listed

    def _single_choice(self, named: Sequence[tuple[str, int]], text: str) -> Choice | None:
        """Return the choice where all (label, start) name one label; None for no label."""
        if not named:
            return None
        labels = {label for label, _ in named}
        if len(labels) > 1:
            list_of_labels = ", ".join(sorted(labels))
            return _no_choice(f"The answer names {len(labels)} labels ({list_of_labels}).")
        label, start = named[-1]
        return self._choice_at(self._position(label), text, start, len(label))

    def _choice_at(self, position, text: str, start: int, length: int) -> Choice:
        """Return the choice of the label at `start`, unless something contradicts it."""
        # "2" may be the label of option 7 and the text of another option.
        label = self.labels[position].casefold()
        is_other_option = any(
            i != position and option.casefold() == label for i, option in enumerate(self.options)
        )
        has_own_words = _folded(text[start + length :]).startswith(_folded(self.options[position]))
        if is_other_option and not has_own_words and text[start - 1 : start] not in ("(", "["):
            return _no_choice(
                f"{self.labels[position]!r} is both a label and the text of another option."
            )
        other_option = self._option_next_to(position, text, start, start + length)
        if other_option is not None:
            return self._contradiction(self.labels[position], other_option)
        return Choice(position, (start, start + length))

    def _contradiction(self, label: str, other_option: int) -> Choice:
        return _no_choice(
            f"The answer has the label {label} and the words of {self.labels[other_option]}."
        )

    def _option_next_to(self, position: int, text: str, start: int, end: int) -> int | None:
        """Return the position of another option whose words are next to a label, or None.

        They must be all of its words and nothing else ("A. galley"), or stand before a label in
        brackets ("galley (A)"). None if the line also has the label's own words or their
        beginning.
        """
        gap = _GAP.match(text, end)
        line = text[gap.end() if gap else end :].partition("\n")[0]
        before = text[:start].rpartition("\n")[2] if text[start - 1 : start] in ("(", "[") else ""
        # Most labels end their line, so there are no words to check.
        if not (before or _plain(line)):
            return None
        own_words = _plain(self.options[position])
        line_has_own, before_has_own = (
            any(_occurrences(self.options[position], side)) or _plain(side).startswith(own_words)
            for side in (line, before)
        )
        for i, option in enumerate(self.options):
            words = _plain(option)
            if i == position or not words or own_words.startswith(words):
                continue
            nothing_after = r"[\s.*]*$" if words in _COMMON_WORDS else _ALONE
            follows = _begins(option, line) and re.match(
                _loose(option) + nothing_after, line, re.IGNORECASE
            )
            if follows and (words.startswith(own_words) or not line_has_own):
                return i
            precedes = rf"(?<!\w){_loose(option)}[\s*]*[(\[]$"
            if before and not before_has_own and re.search(precedes, before, re.IGNORECASE):
                return i
        return None

    def _position(self, word: str) -> int | None:
        return self.labels.index(word) if word in self.labels else None


def _folded(text: str) -> str:
    """Return a text in small letters, with one blank for whatever stands between words."""
    return _SEPARATORS.sub(" ", text).strip().casefold()


def _plain(text: str) -> str:
    """Return a text in small letters without whatever stands between words."""
    return _SEPARATORS.sub("", text).casefold()


def _loose(option: str) -> str:
    """Return a pattern for an option's words with any spaces between, without its final stop."""
    return r"\s+".join(re.escape(word) for word in option.rstrip(" .").split())


def _first_word(option: str) -> str:
    return next(iter(option.rstrip(" .").casefold().split()), "")


def _no_choice(reason: str) -> Choice:
    return Choice(position=None, span=None, reason=reason)


def _is_not_stated(text: str, start: int, end: int, condition: re.Pattern | None = None) -> bool:
    return is_denied(text, start, end) or is_supposed(text, start, end, condition)


def _is_inside_a_longer(
    mention: tuple[int, int, int], mentions: Sequence[tuple[int, int, int]]
) -> bool:
    start, end, _ = mention
    size = end - start
    return any(low <= start and end <= high and high - low > size for low, high, _ in mentions)


def _begins(option: str, text: str) -> bool:
    """Tell whether a text may begin with an option's words, before a slow pattern is compiled."""
    return text.casefold().startswith(_first_word(option))


def _occurrences(option: str, text: str) -> Iterator[re.Match]:
    """Yield the places where the option's words occur as whole words."""
    if option.strip(" .") and _first_word(option) in text.casefold():
        yield from re.finditer(rf"(?<!\w){_loose(option)}(?!\w)", text, re.IGNORECASE)
