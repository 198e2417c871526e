"""Step 5: which column is the output, the right answer, the prompt, the options, a score.

Names say it by their words; then structure corrects. What people wrote and what a judge wrote are
told apart (step 11): a column of people is never the score while a judge's column stands beside it.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise

from flipcore.datasets.reading.columns import option_columns, options_in
from flipcore.datasets.tables.coding import (
    Agreement,
    Coding,
    agreement,
    codings_of,
    entries_of,
    score_of_cell,
)
from flipcore.datasets.tables.profile import Column, Profile
from flipcore.datasets.tables.stems import (
    is_word,
    last_names,
    last_part,
    lower_is_better,
    names,
    words_of,
)

BETTER, TOO_GOOD = 0.2, 0.995  # agreement that makes another column the output; a copy of the key
ANSWERS_READ = 0.05  # of the rows hold the right answer in a column of answers
LOOKED_AT = 5_000  # rows whose outputs are compared with right answers
_SENTINELS = (-1.0, -9.0, -99.0, -100.0, -999.0)
_GRADES = frozenset("CPIN")  # correct, partly, incorrect, no answer
_KEY_WORDS = frozenset(
    {"answer", "answers", "ans", "label", "labels", "antwort", "reponse", "respuesta"}
)
_NO_SCORES = ("condition", "cluster", "variant", "setting")
_FIRST_PROMPTS = ("question", "prompt", "input", "problem", "query")


@dataclass(frozen=True)
class Roles:
    """The columns that have a role; "" and () for none."""

    output: str = ""
    target: str = ""
    prompts: tuple[str, ...] = ()
    contexts: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    readouts: tuple[str, ...] = ()
    scores: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    unnamed_scores: tuple[str, ...] = ()
    agreements: tuple[Agreement, ...] = ()
    sentinel: tuple[tuple[str, float], ...] = ()

    @property
    def taken(self) -> frozenset[str]:
        """All columns that have a role."""
        several_names = (
            self.prompts,
            self.contexts,
            self.options,
            self.readouts,
            self.scores,
            self.judges,
            self.people,
        )
        names_in_use = {self.output, self.target, *chain(*several_names)}
        return frozenset(names_in_use - {""})

    @property
    def graders(self) -> tuple[str, ...]:
        """All columns that grade a row, people's last."""
        return (*self.scores, *self.judges, *self.people)


OUTPUT, TARGET, PROMPT = "output", "target", "prompt"


def part_of(name: str) -> str:
    """OUTPUT, TARGET or PROMPT by the words of a name; "" where they say none or several."""
    last = last_part(name)
    # prediction.input is an input, whatever the object around it is called
    words = set(words_of(last if names(last, "prompt") and not names(last, "output") else name))
    if (
        not words
        or words_of(last)[:1] in (("is",), ("has",), ("was",))
        or names(last, "about")
        or (names(last, "id") and not words & {"key", "number"})
    ):
        return ""
    ending = (words_of(last) or ("",))[-1]
    if ending in ("score", "scores", "rating", "grade") and len(words) > 1:
        return ""  # llm_answer_score grades an answer
    if words_of(last)[0] in ("n", "num", "count") and len(words) > 1:
        return ""  # n_gt counts right answers
    # `response_model` names who answered, and is no response
    if len(ending) < 2 or ending.isdigit() or ending in ("model", "models"):
        return ""
    # prediction.metrics.acc_raw is a score, whatever the objects around it are called
    if "." in name and re.split(r"[\W_]", last.lower())[0] in _METRICS:
        return ""
    has = {
        kind: any(names(word, kind) for word in words)
        for kind in ("output", "target", "prompt", "answer", "model")
    }
    has["target"] |= "correct" in words and (
        has["answer"] or "option" in words or "choice" in words
    )
    if names(last, "people") or names(last, "judge") or names(last, "vote"):
        return ""
    if has["output"]:
        return TARGET if has["target"] and words - {"right", "true"} else OUTPUT
    if has["answer"] and has["prompt"] and not names(last, "prompt"):
        return TARGET
    # prompt_style, prompt_category and prompting_method say how it was asked
    is_setting = any(names(last, kind) for kind in ("setting", "variant", "cluster"))
    if has["prompt"] and (is_setting or names(ending, "condition")):
        return ""
    if has["prompt"]:
        # a system prompt is a setting, and asks nothing
        return "" if has["target"] or "system" in words else PROMPT
    if has["answer"]:
        if has["target"]:
            return TARGET
        if words == {"text"}:
            return OUTPUT
        if ending in ("answer", "answers") and words & {"parsed", "extracted"}:
            return OUTPUT
        is_key = all(word in _KEY_WORDS or len(word) == 2 for word in words)
        return OUTPUT if has["model"] else TARGET if is_key else ""
    # reference_en is a reference
    if has["target"] and all(
        names(word, "target") or word in ("ground", "standard") or len(word) <= 2 for word in words
    ):
        return "" if words <= {"right", "true"} else TARGET
    return ""


