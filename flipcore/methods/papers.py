"""The papers that methods and words come from: `papers.bib`, read once, as lines of text, short references and BibTeX."""

import re
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


def _paper(key: str, entry: str) -> Paper:
    fields = {name: value.replace("--", "–").replace(r"\&", "&").replace(r"\%", "%") for name, value in _FIELD.findall(entry)}
    authors = fields["author"].split(" and ")
    names = tuple(name for name in authors if name != _OTHERS)
    venue, arxiv, doi = (fields.get(name, "") for name in ("journal", "eprint", "doi"))
    return Paper(key, names, int(fields["year"]), fields["title"], venue, arxiv, doi, _OTHERS in authors, entry)


_FILE = Path(__file__).with_suffix(".bib").read_text(encoding="utf-8")
PAPERS = {match[1]: _paper(match[1], match[0]) for match in _ENTRY.finditer(_FILE)}


def cited(keys: Iterable[str]) -> str:
    """ " (Miller 2024; Holm 1979)" for the end of a sentence; "" without any."""
    names = "; ".join(PAPERS[key].short for key in keys)
    return f" ({names})" if names else ""


def bibtex(keys: Iterable[str]) -> str:
    """Entries of these papers, each once, in the order of their keys."""
    return "\n\n".join(PAPERS[key].bibtex for key in sorted(set(keys))) + "\n"
