"""Questions about what a reading leaves unexplained.

A reading gives a role to each column that it understands. This module examines the other columns.
It asks about a column without an explanation that could change the score, the number of questions,
or the split into systems and runs. A table with clear names raises no doubt.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import combinations, product
from math import nan, sqrt
from statistics import StatisticsError, correlation

from flipcore.datasets.tables.coding import ERROR_TEXT, Coding, agreement, score_of_cell
from flipcore.datasets.tables.grid import (
    EVEN,
    LEAST_ITEMS,
    crosses,
    is_rater,
    n_with_differing_target,
)
from flipcore.datasets.tables.own_columns import OF_MODEL, bare_path
from flipcore.datasets.tables.profile import Profile
from flipcore.datasets.tables.questions import (
    arm_scores,
    failed_means,
    is_held_by,
    listed_columns,
    mean_of,
    means_by,
    overall,
    score_sql,
)
from flipcore.datasets.tables.roles import LOOKED_AT, OUTPUT, READ_OUT, TARGET, is_overall, part_of
from flipcore.datasets.tables.shape import CONTRASTED, KEY_VALUES, keys_of_outputs
from flipcore.datasets.tables.stems import (
    is_known_word,
    last_part,
    lower_is_better,
    names,
    names_right,
    stems,
    words_of,
)
from flipcore.datasets.tables.table_reading import MATCH, Choice, Question, TableReading
from flipcore.text.counts import count_of

TOLD = 0.95  # least share of rows that are told apart, where no further column is needed
PARTS = 1.2  # least factor of combinations by which a column divides the rows of a question
MAX_VALUES = 60  # values of a column that may be a system or a setting
MOVED = 0.005  # least difference of two scores that is worth a question
RELATED = 0.5  # least correlation with right and wrong of a column that may be the score
DIFFERENT = 3.0  # standard errors between two runs, above which they are no reruns
NEARLY = 0.98
LESSER = {"exact", "em", "precision", "recall"}  # right and wrong that say less than a judge's
FAR = 0.05  # least difference of two shares of right answers that are two scores
SURPRISING = 20  # rows; in so many, it is surprising if none or all are right
HALF = 0.5
FEW = 0.05  # most of the rows with equal long texts that are no proof that these are compared
LONG = 20  # characters; a longer output repeats its right answer only if one is a copy
MAX_LOOKED_AT = 40  # columns
POOLED = 0.9  # most combinations per row, where rows of one combination need an explanation
UNEVEN = 0.8  # least rows per question, system and run, below which systems may be none
MANY_ARMS = 8  # systems; so few may have questions of their own
MAX_CLASSES = 7  # right answers of a classification, such as moods
MAX_ARMS, EQUAL = 12, 0.8  # values of a column, and rows of its rarest per rows of its commonest


def find_doubts(table_profile: Profile, reading: TableReading) -> list[Question]:
    """List questions about columns that nothing explains and that could change a number."""
    if not (reading.roles.graders or reading.roles.output):
        return []  # no score is claimed about such a table
    questions = [
        _doubt_shape(table_profile, reading)
        or _doubt_keys(table_profile, reading)
        or _doubt_outputs(table_profile, reading)
        or _doubt_graders(reading),
        _doubt_match(table_profile, reading)
        or _doubt_verdicts(table_profile, reading)
        or _doubt_lead(table_profile, reading)
        or _doubt_labels(table_profile, reading)
        or _doubt_count(table_profile, reading)
        or _doubt_places(table_profile, reading)
        or _doubt_score(table_profile, reading),
        _doubt_target(table_profile, reading) or _doubt_differing_target(table_profile, reading),
        _doubt_direction(table_profile, reading),
        _doubt_failed(table_profile, reading),
        _doubt_means(table_profile, reading)
        or _doubt_unmatched(table_profile, reading)
        or _doubt_item(table_profile, reading)
        or _doubt_pooled(table_profile, reading)
        or _doubt_reruns(table_profile, reading)
        or _doubt_repeats(table_profile, reading)
        or _doubt_runs(table_profile, reading)
        or _doubt_sparse(table_profile, reading)
        or _doubt_design(table_profile, reading)
        or _doubt_arms(table_profile, reading)
        or _doubt_id(table_profile, reading),
    ]
    return [question for question in questions if question]


# Doubts about the columns of the output, the right answer and the score.


def _doubt_shape(table_profile: Profile, reading: TableReading) -> Question | None:
    """Ask about columns that were read as systems but hold no output, and about uneven lists."""
    shape, table = reading.shape, table_profile.table
    if shape.models and not reading.roles.output:
        texts = [name for name in reading.unused if table_profile[name].is_text]
        has_texts = any(_differs_within_row(table_profile, name) for name in texts)
        n_named = sum(names(model, "model") for model in shape.models)
        if has_texts or shape.is_plain or n_named > 1 or n_named == len(shape.models):
            return None
        by_model = arm_scores(table_profile, reading, OF_MODEL)
        return _ask_columns(reading, "none of them holds an output", f"systems{by_model}")
    lead = next(iter(reading.roles.graders), "") if shape.models else ""
    if lead and not _differs_within_row(table_profile, lead):
        is_label = lead in reading.roles.people
        return _ask_columns(
            reading,
            f"{lead} holds one {'label' if is_label else 'score'} for all of them",
            f"systems, and {lead} is no score of theirs",
            more_words=("people=",) if is_label else ("score=",),
        )
    is_shared = bool(shape.models) and reading.roles.output not in reading.made_from
    if is_shared and not _differs_within_row(table_profile, reading.roles.output):
        by_model = arm_scores(table_profile, reading, OF_MODEL)
        return _ask_columns(
            reading,
            f"{reading.roles.output} holds one output for all of them",
            f"systems with the same output in every row{by_model}",
        )
    if not shape.lists:
        return None
    lists_of: dict[str, dict[str, str]] = {}
    for name in shape.lists:
        stem, _, last = _name_parts(name)
        if stem and names(last, "output") and name not in reading.roles.graders:
            lists_of.setdefault(last, {})[stem] = name
    for by_stem in lists_of.values():
        if len(by_stem) > 1:
            return Question(
                "outputs",
                f"{', '.join(by_stem.values())} hold lists of outputs each.",
                Choice(
                    f"They are of {len(by_stem)} systems; each has a score of its own.",
                    (f"model_columns={','.join(by_stem)}",),
                ),
                Choice(
                    f"They are of one system; {reading.roles.output} is the output.",
                    (f"sample_columns={','.join(shape.lists)}",),
                    overall(reading),
                ),
            )
    output = reading.roles.output
    has_own_output = bool(output) and not _differs_within_row(table_profile, output)
    if has_own_output and not set(reading.roles.graders) & set(shape.lists):
        return _ask_lists(
            reading, f"{output} holds one output beside the list in {shape.lists[0]}."
        )
    entries = f"SELECT count(*) AS n FROM {table.relation} GROUP BY {table.place}"
    n_by_length = dict(table.rows(f"SELECT n, count(*) FROM ({entries}) GROUP BY n"))
    if max(n_by_length.values()) >= EVEN * sum(n_by_length.values()):
        return None
    least, most = min(n_by_length), max(n_by_length)
    return _ask_lists(reading, f"{shape.lists[0]} holds lists of {least} to {most} entries.")


def _ask_columns(
    reading: TableReading, seen: str, systems: str, more_words: tuple[str, ...] = ()
) -> Question:
    """Ask whether the columns of a wide table belong to systems.

    It is likely where each has a score alone, and less so where all share an output or a label.
    """
    models = reading.shape.models
    none = Choice("They are no systems.", ("model_columns=",))
    some = Choice(
        f"They are {len(models)} {systems}.", (f"model_columns={','.join(models)}", *more_words)
    )
    first, second = (none, some) if reading.roles.output else (some, none)
    return Question(
        "systems", f"Columns are called after {listed_columns(models)}, and {seen}.", first, second
    )


def _ask_lists(reading: TableReading, seen: str) -> Question:
    """Ask whether the entries of lists are runs."""
    return Question(
        "samples",
        seen,
        Choice(
            "Each entry is another run of its row.",
            (f"sample_columns={','.join(reading.shape.lists)}",),
        ),
        Choice("The entries are no runs.", ("sample_columns=",)),
    )


def _doubt_keys(table_profile: Profile, reading: TableReading) -> Question | None:
    """Ask whether keys are systems where one object has their outputs and another their scores."""
    scores = {} if reading.shape else keys_of_outputs(table_profile)
    return _ask_systems(reading, scores) if scores else None


def _doubt_graders(reading: TableReading) -> Question | None:
    """Ask whether scores such as agent_correct and base_correct are of systems or by graders."""
    roles = reading.roles
    if reading.shape:
        return None
    stages: dict[str, dict[str, str]] = {}
    for name in roles.graders:
        beginning, _, last = _name_parts(name)
        if last in CONTRASTED:  # score_before and score_after
            stages.setdefault(beginning, {})[last] = name
    for members in stages.values():
        if len(members) > 1:
            return _ask_systems(reading, members)
    if roles.output:
        return None
    for name in roles.graders:
        words = words_of(name)
        beginning_words = words[:-1] if words and names(words[-1], "score") else ("",)
        if all(names(word, "filler") for word in beginning_words):
            return None  # beside an overall score the other scores are aspects
    families: dict[str, dict[str, str]] = {}
    for name in roles.graders:
        beginning, sign, last = _name_parts(name)
        unknown_words = [
            word for word in words_of(beginning) if not is_known_word(word) or names(word, "model")
        ]
        if sign and unknown_words and "," not in name:
            families.setdefault(last, {})[beginning] = name
    for last, members in families.items():
        if len(members) > 1 and (names(last, "score") or names(last, "grade")):
            return _ask_systems(reading, members)
    return None


def _ask_systems(reading: TableReading, members: Mapping[str, str]) -> Question:
    """Ask whether scores are of several systems; `members` are the scores by system."""
    listed = list(members.values())
    values = [value for (_, grader), value in reading.scores.items() if grader == listed[0]]
    return Question(
        "systems",
        f"{', '.join(listed[:3])}{' …' if len(listed) > 3 else ''} are scores of one kind.",
        Choice(
            f"They are of {len(members)} systems; each has a score of its own.",
            (f"model_columns={','.join(members)}",),
        ),
        Choice(
            f"They grade one system; {listed[0]} leads.",
            (f"score={','.join(reading.roles.graders)}",),
            values[0] if values else nan,
        ),
    )


def _name_parts(name: str) -> tuple[str, str, str]:
    """Split a column's name into beginning, separator and last word: ("agent", "_", "correct")."""
    matched = re.fullmatch(r"(.+)([_ .:-])([A-Za-z]+)", name)
    return (matched[1], matched[2], matched[3].lower()) if matched else ("", "", name)