def holds_logits(profile: Profile, name: str) -> bool:
    """Tell whether objects of a list hold log-probabilities and no text: an entry per option."""
    sql = profile.table.sql(name)
    query = (
        f"SELECT DISTINCT unnest(json_keys(json_extract({sql}, '$[0]'))) FROM (SELECT {sql} FROM "
        f"{profile.table.relation} "
        f"WHERE json_valid({sql}) AND json_type(json_extract({sql}, '$[0]')) = 'OBJECT' LIMIT 50)"
    )
    keys = [row[0] for row in profile.table.rows(query)]
    are_logits = any("logit" in key.lower() or "logprob" in key.lower() for key in keys)
    return are_logits and not any(names(key, "output") or names(key, "answer") for key in keys)


# names that harnesses give to scores inside of a prediction
_METRICS = {"acc", "accuracy", "f1", "em", "bleu", "rouge", "precision", "recall", "loss", "mrr"}


def find_roles(profile: Profile) -> Roles:
    """Find the role of each column by its name and by what stands in it."""
    parts: dict[str, list[str]] = {OUTPUT: [], TARGET: [], PROMPT: []}
    for name in profile.names:
        part = part_of(name)
        column = profile[name]
        if part and not column.is_object and not (column.is_list and holds_logits(profile, name)):
            parts[part].append(name)
    keys = _values_of(profile, parts[TARGET])
    for part in (OUTPUT, PROMPT):
        parts[part] = [name for name in parts[part] if not _is_grade(profile[name], keys)]
    parts = _swap(profile, parts)
    options = _options(profile, parts[TARGET])
    roles = Roles(options=options)
    roles = replace(roles, prompts=_prompts(profile, parts[PROMPT], options))
    contexts = tuple(
        name
        for name in profile.names
        if names(name, "context") and _may_be_context(profile, name, parts)
    )
    roles = replace(roles, contexts=contexts)
    roles = _with_output_and_target(profile, roles, parts)
    return _with_graders(profile, roles)


def _values_of(profile: Profile, columns: Iterable[str]) -> set[str]:
    """Values of columns that hold few."""
    return set(chain.from_iterable(profile[name].values for name in columns))


def _is_grade(column: Column, keys: set[str]) -> bool:
    """Tell whether right and wrong stand in a column that is called like an output, and are no
    answers.
    """
    # where every right answer is "yes", an output may be "no" too
    are_answers = set(column.values) <= keys or (bool(keys) and keys <= set(column.values))
    return column.is_verdict and not column.is_letter and not are_answers


def _swap(profile: Profile, parts: dict[str, list[str]]) -> dict[str, list[str]]:
    """Names that mean the other side beside another column: actual, answer."""
    outputs, targets = list(parts[OUTPUT]), list(parts[TARGET])
    if outputs and not targets:
        # `true` beside a prediction is the class, beside a text it is a grade
        said = _values_of(profile, outputs)
        targets = [name for name in profile.names if set(words_of(name)) <= {"true", "right"}]
        targets = [name for name in targets if said and len(said & set(profile[name].values)) > 1]
        parts = parts | {TARGET: targets}
    actual = [name for name in outputs if "actual" in words_of(name)]
    other_columns = [name for name in outputs if name not in actual]
    if actual and any("predict" in name.lower() for name in other_columns) and not targets:
        return parts | {OUTPUT: other_columns, TARGET: actual}
    pair = _pair_of_one_thing(profile)
    if pair and (not targets or all(set(words_of(name)) <= _KEY_WORDS for name in targets)):
        # what was classified stands beside both
        asked = ["text"] if "text" in other_columns and not parts[PROMPT] else parts[PROMPT]
        return parts | {OUTPUT: [pair[0]], TARGET: [pair[1]], PROMPT: asked}
    if len(other_columns) > 1 and "text" in other_columns and not parts[PROMPT]:
        # beside a prediction, text is what was classified
        return parts | {
            OUTPUT: [name for name in other_columns if name != "text"],
            PROMPT: ["text"],
        }
    if not outputs and targets:
        outputs = _results_like_key(profile, targets) or _final_answers(profile, targets)
        parts = parts | {OUTPUT: outputs}
    weak = [name for name in targets if set(words_of(name)) <= _KEY_WORDS]
    strong = [name for name in targets if name not in weak]
    if strong and weak and outputs == ["text"] and _holds_labels_of(profile, weak[0], strong[0]):
        # a classifier's label beside the expected one: the text is what was classified
        return parts | {OUTPUT: weak[:1], TARGET: strong, PROMPT: parts[PROMPT] or outputs}
    if not outputs and strong and weak:
        # "answer" is what was said, where another column holds what is right
        written = [name for name in weak if profile[name].n_distinct > 1]
        return parts | {OUTPUT: written[:1], TARGET: strong}
    if not outputs and len(weak) == 1 and not strong and _is_graded_sheet(profile, weak[0]):
        return parts | {OUTPUT: weak, TARGET: []}
    return parts


