"""The tables of a study's results, in the order of the report."""

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from flipcore.core.records import role_name
from flipcore.extractors import title_of
from flipcore.reports import every_choice, ranking
from flipcore.reports.choices import ChoicesReport
from flipcore.reports.decision_record import json_object
from flipcore.reports.exports.data_tables import Table
from flipcore.reports.holdout import HoldoutReport
from flipcore.reports.memory import MemoryTest
from flipcore.reports.score import (
    extractor_rows,
    next_rows,
    people_rows,
    score_rows,
    share_rows,
    wording_rows,
)
from flipcore.reports.study import table
from flipcore.reports.whole_study import WholeStudy
from flipcore.stats.base.estimate import p_text
from flipcore.stats.holdout.difficulty import Condition
from flipcore.stats.holdout.units import (
    TITLES,
    bound_text,
    detectable_text,
    estimate_text,
    margin_text,
)
from flipcore.stats.holdout.verdict import TESTS
from flipcore.store.queries import decisions


def tables(results: WholeStudy) -> list[Table]:
    """Return every table of results that has rows."""
    flips, people, memory = [], [], []
    # `m` is the index of a model. It stands in the names of its tables, which thus are unique.
    for m, model in enumerate(results.models):
        if results.flips[model].cells:
            flips.append(flips_table(results, m, model))
        people += people_tables(results, m, model)
        if results.memory.tests.get(model):
            memory.append(memory_table(results, m, model))
    all_tables = [
        *score_tables(results),
        *ranking_tables(results),
        *flips,
        *people,
        *memory,
        tests_table(results),
        inflation_table(results),
        numbers_table(results),
        decisions_table(results),
    ]
    return [shown for shown in all_tables if shown.rows]


def score_tables(results: WholeStudy) -> list[Table]:
    """Return the tables of each model's score, and one of pairs of models compared by people's
    labels."""
    # Kind, which is part of the name of a table's files -> (title, function that makes its rows).
    kinds = {
        "intervals": ("Score", score_rows),
        "shares": ("Whose the uncertainty is", share_rows),
        "next": ("What would narrow this", next_rows),
        "wordings": ("Each prompt", wording_rows),
        "readers": ("Each extractor", extractor_rows),
        "people": ("Each extractor against people", people_rows),
    }
    if results.score is None:
        return []
    has_several = len(results.score.models) > 1
    tables_of_models = []
    for number, score in enumerate(results.score.models, start=1):
        source = (
            f"{score.model}, read by {title_of(score.reference).lower()}; {results.provenance}."
        )
        for kind, (title, rows_of) in kinds.items():
            rows = rows_of(score)
            # A table of one extractor would repeat the score.
            if not rows or (kind == "readers" and len(rows) < 2):
                continue
            name = f"score-{kind}-{number}" if has_several else f"score-{kind}"
            shown_title = f"{title}: {score.model}" if has_several else title
            tables_of_models.append(Table(name, shown_title, rows, f"{title} of {source}"))
    if results.score.by_people.pairs:
        title, rows = "Pairs of models by people", results.score.by_people.table_rows()
        tables_of_models.append(
            Table("score-pairs-people", title, rows, f"{title}; {results.provenance}.")
        )
    return tables_of_models


def ranking_tables(results: WholeStudy) -> list[Table]:
    """Return one row per pair of models, and one per way of asking and reading."""
    report = results.ranking
    if report is None:
        return []
    source = f"{role_name(report.role)} items, {results.provenance}."
    pairs, ways = ranking.pair_rows(report.pairs), ranking.way_rows(report.contest, report.level)
    ways_caption = f"Accuracy and rank under every way; {source}"
    return [
        Table("pairs", "Pairs of models", pairs, f"Every pair of models on the same {source}"),
        Table("ways", "Ways of asking and reading", ways, ways_caption),
    ]


def choices_tables(results: WholeStudy, report: ChoicesReport) -> list[Table]:
    """Return one row per option of every choice, and one per way of counting."""
    source = f"{results.provenance}."
    options, ways = every_choice.option_rows(report), every_choice.way_rows(report)
    return [
        Table("options", "Options of every choice", options, f"Every option counted; {source}"),
        Table("counted", "Ways of counting", ways, f"Every way of counting, in points; {source}"),
    ]


def flips_source(results: WholeStudy, model: str) -> str:
    """Return the words on the source for a caption: study, model, kinds of intervals and seeds."""
    kinds, seeds = set(), set()
    for cell in results.flips[model].cells:
        if cell.T.has_interval:
            kinds.add(cell.T.method.replace("_", " "))
        if cell.T.seed is not None:
            seeds.add(cell.T.seed)
    seed = ", ".join(map(str, sorted(seeds))) or "none"
    return f"{results.provenance}; {model}; 95% intervals ({', '.join(sorted(kinds))}), seed {seed}"


