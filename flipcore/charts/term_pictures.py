"""A small SVG picture per word of the glossary, from the files of `terms`.

A file names colours of the theme, such as `var(--muted)`.
"""

import re
from pathlib import Path

from flipcore.charts.theme import colours

PICTURES = {
    path.stem.replace("-", " "): path
    for path in sorted((Path(__file__).parent / "terms").glob("*.svg"))
}


def picture(name: str, theme: str | None) -> str:
    """Return a picture of `PICTURES` as an SVG document in the colours of a theme."""
    palette, lines = colours(theme), PICTURES[name].read_text(encoding="utf-8").splitlines()
    return re.sub(r"var\(--(\w+)\)", lambda match: getattr(palette, match[1]), "".join(lines))


def about(name: str) -> str:
    """Return the title of a picture, which describes it."""
    svg = PICTURES[name].read_text(encoding="utf-8")
    return svg.partition("<title>")[2].partition("</title>")[0]