def _pair_of_one_thing(profile: Profile) -> tuple[str, str] | None:
    """The output and the right answer of one thing: predicted_section and expected_section."""
    columns_by_subject: dict[str, dict[tuple[str, ...], str]] = {OUTPUT: {}, TARGET: {}}
    for name in profile.names:
        words = words_of(name)
        if len(words) == 2 and not names(name, "id"):
            for kind in columns_by_subject:
                if names(words[0], kind):
                    columns_by_subject[kind][words[1:]] = name
    shared = [
        subject for subject in columns_by_subject[OUTPUT] if subject in columns_by_subject[TARGET]
    ]
    if len(shared) != 1:
        return None
    return columns_by_subject[OUTPUT][shared[0]], columns_by_subject[TARGET][shared[0]]


def _holds_labels_of(profile: Profile, name: str, key: str) -> bool:
    """Tell whether a column holds few values, most of which the right answers hold too."""
    labels, keys = set(profile[name].values), set(profile[key].values)
    return len(labels) > 1 and 2 * len(labels & keys) > len(labels)


def _results_like_key(profile: Profile, targets: Sequence[str]) -> list[str]:
    """A column called result that holds what the right answers hold, beside a grade: it is the
    output.
    """
    keys = {value.lower() for value in _values_of(profile, targets)}
    found_names = []
    for name in profile.names:
        said = {value.lower() for value in profile[name].values}
        is_result = set(words_of(name)) <= {"result", "results", "value"}
        if is_result and len(said) > 1 and said <= keys:
            found_names.append(name)
    graders = [
        name
        for name in profile.names
        if name not in found_names and names(name, "score") and profile[name].is_verdict
    ]
    return found_names if graders else []


def _final_answers(profile: Profile, targets: Sequence[str]) -> list[str]:
    """Return columns called final answer: the model's, where another column holds what is right."""
    return [
        name
        for name in profile.names
        if name not in targets
        and set(words_of(name)) in ({"final", "answer"}, {"final", "answers"})
        and profile[name].n_distinct > 1
    ]


def _is_graded_sheet(profile: Profile, answer: str) -> bool:
    """Tell whether an answer column stands beside a grade and nothing that is right: it is the
    output.
    """
    is_label = {"label", "labels"} & set(words_of(answer))
    graders = [
        name
        for name in profile.names
        if name != answer and names(name, "score") and _is_score(profile[name])
    ]
    return bool(graders) and not is_label


def _options(profile: Profile, targets: Sequence[str]) -> tuple[str, ...]:
    """A list of options, or a column per option beside a key that names one of them."""
    for name in profile.names:
        column = profile[name]
        if (
            names(name, "options")
            and not names(name, "target")
            and (
                column.is_list
                or column.is_object
                or column.share(column.n_lists) > 0.5
                or _is_separated(profile, name)
            )
        ):
            return (name,)
    for several_names in option_columns(list(profile.names)):
        if (
            targets
            and len(several_names) > 1
            and all(profile[name].n_filled for name in several_names)
        ):
            return tuple(several_names)
    dotted = [name for name in profile.names if re.fullmatch(r"(options|choices)\.\w{1,2}", name)]
    return tuple(dotted)


