"""The rule for the state of a paraphrase, in SQL, and the states of all pairs."""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
from duckdb import DuckDBPyConnection

from flipcore.core.records import digest
from flipcore.store.connection import Store
from flipcore.store.judgements import PAIR_VERDICTS
from flipcore.store.visible import Sight

# People's verdicts decide. Those of models are only counted (n_models, n_models_kept). A reviewer's
# latest verdict counts, unless it was taken back.
#
# A pair that somebody settled after seeing the other verdicts (rule ".../adjudication") has the
# state of that verdict. Otherwise it is accepted if more than half of the people found that it
# passes all checks that they were asked, else rejected, and unreviewed without a person's verdict.
#
# `in_sample` are the reviewed pairs from which the source is judged: those that came up at random
# for somebody, or all pairs once all are reviewed. Pairs that were chosen because they look good or
# bad say nothing about the rest.
#
# `in_favour` are the accepted pairs that count for the gate. A person who settles pairs chooses
# them. So a pair that was accepted against its reviewers counts only once no disagreement of its
# source is open.
_STATES = f"""
given AS (
    SELECT pair_id, reviewer, reviewer_kind, by_choice,
        rule_version LIKE '%/adjudication' AS settles, note, created_at,
           coalesce(meaning, '') = 'yes' AND coalesce(difficulty, 'yes') = 'yes'
           AND coalesce(solution_path, 'yes') = 'yes' AS kept
    FROM verdicts v
    WHERE {PAIR_VERDICTS.stands("v")} {{and_reviewer}}),
latest AS (
    SELECT pair_id, reviewer, reviewer_kind, arg_max(kept, created_at) AS kept
    FROM given WHERE NOT settles GROUP BY pair_id, reviewer, reviewer_kind),
counted AS (
    SELECT pair_id, count(*) FILTER (reviewer_kind = 'person') AS n_reviewers,
           count(*) FILTER (reviewer_kind = 'person' AND kept) AS n_kept,
           count(*) FILTER (reviewer_kind = 'model') AS n_models,
           count(*) FILTER (reviewer_kind = 'model' AND kept) AS n_models_kept
    FROM latest GROUP BY pair_id),
drawn AS (SELECT DISTINCT pair_id FROM given WHERE reviewer_kind = 'person' AND NOT settles
    AND NOT by_choice),
settled AS (
    SELECT pair_id, arg_max(kept, created_at) AS kept, arg_max(reviewer, created_at) AS reviewer,
           arg_max(note, created_at) AS why
    FROM given g WHERE settles AND reviewer_kind = 'person'
    AND NOT EXISTS (SELECT 1 FROM latest l WHERE l.pair_id = g.pair_id AND l.reviewer = g.reviewer)
    GROUP BY pair_id),
judged AS (
    SELECT p.pair_id, p.dataset, p.item_id, p.original, p.paraphrase, p.generator,
           coalesce(p.change, 'paraphrase') AS change, coalesce(c.n_reviewers, 0) AS n_reviewers,
           coalesce(c.n_kept, 0) AS n_kept, coalesce(c.n_models, 0) AS n_models,
           coalesce(c.n_models_kept, 0) AS n_models_kept, s.reviewer AS settled_by,
               s.why AS settled_why,
           CASE WHEN s.kept IS NOT NULL THEN if(s.kept, 'accepted', 'rejected')
                WHEN coalesce(c.n_reviewers, 0) = 0 THEN 'unreviewed'
                WHEN 2 * c.n_kept > c.n_reviewers THEN 'accepted' ELSE 'rejected' END AS state
    FROM paraphrases p LEFT JOIN counted c USING (pair_id) LEFT JOIN settled s USING (pair_id)),
standing AS (
    SELECT *, state <> 'unreviewed' AND (pair_id IN (SELECT pair_id FROM drawn)
                                         OR bool_and(state <> 'unreviewed') OVER (PARTITION BY
                                             dataset, generator)) AS in_sample,
           state = 'accepted' AND (settled_by IS NULL OR 2 * n_kept > n_reviewers OR NOT bool_or(
               settled_by IS NULL AND n_kept > 0 AND n_kept < n_reviewers) OVER
                   (PARTITION BY dataset, generator)) AS in_favour
    FROM judged)
"""
PAIR_STATES = _STATES.format(and_reviewer="")
# The same rule without the verdicts of one person.
PAIR_STATES_WITHOUT = _STATES.format(
    and_reviewer="AND ($without IS NULL OR reviewer <> $without OR reviewer_kind <> 'person')"
)