def _differs_within_row(table_profile: Profile, name: str) -> bool:
    """Tell whether the systems of one row have different texts in a column."""
    table = table_profile.table
    groups = f"SELECT count(DISTINCT {table.sql(name)}) AS n FROM {table.relation}"
    return bool(table.rows(f"SELECT max(n) > 1 FROM ({groups} GROUP BY {table.place})")[0][0])


def _doubt_outputs(table_profile: Profile, reading: TableReading) -> Question | None:
    """Ask whether outputs in one row, none of which contains another, are of several systems."""
    output = reading.roles.output
    if output and not reading.shape and _is_measured(table_profile, reading):
        return Question(
            "outputs",
            f"{output} holds numbers, and no column has right answers.",
            Choice("It is no output.", ("text=",)),
            Choice("It is the output.", (f"text={output}",), overall(reading)),
        )
    if not output or reading.shape:
        return None
    labels = _labels_of_systems(table_profile, reading)
    if labels:
        listed = ",".join(labels)
        return Question(
            "outputs",
            f"{listed_columns(labels)} hold values of {reading.roles.target}.",
            Choice(f"They are answers of {len(labels)} systems.", (f"model_columns={listed}",)),
            Choice(f"All were read out of the output of one; {output} leads.", (f"text={output}",)),
        )
    if names(output, "readout"):
        return None
    other_outputs = []
    for name in reading.roles.readouts:
        column = table_profile[name]
        is_whole = column.is_text and not names(name, "readout") and part_of(name) == OUTPUT
        if not is_whole or not table_profile[output].is_text or column.is_list:
            continue
        if is_held_by(table_profile, name, output) or is_held_by(table_profile, output, name):
            continue
        other_outputs.append(name)
    if not other_outputs:
        return None
    listed, n = ",".join([output, *other_outputs]), 1 + len(other_outputs)
    unused = f"{', '.join(other_outputs)} {'is' if len(other_outputs) == 1 else 'are'} not used"
    return Question(
        "outputs",
        f"Each row holds {'two' if n == 2 else n} outputs,"
        f" {', '.join([output, *other_outputs[:-1]])} and {other_outputs[-1]}.",
        Choice(
            f"They are of {'two' if n == 2 else n} systems; each has a score of its own.",
            (f"model_columns={listed}",),
        ),
        Choice(f"{output} is the output; {unused}.", (f"text={output}",)),
    )


def _labels_of_systems(table_profile: Profile, reading: TableReading) -> list[str]:
    """Return the output and further columns of answers in few words, where no column holds the text
    that they would have been read out of; [] for none."""
    roles = reading.roles
    labels = [roles.output, *roles.readouts]
    if not roles.target or len(labels) < 2:
        return []
    # pred_clean beside pred_adv answers another text, and was not read otherwise
    are_attacked = any(_ATTACKED & set(words_of(name)) for name in labels)
    for name in labels:
        column = table_profile[name]
        is_read = bool(set(words_of(name)) & READ_OUT) and not are_attacked
        if is_read or column.is_text or column.is_list or column.is_verdict:
            return []
        if table_profile.share_in(name, roles.target) < KEY_VALUES:
            return []
    pairs = combinations(labels, 2)
    are_same = any(table_profile.share_equal(*pair) >= NEARLY for pair in pairs)
    return [] if are_same else labels


