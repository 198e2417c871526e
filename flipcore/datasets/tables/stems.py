"""The words of column names, and the lists of `stems.toml` that these words belong to."""

import re
import tomllib
import unicodedata
from dataclasses import dataclass
from functools import cache
from importlib import resources

LONGEST_NAME = 60  # characters; a longer name is a sentence, as in a table without a header


@dataclass(frozen=True)
class Stems:
    """One list of `stems.toml`: whole words, and beginnings of words."""

    words: frozenset[str]
    beginnings: tuple[str, ...]

    def has(self, word: str) -> bool:
        """Tell whether a word belongs to the list."""
        return word in self.words or (bool(self.beginnings) and word.startswith(self.beginnings))


@cache
def stems(name: str) -> Stems:
    """Return one list of `stems.toml`."""
    listed = _all_lists()[name]
    entries = f"{listed} {folded(listed)}".split()  # cells keep their accents in SQL
    if name == "wrong":
        entries += [f"not_{word}" for word in stems("right").words]
    beginnings = tuple(entry[:-1] for entry in entries if entry.endswith("*"))
    return Stems(frozenset(entry for entry in entries if not entry.endswith("*")), beginnings)


@cache
def _all_lists() -> dict[str, str]:
    text = resources.files("flipcore.datasets.tables").joinpath("stems.toml").read_text("utf-8")
    return tomllib.loads(text)


def folded(text: str) -> str:
    """Return a text without accents: "modèle" as "modele"."""
    letters = unicodedata.normalize("NFD", text)
    plain = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return unicodedata.normalize("NFC", plain)


@cache
def words_of(name: str) -> tuple[str, ...]:
    """Split a column's name into lower-case words: modelAnswer, Model Answer and model_answer."""
    name = folded(name)
    spaced_name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name.rpartition("].")[2] or name)
    return tuple(re.findall(r"[^\W\d_]+|\d+", spaced_name.lower()))


@cache
def names(name: str, kind: str) -> bool:
    """Tell whether a column's name has a word of the list `kind`, or is itself an entry of it."""
    if len(name) > LONGEST_NAME:
        return False
    entries = stems(kind)
    words = words_of(name)
    joined_words = "_".join(words)
    return (
        entries.has(joined_words)
        or any(entries.has(word) for word in words)
        or not _numbered_words(name).isdisjoint(entries.words)
        or (kind == "model" and bool(_SIZE.search(name)))
    )


_SIZE = re.compile(r"(?i)(?<![^\W_])\d+(\.\d+)?b(?![^\W_])")  # of a model, such as 7b


@cache
def last_part(name: str) -> str:
    """Return the last key of a dotted path; the object is kept where it says more: model_name."""
    before, _, last = name.rpartition(".")
    if not last.strip():
        return name  # Beleg-Nr. ends in a dot
    parent = before.rpartition(".")[2]
    if last.lower() in _NAME_KEYS and words_of(parent) and names(words_of(parent)[-1], "model"):
        return f"{parent}_{last}"
    return last


_NAME_KEYS = {"name", "id", "slug", "label", "version"}


def last_names(name: str, kind: str) -> bool:
    """Tell whether the last word of a name, or the name itself, belongs to the list `kind`."""
    words = words_of(name)
    is_last = bool(words) and ("_".join(words) in stems(kind).words or stems(kind).has(words[-1]))
    return is_last or any(
        name.lower().endswith(word) and word in stems(kind).words for word in _numbered_words(name)
    )


def _numbered_words(name: str) -> frozenset[str]:
    """Return the words of a name that are letters and a number, such as f1."""
    return frozenset(
        word for word in re.findall(r"[^\W_]+", name.lower()) if re.fullmatch(r"[^\W\d]+\d+", word)
    )


def lower_is_better(name: str) -> bool:
    """Tell whether a column is called like a score of which less is better: error_rate."""
    entry = _NAMED_ENTRY.fullmatch(name)  # metrics[Toxicity].score is about toxicity
    about = entry[1] if entry else last_part(name)
    words = words_of(about)
    if not words or any(word in stems("negation").words for word in words):
        return False
    # the other word decides in "hallucination_score" and "is_toxic"
    deciding_words = [word for word in words if word not in _NEUTRAL_WORDS]
    return last_names("_".join(deciding_words), "lower")


_NAMED_ENTRY = re.compile(r".+?\[(?!-?\d+\])(.+)\]\.\w+")
_NEUTRAL_WORDS = set("score scores is was has rate label flag value mean km miles meters".split())


def is_known_word(word: str) -> bool:
    """Tell whether a word of a score's name raises no doubt: neutral, or something good."""
    kinds = ("score", "grade", "good", "filler", "model", "people", "judge", "answer", "output")
    return len(word) < 3 or word.isdigit() or any(names(word, kind) for kind in kinds)


def names_right(name: str) -> bool:
    """Tell whether a column is called after being right: is_correct, unlike semantic_result."""
    return not _RIGHT.isdisjoint(words_of(last_part(name)))


_RIGHT = set(
    "correct right accuracy acc passed pass success solved accepted match em score".split()
)


def is_word(value: str, kind: str) -> bool:
    """Tell whether a cell is a word of the list `kind`: richtig, ✓ and true are "right"."""
    return folded(value).strip().lower().replace(" ", "_") in stems(kind).words
