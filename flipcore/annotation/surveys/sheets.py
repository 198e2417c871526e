"""The odd-one-out survey (source 002, appendix F): ten labelled entries of each set, then which of three is from the second?

A sheet follows from the survey and the annotator's name, so nobody has to keep it and nobody can choose it. Entries are
drawn without replacement: no entry stands on a sheet twice, and none whose text stands in both sets stands on it at all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.core.records import Item, digest
from flipcore.stats.holdout.entries import entry_text
from flipcore.stats.holdout.survey import OddOneOut, odd_one_out_survey
from flipcore.store.connection import Store
from flipcore.store.queries import holdout

TRIPLE, CHECK = "triple", "check"
SHOWN_AT_ONCE = 3
MISSED_CHECKS = 1  # an annotator with more than this many checks wrong is not counted
_CHECKS = (
    "Please choose this text: the question only checks that you are reading.",
    "Please leave this text alone.",
    "Please pass this text over.",
)


@dataclass(frozen=True)
class Survey:
    """Both sets' entries and how a sheet is drawn from them."""

    name: str
    target_ids: tuple[str, ...]
    retro_ids: tuple[str, ...]
    n_examples: int = 10
    n_triples: int = 10
    n_checks: int = 3
    seed: int = 0

    @property
    def survey_id(self) -> str:
        return digest(asdict(self))[:12]

    def row(self, sets_id: str) -> dict:
        return {"survey_id": self.survey_id, "name": self.name, "sets_id": sets_id, "design": asdict(self)}

    @classmethod
    def of_design(cls, design: Mapping) -> "Survey":
        return cls(**{**design, "target_ids": tuple(design["target_ids"]), "retro_ids": tuple(design["retro_ids"])})


@dataclass(frozen=True)
class Question:
    """Three entries by id, or three sentences of an attention check; `right` is the place of the one to choose."""

    kind: str
    choices: tuple[str, ...]
    right: int

    @property
    def odd(self) -> str | None:
        """The retro entry; None in a check."""
        return self.choices[self.right] if self.kind == TRIPLE else None


@dataclass(frozen=True)
class Sheet:
    """What one annotator sees: labelled examples of both sets, then the questions in order."""

    target_examples: tuple[str, ...]
    retro_examples: tuple[str, ...]
    questions: tuple[Question, ...]


def new_survey(
    name: str,
    target: Sequence[Item],
    retro: Sequence[Item],
    *,
    n_examples: int = 10,
    n_triples: int = 10,
    n_checks: int = 3,
    seed: int = 0,
) -> Survey:
    """A survey over two sets. Raises BadInput with the numbers when a set is too small for one sheet."""
    if min(n_examples, n_triples, n_checks) < 0 or n_triples < 1:
        raise BadInput(
            f"A survey of {n_examples} examples, {n_triples} triples and {n_checks} checks cannot be asked: take at "
            "least one triple, and no number below 0."
        )
    texts = [{entry_text(item) for item in items} for items in (target, retro)]
    both = texts[0] & texts[1]
    target_ids, retro_ids = _distinct(target, both), _distinct(retro, both)
    for name_of, ids, needed in (
        ("target", target_ids, n_examples + 2 * n_triples),
        ("retro", retro_ids, n_examples + n_triples),
    ):
        if len(ids) < needed:
            raise BadInput(
                f"One sheet needs {needed} different {name_of} entries ({n_examples} examples and {n_triples} "
                f"triples) and there are {len(ids)}: ask fewer triples, show fewer examples, or take a larger set."
            )
    return Survey(name.strip() or "Survey", target_ids, retro_ids, n_examples, n_triples, n_checks, seed)


def most_triples(target: Sequence[Item], retro: Sequence[Item], n_examples: int) -> int:
    """How many triples a sheet can hold beside its examples; 0 when none."""
    both = {entry_text(item) for item in target} & {entry_text(item) for item in retro}
    return max(0, min((len(_distinct(target, both)) - n_examples) // 2, len(_distinct(retro, both)) - n_examples))


def _distinct(items: Sequence[Item], both: set[str]) -> tuple[str, ...]:
    """The first id of each text that does not stand in both sets."""
    first: dict[str, str] = {}
    for item in items:
        first.setdefault(entry_text(item), item.item_id)
    return tuple(item_id for text, item_id in first.items() if text not in both)


def sheet(survey: Survey, annotator: str) -> Sheet:
    """The sheet of one annotator, the same on every machine."""
    rng = generator(survey.seed, "sheet", survey.survey_id, annotator)
    target = [survey.target_ids[i] for i in rng.permutation(len(survey.target_ids))]
    retro = [survey.retro_ids[i] for i in rng.permutation(len(survey.retro_ids))]
    e = survey.n_examples
    questions = []
    for i in range(survey.n_triples):
        pair, place = target[e + 2 * i : e + 2 * i + 2], int(rng.integers(SHOWN_AT_ONCE))
        questions.append(Question(TRIPLE, (*pair[:place], retro[e + i], *pair[place:]), place))
    for _ in range(survey.n_checks):
        place = int(rng.integers(SHOWN_AT_ONCE))
        questions.append(Question(CHECK, (*_CHECKS[1 : 1 + place], _CHECKS[0], *_CHECKS[1 + place :]), place))
    order = rng.permutation(len(questions))
    return Sheet(tuple(target[:e]), tuple(retro[:e]), tuple(questions[i] for i in order))


def answer_row(
    survey: Survey, annotator: str, position: int, place: int | None, *, is_model: bool = False, call_id: str | None = None
) -> dict:
    """One answer as a row of `survey_answers`; `place` is 0 to 2, None where a reply could not be read."""
    question = sheet(survey, annotator).questions[position]
    return {
        "survey_id": survey.survey_id,
        "annotator": annotator,
        "is_model": is_model,
        "position": position,
        "kind": question.kind,
        "odd": question.odd,
        "chosen": None if place is None else question.choices[place],
        "is_correct": None if place is None else place == question.right,
        "call_id": call_id,
    }


@dataclass(frozen=True)
class Tally:
    """Answers that count, as columns for `odd_one_out_survey`; who was left out, and how many replies were unreadable."""

    hits: tuple[float, ...]
    entries: tuple[str, ...]
    annotators: tuple[str, ...]
    left_out: tuple[str, ...]
    n_unreadable: int


def tally(answers: Sequence[Mapping], is_model: bool = False) -> Tally:
    """The triples of all people (or models) who missed at most one attention check; rows as `holdout_queries.answers`."""
    rows = [row for row in answers if row["is_model"] == is_model]
    missed: dict[str, int] = {}
    for row in rows:
        if row["kind"] == CHECK:
            missed[row["annotator"]] = missed.get(row["annotator"], 0) + (not row["is_correct"])
    left_out = sorted(name for name, n in missed.items() if n > MISSED_CHECKS)
    triples = [row for row in rows if row["kind"] == TRIPLE and row["annotator"] not in left_out]
    read = [row for row in triples if row["is_correct"] is not None]
    return Tally(
        tuple(float(row["is_correct"]) for row in read),
        tuple(row["odd"] for row in read),
        tuple(row["annotator"] for row in read),
        tuple(left_out),
        len(triples) - len(read),
    )


# What all surveys on two sets say together, of people or of models.


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
