"""The methods of a study as a paragraph to copy, with all numbers, methods, seeds and papers."""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from flipcore.axes import AXES
from flipcore.charts.theme import n_text
from flipcore.core.records import IDENTITY
from flipcore.core.study import ModelUse
from flipcore.core.version import __version__
from flipcore.extractors import reads_together, title_of
from flipcore.methods.words import (
    FLIPS,
    HOLDOUT,
    HOLM,
    MEANING,
    PAPERS,
    Method,
    bibtex,
    detector_method,
    interval_method,
)
from flipcore.protocols.single_shot import IDENTITY_SAMPLES
from flipcore.reports.flips import wording_inputs
from flipcore.reports.whole_study import WholeStudy
from flipcore.stats.base.estimate import Estimate
from flipcore.stats.base.resample import N_BOOT
from flipcore.text.counts import count_of, with_capital
from flipcore.text.templates import repeated_templates


@dataclass(frozen=True)
class MethodsText:
    """The paragraph on methods; `papers` are the keys of the papers that its sentences cite."""

    sentences: tuple[str, ...]
    papers: tuple[str, ...]

    @property
    def text(self) -> str:
        return " ".join(self.sentences)

    @property
    def references(self) -> list[str]:
        return sorted(PAPERS[key].line for key in self.papers)

    @property
    def bibtex(self) -> str:
        return bibtex(self.papers)


def methods_text(study: WholeStudy) -> MethodsText:
    """Describe the items, models and extractors of a study, and how every number was computed."""
    methods = list(_methods(study))
    sentences = [*_items_and_models(study), *(method.text for method in methods)]
    sentences += [*_intervals(study), *_closing(study)]
    kinds = [interval_method(row.estimate.method) for row in study.rows]
    papers = set(chain.from_iterable(method.papers for method in [*methods, *kinds]))
    return MethodsText(tuple(sentences), tuple(sorted(papers)))


def _items_and_models(study: WholeStudy) -> Iterator[str]:
    declared = study.study
    roles = Counter(study.items["role"])
    by_role = ", ".join(f"{n:,} {role.replace('_', ' ')}" for role, n in sorted(roles.items()))
    datasets = ", ".join(sorted(set(study.items["dataset"])))
    n_unseen = int(study.row["n_items"]) - len(study.items)
    unseen = f", beside {n_unseen:,} that are set aside," if n_unseen else ""
    items = f"{len(study.items):,} items ({by_role}) of {datasets}{unseen}"
    # For an import the order of calls and the settings are unknown.
    if declared.is_recorded:
        yield f"{items}; their outputs were imported."
        yield f"Models: {'; '.join(use.name for use in declared.models)}."
    else:
        yield f"{items} were asked in random order (seed {declared.seed})."
        asks_again = any(part.name == IDENTITY for part in declared.axes)
        yield f"Models: {'; '.join(_model(use, asks_again=asks_again) for use in declared.models)}."
    if declared.axes:
        titles = []
        for axis in declared.axes:
            # An axis of a package that is not installed has no title.
            titles.append(AXES[axis.name].title if axis.name in AXES else axis.name)
        yield f"What was changed: {', '.join(titles).lower()}."
    if declared.extractors:
        extractors = [title_of(extractor.name).lower() for extractor in declared.extractors]
        yield f"Answers were read by: {', '.join(extractors)}."


def _model(use: ModelUse, *, asks_again: bool) -> str:
    samples = f"{count_of(use.n_samples, 'sample')} a prompt"
    if asks_again and use.n_samples < IDENTITY_SAMPLES:
        samples += f" and {IDENTITY_SAMPLES} of the original"
    return (
        f"{use.name} (temperature {use.temperature:g}, {samples}, at most {use.max_tokens:,}"
        f" tokens, seed {use.seed})"
    )


def _methods(study: WholeStudy) -> Iterator[Method]:
    """Yield the methods behind the study's numbers, in the order of the report."""
    cells_by_model = [len(flips.cells) for flips in study.flips.values()]
    if any(cells_by_model):
        all_readouts = study.all_readouts
        # Only an extractor that reads several answers together groups them by meaning.
        groups_by_meaning = any(map(reads_together, all_readouts["extractor"].unique()))
        yield from (method for method in FLIPS if method is not MEANING or groups_by_meaning)
    detector_methods = []
    for test in chain.from_iterable(study.memory.tests.values()):
        method = detector_method(test.measurement.detector_name) if test.measurement else None
        if method and method not in detector_methods:
            detector_methods.append(method)
    yield from detector_methods
    if {"target", "retro"} <= set(study.items["role"]):
        inflation, *of_tests = HOLDOUT
        yield inflation
        # Inflation needs no tests, the other methods do.
        if study.holdout:
            yield from of_tests
    tests_by_model = [len(tests) for tests in study.memory.tests.values()]
    # A single test needs no correction.
    if max(cells_by_model + tests_by_model, default=0) > 1:
        yield HOLM


def _intervals(study: WholeStudy) -> Iterator[str]:
    """Yield a sentence per kind of interval: number of estimates, levels, n and seeds."""
    by_method: dict[str, list[Estimate]] = {}
    for row in study.rows:
        if not math.isnan(row.estimate.value):
            by_method.setdefault(row.estimate.method, []).append(row.estimate)
    for name, estimates in by_method.items():
        method, n = interval_method(name), n_text(estimate.n for estimate in estimates)
        levels = sorted({estimate.level for estimate in estimates})
        percents = ", ".join(f"{100 * level:g}%" for level in levels)
        seeds = sorted({estimate.seed for estimate in estimates if estimate.seed is not None})
        # Only bootstrap intervals have a seed.
        draws = f", {N_BOOT:,} resamples, seed {', '.join(map(str, seeds))}" if seeds else ""
        yield (
            f"{with_capital(method.name)} ({count_of(len(estimates), 'estimate')},"
            f" {percents}, {n}{draws}): {method.text}"
        )


def _closing(study: WholeStudy) -> Iterator[str]:
    """Yield the last sentences: on repeated templates, closed gates, and the program's version."""
    questions, families, options = wording_inputs(study.items)
    if repeats := repeated_templates(questions, families, options):
        yield repeats
    if study.closed_gates:
        names = [title_of(name).lower().replace("_", " ") for name in sorted(study.closed_gates)]
        yield f"Not claimed, because a gate is closed: {', '.join(names)}."
    yield (
        f"Computed by Flipscope {__version__}; the study was declared with "
        f"{study.row['code_version']} and has the id {study.study_id}."
    )
