"""Flipscope in a notebook: `flipcore.open().study("…").decomposition()`.

A result holds the claims as pages and command line say them, and a table with one row per
estimate: value, interval, level, method, n, seed. Closed gates withhold a claim, and what a study
set aside stays unseen, as everywhere. The file is only read. One process holds it at a time: while
a dashboard is open, `open` raises a sentence that says who has the file.
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
from flipcore.reports.whole_study import WholeStudy, imported, study_of, whole_study
from flipcore.stats.flips.surface import surface
from flipcore.store.connection import Store
from flipcore.store.queries import studies
from flipcore.store.queries.readout_rows import as_texts


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

    def decomposition(self, model: str = "") -> Answer:
        """T = G + A by axis and extractor, with the noise floor, as the page Flips shows it."""
        return self.whole.flips[self._model(model)]

    def memory(self, model: str = "") -> Answer:
        """Results of every detector of memory, corrected for one another."""
        return self.whole.memory.find_model(self._model(model))

    def holdout(self) -> Answer:
        """Verdict on benchmark and holdout, its four tests, and each model's inflation."""
        return self.whole.sets

    def ranking(self) -> Answer:
        """Order of the models, and under how many prompts and extractors it holds.

        Raises BadInput where only one model has answers.
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
        """Count a decision in every defensible way: `first` scores higher than `second` by `margin`, or `first` scores `above`.

        `second` may be "every other model". Margin and bar are shares: 0.01 is one point. `without` and `also` are those of
        the command line. Raises BadInput for names that are not here.
        """
        models = [name for name in (first, second) if name] or leading_models(self.whole)[: 1 if above is not None else 2]
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
        """Count in every defensible way whether flips by `axis` are mostly the extractor's and not the model's.

        `axis` may be "all". `margin` is a share of pairs. Raises BadInput for names that are not here, and where several
        extractors or models could be meant.
        """
        return flips_choices_report(self.whole, axis, extractor, model, margin=margin, without=without, also=also)

    def _model(self, name: str) -> str:
        """Return the named model, or the first. BadInput lists those of the study."""
        models = self.whole.models
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
