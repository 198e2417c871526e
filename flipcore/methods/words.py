"""Methods of each question and of every interval (`methods.toml`), the terms of pages and reports
(`terms.toml`), and the papers that both come from (`papers.bib`): each read once."""

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_ENTRY = re.compile(r"^@\w+\{(\w+),\n.*?^\}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"^  (\w+) = \{+(.*?)\}+,?$", re.MULTILINE)
_OTHERS = "others"


@dataclass(frozen=True)
class Paper:
    """`authors` are "Family, Given", at most the first few; `more` says that there are others.
    `venue` is a journal with its volume and pages, or a conference; `bibtex` the entry as it stands
    in the file."""

    key: str
    authors: tuple[str, ...]
    year: int
    title: str
    venue: str
    arxiv: str
    doi: str
    more: bool
    bibtex: str

    @property
    def names(self) -> str:
        """ "Miller", "Shen and Li", "Wang et al."."""
        families = [author.split(",")[0] for author in self.authors]
        if self.more or len(families) > 2:
            return f"{families[0]} et al."
        return " and ".join(families)

    @property
    def short(self) -> str:
        """ "Wang et al. 2024"."""
        return f"{self.names} {self.year}"

    @property
    def address(self) -> str:
        """The arXiv number, or else the DOI, or else the venue."""
        return next(filter(None, (self._arxiv_number, self._doi_number, self.venue)), "")

    @property
    def line(self) -> str:
        authors = "; ".join(self.authors) + ("; and others" if self.more else "")
        places = ", ".join(filter(None, (self.venue, self._arxiv_number, self._doi_number)))
        return f"{authors} ({self.year}). {self.title}. {places}."

    @property
    def _arxiv_number(self) -> str:
        return f"arXiv:{self.arxiv}" if self.arxiv else ""

    @property
    def _doi_number(self) -> str:
        return f"doi:{self.doi}" if self.doi else ""


def _text(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _paper(key: str, entry: str) -> Paper:
    fields = {}
    for name, value in _FIELD.findall(entry):
        # The signs that LaTeX needs in the file, in plain text.
        fields[name] = value.replace("--", "–").replace(r"\&", "&").replace(r"\%", "%")
    authors = fields["author"].split(" and ")
    return Paper(
        key=key,
        authors=tuple(author for author in authors if author != _OTHERS),
        year=int(fields["year"]),
        title=fields["title"],
        venue=fields.get("journal", ""),
        arxiv=fields.get("eprint", ""),
        doi=fields.get("doi", ""),
        more=_OTHERS in authors,
        bibtex=entry,
    )


PAPERS = {match[1]: _paper(match[1], match[0]) for match in _ENTRY.finditer(_text("papers.bib"))}


def cited(keys: Iterable[str]) -> str:
    """ " (Miller 2024; Holm 1979)" for the end of a sentence; "" without any."""
    names = "; ".join(PAPERS[key].short for key in keys)
    return f" ({names})" if names else ""


def bibtex(keys: Iterable[str]) -> str:
    """Entries of these papers, each once, in the order of their keys."""
    return "\n\n".join(PAPERS[key].bibtex for key in sorted(set(keys))) + "\n"


@dataclass(frozen=True)
class Method:
    """`says` is one or two sentences without the final citation; `papers` are keys of `PAPERS`;
    `used_by` are names, or beginnings of names, of detectors and intervals."""

    name: str
    says: str
    papers: tuple[str, ...] = ()
    used_by: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The sentences with their papers before the last full stop."""
        return f"{self.says.removesuffix('.')}{cited(self.papers)}."


def _methods(part: str) -> tuple[Method, ...]:
    methods = []
    for entry in _FILE[part]:
        papers, used_by = tuple(entry.get("papers", ())), tuple(entry.get("of", ()))
        methods.append(Method(entry["name"], entry["says"], papers, used_by))
    return tuple(methods)


_FILE = tomllib.loads(_text("methods.toml"))
FLIPS, MEMORY, HOLDOUT = _methods("flips"), _methods("memory"), _methods("holdout")
INTERVALS = _methods("intervals")
RANKING = _methods("ranking")
(HOLM,) = _methods("tests")
EVERY_CHOICE = next(method for method in RANKING if method.name == "every choice of counting")
MEANING = next(method for method in FLIPS if method.name == "sameness of meaning")


def detector_method(detector: str) -> Method | None:
    """The method of a detector by its name; None of one that a package brought."""
    # Detectors of one kind differ in the end of their names, by what they read.
    return next((method for method in MEMORY if detector.startswith(method.used_by)), None)


def interval_method(name: str) -> Method:
    """The method by the name that an estimate carries; a method of no entry has its name alone."""
    for method in INTERVALS:
        if name in method.used_by:
            return method
    # A package may bring estimates with intervals of its own.
    title = name.replace("_", " ")
    return Method(title, f"The limits are those of the method {title}.")


@dataclass(frozen=True)
class Term:
    """`formula` is LaTeX; `picture` is a key of `charts.term_pictures.PICTURES`; `papers` are keys
    of `PAPERS`, `about` stands before them."""

    name: str
    meaning: str
    formula: str
    picture: str
    papers: tuple[str, ...] = ()
    about: str = ""

    @property
    def paper(self) -> str:
        """The papers as a line of small print; "" of a word of this project's own."""
        if not self.papers:
            return ""
        names = "; ".join(f"{PAPERS[key].short}, {PAPERS[key].address}" for key in self.papers)
        return f"{self.about}: {names}." if self.about else f"{names}."


_ENTRIES = tomllib.loads(_text("terms.toml"))["terms"]
TERMS = tuple(Term(**entry | {"papers": tuple(entry.get("papers", ()))}) for entry in _ENTRIES)
