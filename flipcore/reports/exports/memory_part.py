"""The report's part on memory: every detector's verdict as on its page, with the lines that still move."""

import math
from typing import Any

from flipcore.core.errors import FlipscopeError
from flipcore.detectors import analysis_of, detectors
from flipcore.reports.browser_data.cutoffs import SETS, detector_line
from flipcore.reports.exports.data_tables import Table, data_table
from flipcore.reports.exports.figures import figure, interval_rows
from flipcore.reports.exports.markup import Markup, board_place, claimed, paragraph, section, tag
from flipcore.reports.memory import MemoryTest, members_of, settings_of, summary
from flipcore.reports.whole_study import WholeStudy
from flipcore.stats.base.estimate import p_text
from flipcore.stats.memory import frames
from flipcore.stats.memory.drop_gap_analysis import DropGap

NOTHING = Markup("")


def memory_part(c: WholeStudy) -> tuple[Markup | None, dict[str, Any]]:
    """(the part, its lines by the id of their place); nothing where no items are compared."""
    parts: list[Markup] = []
    boards: dict[str, Any] = {}
    for m, model in enumerate(c.models):
        tests = c.report.memory.get(model, [])
        if tests:
            claim = summary(tests, frames.compared_sets(c.answers_of(model), c.study))
            parts += [tag("h3", model), claimed(claim)]
            parts.append(data_table(memory_table(c, m, model)))
            for t, one in enumerate(tests):
                drawing, lines = _test(c, model, one, f"line-{m}-{t}")
                parts += drawing
                boards |= lines
    return (section("Is the score memory?", "memory", *parts), boards) if parts else (None, {})


def opening_memory(c: WholeStudy, model: str) -> list[Markup]:
    """What all detectors of a model say together; nothing where no items are compared."""
    tests = c.report.memory.get(model, [])
    if not tests:
        return []
    line = summary(tests, frames.compared_sets(c.answers_of(model), c.study)).text
    return [paragraph(tag("b", f"{model}: "), line, cls="headline")]


def memory_table(c: WholeStudy, m: int, model: str) -> Table:
    """A row a detector and kind of items."""
    rows = [_row(one) for one in c.report.memory[model]]
    return Table(f"memory-{m}", f"Detectors of memory, {model}", rows, f"Detectors of memory. {c.provenance}; {model}.")


def _row(one: MemoryTest) -> dict[str, object]:
    assertion, n = one.claim.assertion, one.numbers
    n_items = n.get("n_benchmark", n.get("n"))
    return {
        "items": one.items,
        "detector": one.detector,
        "verdict": one.decision,
        "n": n_items,
        "controls": n.get("n_control", n.get("n_controls", n.get("n_non_members"))),
        "p (Holm)": p_text(n.get("p_adjusted", math.nan)).removeprefix("p ").removeprefix("= "),
        "error rate, one-sided": f"{100 * assertion.error_rate:g} %" if assertion else None,
    }


def _test(c: WholeStudy, model: str, one: MemoryTest, ident: str) -> tuple[list[Markup], dict[str, Any]]:
    words = [
        tag("h4", f"{one.items.capitalize()}, {one.detector}"),
        *(paragraph(claim.text, cls="claim") for claim in (one.claim, *one.further)),
        paragraph(" ".join(filter(None, (claim.detail for claim in (one.claim, *one.further)))), cls="quiet"),
    ]
    try:
        line, below = _line(c, model, one)
    except FlipscopeError as error:
        return [*words, paragraph(str(error), cls="quiet")], {}
    if line is None:
        return words, {}
    return [*words, board_place("cutoff_line", ident), below], {ident: {"part": "cutoff_line", "data": line}}


def _line(c: WholeStudy, model: str, one: MemoryTest) -> tuple[dict | None, Markup]:
    """The line of a detector as its page draws it, and what stands below it."""
    measurement = one.measurement
    detector = next((one for one in detectors() if measurement and one.name == measurement.name), None)
    if measurement is None or detector is None or measurement.problem:
        return None, NOTHING
    frame = frames.compared_sets(c.answers_of(model), c.study)
    frame = frame[frame["kind"] == measurement.kind]
    members, settings = members_of(c.study, c.items, c.pairs), settings_of(detector, c.study, model)
    analysis = analysis_of(detector, frame, *frames.roles_of(frame), members, **settings)
    if analysis is None:
        return None, NOTHING
    line = detector_line(one, analysis, detector.unit)
    if isinstance(analysis, DropGap):
        return line, _accuracies(analysis, f"{c.provenance}; {model}")
    return line, NOTHING  # what all cut-offs together show is said of one that somebody moved


def _accuracies(gap: DropGap, source: str) -> Markup:
    sets = zip(SETS, (gap.benchmark, gap.control), strict=True)
    rows = [
        (f"{name}, {when} (n = {one.n:,})", one, one.text())
        for name, drop in sets
        for when, one in (("original", drop.accuracy_before), ("rewritten", drop.accuracy_after))
    ]
    title = "Accuracy, original and rewritten"
    return figure(interval_rows(rows, title, " %"), f"{title}, with 95 % intervals. {source}.")
