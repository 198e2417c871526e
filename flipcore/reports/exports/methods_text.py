"""The methods of a study as a paragraph with every n, method, seed and paper, ready to be copied,
and its BibTeX."""

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
from flipcore.reports.exports.markup import (
    Markup,
    data_link,
    folded,
    joined,
    paragraph,
    section,
    tag,
)
from flipcore.reports.flips import made_from
from flipcore.reports.whole_study import WholeStudy
from flipcore.stats.base.resample import N_BOOT
from flipcore.text.counts import count_of
from flipcore.text.templates import repeated_templates


@dataclass(frozen=True)
class MethodsText:
    """`sentences` in order; `papers` are the keys of those that they cite."""

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


def methods_text(c: WholeStudy) -> MethodsText:
    """What was asked, of whom, how it was read, and how every number was computed."""
    methods = list(_methods(c))
    sentences = [
        *_items_and_models(c),
        *(method.text for method in methods),
        *_intervals(c),
        *_closing(c),
    ]
    kinds = [interval_method(one.estimate.method) for one in c.rows]
    papers = set(chain.from_iterable(method.papers for method in [*methods, *kinds]))
    return MethodsText(tuple(sentences), tuple(sorted(papers)))


def _items_and_models(c: WholeStudy) -> Iterator[str]:
    roles = Counter(c.items["role"])
    by_role = ", ".join(f"{n:,} {role.replace('_', ' ')}" for role, n in sorted(roles.items()))
    datasets = ", ".join(sorted(set(c.items["dataset"])))
    n_unseen = int(c.row["n_items"]) - len(c.items)
    unseen = f", beside {n_unseen:,} that are set aside," if n_unseen else ""
    items = f"{len(c.items):,} items ({by_role}) of {datasets}{unseen}"
    # By whom, in which order and with which settings they were asked is not known here.
    if c.study.is_recorded:
        yield f"{items}; their outputs were imported."
        yield f"Models: {'; '.join(use.name for use in c.study.models)}."
    else:
        yield f"{items} were asked in random order (seed {c.study.seed})."
        asks_again = any(part.name == IDENTITY for part in c.study.axes)
        yield f"Models: {'; '.join(_model(use, asks_again=asks_again) for use in c.study.models)}."
    axes = ", ".join(
        (AXES[part.name].title if part.name in AXES else part.name).lower() for part in c.study.axes
    )
    extractors = ", ".join(title_of(part.name).lower() for part in c.study.extractors)
    if axes:
        yield f"What was changed: {axes}."
    if extractors:
        yield f"Answers were read by: {extractors}."


def _model(use: ModelUse, *, asks_again: bool) -> str:
    samples = f"{count_of(use.n_samples, 'sample')} a prompt"
    if asks_again and use.n_samples < IDENTITY_SAMPLES:
        samples += f" and {IDENTITY_SAMPLES} of the original"
    return (
        f"{use.name} (temperature {use.temperature:g}, {samples}, at most {use.max_tokens:,}"
        f" tokens, seed {use.seed})"
    )


def _methods(c: WholeStudy) -> Iterator[Method]:
    """Those that this study used, each once."""
    report = c.report
    if any(report.decompositions.values()):
        is_sorted = any(reads_together(name) for name in c.everything["extractor"].unique())
        yield from (one for one in FLIPS if one is not MEANING or is_sorted)
    all_tests = list(chain.from_iterable(report.memory.values()))
    detector_methods = [
        detector_method(test.measurement.name) for test in all_tests if test.measurement
    ]
    yield from dict.fromkeys(filter(None, detector_methods))
    if {"target", "retro"} <= set(c.items["role"]):
        yield from HOLDOUT if c.holdout else HOLDOUT[:1]  # inflation
    if any(len(cells) > 1 for cells in report.decompositions.values()) or any(
        len(tests) > 1 for tests in report.memory.values()
    ):
        yield HOLM


def _intervals(c: WholeStudy) -> Iterator[str]:
    """A sentence for every kind of interval: of how many estimates, n, level and seed."""
    estimates = [one.estimate for one in c.rows if one.estimate.value == one.estimate.value]
    for name in dict.fromkeys(one.method for one in estimates):
        mine = [one for one in estimates if one.method == name]
        method, n = interval_method(name), n_text(one.n for one in mine)
        levels = ", ".join(f"{100 * level:g}%" for level in sorted({one.level for one in mine}))
        seeds = sorted({one.seed for one in mine if one.seed is not None})
        draws = f", {N_BOOT:,} resamples, seed {', '.join(map(str, seeds))}" if seeds else ""
        yield (
            f"{method.name[0].upper()}{method.name[1:]} ({count_of(len(mine), 'estimate')},"
            f" {levels}, {n}{draws}): {method.text}"
        )


def _closing(c: WholeStudy) -> Iterator[str]:
    if repeats := repeated_templates(*made_from(c.items)):
        yield repeats
    if c.closed_gates:
        names = ", ".join(
            title_of(name).lower().replace("_", " ") for name in sorted(c.closed_gates)
        )
        yield f"Not claimed, because a gate is closed: {names}."
    yield (
        f"Computed by Flipscope {__version__}; the study was declared with {c.row['code_version']}"
        f" and has the id {c.study_id}."
    )


def methods_part(c: WholeStudy) -> Markup:
    """How it was done, with the papers."""
    words = methods_text(c)
    references = tag("ol", *(tag("li", line) for line in words.references), cls="references")
    links = joined(
        [
            data_link(
                "Save as BibTeX", f"{c.study_id}.bib", words.bibtex, "text/x-bibtex;charset=utf-8"
            ),
            tag(
                "button",
                "Copy the paragraph",
                type="button",
                data_copy="methods-text",
                hidden="hidden",
            ),
            tag(
                "button", "Copy the BibTeX", type="button", data_copy="bibtex-text", hidden="hidden"
            ),
        ],
        " ",
    )
    bib = folded("BibTeX", tag("pre", words.bibtex, id="bibtex-text"))
    text = tag("p", words.text, id="methods-text")
    return section("Methods", "methods", text, references, paragraph(links, cls="links"), bib)