_ATTACKED = frozenset("adv adversarial attacked noisy corrupted perturbed typo typos".split())


def _is_measured(table_profile: Profile, reading: TableReading) -> bool:
    """Tell whether the output may be one more score: fractions beside scores, without a key."""
    roles, column = reading.roles, table_profile[reading.roles.output]
    is_fraction = column.is_numeric and not column.is_integer
    return is_fraction and bool(roles.graders) and not (roles.target or roles.prompts)


def _doubt_match(table_profile: Profile, reading: TableReading) -> Question | None:
    """Ask whether the output is to be compared with the right answer, if all or no rows agree."""
    roles, n_rows = reading.roles, table_profile.n_rows
    values = [value for (_, grader), value in reading.scores.items() if grader == MATCH]
    is_graded = bool(roles.scores or roles.judges)
    # letters of options are compared with their texts where rows become records
    has_options = bool(roles.options) or (
        bool(roles.target) and table_profile[roles.target].is_letter
    )
    if not values or is_graded or has_options:
        return None
    share = sum(values) / len(values)
    compared = Choice(
        f"{roles.output} is the output and {roles.target} the right answer.",
        (f"text={roles.output}", f"target={roles.target}"),
        share,
    )
    not_compared = Choice(f"{roles.target} is not compared with the output.", ("target=",))
    if doubt := _comparison_doubt(table_profile, reading):
        return Question("match", doubt, compared, not_compared)
    if n_rows < SURPRISING:
        return None
    # of long texts, a few that agree are short answers among them
    is_long_text = reading.coding is Coding.LONG_TEXT or table_profile[roles.output].is_text
    is_rare = share == 0 or (is_long_text and share < FEW)
    # short right answers among long ones are compared, and the long ones are not
    is_rare |= reading.coding is Coding.LONG_TEXT and share < HALF
    is_long = share > NEARLY and table_profile[roles.output].mean_length > LONG
    is_copy = is_long and table_profile.share_equal(roles.output, roles.target) > NEARLY
    # all letters or numbers may be wrong; texts that never agree were not meant to be compared
    texts = (Coding.TEXT, Coding.CONTAINED, Coding.LABEL, Coding.LONG_TEXT)
    is_text = reading.coding in texts
    is_number = reading.coding is Coding.NUMBER and _holds_numbers(table_profile, roles.output)
    if not (is_copy or (is_rare and (is_text or is_number))):
        return None
    how_many = "nearly every row" if is_copy else "hardly any row" if share else "no row"
    if FEW <= share <= HALF:
        how_many = f"{share:.0%} of the rows"
    score_column = next(iter(_like_scores(table_profile, reading)), "")
    second = _score_choice(table_profile, score_column) if score_column else not_compared
    return Question(
        "match",
        f"{roles.output} and {roles.target} hold the same answer in {how_many}.",
        compared,
        second,
    )


def _comparison_doubt(table_profile: Profile, reading: TableReading) -> str:
    """Say why outputs are not plainly compared with right answers; "" if they are.

    Some repeat the right answer, and clearly more contain it. Or texts stand beside 0 and 1, which
    may be a mark of theirs.
    """
    roles, n_rows = reading.roles, table_profile.n_rows
    shares = {agreed.coding: agreed.share for agreed in roles.agreements}
    if {Coding.TEXT, Coding.CONTAINED} <= shares.keys():
        equal, contained = shares[Coding.TEXT], shares[Coding.CONTAINED]
        mean = (equal + contained) / 2
        if equal > 0 and contained - equal > 2 * sqrt(mean * (1 - mean) / n_rows):
            return (
                f"{roles.output} repeats {roles.target} word for word in {equal:.0%} of the rows, "
                f"and contains it in {contained:.0%}."
            )
    target = table_profile[roles.target]
    is_mark = target.is_verdict and target.is_integer and table_profile[roles.output].is_text
    if is_mark and max(shares.values(), default=0.0) < HALF:  # texts that answer 0 or 1 hold it
        return (
            f"{roles.target} holds 0 and 1, and {roles.output} texts, from which a number is read."
        )
    return ""


def _doubt_verdicts(table_profile: Profile, reading: TableReading) -> Question | None:
    """Ask whether yes and no are answers of systems, where the right answer is yes or no too."""
    roles = reading.roles
    lead = _lead(reading)
    if not (lead and roles.target) or roles.output or reading.shape:
        return None
    if names_right(lead):
        return None
    if not (table_profile[lead].is_verdict and table_profile[roles.target].is_verdict):
        return None
    answers = [name for name in reading.unused if table_profile[name].is_verdict]
    answers = [name for name in (*roles.scores, *answers) if "," not in name]
    listed = ",".join(answers)
    words = (f"text={lead}", "score=") if len(answers) == 1 else (f"model_columns={listed}",)
    are = "It is an answer" if len(answers) == 1 else f"They are answers of {len(answers)} systems"
    return Question(
        "match",
        f"{listed_columns(answers)} and {roles.target} hold right "
        "and wrong, and no column holds an output.",
        Choice(f"{are}, compared with {roles.target}.", words),
        Choice(f"{lead} is the score.", (f"score={lead}", "target="), mean_of(table_profile, lead)),
    )


def _score_choice(table_profile: Profile, name: str) -> Choice:
    """Return the choice that a column is the score."""
    return Choice(f"{name} is the score.", (f"score={name}",), mean_of(table_profile, name))


def _holds_numbers(table_profile: Profile, name: str) -> bool:
    """Tell whether most texts of a column hold a digit."""
    sql, relation = table_profile.table.sql(name), table_profile.table.relation
    query = f"SELECT avg(regexp_matches({sql}, '\\d')::INT) FROM {relation}"
    return float(table_profile.table.rows(query)[0][0] or 0) > 0.5


def _doubt_lead(table_profile: Profile, reading: TableReading) -> Question | None:
    """Ask whether another column should lead the scores: an overall score, or right and wrong."""
    lead = _lead(reading)
    reason, better = _better_score(table_profile, reading) if lead else ("", "")
    if not better:
        return None
    return Question(
        "score",
        f"{lead} leads the scores; {reason}.",
        _score_choice(table_profile, better),
        Choice(f"{lead} leads.", (f"score={','.join(reading.roles.graders)}",), overall(reading)),
    )