# Value of `paraphrases` in queries -> states that count.
STATES = {
    "accepted": ["accepted"],
    "standing": ["accepted", "unreviewed"],
    "all": ["accepted", "unreviewed", "rejected"],
}
_STATES_SQL = f"WITH {PAIR_STATES} SELECT pair_id, state, change FROM standing"


class CountedPairs:
    """The pairs whose readouts count.

    Paraphrases count in the states of `paraphrases` (a key of STATES). Pairs of other changes, such
    as translations, count only if accepted, unless `any_change` treats them alike. States are the
    present ones, or under a lock those at its time. A pair that is not stored is unreviewed.
    """

    def __init__(
        self,
        rows: Iterable[tuple[str, str, str]],
        scope: Sight,
        paraphrases: str,
        *,
        any_change: bool = False,
    ) -> None:
        counted_states, rows = STATES[paraphrases], list(rows)
        changes = {pair: change for pair, _, change in rows}
        # A lock has its own states, and a pair that is not among them has no state.
        state_of, unknown = scope.verdicts, ""
        if state_of is None:
            state_of, unknown = {pair: state for pair, state, _ in rows}, "unreviewed"
        self._unknown_counts = unknown in counted_states
        self._pairs = {}
        for pair in {*changes, *state_of}:
            state = state_of.get(pair, unknown)
            is_paraphrase = changes.get(pair, "paraphrase") == "paraphrase"
            states = counted_states if any_change or is_paraphrase else STATES["accepted"]
            self._pairs[pair] = state in states

    @classmethod
    def read(
        cls, cursor: DuckDBPyConnection, scope: Sight, paraphrases: str, *, any_change: bool = False
    ) -> "CountedPairs":
        rows = cursor.execute(_STATES_SQL).fetchall()
        return cls(rows, scope, paraphrases, any_change=any_change)

    @classmethod
    def read_both(
        cls, cursor: DuckDBPyConnection, scope: Sight, paraphrases: str
    ) -> tuple["CountedPairs", "CountedPairs"]:
        """Return (pairs with `any_change`, pairs without), from one query."""
        rows = cursor.execute(_STATES_SQL).fetchall()
        return cls(rows, scope, paraphrases, any_change=True), cls(rows, scope, paraphrases)

    def are_counted(self, materials: pa.Array) -> np.ndarray:
        """Return whether readouts of variants with these pair ids count, as an array of bool.
        `materials` has a pair id per variant, or NULL for a variant without a pair, which
        counts."""
        encoded = materials.dictionary_encode()
        pairs = encoded.dictionary.to_pylist()
        is_counted_by_pair = [self._pairs.get(pair, self._unknown_counts) for pair in pairs]
        # A missing pair has the code -1, which picks the True at the end.
        return np.array([*is_counted_by_pair, True])[
            encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        ]


def current_states(store: Store) -> dict[str, str]:
    """Return pair id -> its present state: accepted, rejected or unreviewed."""
    return dict(
        store.rows(f"WITH {PAIR_STATES} SELECT pair_id, state FROM standing ORDER BY pair_id")
    )


def verdict_state(store: Store) -> str:
    """Return a hash of the present states of all pairs; locks of early releases store it."""
    return digest(sorted(current_states(store).items()))
