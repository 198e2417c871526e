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

# what no document may hold, and signs that turn the direction of the text around them
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
            words.append(
                f'{"class" if key == "cls" else key.replace("_", "-")}="{text(value).html}"'
            )
    return Markup(f"<{' '.join(words)}>{joined(inside).html}</{name}>")


def section(title: str, ident: str, *inside: Content) -> Markup:
    """A part of the report with a heading of the second order."""
    return tag("section", tag("h2", title), *inside, id=ident)


def paragraph(*inside: Content, cls: str | None = None) -> Markup:
    """A paragraph."""
    return tag("p", *inside, cls=cls)


def claimed(one: Claim, cls: str = "claim") -> Markup:
    """A claim with its small print behind it."""
    return paragraph(one.text, " ", tag("span", one.detail, cls="quiet"), cls=cls)


def board_place(name: str, ident: str) -> Markup:
    """Where the board `ident` is drawn, with the markup of its browser part."""
    return tag("div", Markup(part(name).html), data_part=name, data_board=ident, cls="board-place")


def folded(
    title: Content, *inside: Content, ident: str | None = None, opened: bool = False
) -> Markup:
    """What is opened by a click; a print shows it as it is."""
    body = joined([tag("summary", title), tag("div", *inside, cls="inside")])
    start = (
        "<details"
        + (f' id="{text(ident).html}"' if ident else "")
        + (" open" if opened else "")
        + ">"
    )
    return Markup(f"{start}{body.html}</details>")


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
    right = [all(_is_number(row[i]) for row in rows) and bool(rows) for i in range(len(columns))]
    kind = ["number" if one else None for one in right]
    head = tag(
        "tr",
        *(tag("th", name, cls=cls, scope="col") for name, cls in zip(columns, kind, strict=True)),
    )
    body = (
        tag("tr", *(tag("td", one, cls=cls) for one, cls in zip(row, kind, strict=True)))
        for row in rows
    )
    return tag(
        "div", tag("table", tag("thead", head), tag("tbody", *body)), cls="scroll", tabindex="0"
    )


def _is_number(cell: Content) -> bool:
    return isinstance(cell, str) and bool(
        re.match(r"^(< |> )?[+−-]?(\.?\d|$|–$|deterministic|reference)", cell.strip())
    )
