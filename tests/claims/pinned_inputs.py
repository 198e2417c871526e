"""Inputs of pinned cases, each built from a few numbers and from texts with a letter per item."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from flipcore.claims import audit, audit_items, audit_outputs, audit_prompts
from flipcore.claims.audit_checks import coverage
from flipcore.claims.audit_input import AuditInput, scored
from flipcore.claims.catalogue import ASSERTIONS
from flipcore.claims.ranking import Contest, contest
from flipcore.core.records import Item
from flipcore.stats.choices.choice import Choice, ChoiceClass, Option
from flipcore.stats.choices.counting import count
from flipcore.stats.choices.curve import Curve
from flipcore.stats.choices.material import ArrayMaterial
from flipcore.stats.flips.coded_answers import coded_answers
from flipcore.stats.flips.decomposition import Decomposition, decompositions
from flipcore.stats.ranking.order import order
from flipcore.stats.ranking.ways import scores
from flipcore.stats.score.cells import ScoreCells, score_cells
from flipcore.stats.score.corrected import Corrected
from flipcore.stats.score.error_bar import ErrorBar, error_bar
from flipcore.stats.score.regression import Bounds, TaskScores, judge
from tests.stats.ranking.worlds import readouts
from tests.stats.score.tables import rows_of

STATUS = {"u": "unreadable", "c": "cut", "-": "absent"}
MODULES = (audit, audit_items, audit_outputs, audit_prompts)


def numbers(letters: str) -> np.ndarray:
    """Return a number per letter; NaN for "-"."""
    return np.array([np.nan if letter == "-" else float(letter) for letter in letters])


def names(letters: str) -> np.ndarray:
    """Return a name per letter."""
    return np.array(list(letters))


def units_of(n: int) -> np.ndarray:
    """Return a unit of its own for each of `n` outputs."""
    return np.arange(n).astype(str)


def array(*values: float) -> np.ndarray:
    """Return the values as an array."""
    return np.array(values, dtype=float)


def enum_of(kind: type, name: str) -> Any:
    """Return a member of an enumeration."""
    return kind[name]


def compared(right: Mapping[str, str], reference: str, families: str = "", closed: Mapping[str, str] | None = None) -> Contest:
    """Return models compared: `right` maps "model|axis|variant|extractor" to a letter per item."""
    by_model: dict[str, dict] = {}
    for name, letters in right.items():
        model, axis, variant, extractor = name.split("|")
        by_model.setdefault(model, {})[axis, variant, extractor] = letters
    frame = readouts(by_model, list(families) if families else None)
    return contest(order(scores(frame)), reference, closed)


def cells(
    n: int, m: int, s: int, seed: int = 0, *, n_families: int = 0, scale: Sequence[float] = (), lacking: int = 0
) -> ScoreCells:
    """Return scores of `n` questions, `m` prompts and `s` runs; graded if there is a scale."""
    rows = rows_of(n, m, s, seed)
    if scale:
        low, high = scale
        rows["score"] = low + (high - low) * (rows["score"] + rows["sample"] / max(s, 1)) / 2
    if n_families:
        rows["family"] = [f"f{int(name[1:]) % n_families}" for name in rows["item_id"]]
    if lacking:
        is_first = rows["wording"] == "w0"
        rows = rows[~(is_first & rows["item_id"].isin(rows["item_id"].unique()[:lacking]))]
    return score_cells(rows, scale=tuple(scale)) if scale else score_cells(rows)


def bar(level: float = 0.95, **design: Any) -> ErrorBar:
    """Return the error bar of such scores."""
    return error_bar(cells(**design), level)


def bar_of_difference(first: Mapping[str, Any], second: Mapping[str, Any], level: float = 0.95) -> ErrorBar:
    """Return the error bar of a difference of two such scores."""
    return error_bar(cells(**first).minus(cells(**second)), level)


def corrected(readouts: str, people: str, families: str = "", level: float = 0.95) -> Corrected:
    """Return a score that labels correct; people's letter is "-" where there is no label."""
    units = names(families) if families else units_of(len(readouts))
    return Corrected(numbers(readouts), numbers(people), units, level)


def losses(
    old: Sequence[str], new: Sequence[str], margin: float, clusters: Sequence[str] = (), *, has_all_tasks: bool = True
) -> Bounds:
    """Return the bounds of a check; a text per task, with "-" for an absent score."""
    verdicts = []
    for filling in ("-", "0", "1"):
        tasks = []
        for index, (before, after) in enumerate(zip(old, new, strict=True)):
            groups = names(clusters[index]) if clusters else None
            tasks.append(TaskScores(numbers(before), numbers(after.replace("-", filling)), groups))
        verdicts.append(judge(tasks, margin))
    return Bounds(*verdicts, has_all_tasks=has_all_tasks)