def _better_score(table_profile: Profile, reading: TableReading) -> tuple[str, str]:
    """Return why another column may be a better score, and that column; ("", "") for none."""
    lead, scores = _lead(reading), (*reading.roles.scores, *reading.roles.judges)
    column = table_profile[lead]
    overall_names = [name for name in reading.unused if _is_overall(table_profile, name)]
    if not overall_names and not _is_plain_score(table_profile, lead):
        overall_names = [name for name in reading.unused if _is_plain_score(table_profile, name)]
    if overall_names and not (column.is_verdict or names(lead, "filler")):
        return f"{overall_names[0]} may be the score of them all", overall_names[0]
    label = next(iter(reading.roles.people), "")
    is_label = bool(label) and table_profile[label].is_verdict and (column.most or 0) > 1
    for name in scores if is_label else ():
        if table_profile[name].is_verdict:
            return f"{name} holds right and wrong, as people's labels in {label} do", name
    words = words_of(last_part(lead))
    if column.is_verdict and column.n_distinct > 1 and not all(map(is_known_word, words)):
        share = mean_of(table_profile, lead)
        for name in scores[1:]:
            is_lesser = lower_is_better(name) or bool(set(words_of(name)) & LESSER)
            # agent_correct beside base_correct, or scores.base beside scores.tuned
            is_of_kind = words_of(name)[-1:] == words[-1:] or names(last_part(name), "condition")
            if is_lesser or is_of_kind or not table_profile[name].is_verdict:
                continue
            if abs(mean_of(table_profile, name) - share) >= FAR:
                return f"{name} holds right and wrong too", name
    is_constant = column.n_distinct == 1
    if is_constant or lower_is_better(lead):
        reason = "is the same in all rows" if is_constant else "is called after something bad"
        for name in _like_scores(table_profile, reading):
            is_good = not is_constant or names(last_part(name), "good")
            if table_profile[name].is_verdict and is_good and not lower_is_better(name):
                return f"it {reason}, and {name} holds right and wrong too", name
    return "", ""


def _lead(reading: TableReading) -> str:
    """Return the score that leads; "" for none."""
    return next(iter((*reading.roles.scores, *reading.roles.judges)), "")


def _doubt_labels(table_profile: Profile, reading: TableReading) -> Question | None:
    """Ask whether labels are the score, or a number beside them."""
    roles, lead = reading.roles, _lead(reading)
    if lead and _is_beside_labels(table_profile, reading, lead):
        values = [value for (_, grader), value in reading.scores.items() if grader == MATCH]
        return Question(
            "score",
            f"{roles.output} and {roles.target} hold labels, and {lead} numbers from "
            f"{table_profile[lead].least:g} to {table_profile[lead].most:g}.",
            Choice("The labels are compared.", ("score=",), sum(values) / len(values)),
            _score_choice(table_profile, lead),
        )
    if lead and not roles.output and _is_verdict_in_words(table_profile, roles.target, lead):
        return Question(
            "score",
            f"No column holds an output, and {roles.target} holds "
            f"{', '.join(table_profile[roles.target].values[:3])}: right answers, or a verdict.",
            Choice(
                f"{roles.target} is a verdict: nothing is read until it is right, wrong or a "
                "number.",
                ("score=",),
            ),
            _score_choice(table_profile, lead),
        )
    return None


def _doubt_count(table_profile: Profile, reading: TableReading) -> Question | None:
    """Ask about a score that is at most another column: the number of all, or the most points."""
    scores = (*reading.roles.scores, *reading.roles.judges)
    for total in (*reading.unused, *scores):
        score = next((name for name in scores if name != total), "")
        if scores[:1] != (score,) and scores[:2] != (total, score):
            continue  # the score that leads, or would lead but for its most points
        if _is_bound(table_profile, total, score):
            return Question(
                "score",
                f"{score} is at most {total} in every row.",
                Choice(
                    "The score is the share: nothing is read until a column holds it.", ("score=",)
                ),
                _score_choice(table_profile, score),
            )
    return None


def _doubt_places(table_profile: Profile, reading: TableReading) -> Question | None:
    """Ask whether numbers under a name such as qa_correct are grades, or the right options."""
    name = _lead(reading)
    if not name or reading.roles.target or reading.shape:
        return None
    column, words = table_profile[name], words_of(last_part(name))
    is_count = bool({"n", "num", "number", "count", "total"} & set(words))
    if words[-1:] != ("correct",) or is_count or not column.is_integer or column.n_distinct < 3:
        return None
    return Question(
        "match",
        f"{name} leads the scores and holds whole numbers from {column.least:g} to "
        f"{column.most:g}.",
        Choice("They are grades.", (f"score={name}",), mean_of(table_profile, name)),
        Choice("They are right answers, and no scores.", (f"target={name}", "score=")),
    )


def _is_bound(table_profile: Profile, total: str, score: str) -> bool:
    """Tell whether a column says in each row how much a score counts or could be at most."""
    column = table_profile[total]
    if not score or not column.is_integer or (column.least or 0) < 1:
        return False
    subject = _counted(score)
    is_count = bool(subject) and table_profile[score].is_integer and _counted(total) == subject
    is_most = bool({"max", "maximum", "possible"} & set(words_of(last_part(total))))
    if table_profile[score].is_verdict or not (is_count or (is_most and column.n_distinct > 1)):
        return False
    sql = table_profile.table.sql
    query = (
        f"SELECT max(TRY_CAST({sql(score)} AS DOUBLE) - TRY_CAST({sql(total)} AS DOUBLE)) "
        f"FROM {table_profile.table.relation}"
    )
    return (table_profile.table.rows(query)[0][0] or 0) <= 0


def _counted(name: str) -> frozenset[str]:
    """Return what a column counts by its name: tests of tests_passed and of n_tests."""
    words = set(words_of(last_part(name))) - {"n", "num", "number", "count", "total", "all"}
    return frozenset(word for word in words if not names(word, "score"))


def _is_beside_labels(table_profile: Profile, reading: TableReading, lead: str) -> bool:
    """Tell whether the leading score is a scale, while outputs and right answers are labels.

    A score by its plain name grades labels, unless they are a few classes: then it may be what is
    classified, such as the stars of a review.
    """
    kinds = ("score", "filler", "judge")
    is_plain = all(any(names(word, kind) for kind in kinds) for word in words_of(last_part(lead)))
    is_compared = any(grader == MATCH for _, grader in reading.scores)
    column, is_label = table_profile[lead], reading.coding in (Coding.LABEL, Coding.LETTER)
    if not (is_compared and is_label) or column.is_verdict or (column.most or 0) <= 1:
        return False
    return not is_plain or table_profile[reading.roles.target].n_distinct <= MAX_CLASSES


def _is_verdict_in_words(table_profile: Profile, target: str, lead: str) -> bool:
    """Tell whether a right answer that nothing is compared with may be a verdict in few words."""
    if not target or table_profile[lead].is_verdict:
        return False
    column = table_profile[target]
    kinds = (column.is_numeric, column.is_letter, column.is_verdict, column.is_list, column.is_text)
    return not any(kinds) and 2 <= column.n_distinct <= MAX_ARMS


def _is_overall(table_profile: Profile, name: str) -> bool:
    """Tell whether numbers are called overall, total or composite, and nothing else."""
    column = table_profile[name]
    return is_overall(name) and column.is_numeric and column.n_distinct > 1 and not column.is_list


def _is_plain_score(table_profile: Profile, name: str) -> bool:
    """Tell whether numbers are called Score or Accuracy, and nothing else."""
    column, words = table_profile[name], words_of(last_part(name))
    is_number = column.is_numeric and not column.is_list
    return is_number and bool(words) and all(names(word, "score") for word in words)


