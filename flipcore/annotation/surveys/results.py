"""What all surveys on two sets say together, of people or of models."""

from collections.abc import Mapping, Sequence

from flipcore.annotation.surveys.sheets import Survey, tally
from flipcore.stats.holdout.survey import OddOneOut, odd_one_out_survey
from flipcore.store.connection import Store
from flipcore.store.queries import holdout

NO_SURVEY = "Not run: no survey on these sets is built. Build one under Survey."
NO_ANSWER = "Not run: no survey on these sets has an answer yet. Send its link under Survey."


def survey_results(store: Store, sets_id: str, is_model: bool = False) -> tuple[OddOneOut | None, str]:
    """(result, how) of all surveys on these sets, people or models, or (None, why there is none)."""
    surveys = [Survey.of_design(row["design"]) for row in holdout.surveys(store, sets_id)]
    tallies = [tally(holdout.answers(store, one.survey_id), is_model) for one in surveys]
    hits = [hit for one in tallies for hit in one.hits]
    out, unread = sum(len(one.left_out) for one in tallies), sum(one.n_unreadable for one in tallies)
    if not hits:
        waiting = NO_ANSWER if surveys else NO_SURVEY
        return None, waiting if not (out or unread) else (
            f"Not run: no usable answers; attention checks left out {out:,} sheets, and {unread:,} replies "
            "named no single text."
        )
    entries = [entry for one in tallies for entry in one.entries]
    people = [name for one in tallies for name in one.annotators]
    result = odd_one_out_survey(hits, entries, people)
    method = result.accuracy.method.replace("_", " ")
    exclusions = f"; {out} annotators left out by attention checks" if out else ""
    return result, (
        f"{'models' if is_model else 'people'}; clustered by entry and annotator ({method}); "
        f"n = {len(hits):,} answers, annotators {result.n_annotators:,}, entries {result.n_entries:,}{exclusions}"
        f"{f'; {unread} replies unreadable' if unread else ''}"
    )


def picks(store: Store, sets_id: str) -> dict[str, tuple[int, int]]:
    """Retro entry -> (answers that named it as the odd one, answers to triples that held it), over all surveys on these sets."""
    counts: dict[str, tuple[int, int]] = {}
    for row in holdout.surveys(store, sets_id):
        survey = Survey.of_design(row["design"])
        one = tally(holdout.answers(store, survey.survey_id), False)
        for entry, hit in zip(one.entries, one.hits, strict=True):
            n_right, n = counts.get(entry, (0, 0))
            counts[entry] = (n_right + int(hit), n + 1)
    return counts


def pick_column(item_ids: Sequence[str], counts: Mapping[str, tuple[int, int]]) -> dict[str, list[str | None]]:
    """A column of a table that says of each entry how many answers named it as the odd one, as `picks` counts them; no column
    where there was no answer."""
    if not counts:
        return {}
    pairs = (counts.get(item_id) for item_id in item_ids)
    return {"picked_in_the_survey": [f"{pair[0]} of {pair[1]}" if pair else None for pair in pairs]}