def curve(
    leads: Mapping[str, str],
    closed: Mapping[str, str] | None = None,
    left_out: Mapping[str, str] | None = None,
    categories: str = "",
    clusters: str = "",
    uncertain: Sequence[str] = (),
    bounds: Sequence[float] = (-1.0, 1.0),
    filled: Mapping[str, str] | None = None,
) -> Curve:
    """Return a decision under the options of its choices.

    `leads` maps "extractor|unread" to a letter per item: "+", "-", "0", or "." for no value.
    `left_out` maps "choice=option" to "1" for each item that the option leaves out.
    """
    to_value = {"+": 1.0, "-": -1.0, "0": 0.0, ".": np.nan}
    states = {}
    for name, letters in leads.items():
        states[tuple(name.split("|"))] = np.array([to_value[letter] for letter in letters])
    n_items = len(next(iter(states.values())))
    closed_options = closed or {}
    choices = []
    for place, (name, label) in enumerate((("extractor", "Extractor"), ("unread", "Unread answers"))):
        options = []
        for text in dict.fromkeys(key[place] for key in states):
            is_uncertain = text in uncertain
            options.append(Option(text, text, "", closed_options.get(text, ""), is_uncertain))
        choices.append(Choice(name, label, tuple(options), ChoiceClass.EQUAL, ""))
    by_option = {}
    for option, letters in (left_out or {}).items():
        name, _, label = option.partition("=")
        by_option[option] = np.array([letter == "1" for letter in letters])
        options = (Option("all", "all", ""), Option(label, label, ""))
        choices.append(Choice(name, name.capitalize(), options, ChoiceClass.EQUAL, ""))
    groups = np.array([ord(letter) for letter in categories or "a" * n_items])
    units = np.array([ord(letter) for letter in clusters]) if clusters else np.arange(n_items)
    names_of_values = ("extractor", "unread")
    parts = (by_option, units, groups, tuple(bounds))
    ends = None
    if filled:
        sides = []
        for side in ("low", "high"):
            values = np.array([to_value[letter] for letter in filled[side]])
            sides.append(ArrayMaterial(tuple(choices), names_of_values, dict.fromkeys(states, values), *parts))
        ends = (sides[0], sides[1])
    return count(ArrayMaterial(tuple(choices), names_of_values, states, *parts, ends))


def flip_cells(
    items: Mapping[str, str], level: float = 0.95, *, families: str = "", samples: int = 1, **options: Any
) -> list[Decomposition]:
    """Return cells of flips: `items` maps "axis|extractor" to a letter per item.

    A letter is "." for no flip, "x" for a flip, "u" for a second answer that was not read, and "n"
    for an answer that differs between reruns.
    """
    rows = []
    for name, letters in items.items():
        axis, extractor = name.split("|")
        for number, letter in enumerate(letters):
            for version in (0, 1):
                for sample in range(samples):
                    is_changed = (version and letter == "x") or (sample and letter == "n")
                    is_unread = letter == "u" and version == 1
                    row = {
                        "item_id": f"i{number}",
                        "axis": axis,
                        "variant": f"v{version}" if version else "base",
                        "sample": sample,
                        "extractor": extractor,
                        "status": "unreadable" if is_unread else "ok",
                        "answer": None if is_unread else str(int(is_changed)),
                    }
                    if families:
                        row["family"] = families[number]
                    rows.append(row)
    return decompositions(coded_answers(pd.DataFrame(rows)), level=level, **options)


def items_of(texts: str) -> tuple[Item, ...]:
    """Return an item per word of a text."""
    return tuple(Item(f"i{i}", "d", "qa", word) for i, word in enumerate(texts.split()))