def _like_scores(table_profile: Profile, reading: TableReading) -> list[str]:
    """Return the unused columns that hold right and wrong, or numbers from 0 to 1."""
    score_columns = []
    for name in dict.fromkeys((*reading.roles.unnamed_scores, *reading.unused)):
        column, last = table_profile[name], last_part(name)
        is_other = any(names(last, kind) for kind in ("about", "error", "id", "run"))
        is_unit = column.is_numeric and column.is_unit
        if column.n_distinct > 1 and not is_other and (column.is_verdict or is_unit):
            score_columns.append(name)
    return score_columns[:MAX_LOOKED_AT]


def _doubt_score(table_profile: Profile, reading: TableReading) -> Question | None:
    """Ask whether a column that correlates with the comparison of outputs is the score."""
    roles = reading.roles
    is_compared = any(grader == MATCH for _, grader in reading.scores)
    if roles.graders or not is_compared or not table_profile.table.is_whole:
        return None
    candidates = _like_scores(table_profile, reading)
    columns = dict.fromkeys((*candidates, roles.output, roles.target, *roles.options))
    rows = table_profile.table.frame(list(columns), most=LOOKED_AT) if candidates else []
    coding = reading.coding or Coding.TEXT
    right = [
        agreement(coding, [row], roles.output, roles.target, roles.options).n_right for row in rows
    ]
    for name in candidates:
        pairs = []
        for row, is_right in zip(rows, right, strict=True):
            value = score_of_cell(row[name])
            if value is not None:
                pairs.append((float(is_right), value))
        if _correlation(pairs) < RELATED:
            continue
        share, mean = overall(reading), mean_of(table_profile, name)
        if abs(share - mean) < MOVED:
            continue  # the answer would not change the score
        return Question(
            "score",
            f"{name} says nearly what a comparison of {roles.output} with {roles.target} says.",
            _score_choice(table_profile, name),
            Choice("The comparison is the score.", ("score=",), share),
        )
    return None


def _correlation(pairs: Sequence[tuple[float, float]]) -> float:
    """Return Pearson's correlation; 0 for fewer than LEAST_ITEMS pairs or constant values."""
    if len(pairs) < LEAST_ITEMS:
        return 0.0
    try:
        return correlation(*zip(*pairs, strict=True))
    except StatisticsError:  # constant values
        return 0.0


def _doubt_target(table_profile: Profile, reading: TableReading) -> Question | None:
    """Ask which of two columns called like the right answer is right, if their scores differ."""
    roles = reading.roles
    shares = [value for (_, grader), value in reading.scores.items() if grader == MATCH]
    if not shares or roles.scores or roles.judges or reading.shape or not reading.coding:
        return None
    target_words = set(words_of(roles.target))
    for name in reading.unused:
        if part_of(name) != TARGET and not set(words_of(name)) > target_words:
            continue  # label_new beside label
        rows = table_profile.table.frame(
            [roles.output, roles.target, name, *roles.options], most=LOOKED_AT
        )
        rows = [row for row in rows if row[name] is not None]
        first, second = (
            agreement(reading.coding, rows, roles.output, target, roles.options)
            for target in (roles.target, name)
        )
        if second.n_right and second.n >= LEAST_ITEMS and abs(first.share - second.share) >= 0.02:
            return Question(
                "target",
                f"{roles.target} and {name} are both called like a right answer, and differ.",
                Choice(f"{roles.target} is right.", (f"target={roles.target}",), first.share),
                Choice(f"{name} is right.", (f"target={name}",), second.share),
            )
    return None


def _doubt_differing_target(table_profile: Profile, reading: TableReading) -> Question | None:
    """Ask about a right answer that differs between rows of one question, without any score."""
    roles, grid = reading.roles, reading.grid
    n_differing = n_with_differing_target(table_profile, roles, grid)
    if not n_differing or roles.graders:
        return None
    items = ",".join(grid.items)
    n_parted = table_profile.n_distinct([*grid.items, roles.target])
    return Question(
        "target",
        f"{roles.target} differs between the rows of {count_of(n_differing, 'question')}.",
        Choice(
            f"{n_parted:,} questions, told apart by {items} and {roles.target}.",
            (f"item={items},{roles.target}",),
            overall(reading),
        ),
        Choice("It is no right answer: nothing is compared with it.", ("target=",)),
    )


def _doubt_direction(table_profile: Profile, reading: TableReading) -> Question | None:
    """Ask whether more is better, if the name of the leading score does not say so."""
    name = _lead(reading)
    if not name or lower_is_better(name) or reading.grid.scorer:
        return None  # the scorer's name says what a score is, not that of the column
    column, last = table_profile[name], last_part(name)
    if column.n_distinct < 2:
        are_failed = _doubt_failed(table_profile, reading) is not None
        return None if are_failed else _doubt_zeros(table_profile, name)
    if "[" in name or len(last) > 60:
        return None
    words = words_of(last)
    is_plain = all(is_known_word(word) or word in CONTRASTED for word in words)
    if column.is_verdict:
        is_plain |= names_right(last) or "_".join(words) in stems("score").words
    else:
        is_bad = any(names(word, "lower") for word in words)
        is_bad &= not any(names(word, "negation") for word in words)
        is_named = any(names(word, "score") and not names(word, "grade") for word in words)
        is_named |= "_".join(words) in stems("score").words  # chrF
        is_plain = (is_plain or is_named) and not is_bad
    if is_plain:
        return None
    mean = mean_of(table_profile, name)
    span = f"from {column.least:g} to {column.most:g}" if column.least is not None else "in words"
    return Question(
        "direction",
        f"{name} leads the scores ({span}, mean {mean:.3g}); its name does not say which end is "
        "good.",
        Choice("More is better.", ("lower=",)),
        Choice("Less is better.", (f"lower={name}",)),
    )


def _doubt_zeros(table_profile: Profile, name: str) -> Question | None:
    """Ask about a score that is 0 in every row: it may mark faults, or say that a check failed."""
    column = table_profile[name]
    is_zero = column.is_verdict and column.is_filled and mean_of(table_profile, name) == 0
    # that no answer equals the right one word for word surprises nobody
    is_lesser = bool(set(words_of(last_part(name))) & LESSER)
    if not is_zero or is_lesser or table_profile.n_rows < SURPRISING:
        return None
    seen = f"{name} leads the scores and is 0 in every row."
    if names_right(last_part(name)):
        none_right = Choice("Nothing is right.", (f"score={name}",), 0.0)
        return Question("score", seen, none_right, Choice("It is no score.", ("score=",)))
    return Question(
        "direction",
        seen,
        Choice("1 is good, and nothing is right.", ("reverse=",), 0.0),
        Choice("1 marks a fault, and there is none.", (f"reverse={bare_path(name)}",), 1.0),
    )


