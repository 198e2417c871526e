"""Flipscope in a notebook: `flipcore.open().study("…").decomposition()`.

A result holds the claims as pages and command line say them, and a table with one row per
estimate: value, interval, level, method, n, seed. Closed gates withhold a claim, and what a study
set aside stays unseen, as everywhere. The file is only read. One process holds it at a time: while
a dashboard is open, `open` raises a sentence that says who has the file.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pandas as pd

from flipcore.charts.theme import colours
from flipcore.claims.claim import Claim, description
from flipcore.core.errors import BadInput
from flipcore.extractors import title_of
from flipcore.reports.answer import Answer
from flipcore.reports.audit import Verdict, audit, verdict
from flipcore.reports.memory import why_no_test
from flipcore.reports.rows import Row
from flipcore.reports.whole_study import WholeStudy, imported, study_of, whole_study
from flipcore.stats.base.estimate import Estimate
from flipcore.stats.flips.surface import surface
from flipcore.store.connection import Store
from flipcore.store.queries import studies
from flipcore.store.queries.readout_rows import as_texts

if TYPE_CHECKING:
    import plotly.graph_objects as go

# A detector reports one of these; the first that it has is drawn.
_DRAWN = ("gap", "score_gap", "rate")
ESTIMATE = ("value", "low", "high", "level", "method", "n", "seed", "note", "coverage")


@dataclass(frozen=True, eq=False)
class Result:
    """`claims` in order; `frame`: one row per estimate, with its claim (`claim`, `is_claimed`)."""

    claims: tuple[Claim, ...]
    frame: pd.DataFrame
    draw: "Callable[[Any], go.Figure] | None" = field(default=None, repr=False)

    def text(self) -> str:
        """Return the claims, one per line."""
        return "\n".join(claim.text for claim in self.claims if claim.text)

    def figure(self, dark: bool = False) -> "go.Figure":
        """Draw the figure of the same page. Raises BadInput where there is nothing to draw."""
        if self.draw is None:
            raise BadInput("There is nothing to draw yet: no estimate is defined.")
        theme = colours("dark" if dark else None)
        # A background of its own: a notebook may be light or dark.
        return self.draw(theme).update_layout(paper_bgcolor=theme.page, plot_bgcolor=theme.page)


@dataclass(frozen=True, eq=False)
class StudyView:
    """A study as it is stored now; open it again after more answers came in."""

    store: Store
    study_id: str

    @property
    def name(self) -> str:
        """Name of the study. Raises BadInput where it was deleted."""
        return studies.declared(self.store, self.study_id).name

    @cached_property
    def whole(self) -> WholeStudy:
        """Everything that `python -m flipcore stats` says."""
        return whole_study(self.store, self.study_id)

    def text(self) -> str:
        """Return the report as the command line prints it."""
        return self.whole.text()

    def audit(self) -> Verdict:
        """Check the log: what the rows say, what of it does not hold, and what to do.

        `.text()` is what `audit` prints, `.as_dict()` its --json.
        """
        return verdict(self.whole, audit(self.store, self.study_id))

    def readouts(self, everything: bool = False) -> pd.DataFrame:
        """Readouts from which flips are computed, one row each.

        With `everything` also losses, similarities and rewritten items.
        """
        frame = studies.readouts(self.store, self.study_id, everything=everything)
        return frame if everything else as_texts(frame)

    def flips(self, extractor: str, model: str = "") -> pd.DataFrame:
        """Flip rates, items × axes: the share of an item's pairs of variants with two answers."""
        frame = self.whole.frame
        frame = frame[frame["model"] == self._model(model)]
        if extractor not in set(frame["extractor"].unique()):
            extractors = ", ".join(dict.fromkeys(frame["extractor"])) or "none"
            raise BadInput(f"Nothing was read by {extractor!r} here; choose one of {extractors}.")
        cells = surface(frame, extractor)
        items = pd.Index(cells.items, name="item_id")
        return pd.DataFrame(cells.rate, index=items, columns=cells.columns)

    def score(self) -> Answer:
        """Each model's score with its intervals over other questions, prompts and extractors.

        Raises BadInput where nothing was judged right or wrong.
        """
        if self.whole.score is None:
            raise BadInput("Nothing was judged right or wrong here, or tasks of a log are not pooled, so there is no score.")
        return self.whole.score

    def decomposition(self, model: str = "") -> Result:
        """T = G + A by axis and extractor, with the noise floor, as the page Flips shows it."""
        name = self._model(model)
        report = self.whole.report
        cells = report.decompositions[name]

        def draw(theme: Any) -> "go.Figure":
            from flipcore.charts.flips import decomposition_bars

            return decomposition_bars(cells, title_of, theme)

        claims = tuple(report.claims.get(name, ()))
        return Result(claims, _table(report.cell_rows(name)), draw if cells else None)

    def memory(self, model: str = "") -> Result:
        """Results of every detector of memory, corrected for one another."""
        name = self._model(model)
        tests = self.whole.report.memory.get(name, [])
        rows: list[Row] = []
        estimates: list[tuple[str, Estimate]] = []
        for memory_test in tests:
            rows.extend(memory_test.rows(name))
            key = next((key for key in _DRAWN if key in memory_test.numbers), "")
            estimate = memory_test.numbers.get(key)
            if isinstance(estimate, Estimate):
                estimates.append((f"{memory_test.detector}, {memory_test.items}", estimate))

        def draw(theme: Any) -> "go.Figure":
            from flipcore.charts.interval_rows import interval_rows

            figure = interval_rows(estimates, theme)
            return figure.update_xaxes(title_text="gap or rate, as a share: 1 is 100%")

        claims = tuple(memory_test.claim for memory_test in tests)
        if not claims:
            claims = (description(why_no_test(self.whole.everything), "not run"),)
        return Result(claims, _table(rows), draw if estimates else None)

    def holdout(self) -> Result:
        """Verdict on benchmark and holdout, its four tests, and each model's inflation."""
        tests = self.whole.holdout
        answer = self.whole.inflation
        selection = answer.selection

        def draw(theme: Any) -> "go.Figure":
            from flipcore.charts.inflation import Inflated, inflation_figure

            models = []
            for shift in selection:
                models.append(Inflated(shift.model, *shift.accuracies, shift.inflation()))
            return inflation_figure(models, theme)

        rows = list(tests.rows()) if tests else []
        rows += [row for row in answer.rows() if row.claim]
        claims = self.whole.holdout_claims or (answer.claim,)
        return Result(claims, _table(rows), draw if selection else None)

    def ranking(self) -> Answer:
        """Order of the models, and under how many prompts and extractors it holds.

        Raises BadInput where only one model has answers.
        """
        if self.whole.ranking is None:
            raise BadInput("Only one model has answers here, so there is nothing to rank.")
        return self.whole.ranking

    def _model(self, name: str) -> str:
        """Return the named model, or the first. BadInput lists those of the study."""
        models = list(self.whole.report.decompositions)
        if not models:
            raise BadInput("No answer has come back yet, so there is nothing to estimate. Run the study first.")
        if name and name not in models:
            raise BadInput(f"The study has no answers of {name!r}; it has {', '.join(models)}.")
        return name or models[0]


