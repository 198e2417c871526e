"""One paper: as a line of text, as a short reference and as BibTeX."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Paper:
    """`authors` are "Family, Given", at most the first few; `more` says that there are others. `venue` is a journal with its
    volume and pages, or a conference."""

    key: str
    authors: tuple[str, ...]
    year: int
    title: str
    venue: str = ""
    arxiv: str = ""
    doi: str = ""
    more: bool = False

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
        """The whole reference as a line of text."""
        authors = "; ".join(self.authors) + ("; and others" if self.more else "")
        places = [self.venue, f"arXiv:{self.arxiv}" if self.arxiv else "", f"doi:{self.doi}" if self.doi else ""]
        return f"{authors} ({self.year}). {self.title}. {', '.join(filter(None, places))}."

    @property
    def bibtex(self) -> str:
        """An entry for a BibTeX file."""
        kind = "article" if self.venue else "misc"
        authors = " and ".join([*self.authors, *(["others"] if self.more else [])])
        fields = {"author": authors, "title": f"{{{self.title}}}", "year": str(self.year)}
        fields |= {"journal": self.venue} if self.venue else {}
        fields |= {"eprint": self.arxiv, "archivePrefix": "arXiv"} if self.arxiv else {}
        fields |= {"doi": self.doi} if self.doi else {}
        inside = ",\n".join(f"  {name} = {{{_tex(value)}}}" for name, value in fields.items())
        return f"@{kind}{{{self.key},\n{inside}\n}}"


def _tex(text: str) -> str:
    return text.replace("&", r"\&").replace("%", r"\%").replace("–", "--")