def _doubt_failed(table_profile: Profile, reading: TableReading) -> Question | None:
    """Ask whether calls count whose outputs say why they failed, if that moves the score."""
    roles, table = reading.roles, table_profile.table
    lead = _lead(reading)
    if not (roles.output and lead):
        return None
    has_failed = f"regexp_matches({table.sql(roles.output)}, '{ERROR_TEXT}')"
    is_graded = f"{score_sql(table.sql(lead))} IS NOT NULL"
    n_failed, mean, mean_without = failed_means(table_profile, lead, has_failed, is_graded)
    if not n_failed or mean is None:
        return None
    if mean_without is not None and abs(mean - mean_without) < MOVED:
        return None
    return Question(
        "failed calls",
        f"{count_of(n_failed, 'output')} of {table_profile.n_rows:,} "
        f"{'says' if n_failed == 1 else 'say'} that the call failed, and {lead} grades them.",
        Choice(
            "Failed calls are left out.",
            ("failed=out",),
            nan if mean_without is None else float(mean_without),
        ),
        Choice("Failed calls count as they are graded.", ("failed=wrong",), float(mean)),
    )


# Doubts about what a question is, and what its rows are.


def _doubt_means(table_profile: Profile, reading: TableReading) -> Question | None:
    """Ask whether fractions per row are scores of questions, or means of systems."""
    roles, grid = reading.roles, reading.grid
    is_bare = not (roles.output or roles.prompts or roles.readouts or roles.people)
    if not is_bare or len(grid.items) != 1 or reading.n_items < table_profile.n_rows:
        return None
    name, graders = grid.items[0], roles.graders
    last = last_part(name)
    columns = [table_profile[grader] for grader in graders]
    are_means = all(column.is_numeric and not column.is_integer for column in columns)
    is_id = names(last, "id") or names(last, "prompt") or table_profile[name].is_integer
    if not graders or not are_means or is_id:
        return None
    return Question(
        "rows",
        f"Each row holds {' and '.join(graders[:2])} of one {name}, and no output.",
        Choice(f"Each {name} is a question.", (f"item={name}",), overall(reading)),
        Choice(f"Each {name} is a system, and its scores are means over questions.", ("score=",)),
    )


def _doubt_item(table_profile: Profile, reading: TableReading) -> Question | None:
    """Ask whether an id with several texts is one question, or whether each text is one."""
    grid, prompts = reading.grid, reading.roles.prompts
    if not grid.items or not prompts or grid.open_item[1] or grid.variants or reading.shape:
        return None
    prompt = prompts[0]
    cell = [*grid.items, *grid.conditions]
    n_cells, n_with_prompt = (table_profile.n_distinct(key) for key in (cell, [*cell, prompt]))
    if set(grid.items) & {*prompts, *grid.content} or n_with_prompt < PARTS * n_cells:
        return None
    listed, n_items = ",".join(grid.items), reading.n_items
    n_parted = table_profile.n_distinct([*grid.items, prompt])
    score = overall(reading)
    return Question(
        "item",
        f"{listed} has {n_items:,} values, and {prompt} differs within them.",
        Choice(
            f"{n_parted:,} questions, told apart by {listed} and {prompt}.",
            (f"item={listed},{prompt}",),
            score,
        ),
        Choice(f"{n_items:,} questions, asked in several ways.", (f"item={listed}",), score),
    )


def _doubt_pooled(table_profile: Profile, reading: TableReading) -> Question | None:
    """Ask about rows of one question that nothing tells apart, or only a column without a role."""
    grid, n_rows = reading.grid, table_profile.n_rows
    if not grid.items or grid.open_condition or grid.open_item[1] or grid.regrade:
        return None
    n_cells = table_profile.n_distinct(grid.row_key)
    if n_cells >= TOLD * n_rows:
        return None
    best, most = "", PARTS * n_cells
    for name in reading.unused[:MAX_LOOKED_AT]:
        if not _is_level(table_profile, name):
            continue
        n_parted = table_profile.n_distinct([*grid.row_key, name])
        is_key = n_parted >= TOLD * n_rows and not _is_outcome(name)
        if n_parted > most and (is_key or crosses(table_profile, grid.row_key, name)):
            best, most = name, n_parted
    if best:
        return _ask_arms(table_profile, reading, best)
    if grid.is_rerun or grid.run or n_cells >= POOLED * n_rows:
        return None
    items, score = ",".join(grid.items), overall(reading)
    conditions = f" and {', '.join(grid.conditions)}" if grid.conditions else ""
    return Question(
        "item",
        f"The {n_rows:,} rows hold {count_of(n_cells, 'combination')} of {items}{conditions}, and "
        "nothing else tells them apart.",
        _each_row(table_profile, reading),
        Choice(
            f"{count_of(reading.n_items, 'question')}, some asked more often than others.",
            (f"item={items}",),
            score,
        ),
    )


def _doubt_reruns(table_profile: Profile, reading: TableReading) -> Question | None:
    """Ask whether a few rows per question that nothing tells apart are reruns or systems."""
    grid, output, n_runs = reading.grid, reading.roles.output, reading.n_runs
    is_open = grid.is_rerun and not (grid.conditions or grid.open_item[1])
    if not (is_open and output and 2 <= n_runs <= MAX_ARMS):
        return None
    items = ",".join(grid.items)
    return Question(
        "item",
        f"Each {items} has {n_runs} rows, and no column says what differs between them.",
        Choice("They are reruns of one system.", (f"item={items}",), overall(reading)),
        Choice(
            f"They are of {n_runs} systems: nothing is read until a column names these.",
            ("text=", "score="),
        ),
    )


def _doubt_unmatched(table_profile: Profile, reading: TableReading) -> Question | None:
    """Ask about systems with the same right answers, if no column numbers their questions."""
    grid, target, table = reading.grid, reading.roles.target, table_profile.table
    if grid.items or len(grid.conditions) != 1 or not target or reading.shape:
        return None
    name = table.sql(grid.conditions[0])
    # equal sums of hashes are equal right answers, whatever their order
    query = (
        f"SELECT count(*), sum(hash({table.sql(target)})) FROM {table.relation} "
        f"WHERE {name} IS NOT NULL GROUP BY {name}"
    )
    sizes_and_keys = table.rows(query)
    if len(sizes_and_keys) < 2 or len(set(sizes_and_keys)) > 1:
        return None
    n_rows = sizes_and_keys[0][0]
    return Question(
        "item",
        f"No column tells which rows of {grid.conditions[0]} answer the same question, and all "
        f"values have the same {n_rows:,} right answers.",
        Choice("No two rows answer the same question.", ("item=",), overall(reading)),
        Choice(
            f"They answer {count_of(n_rows, 'question')}: nothing is read until a column "
            "numbers these.",
            ("target=",),
        ),
    )


def _doubt_repeats(table_profile: Profile, reading: TableReading) -> Question | None:
    """Ask about several rows of one image or text, where no column holds a question."""
    grid, roles, n_rows = reading.grid, reading.roles, table_profile.n_rows
    if roles.prompts or grid.open_item[1] or reading.n_items < n_rows:
        return None
    for name in roles.contexts:
        n_values = table_profile.n_distinct([name, *grid.conditions])
        is_repeated = LEAST_ITEMS <= n_values <= n_rows / 2
        # a row's id says nothing of an image that it shares with others
        is_open = not grid.items or names(name, "figure")
        if is_repeated and is_open and name not in grid.items:
            # several right answers of one image are those of several questions
            if not roles.target or table_profile.follows([name], roles.target):
                return _ask_repeats(table_profile, reading, name)
    return None


