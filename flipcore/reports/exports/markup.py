"""HTML of a report: every text is escaped here and nowhere else, so that text from data is shown
letter by letter."""

import base64
import gzip
import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from flipcore.claims.claim import Claim
from flipcore.reports.browser_data.parts import part

# Characters that no document may hold, and signs that turn the direction of the text around them.
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_TURNING = re.compile(r"[\u202a-\u202e\u2066-\u2069\u200e\u200f]")


@dataclass(frozen=True)
class Markup:
    """HTML that was made here; a plain string is text and is escaped wherever one is taken."""

    html: str


Content = str | Markup


def text(value: object) -> Markup:
    """Any value as text."""
    printable = _TURNING.sub("�", _UNPRINTABLE.sub("�", str(value)))
    return Markup(html.escape(printable, quote=True))


def joined(parts: Iterable[Content], between: str = "") -> Markup:
    """The parts one after the other; strings are escaped."""
    return Markup(
        between.join(part.html if isinstance(part, Markup) else text(part).html for part in parts)
    )


def tag(name: str, *inside: Content, **attributes: object) -> Markup:
    """An element. `cls` is its class, other names have their underscores as hyphens; None leaves an
    attribute out."""
    words = [name]
    for key, value in attributes.items():
        if value is not None:
            # `class` is no name of an argument in Python.
            attribute = "class" if key == "cls" else key.replace("_", "-")
            words.append(f'{attribute}="{text(value).html}"')
    return Markup(f"<{' '.join(words)}>{joined(inside).html}</{name}>")


def section(title: str, ident: str, *inside: Content) -> Markup:
    """A part of the report with a heading of the second order."""
    return tag("section", tag("h2", title), *inside, id=ident)


def paragraph(*inside: Content, cls: str | None = None) -> Markup:
    """A paragraph."""
    return tag("p", *inside, cls=cls)


def claimed(claim: Claim, cls: str = "claim") -> Markup:
    """A claim with its small print behind it."""
    return paragraph(claim.text, " ", tag("span", claim.detail, cls="quiet"), cls=cls)


def board_place(name: str, ident: str) -> Markup:
    """The place of the board `ident`, with the markup of its browser part."""
    return tag("div", Markup(part(name).html), data_part=name, data_board=ident, cls="board-place")


def folded(
    title: Content, *inside: Content, ident: str | None = None, opened: bool = False
) -> Markup:
    """Content that a click opens; a print shows it as it is."""
    body = joined([tag("summary", title), tag("div", *inside, cls="inside")])
    attributes = f' id="{text(ident).html}"' if ident else ""
    if opened:
        attributes += " open"
    return Markup(f"<details{attributes}>{body.html}</details>")


def data_link(label: str, name: str, content: str | bytes, kind: str = "text/plain") -> Markup:
    """A link that saves `content` under `name`: the content stands in the link itself, so that
    nothing is fetched."""
    raw = content.encode("utf-8", "replace") if isinstance(content, str) else content
    return tag(
        "a", label, href=f"data:{kind};base64,{base64.b64encode(raw).decode()}", download=name
    )


def packed(content: str) -> bytes:
    """Gzip without a time, so that the same content gives the same bytes."""
    return gzip.compress(content.encode("utf-8", "replace"), 9, mtime=0)


def cells(rows: Sequence[Sequence[Content]], columns: Sequence[str]) -> Markup:
    """A table; a column whose every cell is a number or begins with one is set to the right."""
    kinds, heads, body = [], [], []
    for i, name in enumerate(columns):
        is_right = bool(rows) and all(_is_number(row[i]) for row in rows)
        kinds.append("number" if is_right else None)
        heads.append(tag("th", name, cls=kinds[-1], scope="col"))
    for row in rows:
        row_cells = [tag("td", cell, cls=cls) for cell, cls in zip(row, kinds, strict=True)]
        body.append(tag("tr", *row_cells))
    table = tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *body))
    # A table that is wider than the page is scrolled, by the keyboard too.
    return tag("div", table, cls="scroll", tabindex="0")


def _is_number(cell: Content) -> bool:
    pattern = r"^(< |> )?[+−-]?(\.?\d|$|–$|deterministic|reference)"
    return isinstance(cell, str) and bool(re.match(pattern, cell.strip()))
