"""Flipscope in a notebook: `flipcore.open().study("…").decomposition()`.

A result holds the claims with the same words as on pages and in the command line, and a table with
one row per estimate: value, interval, level, method, n, seed. As everywhere, closed gates withhold
claims, and items that a study set aside stay hidden. The database is only read. Only one process
can hold it: while a dashboard is open, `open` raises StoreHeld.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from flipcore.core.errors import BadInput
from flipcore.reports.answer import Answer
from flipcore.reports.audit import Verdict, audit, verdict
from flipcore.reports.choices import choices_report, flips_choices_report, leading_models
from flipcore.reports.whole_study import WholeStudy, import_log, study_id_of, whole_study
from flipcore.stats.flips.surface import surface
from flipcore.store.connection import Store
from flipcore.store.queries import studies
from flipcore.store.queries.readout_rows import as_texts


@dataclass(frozen=True, eq=False)
class StudyView:
    """A study as it is stored now; open it again to see new answers."""

    store: Store
    study_id: str

    @property
    def name(self) -> str:
        """Name of the study; BadInput where it was deleted."""
        return studies.declared(self.store, self.study_id).name

    @cached_property
    def whole(self) -> WholeStudy:
        """All results that `python -m flipcore stats` prints."""
        return whole_study(self.store, self.study_id)

    def text(self) -> str:
        """Return the report as the command line prints it."""
        return self.whole.text()

    def audit(self) -> Verdict:
        """Check the log: its scores, what contradicts them, and what to do.

        `.text()` is the output of `audit`, `.as_dict()` that of `audit --json`.
        """
        return verdict(self.whole, audit(self.store, self.study_id))

    def readouts(self, everything: bool = False) -> pd.DataFrame:
        """Return the readouts from which flips are computed, one row per readout.

        With `everything` also losses, similarities and rewritten items.
        """
        frame = studies.readouts(self.store, self.study_id, everything=everything)
        return frame if everything else as_texts(frame)

    def flips(self, extractor: str, model: str = "") -> pd.DataFrame:
        """Return flip rates (items × axes): the share of an item's variant pairs that differ.

        BadInput where the extractor has no readouts. `model` defaults to the first one.
        """
        frame = self.whole.flip_readouts
        frame = frame[frame["model"] == self._model(model)]
        if extractor not in set(frame["extractor"].unique()):
            extractors = ", ".join(dict.fromkeys(frame["extractor"])) or "none"
            raise BadInput(f"Nothing was read by {extractor!r} here; choose one of {extractors}.")
        cells = surface(frame, extractor)
        items = pd.Index(cells.items, name="item_id")
        return pd.DataFrame(cells.rate, index=items, columns=cells.columns)

    def score(self) -> Answer:
        """Return each model's score, with intervals over other questions, prompts and extractors.

        BadInput where no answer was judged right or wrong.
        """
        if self.whole.score is None:
            raise BadInput("Nothing was judged right or wrong here, or tasks of a log are not pooled, so there is no score.")
        return self.whole.score

    def decomposition(self, model: str = "") -> Answer:
        """Return flips by axis and extractor as genuine plus artifact, with the noise floor."""
        return self.whole.flips[self._model(model)]

    def memory(self, model: str = "") -> Answer:
        """Return the results of all detectors of memory, corrected for their number."""
        return self.whole.memory.find_model(self._model(model))

    def holdout(self) -> Answer:
        """Return the verdict on benchmark and holdout, its four tests, and each model's inflation."""
        return self.whole.sets

    def ranking(self) -> Answer:
        """Return the models' ranking, and under how many prompts and extractors it holds.

        BadInput where only one model has answers.
        """
        if self.whole.ranking is None:
            raise BadInput("Only one model has answers here, so there is nothing to rank.")
        return self.whole.ranking

    def choices(
        self,
        first: str = "",
        second: str = "",
        *,
        above: float | None = None,
        margin: float = 0.0,
        without: Sequence[str] = (),
        also: Sequence[str] = (),
    ) -> Answer:
        """Test a decision in every defensible way of counting.

        The decision is that `first` scores at least `margin` higher than `second`, or that `first`
        scores more than `above`. Both are shares: 0.01 is one point. `second` may be "every other
        model". `without` and `also` are as on the command line. BadInput for unknown models.
        """
        n_models = 2 if above is None else 1
        models = [name for name in (first, second) if name] or leading_models(self.whole)[:n_models]
        if above is None and len(models) < 2:
            raise BadInput("One model has scores here: give the bar, as in above=0.45.")
        bar = margin if above is None else above
        return choices_report(self.whole, *models, margin=bar, without=without, also=also)

    def flip_choices(
        self,
        axis: str = "all",
        *,
        extractor: str = "",
        model: str = "",
        margin: float = 0.0,
        without: Sequence[str] = (),
        also: Sequence[str] = (),
    ) -> Answer:
        """Test in every defensible way of counting whether flips are mostly the extractor's.

        `axis` may be "all". `margin` is a share of pairs. BadInput for unknown names, and where
        several extractors or models could be meant.
        """
        return flips_choices_report(self.whole, axis, extractor, model, margin=margin, without=without, also=also)

    def _model(self, name: str) -> str:
        """Return the named model, or the first one; BadInput lists the study's models."""
        models = self.whole.models
        if not models:
            raise BadInput("No answer has come back yet, so there is nothing to estimate. Run the study first.")
        if name and name not in models:
            raise BadInput(f"The study has no answers of {name!r}; it has {', '.join(models)}.")
        return name or models[0]


class Flipscope:
    """An open database. Close it, or use it in a `with` block."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def __enter__(self) -> "Flipscope":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def studies(self) -> pd.DataFrame:
        """Return the studies, one row per study, the newest first."""
        return studies.studies(self.store)

    def study(self, query: str) -> StudyView:
        """Find a study by its id or the start of its name; BadInput lists the studies."""
        return StudyView(self.store, study_id_of(self.store, query))

    def close(self) -> None:
        """Close the file, so that a dashboard can open it."""
        self.store.close()


def open_store(path: str | Path | None = None) -> Flipscope:
    """Open a database for reading, by default that of the dashboard and the command line.

    BadInput where there is none, StoreHeld where another process holds it.
    """
    if path is not None and not Path(path).is_file():
        raise BadInput(f"There is no database at {path}. Run a study first, or give the path of another file.")
    return Flipscope(Store.open(path))


def study_in_memory(source: pd.DataFrame | str | Path, words: Sequence[str] = (), name: str = "table") -> StudyView:
    """Read files or a DataFrame into a study that no database keeps.

    Files and corrections (`words`) are those of `import`. BadInput where they cannot be read.
    """
    store = Store.open(":memory:")
    with TemporaryDirectory() as folder:
        if isinstance(source, pd.DataFrame):
            path = Path(folder, f"{name}.jsonl")
            source.to_json(path, orient="records", lines=True)
        else:
            path = Path(source)
        return StudyView(store, import_log(path, words, store))