def _ask_repeats(table_profile: Profile, reading: TableReading, name: str) -> Question:
    """Ask whether rows of one image or text are reruns, or questions of their own."""
    n_items = table_profile.n_distinct([name])
    return Question(
        "item",
        f"{name} has {n_items:,} values in {table_profile.n_rows:,} rows, and no column says "
        "what differs between rows of one value. If they are models, add a column that names them.",
        Choice(
            f"{count_of(n_items, 'question')}; rows of one question are reruns.",
            (f"item={name}",),
            overall(reading),
        ),
        _each_row(table_profile, reading),
    )


def _each_row(table_profile: Profile, reading: TableReading) -> Choice:
    """Return the choice that each row is a question, with a column of ids if there is no prompt."""
    if reading.roles.prompts:
        return Choice("Each row is a question.", ("item=",), overall(reading))
    n_rows = table_profile.n_rows
    for name in (*reading.unused, *reading.grid.clusters):
        if table_profile.n_values(name) == n_rows and not table_profile[name].is_text:
            return Choice(f"Each {name} is a question.", (f"item={name}",), overall(reading))
    return Choice(
        "Each row is a question: nothing is read until a column numbers them.", ("score=",)
    )


def _is_level(table_profile: Profile, name: str) -> bool:
    """Tell whether a column holds a few plain values, like the names or numbers of settings."""
    column, last = table_profile[name], last_part(name)
    # a few sentences are the wordings of a prompt
    is_free_text = column.is_text and column.n_distinct > MAX_ARMS
    is_plain = not (column.is_list or column.is_object or is_free_text or "," in name)
    is_few = 2 <= column.n_distinct <= min(MAX_VALUES, table_profile.n_rows / 2)
    is_other = names(last, "run") or names(last, "error")
    return is_plain and is_few and not is_other and (column.is_integer or not column.is_numeric)


def _is_outcome(name: str) -> bool:
    """Tell whether a column is called like a property of the output, or a remark about it."""
    last = last_part(name)
    if words_of(last) == ("type",):
        return False  # `type` may be about the prompt as well
    kinds = ("about", "score", "people", "judge", "output", "target", "answer", "configuration")
    return any(names(last, kind) for kind in kinds) and not names(last, "setting")


def _ask_arms(table_profile: Profile, reading: TableReading, name: str) -> Question:
    """Ask whether a column names systems, counts reruns, or is part of the question."""
    grid, column = reading.grid, table_profile[name]
    items = ",".join(grid.items)
    conditions = ",".join([*grid.conditions, name])
    by_level = arm_scores(table_profile, reading, name)
    if grid.run and grid.run != name:
        second = Choice(
            f"{name} is part of the question.", (f"item={items},{name}",), overall(reading)
        )
    else:
        second = Choice(f"{name} counts reruns of one system.", (f"sample={name}",))
    shown = ", ".join(column.values[:4]) + (" …" if column.n_distinct > 4 else "")
    return Question(
        "condition",
        f"Rows of one question differ in {name}{f' ({shown})' if column.values else ''}.",
        Choice(
            f"{name} names {column.n_distinct} systems or settings{by_level}.",
            (f"models={conditions}",),
        ),
        second,
    )


def _doubt_sparse(table_profile: Profile, reading: TableReading) -> Question | None:
    """Ask whether conditions are systems, if one of them is empty or many questions lack some."""
    conditions, n_rows = reading.grid.conditions, table_profile.n_rows
    if reading.shape or reading.n_conditions < 2:
        return None
    n_full = reading.n_items * reading.n_conditions * max(1, reading.n_runs)
    graded = next(iter((*reading.roles.scores, *reading.roles.judges)), reading.roles.output)
    empty_arm, n_empty = _empty_arm(table_profile, conditions, graded)
    is_shared = reading.n_items < TOLD * n_rows or reading.n_conditions > MANY_ARMS
    if is_shared and n_rows < UNEVEN * n_full:
        seen = (
            f"{' and '.join(conditions)} differ{'s' if len(conditions) == 1 else ''} in "
            f"{reading.n_conditions:,} ways; so many systems would need {n_full:,} rows for "
            f"{count_of(reading.n_items, 'question')}, and there are {n_rows:,}."
        )
    elif n_empty:
        seen = f"{graded} is empty in {count_of(n_empty, 'row')} of {empty_arm}: all that it has."
    else:
        return None
    return Question(
        "condition",
        seen,
        Choice(
            f"They are {reading.n_conditions:,} systems; each has a score of its own.",
            (f"models={','.join(conditions)}",),
        ),
        Choice("They name no systems.", ("models=",), overall(reading)),
    )


def _empty_arm(table_profile: Profile, conditions: Sequence[str], graded: str) -> tuple[str, int]:
    """Return the first arm without any value of a column, and its number of rows; ("", 0)."""
    table = table_profile.table
    if not graded:
        return "", 0
    columns = ", ".join(table.sql(name) for name in conditions)
    query = (
        f"SELECT count(*), {columns} FROM {table.relation} GROUP BY {columns} "
        f"HAVING count({table.sql(graded)}) = 0 ORDER BY 1 DESC LIMIT 1"
    )
    for n_empty, *levels in table.rows(query):
        return ", ".join(str(level) for level in levels if level is not None), n_empty
    return "", 0


def _doubt_runs(table_profile: Profile, reading: TableReading) -> Question | None:
    """Ask about runs that are only numbered, if their scores differ more than reruns do."""
    grid = reading.grid
    name = grid.run
    if not name or name not in table_profile.columns or reading.shape:
        return None
    last = last_part(name)
    if names(last, "run") or is_rater(name) or "order" in words_of(last):
        return None
    by_level = means_by(table_profile, reading, name)
    means = sorted((mean, n, variance) for mean, n, variance in by_level.values() if n > 1)
    if len(means) < 2:
        return None
    (low, n_low, variance_low), (high, n_high, variance_high) = means[0], means[-1]
    error = (variance_low / n_low + variance_high / n_high) ** 0.5
    return _ask_arms(table_profile, reading, name) if high - low > DIFFERENT * error else None