class Flipscope:
    """An open database; close it, or use it in a `with`."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def __enter__(self) -> "Flipscope":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def studies(self) -> pd.DataFrame:
        """Studies, one row each, newest first."""
        return studies.studies(self.store)

    def study(self, query: str) -> StudyView:
        """Find a study by its id or the start of its name. BadInput lists the studies."""
        return StudyView(self.store, study_of(self.store, query))

    def close(self) -> None:
        """Close the file, so that a dashboard can open it."""
        self.store.close()


def open_store(path: str | Path | None = None) -> Flipscope:
    """Open the database at `path`, or that of dashboard and command line, for reading.

    Raises BadInput where there is none to read.
    """
    if path is not None and not Path(path).is_file():
        raise BadInput(f"There is no database at {path}. Run a study first, or give the path of another file.")
    return Flipscope(Store.open(path))


def study_in_memory(source: pd.DataFrame | str | Path, words: Sequence[str] = (), name: str = "table") -> StudyView:
    """Read files, as `import` takes them, or a DataFrame into a study that no database keeps.

    Raises BadInput for what cannot be read.
    """
    store = Store.open(":memory:")
    with TemporaryDirectory() as folder:
        if isinstance(source, pd.DataFrame):
            path = Path(folder, f"{name}.jsonl")
            source.to_json(path, orient="records", lines=True)
        else:
            path = Path(source)
        return StudyView(store, imported(path, words, store))


def _table(rows: Iterable[Row]) -> pd.DataFrame:
    records = [row.with_claim() for row in rows]
    if records:
        return pd.DataFrame(records)
    # An empty table has the columns of a full one, so that a notebook's next line works.
    return pd.DataFrame(columns=["model", "quantity", *ESTIMATE, "claim", "is_claimed"])
