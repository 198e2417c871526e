"""The browser parts that look a board's states up: markup, style and script, for pages and for files that open without a server."""

from dataclasses import dataclass

from flipcore.core.paths import COMPONENTS


@dataclass(frozen=True)
class Part:
    """`js` is a module whose default export is handed {data, parentElement, setTriggerValue}."""

    html: str
    css: str
    js: str


def part(name: str) -> Part:
    """The part of that name ("threshold_board", "cutoff_line", "margin_board"), what all of them share before its own script."""
    html, css = _text(f"{name}.html"), _text(f"{name}.css")
    return Part(html, css, script("numbers.js", "board.js", f"{name}.js"))


def script(*names: str) -> str:
    """These files one after the other: no part can import what it shares with others."""
    return "\n".join(map(_text, names))


def _text(name: str) -> str:
    return (COMPONENTS / name).read_text(encoding="utf-8")


def script_of(js: str) -> str:
    """A part's module as an expression, its default export, for a file whose script is one block: a module of an HTML file that
    was opened from a folder may not be imported."""
    body, exports = js.replace("export default ", "return "), js.count("export default ")
    if exports != 1 or "import " in js.split("export default ")[0]:
        raise ValueError(f"A browser part needs one default export and no import; this one has {exports} exports.")
    return f"(() => {{\n{body}\n}})()"
