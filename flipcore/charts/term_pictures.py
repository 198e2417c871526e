"""A small picture of each word of the glossary: an SVG file of `terms` whose colours are those of
the theme, as `var(--muted)`."""

import re
from pathlib import Path

from flipcore.charts.theme import colours

PICTURES = {
    path.stem.replace("-", " "): path
    for path in sorted((Path(__file__).parent / "terms").glob("*.svg"))
}


def picture(name: str, theme: str | None) -> str:
    """The picture as an SVG document; `name` is a key of `PICTURES`."""
    palette, lines = colours(theme), PICTURES[name].read_text(encoding="utf-8").splitlines()
    return re.sub(r"var\(--(\w+)\)", lambda match: getattr(palette, match[1]), "".join(lines))


def about(name: str) -> str:
    """Title of a picture: what it shows, in words."""
    return (
        PICTURES[name].read_text(encoding="utf-8").partition("<title>")[2].partition("</title>")[0]
    )
