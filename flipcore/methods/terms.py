"""The words of pages and reports: `terms.toml`, read once."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from flipcore.methods.papers import PAPERS


@dataclass(frozen=True)
class Term:
    """`formula` is LaTeX; `picture` is a key of `charts.term_pictures.PICTURES`; `papers` are keys of `papers.PAPERS`, `about` is
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


TERMS = tuple(
    Term(**one | {"papers": tuple(one.get("papers", ()))})
    for one in tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["terms"]
)