def _is_separated(profile: Profile, name: str) -> bool:
    """Tell whether each text of a column lists several entries: red|blue|green."""
    cells = [row[name] for row in profile.table.frame([name], most=50) if row[name]]
    return bool(cells) and all(_n_entries(cell) > 1 for cell in cells)


def _prompts(
    profile: Profile, candidates: Sequence[str], options: Sequence[str]
) -> tuple[str, ...]:
    """The texts that ask, the one that tells most rows apart first."""
    fitting = [
        name
        for name in candidates
        if name not in options and not profile[name].is_numeric and profile[name].n_filled
    ]
    ranked = sorted(
        fitting,
        key=lambda name: (
            -round(profile[name].n_distinct / max(profile[fit].n_distinct for fit in fitting), 1),
            words_of(name)[-1] not in _FIRST_PROMPTS,
        ),
    )
    return tuple(ranked)


def _may_be_context(profile: Profile, name: str, parts: dict[str, list[str]]) -> bool:
    column = profile[name]
    is_elsewhere = any(name in several_names for several_names in parts.values())
    return (
        not is_elsewhere
        and column.n_distinct > 1
        and not column.is_numeric
        and not names(last_part(name), "id")
    )


def _with_output_and_target(profile: Profile, roles: Roles, parts: dict[str, list[str]]) -> Roles:
    """The output and the key that agree best, among those that are named so."""
    targets = [name for name in parts[TARGET] if not _lists_options(profile, name, roles.options)]
    outputs = [name for name in parts[OUTPUT] if profile[name].n_filled]
    whole_outputs = [name for name in outputs if not names(name, "readout")]
    readouts = [name for name in outputs if names(name, "readout")]
    ordered = [*sorted(whole_outputs, key=lambda name: -profile[name].mean_length), *readouts]
    if not targets or not ordered:
        return replace(
            roles,
            output=next(iter(ordered), ""),
            readouts=tuple(ordered[1:]),
            target=next(iter(targets), ""),
        )
    # beside a whole text a column that is only called label says what people read in it
    is_read_by_people = whole_outputs and all(
        set(words_of(name)) <= {"label", "labels"} for name in targets
    )
    # unless a program read the same labels out of the text: then they are right
    for name in readouts:
        if targets and is_read_by_people and _holds_labels_of(profile, name, targets[0]):
            is_read_by_people = False
    if is_read_by_people and profile[ordered[0]].share(profile[ordered[0]].n_sentences) > 0.5:
        return replace(roles, output=ordered[0], readouts=(*ordered[1:], *targets))
    best = _choose(profile, roles, ordered, targets)
    output, target, agreements = best
    left = tuple(name for name in ordered if name != output)
    return replace(roles, output=output, target=target, readouts=left, agreements=agreements)


def _lists_options(profile: Profile, name: str, options: Sequence[str]) -> bool:
    """Tell whether a column named like the key has as many entries as the options: it lists or
    scores them.
    """
    if not profile[name].is_list:
        return False
    objects = [
        other_name
        for other_name in profile.names
        if other_name != name and profile[other_name].is_object
    ]
    other_columns = options if len(options) == 1 else objects
    for other_name in other_columns:
        rows = profile.table.frame([name, other_name], most=200)
        sizes = [
            (len(entries_of(row[name])), _n_entries(row[other_name]))
            for row in rows
            if row[name] and row[other_name]
        ]
        n_alike = sum(size == n_options > 1 for size, n_options in sizes)
        if n_alike > 0.9 * len(sizes):
            return True
    return False


def _n_entries(cell: str | None) -> int:
    """Count the entries of a list or an object in a cell."""
    return len(options_in({"": cell}, ""))


def _choose(
    profile: Profile, roles: Roles, outputs: Sequence[str], targets: Sequence[str]
) -> tuple[str, str, tuple[Agreement, ...]]:
    """The first output and key, unless another agrees better by far and is no copy of the key."""
    columns = list(dict.fromkeys([*outputs, *targets, *roles.options]))
    rows = (
        profile.table.frame(columns, most=LOOKED_AT)
        if profile.table.is_whole
        else profile.table.frame(columns, most=500)
    )
    best: tuple[str, str, tuple[Agreement, ...]] | None = None
    # exports of Ragas hold the output twice, as answer and as response
    keys = [
        target
        for target in targets
        if not any(_are_copies(profile, output, target) for output in outputs)
    ]
    for target in keys or targets:
        for output in outputs:
            if output == target:
                continue
            found_names = tuple(
                agreement(coding, rows, output, target, roles.options)
                for coding in codings_of(rows, output, target, roles.options)
            )
            share = max((agreed.share for agreed in found_names), default=0.0)
            before = max((agreed.share for agreed in best[2]), default=0.0) if best else -1.0
            is_usable = bool(found_names) and found_names[0].coding is not Coding.LONG_TEXT
            was_usable = (
                bool(best and best[2])
                and best is not None
                and best[2][0].coding is not Coding.LONG_TEXT
            )
            if (
                best is None
                or (is_usable and not was_usable)
                or (before + BETTER <= share < TOO_GOOD)
            ):
                best = (output, target, found_names)
    assert best is not None
    return best


