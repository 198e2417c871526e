"""What is done to answer each question and how every interval was computed (`methods.toml`), the words of pages and reports
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
    """`authors` are "Family, Given", at most the first few; `more` says that there are others. `venue` is a journal with its
    volume and pages, or a conference; `bibtex` the entry as it stands in the file."""

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
        """Where it is: its arXiv number, or else its DOI, or else its venue."""
        return f"arXiv:{self.arxiv}" if self.arxiv else f"doi:{self.doi}" if self.doi else self.venue

    @property
    def line(self) -> str:
        authors = "; ".join(self.authors) + ("; and others" if self.more else "")
        places = [self.venue, f"arXiv:{self.arxiv}" if self.arxiv else "", f"doi:{self.doi}" if self.doi else ""]
        return f"{authors} ({self.year}). {self.title}. {', '.join(filter(None, places))}."


def _text(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _paper(key: str, entry: str) -> Paper:
    fields = {name: value.replace("--", "–").replace(r"\&", "&").replace(r"\%", "%") for name, value in _FIELD.findall(entry)}
    authors = fields["author"].split(" and ")
    names = tuple(name for name in authors if name != _OTHERS)
    venue, arxiv, doi = (fields.get(name, "") for name in ("journal", "eprint", "doi"))
    return Paper(key, names, int(fields["year"]), fields["title"], venue, arxiv, doi, _OTHERS in authors, entry)


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
    """`says` is one or two sentences without the final citation; `papers` are keys of `PAPERS`; `of` are names, or beginnings of
    names, of what is done so."""

    name: str
    says: str
    papers: tuple[str, ...] = ()
    of: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The sentences with their papers before the last full stop."""
        return f"{self.says.removesuffix('.')}{cited(self.papers)}."


def _methods(part: str) -> tuple[Method, ...]:
    return tuple(
        Method(one["name"], one["says"], tuple(one.get("papers", ())), tuple(one.get("of", ()))) for one in _FILE[part]
    )


_FILE = tomllib.loads(_text("methods.toml"))
FLIPS, MEMORY, HOLDOUT, INTERVALS = (_methods(part) for part in ("flips", "memory", "holdout", "intervals"))
(HOLM,) = _methods("tests")
MEANING = next(one for one in FLIPS if one.name == "sameness of meaning")


def detector_method(detector: str) -> Method | None:
    """The method of a detector by its name; None of one that a package brought."""
    return next((one for one in MEMORY if detector.startswith(one.of)), None)


def interval_method(name: str) -> Method:
    """The method by the name that an estimate carries; one without words of its own has its name."""
    own = name.replace("_", " ")
    return next((one for one in INTERVALS if name in one.of), None) or Method(own, f"The limits are those of the method {own}.")


@dataclass(frozen=True)
class Term:
    """`formula` is LaTeX; `picture` is a key of `charts.term_pictures.PICTURES`; `papers` are keys of `PAPERS`, `about` is
    what stands before them."""

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


TERMS = tuple(Term(**one | {"papers": tuple(one.get("papers", ()))}) for one in tomllib.loads(_text("terms.toml"))["terms"])