def _doubt_design(table_profile: Profile, reading: TableReading) -> Question | None:
    """Ask about two columns that cross: each value of one stands once beside each of the other.

    Where columns name systems, it asks whether the ids of these cells are questions.
    """
    grid, roles = reading.grid, reading.roles
    is_pair = len(grid.items) == 2 and not _is_set(grid.items[1])
    if is_pair and names(last_part(grid.items[1]), "field"):
        return None  # what was to be extracted from each document
    is_run = bool(grid.run) and not is_pair
    is_counted = is_run or grid.variants or grid.open_condition or grid.open_item[1]
    n_cells = reading.n_items  # rows per system, or all rows without any
    is_told = n_cells * reading.n_conditions * reading.n_runs >= TOLD * table_profile.n_rows
    if is_counted or reading.shape or n_cells < 2 * LEAST_ITEMS or not is_told:
        return None
    is_parted = n_cells < TOLD * table_profile.n_rows
    free = [
        name
        for name in (*reading.unused, *roles.prompts, *roles.contexts)
        if name not in grid.items and not names(last_part(name), "cluster")
    ]
    topics = [name for name in free if _may_be_topic(table_profile, name, n_cells)]
    settings = list(grid.conditions) if grid.conditions and not is_parted else []
    settings = settings or [
        name for name in free if _is_level(table_profile, name) and not _is_outcome(name)
    ]
    pairs = list(product(topics[:12], settings[:12]))
    if is_pair and _may_be_topic(table_profile, grid.items[0], n_cells):
        id_column, level = grid.items
        pairs = [(id_column, level)] if _is_level(table_profile, level) else []
        if level in roles.contexts:  # each setting may have found another text
            pairs = [(id_column, setting) for setting in settings[:12]]
    for topic, setting in pairs:
        n_topics, n_settings = table_profile[topic].n_distinct, table_profile[setting].n_distinct
        is_full = abs(n_topics * n_settings - n_cells) <= (1 - NEARLY) * n_cells
        if topic == setting or not is_full or n_settings > n_topics:
            continue
        if table_profile.n_distinct([topic, setting]) < NEARLY * n_cells:
            continue
        is_question = bool(roles.prompts) and grid.items == roles.prompts[:1]
        if is_question and roles.target and not table_profile.follows([topic], roles.target):
            continue  # ids that begin anew: other questions with other right answers
        by_level = arm_scores(table_profile, reading, setting)
        models = [*grid.conditions, setting] if is_parted else [setting]
        return Question(
            "item",
            f"Each of {n_topics:,} values of {topic} stands once beside each of {n_settings} of "
            f"{setting}.",
            Choice(
                f"{n_topics:,} questions ({topic}), each under {n_settings} settings{by_level}.",
                (f"item={topic}", f"models={','.join(models)}"),
            ),
            Choice(f"{n_cells:,} questions.", (f"item={','.join(grid.items)}",), overall(reading)),
        )
    return None


def _is_set(name: str) -> bool:
    """Tell whether a column numbers questions, or names the set or the kind that they are of."""
    return any(names(last_part(name), kind) for kind in ("id", "cluster", "task", "prompt"))


def _may_be_topic(table_profile: Profile, name: str, n_cells: int) -> bool:
    """Tell whether a column may say what a row is about: ids, names, texts that repeat."""
    column, last = table_profile[name], last_part(name)
    kinds = ("error", "run", "score", "people", "judge", "output", "configuration")
    if column.is_list or column.is_object or any(names(last, kind) for kind in kinds):
        return False
    is_plain = column.is_integer or not column.is_numeric
    return is_plain and LEAST_ITEMS <= column.n_distinct <= n_cells / 2


def _doubt_arms(table_profile: Profile, reading: TableReading) -> Question | None:
    """Ask about a column without a role whose few values are equally frequent."""
    grid, roles, n_rows = reading.grid, reading.roles, table_profile.n_rows
    is_parted = grid.conditions or grid.run or grid.variants or grid.open_condition
    if is_parted or grid.open_item[1] or reading.shape or reading.n_items < TOLD * n_rows:
        return None
    for name in reading.unused[:MAX_LOOKED_AT]:
        column, last = table_profile[name], last_part(name)
        is_fact = any(names(last, kind) for kind in ("cluster", "task", "context", "prompt"))
        repeats_keys = _repeats_keys(table_profile, roles.target, name)
        is_level = _is_level(table_profile, name) and (repeats_keys or not _is_outcome(name))
        is_word = not (column.is_numeric or column.is_verdict) and column.n_distinct <= MAX_ARMS
        if is_fact or not is_level or not is_word or column.n_filled < n_rows:
            continue
        if roles.target and table_profile.follows([roles.target], name):
            continue  # it names the class of the right answer
        parts = grid.items if len(grid.items) > 1 else ()
        if any(table_profile.follows([part], name) for part in parts):
            continue  # a fact about the document that fields were extracted from
        sizes = table_profile.cell_sizes([name])
        if min(sizes) < max(LEAST_ITEMS, EQUAL * max(sizes)):
            continue
        return Question(
            "condition",
            f"{name} has {column.n_distinct} values ({', '.join(column.values[:3])}"
            f"{' …' if column.n_distinct > 3 else ''}), each in about {max(sizes):,} rows.",
            Choice(
                f"They are systems or settings{arm_scores(table_profile, reading, name)}.",
                (f"models={name}",),
            ),
            Choice("They are kinds of questions.", ("models=",), overall(reading)),
        )
    return None


def _repeats_keys(table_profile: Profile, target: str, name: str) -> bool:
    """Tell whether each value of a column stands beside each right answer equally often."""
    if not target or table_profile[target].n_distinct < LEAST_ITEMS:
        return False
    n_levels = table_profile[name].n_distinct
    if not 2 <= n_levels <= MAX_ARMS or table_profile.follows([target], name):
        return False
    table = table_profile.table
    per_key = (
        f"SELECT {table.sql(target)} AS k, {table.sql(name)} AS level, count(*) AS n "
        f"FROM {table.relation} GROUP BY 1, 2"
    )
    query = (
        f"SELECT k FROM ({per_key}) GROUP BY k HAVING count(*) <> {n_levels} OR min(n) <> max(n)"
    )
    return not table.rows(f"{query} LIMIT 1")


def _doubt_id(table_profile: Profile, reading: TableReading) -> Question | None:
    """Ask about ids that cross numbers with a few endings: 1A, 1B, 2A, 2B."""
    grid, n_rows = reading.grid, table_profile.n_rows
    if len(grid.items) != 1 or grid.conditions or reading.n_items < n_rows or reading.shape:
        return None
    name = grid.items[0]
    rows = table_profile.table.frame([name], most=LOOKED_AT)
    matches = [_ENDING.fullmatch(str(row[name]).strip()) for row in rows]
    beginnings = {match[1] for match in matches if match}
    endings = sorted({match[2] for match in matches if match})
    is_full = all(matches) and len(rows) == n_rows == len(beginnings) * len(endings)
    if not is_full or not 2 <= len(endings) <= MAX_ARMS or len(beginnings) < LEAST_ITEMS:
        return None
    return Question(
        "item",
        f"{name} ends in {' or '.join(endings[:3])} for each of {len(beginnings)} beginnings.",
        Choice(f"{n_rows:,} questions.", (f"item={name}",), overall(reading)),
        Choice(
            f"{len(beginnings)} questions under {len(endings)} systems: nothing is read until a "
            "column names the question and another one the system.",
            ("score=",),
        ),
    )


_ENDING = re.compile(r"(.*\d)[_\-. ]?([A-Za-z][A-Za-z0-9]{0,30})")