def _are_copies(profile: Profile, output: str, target: str) -> bool:
    """Tell whether a key that is called an answer holds the outputs themselves, which are
    sentences.
    """
    is_weak = set(words_of(target)) <= _KEY_WORDS and output != target
    return is_weak and profile[target].is_text and profile.share_equal(output, target) >= TOO_GOOD


# Scores, and who gave them.


def _is_score(column: Column) -> bool:
    """Tell whether the values are scores: right and wrong, k/n, percentages, numbers."""
    return column.is_verdict or column.is_ratio or column.is_numeric or _are_grades(column)


def _is_graded(column: Column, name: str) -> bool:
    """Tell whether a column called a score holds numbers, and now and then something else."""
    return last_names(name, "score") and column.share(column.n_numbers) > 0.5


def _are_grades(column: Column) -> bool:
    values = column.values
    return bool(values) and all(score_of_cell(value) is not None for value in values)


def _with_graders(profile: Profile, roles: Roles) -> Roles:
    """The columns that grade: scores by name, judges and people by theirs."""
    scores: list[str] = []
    judges: list[str] = []
    people: list[str] = []
    unnamed: list[str] = []
    errors = tuple(
        name for name in profile.names if names(name, "error") and name not in roles.taken
    )
    for name in profile.names:
        column = profile[name]
        last = last_part(name)
        if (
            name in roles.taken
            or column.is_list
            or column.is_object
            or not (_is_score(column) or _is_graded(column, last))
        ):
            continue
        is_graded = column.is_verdict or set(column.values) <= _GRADES
        if column.is_letter and not (names(last, "score") and is_graded):
            continue  # letters are answers, but Y and N under "correct?" are grades
        if (
            column.is_integer
            and (column.least or 0) in (0, 1)
            and column.n_distinct == column.n_rows >= 5
            and (column.most or 0) - (column.least or 0) + 1 == column.n_rows
        ):
            continue  # it counts rows
        if column.n_distinct == 1 and column.least is not None and not 0 <= column.least <= 1:
            # one number above 1 in every row is a setting or a remark, whatever it is called
            continue
        if last.lower() in _WHO and not column.is_verdict:
            continue  # annotator 7 is somebody, and no grade
        if _is_of_class(profile, roles, name) or _is_confidence(profile, roles, name):
            continue  # how probable a class is, by the classifier itself
        is_scored = names(last, "score") or (names(name, "score") and "." in name)
        is_scored = is_scored or _is_named_entry(name) or bool(_SCALE.search(name))
        is_setting = (
            names(last, "configuration")
            or names(last, "about")
            or names(last, "id")
            or names(last, "run")
        )
        if _is_estimate(last) and not column.is_verdict:
            unnamed.append(name)
        elif _is_of_people(last):
            if _reads_answers(profile, roles, name):
                roles = replace(roles, readouts=(*roles.readouts, name))
            else:
                people.append(name)
        elif (
            names(last, "judge") and not is_setting and (column.n_distinct > 1 or column.is_verdict)
        ):
            judges.append(name)
        elif is_scored and not (is_setting and not _ends_in_score(last)):
            scores.append(name)
        elif (
            column.is_verdict
            and column.n_distinct > 1  # a model may be called c or n
            and names(last, "model")
            and (roles.output or roles.prompts)
            and column.n_numbers < column.n_filled
        ):
            judges.append(name)
        elif (
            not is_setting
            and _may_be_score(column)
            and not any(names(last, kind) for kind in _NO_SCORES)
        ):
            unnamed.append(name)
    roles = replace(roles, errors=errors)
    scores = _with_like(profile, roles, _without_weak(profile, scores))
    if not (scores or judges or people or _has_match(roles)):
        scores = [name for name in profile.names if _is_lower_score(profile, roles, name)]
    # what is better the less it is leads no other score
    scores.sort(key=lower_is_better)
    if roles.output and roles.target and not scores:
        free = [name for name in profile.names if name not in roles.taken]
        scores = [
            name
            for name in dict.fromkeys((*unnamed, *free))
            if _stands_where_right(profile, roles, name)
        ]
    roles = replace(
        roles,
        scores=tuple(scores),
        judges=tuple(judges),
        people=tuple(people),
        unnamed_scores=tuple(name for name in unnamed if name not in scores),
    )
    return replace(roles, sentinel=_sentinels(profile, roles))


