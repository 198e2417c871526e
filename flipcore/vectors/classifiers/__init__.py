"""Can a machine tell the two sets apart (source 002), and by what?"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.core.records import Item
from flipcore.stats.base.separability import Separability, grouped_folds, separability
from flipcore.stats.holdout.entries import entry_text, one_per_source, paired_rows, source_groups
from flipcore.vectors.classifiers.kinds import CLASSIFIERS, N_FOLDS, Classifier, Giveaway

DEFAULT = CLASSIFIERS[0].name


@dataclass(frozen=True)
class ToldApart:
    """The cross-validated result, and its settings in words (`described`)."""

    cross_validation: Separability
    described: str


def classifier_by_name(name: str) -> Classifier:
    """Return the classifier of that name; raises BadInput for an unknown one."""
    by_name = {classifier.name: classifier for classifier in CLASSIFIERS}
    if name not in by_name:
        raise BadInput(
            f"There is no classifier called {name!r}; choose one of {', '.join(by_name)}."
        )
    return by_name[name]


def told_apart(
    target: Sequence[Item],
    retro: Sequence[Item],
    name: str = DEFAULT,
    embeddings: np.ndarray | None = None,
    m: int | None = None,
    seed: int = 0,
    watch: Callable[[int, int], None] = lambda n_done, m: None,
) -> ToldApart:
    """Cross-validate in five folds, with entries of one source in the same fold, and repeat it
    under `m` permutations of the labels.

    `embeddings` are the rows of `embedded(store, target + retro, ...)`; None for a classifier that
    needs none. If every holdout entry was written from its own benchmark entry, only these pairs
    are compared and labels are swapped within them, so that the likeness of a pair gives no
    advantage. With `m` None, the classifier's usual number is used; a slow one never has more.
    Raises BadInput for sets too small for five folds, MissingPackage for a missing package.
    """
    classifier = classifier_by_name(name)
    given_items = (*target, *retro)
    target, retro, left_out = one_per_source(target, retro)
    if left_out and embeddings is not None and len(embeddings) == len(given_items):
        ids = {item.item_id for item in (*target, *retro)}
        embeddings = embeddings[[i for i, item in enumerate(given_items) if item.item_id in ids]]
    _check(target, retro, left_out=left_out)
    labels = np.repeat([0, 1], [len(target), len(retro)])
    groups = np.unique(source_groups(target, retro), return_inverse=True)[1]
    texts = [entry_text(item) for item in (*target, *retro)]
    pairs = paired_rows(target, retro)
    rows = np.arange(len(texts)) if pairs is None else pairs
    if pairs is not None:
        design = f"{len(retro):,} source pairs, swapped within pairs"
    else:
        design = f"{len(target):,} + {len(retro):,} entries"
        if len(set(groups)) != len(groups):
            design += ", grouped by source"
    if m is None:
        m = classifier.n_permutations
    elif classifier.is_slow:
        m = min(m, classifier.n_permutations)
    cross_validation = separability(
        rows,
        labels[rows],
        fit_predict=classifier.prepared(texts, embeddings),
        groups=groups[rows],
        paired=pairs is not None,
        n_folds=N_FOLDS,
        m=m,
        seed=seed,
        watch=watch,
    )
    described = f"{classifier.title}; {N_FOLDS} folds; {design}; {m:,} permutations; seed {seed}"
    return ToldApart(cross_validation, f"{described}. {left_out}" if left_out else described)


def _check(target: Sequence[Item], retro: Sequence[Item], left_out: str = "") -> None:
    if min(len(target), len(retro)) < N_FOLDS:
        raise BadInput(
            f"Telling two sets apart in {N_FOLDS} folds needs at least {N_FOLDS} entries of each, "
            f"and {len(target)} benchmark and {len(retro)} holdout entries came: add "
            f"items.{f' {left_out}' if left_out else ''}"
        )


def giveaways(
    target: Sequence[Item], retro: Sequence[Item], name: str = DEFAULT, seed: int = 0
) -> list[Giveaway]:
    """Return the tokens by which the classifier tells the sets apart, strongest first, measured on
    held-out entries. Raises BadInput for sets too small for five folds, MissingPackage if the
    classifier needs a package."""
    _check(target, retro)
    labels = np.repeat([0, 1], [len(target), len(retro)])
    groups = np.unique(source_groups(target, retro), return_inverse=True)[1]
    folds = grouped_folds(labels, groups, n_folds=N_FOLDS, rng=generator(seed))
    return classifier_by_name(name).giveaways(
        [entry_text(item) for item in (*target, *retro)], labels, folds
    )