def log(
    readouts: Mapping[str, str],
    items: Mapping[str, Any] | None = None,
    harmless: Mapping[str, str] | None = None,
    tables: Mapping[str, Mapping[str, Any]] | None = None,
    **facts: Any,
) -> AuditInput:
    """Return the input of an audit.

    `readouts` maps "model|extractor", with "|axis|variant" and "|role" if they are not the log's
    own, to the letters of its items, runs separated by blanks. A letter is 1 or 0 for right or
    wrong, x and y for the same against the log's own answer, u, c and - for unread, cut off and
    absent, p for half right, and 2 to 9 for a grade. `items` are columns, one value or one per item.
    """
    n_items = max(len(run) for letters in readouts.values() for run in letters.split())
    columns = {"task": "t", "question": "question", "options": (), "target": "0", "category": ""} | dict(items or {})
    table = _table(columns, n_items)
    if not isinstance(columns["question"], tuple):
        table["question"] = [f"{columns['question']} {i}" for i in range(n_items)]
    tasks = table.pop("task")
    table["item_id"] = [f"{task}/{i}" for i, task in enumerate(tasks)]
    frame = _readout_frame(readouts, table)
    rows_of_harmless = _readout_frame(harmless or {}, table)
    parts: dict[str, Any] = {"harmless": rows_of_harmless} if harmless else {}
    for name, content in (tables or {}).items():
        n_rows = max((len(value) for value in content.values() if isinstance(value, tuple)), default=1)
        parts[name] = _table(content, n_rows)
    if "prompts" in parts:
        parts["prompts"]["item_id"] = table["item_id"][: len(parts["prompts"])]
    if "calls" not in parts:
        parts["calls"] = pd.DataFrame(columns=["model", "status", "finish_reason", "max_tokens", "n"])
    if "scales" in facts:
        facts["scales"] = {tuple(key.split("|")): value for key, value in facts["scales"].items()}
    if "family" not in columns:
        table = table.drop(columns="family", errors="ignore")
    return AuditInput(frame, table, **parts, **facts)


def _table(columns: Mapping[str, Any], n_rows: int) -> pd.DataFrame:
    """Return a frame; a value that is no tuple of this length stands in each row."""
    filled = {}
    for name, value in columns.items():
        is_column = isinstance(value, tuple) and len(value) == n_rows and name != "options"
        is_column = is_column or (name == "options" and len(value) == n_rows and isinstance(value[0], tuple))
        filled[name] = list(value) if is_column else [value] * n_rows
    return pd.DataFrame(filled)


def _readout_frame(readouts: Mapping[str, str], items: pd.DataFrame) -> pd.DataFrame:
    rows = []
    targets, ids = list(items["target"]), list(items["item_id"])
    families = list(items["family"]) if "family" in items else ids
    for name, text in readouts.items():
        model, extractor, axis, variant, role = [*name.split("|"), "", "", ""][:5]
        for sample, letters in enumerate(text.split()):
            for number, letter in enumerate(letters):
                right = str(targets[number]).split("\n")[0]
                wrong = str(int(right) + 1) if right.isdecimal() else "wrong"
                answers = {"1": right, "x": right, "0": wrong, "y": wrong, "p": right}
                is_share = letter == "p"
                is_grade = letter in "23456789"
                row = {
                    "model": model,
                    "extractor": extractor,
                    "axis": axis or "identity",
                    "variant": variant or "base",
                    "variant_id": f"{ids[number]}-{variant or 'base'}",
                    "role": role or "benchmark",
                    "item_id": ids[number],
                    "family": families[number],
                    "position": 0,
                    "sample": sample,
                    "status": STATUS.get(letter, "ok"),
                    "answer": answers.get(letter),
                    "value": 0.5 if is_share else float(letter) if is_grade else np.nan,
                    "is_correct": letter in "1y" if letter in "10xy" else None,
                }
                rows.append(row)
    frame = pd.DataFrame(rows)
    if len(frame):
        frame["is_correct"] = frame["is_correct"].astype(object)
    return frame


def check(name: str, log: AuditInput) -> Any:
    """Return the findings of one check of an audit, "coverage", or all findings."""
    if name == "coverage":
        checked = coverage(log)
        return [checked, checked.sentence, checked.lines()]
    if name == "findings":
        return audit.findings(log)
    frame = scored(log.frame)
    if name == "find_impossible_rates":
        return list(audit_items.find_impossible_rates(log))
    if name in ("find_contradicting_golds", "find_repeated_items"):
        questions = audit_items.questions_of(log.items, log.prompts)
        return list(getattr(audit_items, name)(log, questions))
    if name == "prompt_findings":
        return list(audit_prompts.prompt_findings(audit.replace(log, frame=frame)))
    if name == "output_findings":
        return list(audit_outputs.output_findings(log, frame))
    return list(getattr(audit, name)(log, frame))


def rates() -> dict[str, list[float]]:
    """Return how often each kind of claim may be false, and its sides."""
    return {claimed.name: [claimed.error_rate, claimed.sides] for claimed in ASSERTIONS}