def _is_of_people(name: str) -> bool:
    """Tell whether a name is of what people said: human_score, and not escalate_to_human."""
    words = words_of(name)
    is_handed_on = any(
        first == "to" and names(second, "people") for first, second in pairwise(words)
    )
    return names(name, "people") and not (names(name, "about") or names(name, "id") or is_handed_on)


def _is_of_class(profile: Profile, roles: Roles, name: str) -> bool:
    """Tell whether a score is called after one of the classes: score_spam beside the right answer
    spam.
    """
    if not roles.target or profile[name].is_verdict or not profile[name].is_numeric:
        return False
    classes = {words_of(value) for value in profile[roles.target].values}
    class_words = tuple(word for word in words_of(name) if word not in _OF_CLASSES)
    return bool(class_words) and class_words != words_of(name) and class_words in classes


# words for how probable a class is
_OF_CLASSES = {"score", "prob", "proba", "probability", "logit"}


def _is_confidence(profile: Profile, roles: Roles, name: str) -> bool:
    """Tell whether `score` stands beside the classifier's own `label`, as pipelines write both."""
    column, words = profile[name], words_of(name)
    if not _has_match(roles) or words[-1:] != ("score",) or column.is_verdict:
        return False
    is_unit = column.least is not None and 0 <= column.least <= (column.most or 0) <= 1
    return is_unit and words_of(roles.output) == (*words[:-1], "label")


def _is_estimate(name: str) -> bool:
    """Tell whether a score says what a model thinks of its item, such as a risk, and grades no
    answer.
    """
    words = set(words_of(name))
    return bool(words & _ESTIMATES) and names(name, "score")


_ESTIMATES = set(
    "risk confidence certainty probability likelihood sentiment threat anomaly".split()
)
_SCALE = re.compile(r"[(\[]\s*\d+\s*(?:-|–|to)\s*\d+\s*[)\]]")  # Clarity (1-5)


def _with_like(profile: Profile, roles: Roles, scores: Sequence[str]) -> list[str]:
    """The scores and the columns that share their first word and their scale: label_clarity."""
    families: dict[str, list[str]] = {}
    for name in scores:
        if "_" in name or "." in name:
            families.setdefault(re.split(r"[_.]", name)[0], []).append(name)
    found_names = list(scores)
    for name in profile.names:
        members = families.get(re.split(r"[_.]", name)[0], [])
        is_free = name not in found_names and name not in roles.taken and name not in members
        if len(members) > 1 and is_free and _share_scale(profile, name, members):
            found_names.append(name)
    order = {name: place for place, name in enumerate(profile.names)}
    return (
        sorted(found_names, key=lambda name: order[name])
        if len(found_names) > len(scores)
        else found_names
    )


def _share_scale(profile: Profile, name: str, members: Sequence[str]) -> bool:
    """Tell whether a column holds whole grades within those of all the others, or right and wrong
    as they do.
    """
    column, other_columns = profile[name], [profile[member] for member in members]
    if column.is_verdict:
        return all(other_name.is_verdict for other_name in other_columns)
    if not column.is_integer or not all(
        other_name.is_integer and not other_name.is_verdict for other_name in other_columns
    ):
        return False
    least = min(other_name.least or 0 for other_name in other_columns)
    most = max(other_name.most or 0 for other_name in other_columns)
    return least <= (column.least or 0) and (column.most or 0) <= most <= 100


def _has_match(roles: Roles) -> bool:
    """Tell whether outputs are compared with right answers that they may repeat."""
    return bool(roles.agreements) and roles.agreements[0].coding is not Coding.LONG_TEXT


