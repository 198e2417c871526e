"""What is done to answer each question and how every interval was computed: `methods.toml`, read once."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from flipcore.methods.papers import cited


@dataclass(frozen=True)
class Method:
    """`says` is one or two sentences without the final citation; `papers` are keys of `papers.PAPERS`; `of` are names, or beginnings of
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


_FILE = tomllib.loads(Path(__file__).with_name("methods.toml").read_text(encoding="utf-8"))
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
