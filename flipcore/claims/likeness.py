"""Claims about how similar benchmark and holdout look: neighbors, cosine, words, and a map."""

import math
from typing import Any

from flipcore.claims.claim import Assertion, Claim, description
from flipcore.stats.base.estimate import MIN_N, Estimate, number_text, p_text, percent_text
from flipcore.stats.holdout.comparison import Comparison
from flipcore.stats.holdout.neighbours import Mixing
from flipcore.stats.holdout.ngrams import NgramTable
from flipcore.stats.holdout.projection import MapQuality

ALPHA = 0.05
# Simulated worlds (tests/lab/claims) in which both sets have the same distribution.
_NULL_WITHOUT_TEMPLATES = ("identical sets", "identical sets of unequal size", "source-paired sets")
_NULL_WORLDS = (*_NULL_WITHOUT_TEMPLATES, "templated entries")
NEIGHBOURS_DIFFER = Assertion(
    "neighbours keep to a set",
    "an entry's neighbours are of its own set more or less often than in mixed sets",
    error_rate=0.05,
    sides=2,
    family="each claim",
    worlds=_NULL_WORLDS,
)
MORE_ALIKE = Assertion(
    "one set is more alike inside",
    "two entries of one set are more alike than two of the other",
    error_rate=0.05,
    sides=2,
    family="each claim",
    worlds=(*_NULL_WORLDS, "shifted sets of equal likeness"),
)
WORDS_DIFFER = Assertion(
    "words give a set away",
    "a word or word pair is in more entries of one set",
    error_rate=0.05,
    sides=2,
    family="words of a table, FDR",
    worlds=_NULL_WITHOUT_TEMPLATES,
)
ASSERTIONS = (NEIGHBOURS_DIFFER, MORE_ALIKE, WORDS_DIFFER)


def mixing_claim(mixing: Mixing) -> Claim:
    """Say whether the nearest neighbors of an entry are mostly from its own set."""
    numbers: dict[str, Any] = {"own": mixing.own_share, "p": mixing.p}
    share = (
        f"{mixing.own_share.text_percent()} of the {mixing.k} nearest neighbors are of an entry's "
        "own set"
    )
    if not mixing.own_share.has_interval:
        return description(
            f"{share}; at least {MIN_N} entries of each set are needed for a test.",
            "undecided",
            **numbers,
        )
    if mixing.p >= ALPHA:
        sentence = "On the map the two sets mix as chance would mix them."
        detail = f"{share}; {percent_text(mixing.expected)} are expected ({p_text(mixing.p)})."
        return Claim(None, "undecided", sentence, detail=detail, numbers=numbers)
    # "Less" is a finding too, because one set may surround the other.
    direction = "more" if mixing.own_share.value > mixing.expected else "less"
    sentence = (
        f"Neighbors keep to their own set {direction} than if the sets were mixed: "
        f"{mixing.own_share.text_percent()} of {mixing.k}, {percent_text(mixing.expected)} "
        f"expected ({p_text(mixing.p)})."
    )
    return Claim(NEIGHBOURS_DIFFER, direction, sentence, asserted=True, numbers=numbers)


def embedding_claims(comparison: Comparison) -> tuple[Claim, Claim]:
    """Return the claims on neighbors and on likeness inside a set, for one embedding."""
    # Tests use one entry per template, because entries of one template are alike by construction.
    distinct = comparison.distinct
    likeness = likeness_claim(*comparison.likeness, distinct.likeness_difference)
    return mixing_claim(distinct.mixing), likeness


def likeness_claim(target: Estimate, retro: Estimate, difference: Estimate) -> Claim:
    """Compare the mean cosine inside the benchmark (`target`) and inside the holdout (`retro`).

    `difference` is `retro` minus `target`.
    """
    numbers: dict[str, Any] = {"target": target, "retro": retro, "difference": difference}
    if math.isnan(target.value) or math.isnan(retro.value):
        return description(
            "A set of fewer than two entries has no pairs to compare.", "missing", **numbers
        )
    means = f"mean cosine {retro.text(3)} in the holdout, {target.text(3)} in the benchmark"
    if not difference.has_interval:
        return description(
            f"{means.capitalize()}; at least {MIN_N} entries of each set are needed to compare.",
            **numbers,
        )
    # The interval of the difference decides, not the paper's permutation test, which also rejects
    # if the sets are equally alike inside but far from each other.
    if not difference.excludes_zero():
        sentence = f"No difference in likeness is shown: {means}."
        return Claim(
            None, "undecided", sentence, detail=f"Difference {difference.text(3)}.", numbers=numbers
        )
    direction = "more" if difference.value > 0 else "less"
    sentence = f"Holdout entries are {direction} alike than benchmark entries: {means}."
    detail = f"Difference {difference.text(3)}."
    return Claim(MORE_ALIKE, direction, sentence, asserted=True, detail=detail, numbers=numbers)


def words_claim(table: NgramTable) -> Claim:
    """Count the words and word pairs that are more common in one set, and name the clearest."""
    if min(table.n_target, table.n_retro) < MIN_N:
        return description(
            f"Undecided: at least {MIN_N} entries of each set are needed to compare words.",
            "undecided",
        )
    if not table.rows:
        return description(
            f"No word or word pair is in {table.fewest} entries, so there is nothing to compare.",
            "missing",
        )
    different_rows = table.different()
    if not different_rows:
        sentence = (
            f"None of {len(table.rows):,} words and word pairs is shown to be more usual in one "
            "set."
        )
        return Claim(None, "undecided", sentence, detail="False discovery rate 5%.")
    leading_word, n = different_rows[0], len(different_rows)
    sentence = (
        f"{n:,} of {len(table.rows):,} words and word pairs {'is' if n == 1 else 'are'} more "
        f"usual in one set, most of all “{leading_word.text}”."
    )
    detail = (
        f"“{leading_word.text}” is in {leading_word.entries_target:,} of {table.n_target:,} "
        f"benchmark entries and in {leading_word.entries_retro:,} of {table.n_retro:,} holdout "
        "entries. False discovery rate 5%."
    )
    numbers = {"different": n, "compared": len(table.rows)}
    return Claim(
        WORDS_DIFFER, "words differ", sentence, asserted=True, detail=detail, numbers=numbers
    )


def map_quality_text(quality: MapQuality) -> str:
    """Say how well a map keeps neighborhoods, and how much of them another seed reproduces."""
    trust = number_text(quality.trustworthiness.value)
    agreement = number_text(quality.agreement.value)
    return (
        f"Trustworthiness {trust} of 1. With another seed, {agreement} of an entry's {quality.k} "
        f"neighbors on the map are the same (n = {quality.trustworthiness.n:,} entries)."
    )
