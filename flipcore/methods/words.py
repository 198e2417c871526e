"""Methods of questions and intervals, terms of pages and reports, and the papers of both.

They are read once from `methods.toml`, `terms.toml` and `papers.bib`.
"""

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_ENTRY = re.compile(r"^@\w+\{(\w+),\n.*?^\}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"^  (\w+) = \{+(.*?)\}+,?$", re.MULTILINE)
_OTHERS = "others"  # BibTeX's name for authors that are not listed


@dataclass(frozen=True)
class Paper:
    """A paper of `papers.bib`.

    `authors` are the first few as "Family, Given"; `has_more_authors` is True if there are others.
    `venue` is a journal with volume and pages, or a conference. `bibtex` is the entry's own text.
    """

    key: str
    authors: tuple[str, ...]
    year: int
    title: str
    venue: str
    arxiv: str
    doi: str
    has_more_authors: bool
    bibtex: str

    @property
    def names(self) -> str:
        """Authors as "Miller", "Shen and Li" or "Wang et al."."""
        families = [author.split(",")[0] for author in self.authors]
        if self.has_more_authors or len(families) > 2:
            return f"{families[0]} et al."
        return " and ".join(families)

    @property
    def short(self) -> str:
        """Authors and year, "Wang et al. 2024"."""
        return f"{self.names} {self.year}"

    @property
    def address(self) -> str:
        """The arXiv number, else the DOI, else the venue."""
        return next(filter(None, (self._arxiv_number, self._doi_number, self.venue)), "")

    @property
    def line(self) -> str:
        """The full reference as one line."""
        authors = "; ".join(self.authors)
        if self.has_more_authors:
            authors += "; and others"
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
    """Parse one entry of `papers.bib`."""
    fields = {}
    for name, value in _FIELD.findall(entry):
        # LaTeX's escapes as plain text.
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
        has_more_authors=_OTHERS in authors,
        bibtex=entry,
    )


PAPERS = {match[1]: _paper(match[1], match[0]) for match in _ENTRY.finditer(_text("papers.bib"))}


def cited(keys: Iterable[str]) -> str:
    """Return " (Miller 2024; Holm 1979)" for the end of a sentence; "" without papers."""
    names = "; ".join(PAPERS[key].short for key in keys)
    return f" ({names})" if names else ""


def bibtex(keys: Iterable[str]) -> str:
    """Return the entries of these papers, each once, in the order of their keys."""
    return "\n\n".join(PAPERS[key].bibtex for key in sorted(set(keys))) + "\n"


@dataclass(frozen=True)
class Method:
    """A method: `says` are one or two sentences without citations, `papers` keys of `PAPERS`.

    `used_by` are names of intervals, or beginnings of names of detectors.
    """

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
    """Return the method of a detector by its name; None for one of another package."""
    # Detectors of one kind differ only in the ends of their names.
    return next((method for method in MEMORY if detector.startswith(method.used_by)), None)


def interval_method(name: str) -> Method:
    """Return the method by `Estimate.method`; one that only has a name if it is not listed."""
    for method in INTERVALS:
        if name in method.used_by:
            return method
    # Other packages may have intervals of their own.
    title = name.replace("_", " ")
    return Method(title, f"The limits are those of the method {title}.")


@dataclass(frozen=True)
class Term:
    """A term of the glossary.

    `formula` is LaTeX, `picture` a key of `charts.term_pictures.PICTURES`. `papers` are keys of
    `PAPERS`, and `about` introduces them.
    """

    name: str
    meaning: str
    formula: str
    picture: str
    papers: tuple[str, ...] = ()
    about: str = ""

    @property
    def paper(self) -> str:
        """The papers as a line of small print; "" for a term of this project's own."""
        if not self.papers:
            return ""
        names = "; ".join(f"{PAPERS[key].short}, {PAPERS[key].address}" for key in self.papers)
        return f"{self.about}: {names}." if self.about else f"{names}."


_ENTRIES = tomllib.loads(_text("terms.toml"))["terms"]
TERMS = tuple(Term(**entry | {"papers": tuple(entry.get("papers", ()))}) for entry in _ENTRIES)
