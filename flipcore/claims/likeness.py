"""What may be said of how alike two sets look: neighbours, likeness inside a set, words, a map."""

import math
from typing import Any

from flipcore.claims.claim import Assertion, Claim, description
from flipcore.stats.base.estimate import MIN_N, Estimate, number_text, p_text, percent_text
from flipcore.stats.holdout.comparison import Comparison
from flipcore.stats.holdout.map_quality import MapQuality
from flipcore.stats.holdout.neighbours import Mixing
from flipcore.stats.holdout.ngrams import NgramTable

ALPHA = 0.05
_NULL = (
    "identical sets",
    "identical sets of unequal size",
    "source-paired sets",
    "templated entries",
)
NEIGHBOURS_DIFFER = Assertion(
    "neighbours keep to a set", "an entry's neighbours are of its own set more or less often than in mixed sets", 0.05, 2,
    "each claim", _NULL,
)  # fmt: skip
MORE_ALIKE = Assertion(
    "one set is more alike inside",
    "two entries of one set are more alike than two of the other",
    0.05,
    2,
    "each claim",
    (*_NULL, "shifted sets of equal likeness"),
)
WORDS_DIFFER = Assertion(
    "words give a set away",
    "a word or word pair is in more entries of one set",
    0.05,
    2,
    "words of a table, FDR",
    _NULL[:3],
)
ASSERTIONS = (NEIGHBOURS_DIFFER, MORE_ALIKE, WORDS_DIFFER)


def mixing_claim(mixing: Mixing) -> Claim:
    """Whether neighbours keep to their own set."""
    numbers: dict[str, Any] = {"own": mixing.own_share, "p": mixing.p}
    share = (
        f"{mixing.own_share.text_percent()} of the {mixing.k} nearest neighbors are of an "
        "entry's own set"
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
    way = "more" if mixing.own_share.value > mixing.expected else "less"
    return Claim(
        NEIGHBOURS_DIFFER,
        way,
        f"Neighbors keep to their own set {way} than if the sets were mixed: "
        f"{mixing.own_share.text_percent()} of {mixing.k}, "
        f"{percent_text(mixing.expected)} expected ({p_text(mixing.p)}).",
        True,
        "",
        "",
        numbers,
    )


def compared_claims(comparison: Comparison) -> tuple[Claim, Claim]:
    """(neighbours, likeness inside a set) of two sets in one embedding; of each template one entry counts."""
    distinct = comparison.distinct
    return mixing_claim(distinct.mixing), likeness_claim(
        *comparison.likeness, distinct.likeness_difference
    )


def likeness_claim(target: Estimate, retro: Estimate, difference: Estimate) -> Claim:
    """Mean cosine of two entries inside either set; `difference` is retro - target. Regrouping the entries (the source's test)
    would call a set alike inside where the sets merely lie apart, so the interval of the difference decides."""
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
    if not difference.excludes_zero():
        sentence = f"No difference in likeness is shown: {means}."
        return Claim(
            None, "undecided", sentence, detail=f"Difference {difference.text(3)}.", numbers=numbers
        )
    way = "more" if difference.value > 0 else "less"
    sentence = f"Holdout entries are {way} alike than benchmark entries: {means}."
    return Claim(MORE_ALIKE, way, sentence, True, f"Difference {difference.text(3)}.", "", numbers)


def words_claim(table: NgramTable) -> Claim:
    """How many words and word pairs give a set away, and the one that differs most."""
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
    different = table.different()
    if not different:
        sentence = (
            f"None of {len(table.rows):,} words and word pairs is shown to be more usual in one "
            "set."
        )
        return Claim(None, "undecided", sentence, detail="False discovery rate 5%.")
    one, n = different[0], len(different)
    return Claim(
        WORDS_DIFFER,
        "words differ",
        f"{n:,} of {len(table.rows):,} words and word pairs {'is' if n == 1 else 'are'} more "
        "usual in one set, "
        f"most of all “{one.text}”.",
        True,
        f"“{one.text}” is in {one.entries_target:,} of {table.n_target:,} benchmark entries and "
        f"in {one.entries_retro:,} of "
        f"{table.n_retro:,} holdout entries. False discovery rate 5%.",
        "",
        {"different": n, "compared": len(table.rows)},
    )


def map_quality_text(quality: MapQuality) -> str:
    """What a map keeps of the neighbourhoods, and what of it another seed draws again."""
    trust, agreement = (
        number_text(one.value) for one in (quality.trustworthiness, quality.agreement)
    )
    return (
        f"Trustworthiness {trust} of 1. With another seed, {agreement} of an entry's {quality.k} "
        "neighbours on the map are the "
        f"same (n = {quality.trustworthiness.n:,} entries)."
    )
