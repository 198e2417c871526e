"""Flipscope in a notebook: `flipcore.open().study("…").decomposition()`.

What comes back holds the claims as pages and command line say them, and a table with a row an estimate: value, interval, level,
method, n, seed. Closed gates withhold a claim, and what a study set aside stays unseen, as everywhere. The file is only read; beside an
open dashboard, which holds it, `open` raises a sentence that says who has it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pandas as pd

from flipcore.charts.score import score_figure
from flipcore.charts.theme import colours
from flipcore.claims.claim import Claim, description
from flipcore.core.errors import BadInput
from flipcore.extractors import title_of
from flipcore.reports.audit import Verdict, audit, verdict
from flipcore.reports.memory import why_no_test
from flipcore.reports.rows import Row
from flipcore.reports.score import score_bars
from flipcore.reports.whole_study import WholeStudy, imported, study_of, whole_study
from flipcore.stats.base.estimate import Estimate
from flipcore.stats.flips.surface import surface
from flipcore.store.connection import Store
from flipcore.store.queries import studies
from flipcore.store.queries.readout_rows import as_texts

if TYPE_CHECKING:
    import plotly.graph_objects as go

ESTIMATE = ("value", "low", "high", "level", "method", "n", "seed", "note", "coverage")


@dataclass(frozen=True, eq=False)
class Result:
    """`claims` in order, and `frame`, a row an estimate with the claim that it belongs to (`claim`, `is_claimed`)."""

    claims: tuple[Claim, ...]
    frame: pd.DataFrame
    draw: "Callable[[Any], go.Figure] | None" = field(default=None, repr=False)

    def text(self) -> str:
        """The claims, a line each."""
        return "\n".join(one.text for one in self.claims if one.text)

    def figure(self, dark: bool = False) -> "go.Figure":
        """The picture of the same page, on a ground of its own, so that it reads in a notebook of either theme; BadInput where there
        is nothing to draw."""
        if self.draw is None:
            raise BadInput("There is nothing to draw yet: no estimate is defined.")
        theme = colours("dark" if dark else None)
        return self.draw(theme).update_layout(paper_bgcolor=theme.page, plot_bgcolor=theme.page)


@dataclass(frozen=True, eq=False)
class StudyView:
    """One study as it stands now; open it again after further answers came in."""

    store: Store
    study_id: str

    @property
    def name(self) -> str:
        """What the study is called; BadInput where it was deleted."""
        return studies.declared(self.store, self.study_id).name

    @cached_property
    def whole(self) -> WholeStudy:
        """Everything that `python -m flipcore stats` says."""
        return whole_study(self.store, self.study_id)

    def text(self) -> str:
        """The whole report, as the command line prints it."""
        return self.whole.text()

    def audit(self) -> Verdict:
        """What the rows say, what of it does not hold, and what to do: `.text()` is what `audit` prints, `.as_dict()` its --json."""
        return verdict(self.whole, audit(self.store, self.study_id))

    def readouts(self, everything: bool = False) -> pd.DataFrame:
        """A row a readout of which flips are made; with `everything` also losses, similarities and rewritten items."""
        frame = studies.readouts(self.store, self.study_id, everything=everything)
        return frame if everything else as_texts(frame)

    def flips(self, extractor: str, model: str = "") -> pd.DataFrame:
        """Flip rates, items × axes: of an item's pairs of variants under an axis the share that get different answers."""
        frame = self.whole.frame
        frame = frame[frame["model"] == self._model(model)]
        if extractor not in set(frame["extractor"].unique()):
            there = ", ".join(dict.fromkeys(frame["extractor"])) or "none"
            raise BadInput(f"Nothing was read by {extractor!r} here; choose one of {there}.")
        cells = surface(frame, extractor)
        return pd.DataFrame(cells.rate, index=pd.Index(cells.items, name="item_id"), columns=cells.columns)

    def score(self) -> Result:
        """How much of each model's score to trust: its intervals over other questions, wordings and readers. BadInput without a score."""
        report = self.whole.score
        if report is None:
            raise BadInput("Nothing was judged right or wrong here, or tasks of a log are not pooled, so there is no score.")

        def draw(theme: Any) -> "go.Figure":
            return score_figure([score_bars(one) for one in report.models], theme)

        return Result(report.claims, _table(report.rows()), draw)

    def decomposition(self, model: str = "") -> Result:
        """T = G + A by axis and extractor, with the floor and all that the page Flips shows."""
        name = self._model(model)
        report = self.whole.report
        cells = report.decompositions[name]

        def draw(theme: Any) -> "go.Figure":
            from flipcore.charts.flips import decomposition_bars

            return decomposition_bars(cells, title_of, theme)

        return Result(tuple(report.claims.get(name, ())), _table(report.cell_rows(name)), draw if cells else None)

    def memory(self, model: str = "") -> Result:
        """Every detector of memory, all of them as one family."""
        tests = self.whole.report.memory.get(self._model(model), [])
        rows = [row for one in tests for row in one.rows(self._model(model))]
        numbers = [
            (
                f"{one.detector}, {one.items}",
                next((one.numbers[key] for key in ("gap", "score_gap", "rate") if key in one.numbers), None),
            )
            for one in tests
        ]
        there = [(label, estimate) for label, estimate in numbers if isinstance(estimate, Estimate)]

        def draw(theme: Any) -> "go.Figure":
            from flipcore.charts.interval_rows import interval_rows

            return interval_rows(there, theme).update_xaxes(title_text="gap or rate, as a share: 1 is 100%")

        claims = tuple(one.claim for one in tests) or (description(why_no_test(self.whole.everything), "not run"),)
        return Result(claims, _table(rows), draw if there else None)

    def holdout(self) -> Result:
        """The verdict on two sets, the four tests behind it, and how much better each model answers the target."""
        tests = self.whole.holdout
        answer = self.whole.inflation
        selection = answer.selection

        def draw(theme: Any) -> "go.Figure":
            from flipcore.charts.inflation import Inflated, inflation_figure

            return inflation_figure([Inflated(one.model, *one.accuracies, one.inflation()) for one in selection], theme)

        rows = [*(tests.rows() if tests else ()), *(one for one in answer.rows() if one.claim)]
        return Result(self.whole.holdout_claims or (answer.claim,), _table(rows), draw if selection else None)

    def ranking(self) -> Result:
        """Which model is better, and whether that holds under every way of asking and reading; BadInput for one model."""
        report = self.whole.ranking
        if report is None:
            raise BadInput("Only one model has answers here, so there is nothing to rank.")
        return Result(report.claims, _table(report.pair_rows()))

    def _model(self, name: str) -> str:
        """The named model, or the first; BadInput lists those of the study."""
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
        """A row a study, newest first."""
        return studies.studies(self.store)

    def study(self, query: str) -> StudyView:
        """The study of that id, or whose name begins so; BadInput lists what there is."""
        return StudyView(self.store, study_of(self.store, query))

    def close(self) -> None:
        """Lets go of the file, so that a dashboard may open it."""
        self.store.close()


def open_store(path: str | Path | None = None) -> Flipscope:
    """The database at `path`, or the one that dashboard and command line use; BadInput where there is none to read."""
    if path is not None and not Path(path).is_file():
        raise BadInput(f"There is no database at {path}. Run a study first, or give the path of another file.")
    return Flipscope(Store.open(path))


def study_in_memory(source: pd.DataFrame | str | Path, words: Sequence[str] = (), name: str = "table") -> StudyView:
    """Files as `import` takes them, or a DataFrame, as a study that no database keeps. Raises BadInput for what cannot be read."""
    store = Store.open(":memory:")
    with TemporaryDirectory() as folder:
        path = Path(source) if not isinstance(source, pd.DataFrame) else Path(folder, f"{name}.jsonl")
        if isinstance(source, pd.DataFrame):
            source.to_json(path, orient="records", lines=True)
        return StudyView(store, imported(path, words, store))


def _table(rows: Iterable[Row]) -> pd.DataFrame:
    records = [one.with_claim() for one in rows]
    return pd.DataFrame(records) if records else pd.DataFrame(columns=["model", "quantity", *ESTIMATE, "claim", "is_claimed"])
