"""Several models with people's labels in their scores: pages, command line and notebook show these rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from flipcore.claims.claim import Claim
from flipcore.claims.corrected_ranks import Labelled, PairByPeople, pairs_by_people, ranks_by_people
from flipcore.reports.read_by_people import ReaderErrors
from flipcore.reports.rows import Row, plain
from flipcore.stats.base.estimate import number_text, p_text


@dataclass(frozen=True, eq=False)
class RanksByPeople:
    """`pairs` of models whose outputs people labelled, the best first, and the claim of `ranks` where there are three or more."""

    pairs: tuple[PairByPeople, ...] = ()
    ranks: Claim | None = None

    @property
    def claims(self) -> tuple[Claim, ...]:
        return (*((self.ranks,) if self.ranks else ()), *(one.claim for one in self.pairs))

    def table_rows(self) -> list[dict[str, Any]]:
        return [
            {
                "first": one.first,
                "second": one.second,
                "by people": one.joint.text_pp(),
                "extractor alone": f"{number_text(100 * one.raw, 1, sign=True)} pp",
                "p, pair alone": p_text(one.difference.p),
                "p over all pairs": p_text(one.p),
                "labels": one.difference.n,
            }
            for one in self.pairs
        ]

    def rows(self) -> Iterator[Row]:
        for one in self.pairs:
            place, title = {"first": one.first, "second": one.second}, f"lead over {one.second}, corrected by people"
            yield Row(one.first, "by people", "difference, corrected by people", one.joint, one.claim, place, title)

    def as_dict(self) -> dict[str, Any]:
        pairs = [
            {
                "first": one.first,
                "second": one.second,
                "sentence": one.claim.text,
                "is_claimed": one.claim.is_made,
                "difference": plain(one.joint),
                "difference_as_read": plain(one.raw),
                "p_pair_alone": plain(one.difference.p),
                "p_over_pairs": plain(one.p),
            }
            for one in self.pairs
        ]
        ranks = {"sentence": self.ranks.text, "is_claimed": self.ranks.is_made, **self.ranks.numbers} if self.ranks else None
        return {"pairs": pairs, "ranks": ranks}


def ranks_of(models: Sequence[ReaderErrors], why_not: str = "") -> RanksByPeople:
    """Of models whose scores have labels in them, under one extractor; `why_not` withholds what is asserted."""
    there = [Labelled(one.model, one.score, one.units) for one in models if one.score and one.units is not None]
    if len(there) < 2:
        return RanksByPeople()
    level = there[0].score.level
    pairs = pairs_by_people(there, level, why_not)
    return RanksByPeople(tuple(pairs), ranks_by_people(pairs, level, why_not))
