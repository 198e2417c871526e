"""The report as one HTML file, which opens without a network and runs only its own script."""

import base64
import hashlib
import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from flipcore.charts.theme import DARK, LIGHT, Colours
from flipcore.core.errors import BadInput
from flipcore.core.version import __version__
from flipcore.methods.words import EVERY_CHOICE, TERMS
from flipcore.reports.badges import MEANINGS
from flipcore.reports.browser_data.parts import BOARD, part, script_of
from flipcore.reports.choices import ChoicesReport, leaders_report
from flipcore.reports.decision_record import moves_sentence
from flipcore.reports.declaration import items_text
from flipcore.reports.exports import result_tables, sections
from flipcore.reports.exports.data_files import data_files, dictionary
from flipcore.reports.exports.data_tables import File
from flipcore.reports.exports.methods_text import methods_text
from flipcore.reports.exports.outputs import evidence
from flipcore.reports.exports.rendering import rendered
from flipcore.reports.exports.result_tables import moment
from flipcore.reports.whole_study import WholeStudy, whole_study
from flipcore.store.connection import Store
from flipcore.store.queries import decisions

N_OUTPUTS, MAX_OUTPUTS = 2, 50  # pairs of outputs behind a claim: by default and at most
_HERE = Path(__file__).parent
# A string of a board with more characters is written once, and where it stands only its index is.
_LONG = 200


def report(store: Store, study_id: str, n_outputs: int = N_OUTPUTS) -> str:
    """Return the report of a stored study with `n_outputs` pairs of raw outputs behind each claim.

    The same study always gives the same bytes. Raises BadInput if `n_outputs` is out of range.
    """
    if not 0 <= n_outputs <= MAX_OUTPUTS:
        raise BadInput(
            f"The number of outputs behind a claim came as {n_outputs}: it is from 0 to"
            f" {MAX_OUTPUTS}."
        )
    results = whole_study(store, study_id)
    store.record_act("wrote a report", study_id)
    flips, flip_boards = sections.flips(results)
    memory, lines = sections.memory(results)
    # The script finds the boards by the ids of their elements, which are unique in the report.
    boards = flip_boards | lines | sections.boards(results)
    choices = leaders_report(results)
    if choices:
        boards |= sections.choices_board(choices)
    report_css = (_HERE / "report.css").read_text(encoding="utf-8")
    style = "\n".join([_palette(LIGHT, DARK), report_css, part("board", BOARD).css])
    report_js = (_HERE / "report.js").read_text(encoding="utf-8")
    board_js = script_of(part("board", BOARD).js)
    script = f'"use strict";\nconst drawBoard = {board_js};\n{report_js}'
    # The hashes allow this script and style alone, so text from data cannot add its own.
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; img-src data:;"
        " base-uri 'none'; form-action 'none'"
    )
    methods = methods_text(results)
    bibtex = File(
        "Save as BibTeX", f"{study_id}.bib", methods.bibtex, "text/x-bibtex;charset=utf-8"
    )
    files, too_many = data_files(results)
    return rendered(
        "report.html",
        results=results,
        about=_about(results),
        meanings=MEANINGS,
        **_opening(results, choices),
        choices=choices,
        every_choice=EVERY_CHOICE,
        flips=flips,
        memory=memory,
        evidence=evidence(results, n_outputs),
        n_outputs=n_outputs,
        moves=moves_sentence(decisions.n_moves(store, study_id)),
        notes=sections.notes_on_items(results),
        locks=sections.locks_of(results),
        declaration=File("Save the declaration", f"{study_id}.toml", results.study.to_toml()),
        methods=methods,
        bibtex=bibtex,
        files=files,
        too_many=too_many,
        dictionary=dictionary(),
        sections=sections,
        tables=result_tables,
        terms=TERMS,
        policy=policy,
        style=style,
        script=script,
        boards=_payload(boards),
    )


def _about(results: WholeStudy) -> str:
    n_items, when = items_text(results.store, results.row), "date unknown"
    if results.row["created_at"] is not None:
        when = f"declared {moment(results.row['created_at'])}"
    return (
        f"{', '.join(results.models) or 'no model'} · {n_items} · {when} ·"
        f" study {results.study_id} · Flipscope {__version__}"
    )


@dataclass(frozen=True)
class Line:
    """A headline about a model, with its small print in `details`."""

    model: str
    sentence: str
    details: str = ""


def _opening(results: WholeStudy, choices: ChoicesReport | None) -> dict[str, Any]:
    """Return the sentences at the top of the report. `first` has scores, ranking and every choice;
    `lines` has each model's memory and flips; `cut_off` has its answers that were cut off."""
    first = [claim.text for claim in results.score.whole_claims] if results.score else []
    if results.ranking:
        first.append(results.ranking.claims[0].text)
    if choices:
        first.append(choices.claims[0].text)
    lines = []
    for model in results.models:
        memory_claim = results.memory.summaries.get(model)
        if memory_claim is not None:
            lines.append(Line(model, memory_claim.text))
        headline = results.flips[model].headline
        details = " ".join(claim.detail for claim in headline.claims if claim.detail)
        lines.append(Line(model, headline.sentence, details))
    cut_off = [f"{truncation.model}, {truncation.sentence()}" for truncation in results.cut]
    return {"first": first, "lines": lines, "cut_off": cut_off}


def _palette(light: Colours, dark: Colours) -> str:
    """Return the colours as CSS: dark on screens of dark systems, otherwise light."""

    def properties(theme: Colours) -> str:
        # The scale `flip` has several colours, and no style uses it.
        colors = {name: value for name, value in asdict(theme).items() if isinstance(value, str)}
        return " ".join(f"--{name}: {value};" for name, value in colors.items())

    return (
        f":root {{ color-scheme: light; {properties(light)} }}\n@media screen and"
        f" (prefers-color-scheme: dark) {{ :root {{ color-scheme: dark; {properties(dark)} }} }}"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _payload(boards: dict[str, Any]) -> str:
    """Return the boards as JSON for a script element; long strings are written once."""
    strings: dict[str, int] = {}
    payload = {
        "boards": {ident: _plain(board, strings) for ident, board in boards.items()},
        "strings": list(strings),
        "light": asdict(LIGHT),
        "dark": asdict(DARK),
    }
    text = json.dumps(payload, allow_nan=False, separators=(",", ":"))
    # "</script>" in a string would end the script element around the JSON.
    return text.replace("<", "\\u003c").replace(">", "\\u003e")


def _plain(value: Any, strings: dict[str, int]) -> Any:
    """Return a value as JSON has it; a long string becomes its index in `strings`."""
    if isinstance(value, dict):
        return {str(key): _plain(entry, strings) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry, strings) for entry in value]
    if isinstance(value, str) and len(value) > _LONG:
        return {"$string": strings.setdefault(value, len(strings))}
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value.item() if hasattr(value, "item") else value