def _is_lower_score(profile: Profile, roles: Roles, name: str) -> bool:
    """Tell whether a column grades by what is bad; beside an output, `error` is about its call."""
    column = profile[name]
    is_free = name not in roles.taken and not (roles.output and name in roles.errors)
    is_graded = (
        _is_score(column) and column.n_distinct > 1 and not (column.is_list or column.is_object)
    )
    return is_free and is_graded and lower_is_better(name)


# columns of who graded, which hold numbers now and then
_WHO = {"annotator", "worker", "rater", "reviewer", "turker", "coder", "labeler", "labeller"}


def _reads_answers(profile: Profile, roles: Roles, name: str) -> bool:
    """Tell whether people wrote which answer they read, and no grade: the right answers stand there
    now and then.
    """
    if not roles.target or not roles.output or profile[name].is_verdict:
        return False
    return profile.share_equal(name, roles.target) >= ANSWERS_READ


def _is_named_entry(name: str) -> bool:
    return bool(re.search(r"\[[^\]]*\]\.\w+$", name))


def _ends_in_score(name: str) -> bool:
    is_of_tokens = {"token", "tokens"} & set(words_of(name))
    return (
        last_names(name, "score")
        and not is_of_tokens
        and not names(words_of(name)[-1], "configuration")
    )


def _may_be_score(column: Column) -> bool:
    """Tell whether unnamed numbers look like scores: from 0 to 1, not all whole, or right and
    wrong.
    """
    if column.is_verdict and column.n_distinct == 2:
        return True
    is_unit = (
        column.is_numeric
        and column.least is not None
        and column.most is not None
        and 0 <= column.least <= column.most <= 1
    )
    return is_unit and column.n_distinct > 1 and column.n_filled >= 5


def _without_weak(profile: Profile, scores: Sequence[str]) -> list[str]:
    """Without columns that only their status or result word makes scores, unless they say right or
    wrong.
    """
    weak = ("status", "outcome", "result", "results", "eval", "metric", "output", "value")
    kept = []
    for name in scores:
        words = words_of(last_part(name))
        scored = [word for word in words if names(word, "score")]
        is_weak = bool(scored) and all(word in weak for word in scored)
        says_call = scored and scored[0] in ("success", "successful", "status")
        if profile[name].is_constant and says_call:
            continue  # every call succeeded
        if not is_weak or profile[name].is_verdict or _is_named_entry(name):
            kept.append(name)
    return kept


def _stands_where_right(profile: Profile, roles: Roles, name: str) -> bool:
    """Tell whether one value stands exactly where output and key agree: it is a grade."""
    column = profile[name]
    if not 2 <= column.n_distinct <= 4 or not profile.table.is_whole or not roles.agreements:
        return False
    if not all(
        is_word(value, "right") or is_word(value, "wrong") or value in ("0", "1")
        for value in column.values
    ):
        return False
    rows = profile.table.frame([name, roles.output, roles.target, *roles.options], most=LOOKED_AT)
    coding = roles.agreements[0].coding
    hits = n_right = 0
    for row in rows:
        right = agreement(coding, [row], roles.output, roles.target, roles.options).n_right == 1
        hits += right == (score_of_cell(row[name]) == 1.0)
        n_right += right
    # where all rows are wrong, any column of zeros stands where they are
    return 0 < n_right < len(rows) and hits >= 0.98 * len(rows)


def _sentinels(profile: Profile, roles: Roles) -> tuple[tuple[str, float], ...]:
    """One negative value in less than half of a scale that reaches above 1 is no grade."""
    return tuple(
        (name, value)
        for name, value in lone_negatives(profile, roles)
        if (profile[name].most or 0) > 1
    )


def lone_negatives(profile: Profile, roles: Roles) -> tuple[tuple[str, float], ...]:
    """The scores of which one negative value, such as -1, stands in less than half of the rows."""
    found_names = []
    for name in roles.graders:
        column = profile[name]
        if (
            not column.is_numeric
            or column.least not in _SENTINELS
            or set(column.values) <= {"-1", "1", "-1.0", "1.0"}
        ):
            continue
        sql = profile.table.sql(name)
        query = (
            f"SELECT count(*), count(DISTINCT v) FROM (SELECT TRY_CAST({sql} AS DOUBLE) AS v "
            f"FROM {profile.table.relation}) WHERE v < 0"
        )
        n_negative, n_values = profile.table.rows(query)[0]
        if n_values == 1 and 2 * n_negative < column.n_filled and column.least is not None:
            found_names.append((name, column.least))
    return tuple(found_names)
