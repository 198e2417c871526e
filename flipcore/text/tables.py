"""Rows as a table in the formats that papers use: CSV, Markdown and LaTeX, each with its own
escapes."""

import csv
import io
import math
from collections.abc import Mapping, Sequence

FORMATS = {"csv": "CSV", "md": "Markdown", "tex": "LaTeX"}
FORMULA = ("=", "+", "-", "@", "\t", "\r")
_TEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "−": "$-$",
    "±": r"$\pm$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "∞": r"$\infty$",
    "–": "--",
    "“": "``",
    "”": "''",
    "…": r"\ldots{}",
    "α": r"$\alpha$",
    "κ": r"$\kappa$",
    "×": r"$\times$",
    "→": r"$\to$",
    "✓": r"$\checkmark$",
    "✗": r"$\times$",
}
_MARKDOWN = "\\`*_{}[]<>|#"
Row = Mapping[str, object]


def table_text(rows: Sequence[Row], format: str, caption: str = "") -> str:
    """The table in a format of `FORMATS`. `rows` have the same names in the same order; a missing
    value is an empty cell."""
    return {"csv": csv_text, "md": markdown_text, "tex": latex_text}[format](rows, caption)


def csv_text(rows: Sequence[Row], caption: str = "") -> str:
    """CSV; a text that a spreadsheet would run as a formula starts with an apostrophe. A caption is
    not part of a CSV."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([_neutral(name) for name in _columns(rows)])
    for row in rows:
        writer.writerow([_neutral(_plain(value)) for value in row.values()])
    return out.getvalue()


def markdown_text(rows: Sequence[Row], caption: str = "") -> str:
    """A table of GitHub's Markdown with the caption below it."""
    columns = _columns(rows)
    lines = [
        _line(columns),
        _line(["---:" if _is_numeric(rows, name) else "---" for name in columns], escape=False),
    ]
    lines += [_line(list(map(_plain, row.values()))) for row in rows]
    if caption:
        lines += ["", markdown(caption)]
    return "\n".join(lines) + "\n"


def latex_text(rows: Sequence[Row], caption: str = "") -> str:
    """A tabular with the rules of booktabs, in a table with its caption."""
    columns = _columns(rows)
    align = "".join("r" if _is_numeric(rows, name) else "l" for name in columns)
    body = [_latex_row(columns), r"\midrule"]
    body += [_latex_row(list(map(_plain, row.values()))) for row in rows]
    inside = [
        rf"\begin{{tabular}}{{{align}}}",
        r"\toprule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
    ]
    head = [
        r"\begin{table}",
        r"\centering",
        *([rf"\caption{{{latex(caption)}}}"] if caption else []),
    ]
    return "\n".join(["% needs \\usepackage{booktabs}", *head, *inside, r"\end{table}"]) + "\n"


def _latex_row(cells: Sequence[str]) -> str:
    """One row; a bracket or star at its start would be an argument of the line before it, which
    looks over the line's end."""
    row = " & ".join(map(latex, cells))
    return f"{'{}' if row.startswith(('[', '*')) else ''}{row} " + r"\\"


def latex(text: str) -> str:
    """Text that LaTeX sets letter by letter; what it has no sign for in its own fonts is written in
    mathematics."""
    return "".join(_TEX.get(letter, letter) for letter in " ".join(text.split()))


def _columns(rows: Sequence[Row]) -> list[str]:
    return [str(name) for name in rows[0]] if rows else []


def _plain(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return str(value)


def _neutral(cell: str) -> str:
    is_number = (
        cell.replace(".", "", 1)
        .replace("-", "", 1)
        .replace("e", "", 1)
        .replace("+", "", 1)
        .isdigit()
    )
    return "'" + cell if cell.startswith(FORMULA) and not is_number else cell


def _is_numeric(rows: Sequence[Row], name: str) -> bool:
    values = [row[name] for row in rows if _plain(row[name])]
    return bool(values) and all(
        isinstance(value, (int, float)) and not isinstance(value, bool) for value in values
    )


def _line(cells: Sequence[str], *, escape: bool = True) -> str:
    return "| " + " | ".join(markdown(cell) if escape else cell for cell in cells) + " |"


def markdown(text: str) -> str:
    """Text on one line of Markdown, letter by letter."""
    return "".join(
        f"\\{letter}" if letter in _MARKDOWN else letter for letter in " ".join(text.split())
    )
