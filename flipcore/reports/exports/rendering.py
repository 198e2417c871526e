"""Fill the templates of a report. All text is escaped, so that text from data is never markup."""

import base64
import gzip
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flipcore.reports.browser_data.parts import part

if TYPE_CHECKING:
    from jinja2 import Environment

# Characters that HTML forbids, and characters that reverse the direction of the text around them.
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_DIRECTIONAL = re.compile(r"[\u202a-\u202e\u2066-\u2069\u200e\u200f]")


@cache
def environment() -> "Environment":
    """Return the environment of the templates in the folder `templates`. An undefined name in a
    template is an error, so that a report never has a gap."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    templates = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        finalize=printable,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {"base64": _base64, "thousands": "{:,}".format}
    templates.globals["board_html"] = Markup(part("board").html)
    return templates


def rendered(template: str, **values: Any) -> str:
    """Return a template of the folder `templates`, filled with values."""
    return environment().get_template(template).render(**values)


def printable(value: object) -> object:
    """Return a value as text without forbidden characters; a template's markup stays as it is."""
    if hasattr(value, "__html__"):
        return value
    return _DIRECTIONAL.sub("�", _UNPRINTABLE.sub("�", str(value)))


def packed(content: str) -> bytes:
    """Return gzip without a time, so that the same content gives the same bytes."""
    return gzip.compress(content.encode("utf-8", "replace"), 9, mtime=0)


def _base64(content: str | bytes) -> str:
    raw = content.encode("utf-8", "replace") if isinstance(content, str) else content
    return base64.b64encode(raw).decode()