def flips_table(results: WholeStudy, m: int, model: str) -> Table:
    """Return one row per cell: its estimates with intervals, and its verdict."""
    cells, claims = results.flips[model].cells, results.flips[model].cell_claims
    records = table(cells, results.temperature(model)).to_dict("records")
    rows = []
    for record, claim in zip(records, claims, strict=True):
        row = {str(name): value for name, value in record.items()}
        rows.append(row | {"verdict": claim.word})
    caption = f"Flip rates by axis and extractor. {flips_source(results, model)}."
    return Table(f"flips-{m}", f"Flips, {model}", rows, caption)


def people_tables(results: WholeStudy, m: int, model: str) -> list[Table]:
    """Return the table of flip rates corrected by people's labels; nothing without labels."""
    rows = [people.table_row() for people in results.flips[model].people]
    caption = (
        f"Flips with the pairs in them that people labelled. {results.provenance}; {model}; 95%"
        " intervals."
    )
    return [Table(f"flips-people-{m}", f"Flips by people, {model}", rows, caption)] if rows else []


def memory_table(results: WholeStudy, m: int, model: str) -> Table:
    """Return one row per detector and kind of items."""
    rows = [_memory_row(test) for test in results.memory.tests[model]]
    title = "Detectors of memory"
    return Table(
        f"memory-{m}", f"{title}, {model}", rows, f"{title}. {results.provenance}; {model}."
    )


def _p_value(p: float) -> str:
    """Return a p-value without "p", for a column with that title."""
    return p_text(p).removeprefix("p ").removeprefix("= ")


def _memory_row(test: MemoryTest) -> dict[str, object]:
    assertion, numbers = test.claim.assertion, test.numbers
    return {
        "items": test.items,
        "detector": test.detector,
        "verdict": test.decision,
        "n": numbers.get("n_benchmark", numbers.get("n")),
        "controls": test.n_controls,
        "p (Holm)": _p_value(numbers.get("p_adjusted", math.nan)),
        "error rate, one-sided": f"{100 * assertion.error_rate:g}%" if assertion else None,
    }


def tests_table(results: WholeStudy) -> Table:
    """Return one row per test of the two sets, including those that were not run."""
    rows = [_test_row(results.holdout, name) for name in TESTS] if results.holdout else []
    caption = f"Whether benchmark and holdout could have one source. {results.provenance}."
    return Table("tests", "Four tests of the two sets", rows, caption)


def _test_row(report: HoldoutReport, name: str) -> dict[str, object]:
    test = report.tests.get(name)
    return {
        "test": TITLES[name],
        "verdict": test.state if test else "not run",
        "estimate": estimate_text(test) if test else None,
        "held against the margin": bound_text(test) if test else None,
        "margin": margin_text(name, report.view[name]),
        "p": _p_value(test.p) if test else None,
        "could detect": detectable_text(test) if test else None,
        "source's rule": test.source_state if test else None,
        "n": test.estimate.n if test else None,
    }


def inflation_table(results: WholeStudy) -> Table:
    """Return one row per model, extractor and layout of the prompt."""
    rows = [_inflation_row(condition) for condition in results.inflation.conditions]
    caption = f"Accuracy on benchmark and holdout. {results.provenance}."
    return Table("inflation", "Inflation", rows, caption)


def _inflation_row(condition: Condition) -> dict[str, object]:
    benchmark, holdout = condition.accuracies
    inflation = condition.inflation()
    return {
        "model": condition.model,
        "extractor": title_of(condition.extractor),
        "asked as": condition.layout,
        "benchmark": round(benchmark, 3),
        "holdout": round(holdout, 3),
        "inflation": inflation.text_points(),
        "p": _p_value(condition.test(1.0).p),
        "interval": inflation.method.replace("_", " "),
        "n": inflation.n,
    }


def numbers_table(results: WholeStudy) -> Table:
    """Return one row per estimate."""
    caption = f"Every estimate with its interval, method, n and seed. {results.provenance}."
    return Table("numbers", "All estimates", [row.in_list() for row in results.rows], caption)


def gates_table(results: WholeStudy) -> Table:
    """Return one row per closed gate."""
    rows = []
    for name, reason in sorted(results.closed_gates.items()):
        rows.append({"what": title_of(name).replace("_", " "), "why it is not claimed": reason})
    return Table("gates", "Gates", rows, f"Gates that are closed. {results.provenance}.")


def decisions_table(results: WholeStudy) -> Table:
    """Return one row per decision, the newest first."""
    record = decisions.decisions(results.store, results.study_id)
    rows = [_decision(row) for row in record.to_dict("records")]
    return Table("decisions", "Decisions", rows, f"Decision record. {results.provenance}.")


def _decision(row: Mapping[Any, Any]) -> dict[str, object]:
    before, settings = json_object(row["came_from"]), json_object(row["settings"])
    return {
        "when": moment(row["created_at"]),
        "who": row["reviewer"],
        "page": row["page"],
        "mode": row["mode"],
        "we decide": row["resolution"] or "",
        "decision": row["sentence"],
        "instead of": before.get("sentence", ""),
        "settings": ", ".join(f"{key} {value}" for key, value in sorted(settings.items())),
    }


def moment(when: Any) -> str:
    """Return a stored time as text in UTC, whatever the time zone of this machine."""
    return f"{pd.Timestamp(when).tz_convert('UTC'):%Y-%m-%d %H:%M} UTC"
