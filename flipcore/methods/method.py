"""A method in words, with the papers that it comes from."""

from dataclasses import dataclass

from flipcore.methods.papers import cited


@dataclass(frozen=True)
class Method:
    """`says` is one or two sentences without the final citation; `papers` are keys of `papers.PAPERS`."""

    name: str
    says: str
    papers: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The sentences with their papers before the last full stop."""
        return f"{self.says.removesuffix('.')}{cited(self.papers)}."
