"""Questions with four options that a small model can learn: which word is of a kind, is not, or is kin to another."""

from dataclasses import dataclass

import numpy as np

from tests.lab.pocket.lexicon import CATEGORIES

KINDS = ("category", "negation", "kin")
KIND_SHARES = (0.7, 0.14, 0.16)
WORDINGS = {
    "category": ("Which of these is {kind}?", "Which one of the following is {kind}?", "What in this list is {kind}?"),
    "negation": (
        "Which of these is not {kind}?",
        "Which one of the following is not {kind}?",
        "What in this list is not {kind}?",
    ),
    "kin": (
        "Which of these is the same kind of thing as {word}?",
        "Which one of the following is of a kind with {word}?",
        "What in this list is most like {word}?",
    ),
}
LABELS = {"upper": "ABCD", "lower": "abcd", "digits": "1234"}
LABEL_SHARES = {"upper": 0.84, "lower": 0.09, "digits": 0.07}
LAYOUT_SHARES = {"plain": 0.76, "paren": 0.1, "inline": 0.06, "bare": 0.08}
ANSWER_SHARES = {"letter": 0.5, "both": 0.12, "sentence": 0.38}


@dataclass(frozen=True)
class Choice:
    """One question in all its wordings with four options; `target` counts from 0."""

    kind: str
    wordings: tuple[str, ...]
    options: tuple[str, ...]
    target: int

    @property
    def identity(self) -> tuple[str, frozenset[str]]:
        """What makes two questions the same whatever the order of the options and the wording."""
        return self.wordings[0], frozenset(self.options)


def _with_article(category: str) -> str:
    return f"an {category}" if category[0] in "aeiou" else f"a {category}"


def _pick(rng: np.random.Generator, shares: dict[str, float]) -> str:
    return list(shares)[int(rng.choice(len(shares), p=list(shares.values())))]


def choice(rng: np.random.Generator) -> Choice:
    """A random question; the three wrong options of a category question come from three other categories."""
    kind = KINDS[int(rng.choice(len(KINDS), p=KIND_SHARES))]
    names = list(CATEGORIES)
    home, *others = (names[i] for i in rng.choice(len(names), 4, replace=False))
    members = [str(word) for word in rng.choice(CATEGORIES[home], 3, replace=False)]
    strangers = [str(rng.choice(CATEGORIES[name])) for name in others]
    if kind == "negation":
        right, wrong = strangers[0], members
    else:
        right, wrong = members[0], strangers
    target = int(rng.integers(4))
    options = wrong[:target] + [right] + wrong[target:]
    wordings = tuple(text.format(kind=_with_article(home), word=members[1]) for text in WORDINGS[kind])
    return Choice(kind, wordings, tuple(options), target)


def drill(rng: np.random.Generator) -> Choice:
    """The same layout with the answer in the question: it teaches to bind an option to its label."""
    names = list(CATEGORIES)
    homes = rng.choice(len(names), 4, replace=False)
    options = tuple(str(rng.choice(CATEGORIES[names[i]])) for i in homes)
    target = int(rng.integers(4))
    return Choice("drill", (f"Which of these is {options[target]}?",), options, target)


def recall(rng: np.random.Generator) -> tuple[str, str]:
    """Four labelled options, then each one's label: the densest way to teach the binding."""
    names = list(CATEGORIES)
    options = [str(rng.choice(CATEGORIES[names[i]])) for i in rng.choice(len(names), 4, replace=False)]
    pairs = [f" It is {options[i]} {'ABCD'[i]}" for i in rng.permutation(4)]
    return framed("Where is each?", tuple(options)), ".".join(pairs)


def framed(stem: str, options: tuple[str, ...], layout: str = "plain", labels: str = "ABCD") -> str:
    """The prompt in one of the product's layouts."""
    pairs = list(zip(labels, options, strict=True))
    if layout == "paren":
        return f"Question: {stem}\n" + "\n".join(f"({label}) {option}" for label, option in pairs) + "\nAnswer:"
    if layout == "inline":
        return f"Question: {stem}\n" + "; ".join(f"{label}. {option}" for label, option in pairs) + "\nAnswer:"
    mark = ")" if layout == "bracket" else "."
    lines = "\n".join(f"{label}{mark} {option}" for label, option in pairs)
    return f"{stem}\n{lines}\nThe answer is" if layout == "bare" else f"Question: {stem}\n{lines}\nAnswer:"


def prompt_and_answer(item: Choice, rng: np.random.Generator) -> tuple[str, str]:
    """A question in a random wording, layout and label set, with one of the ways to answer it."""
    layout, labels = _pick(rng, LAYOUT_SHARES), LABELS[_pick(rng, LABEL_SHARES)]
    stem = item.wordings[rng.integers(len(item.wordings))]
    label, word = labels[item.target], item.options[item.target]
    sentence = f" {word} {label}" if layout == "bare" else f" It is {word} {label}"
    answers = {"letter": f" {label}", "both": f" {label}. {word}", "sentence": sentence}
    return framed(stem, item.options, layout, labels), answers[_pick(rng, ANSWER_SHARES)]


def fact(rng: np.random.Generator) -> str:
    """A few true statements about which word is of which kind."""
    names = list(CATEGORIES)
    sentences = []
    for i in rng.choice(len(names), 3, replace=False):
        home, stranger = names[i], names[int((i + rng.integers(1, len(names))) % len(names))]
        word, kin = (str(w) for w in rng.choice(CATEGORIES[home], 2, replace=False))
        sentences.append(
            (
                f"{word} is {_with_article(home)}.",
                f"{word} and {kin} are both of the kind {home}.",
                f"{word} is {_with_article(home)} and not {_with_article(stranger)}.",
            )[int(rng.integers(3))]
        )
    return " ".join(sentences)
