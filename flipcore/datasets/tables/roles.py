"""Find the columns of the output, the right answer, the prompt, the options, the scores.

The words of a column's name suggest its role, and its values correct it (`names` says whether a
name has a word for something; `stems.toml` lists the words). The key is the right answer. Labels by
people are kept apart from grades by a judge. They are never the score where a judge's column exists
too; the module `people` compares the two.

`read_loaded` in `reading.py` corrects the roles found here. For a row per model it drops contexts
and scores that do not belong to a question or a model, and prefers a model's own text as the
output. Words of `--map` replace roles. Then scores that are the same in all rows of an item go, and
a right answer that differs between them.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain, pairwise, product

from flipcore.datasets.reading.columns import option_columns, options_in
from flipcore.datasets.tables.coding import (
    LONGEST_KEY,
    Agreement,
    Coding,
    agreement,
    codings_of,
    entries_of,
    score_of_cell,
)
from flipcore.datasets.tables.own_columns import parts_of_share
from flipcore.datasets.tables.profile import Column, Profile
from flipcore.datasets.tables.stems import (
    is_known_word,
    is_word,
    last_names,
    last_part,
    lower_is_better,
    names,
    words_of,
)

# Another pair of columns replaces the first one if its agreement is higher by BETTER. From TOO_GOOD
# on, the output is a copy of the key.
BETTER, TOO_GOOD = 0.2, 0.995
READ = 0.95  # least share of rows in which an answer that was read out of an output is in it
ANSWERS_READ = 0.05  # least share of rows with the right answer, in a column of answers
MAX_RATING = 10  # the highest grade of a scale
LOOKED_AT = 5_000  # most rows whose outputs are compared with right answers
_SENTINELS = (-1.0, -9.0, -99.0, -100.0, -999.0)  # values that stand for "no grade"
_GRADES = frozenset("CPIN")  # correct, partly, incorrect, no answer
KEY_WORDS = frozenset(
    "answer answers ans label labels antwort reponse respuesta risposta etiqueta etichetta".split()
)
# words of names under which a right answer may stand as well as something else
_UNSURE_KEYS = frozenset(
    {"correct", "correcta", "correcto", "right", "richtig", "solution", "solutions"}
)
_NO_SCORES = ("condition", "cluster", "variant", "setting")  # kinds of names that are no scores
_FIRST_PROMPTS = ("question", "prompt", "input", "problem", "query")


@dataclass(frozen=True)
class Roles:
    """The column or columns of each role; "" or () where a role has none.

    `contexts` are texts that a question is about. `readouts` are answers that somebody took out of
    the output. `judges` grade like scores, and so do `people`. `unnamed_scores` may be scores by
    their values alone. `agreements` say how often output and target agree, per coding of the
    target. `sentinel` has (score, value) where the value stands for "no grade".
    """

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
        """All columns that have a role; those of `errors` and `unnamed_scores` have none yet."""
        questions = (*self.prompts, *self.contexts, *self.options)
        columns = {self.output, self.target, *questions, *self.readouts, *self.graders}
        return frozenset(columns - {""})

    @property
    def graders(self) -> tuple[str, ...]:
        """All columns that grade a row, those of people last."""
        return (*self.scores, *self.judges, *self.people)


OUTPUT, TARGET, PROMPT = "output", "target", "prompt"
# words of columns that a program wrote from an output
READ_OUT = frozenset("parsed extracted final raw executed clean cleaned normalized mapped".split())
CROSSED = 0.8  # least share of pairs of a question and a prompt's name that occur
_NOUNS_OF_TEXTS = ("summary", "translation", "caption", "continuation", "hypothesis")
_NOUNS_OF_KEYS = "summary translation caption sql class category sentiment intent".split()


def part_of(name: str) -> str:
    """Return OUTPUT, TARGET or PROMPT by the words of a name; "" if they do not decide it."""
    last = last_part(name)
    # prediction.input is an input, whatever the object around it is called
    is_prompt_by_itself = names(last, "prompt") and not names(last, "output")
    words = set(words_of(last if is_prompt_by_itself else name))
    if (
        not words
        or words_of(last)[:1] in (("is",), ("has",), ("was",))
        or names(last, "about")
        or (names(last, "id") and not words & {"key", "number"})
    ):
        return ""
    last_words = words_of(last) or ("",)
    ending = last_words[-1]
    if ending in ("score", "scores", "rating", "grade") and len(words) > 1:
        return ""  # llm_answer_score grades an answer
    if last_words[0] in ("n", "num", "count") and len(words) > 1:
        return ""  # n_gt counts right answers
    # `response_model` names who answered, and is no response
    if len(ending) < 2 or ending.isdigit() or ending in ("model", "models", "from", "by"):
        return ""
    # prediction.metrics.acc_raw is a score, whatever the objects around it are called
    if "." in name and re.split(r"[\W_]", last.lower())[0] in _METRICS:
        return ""
    has = {
        kind: any(names(word, kind) for word in words)
        for kind in ("output", "target", "prompt", "answer", "model")
    }
    has["prompt"] |= names(last, "prompt")  # customer_message
    has["target"] |= "real" in words and bool(words & KEY_WORDS)  # etiqueta_real
    has["target"] |= "correct" in words and (has["answer"] or names(name, "options"))
    if names(last, "people") or names(last, "judge") or names(last, "vote"):
        return ""
    if has["output"]:
        return TARGET if has["target"] and words - {"right", "true"} else OUTPUT
    if has["answer"] and has["prompt"] and not names(last, "prompt"):
        return TARGET
    # prompt_style, prompt_category and prompting_method are settings, not prompts
    is_setting = any(names(last, kind) for kind in ("setting", "variant", "cluster"))
    if has["prompt"] and (is_setting or names(ending, "condition")):
        return ""
    if has["prompt"]:
        # a system prompt is a setting and asks no question
        return "" if has["target"] or "system" in words else PROMPT
    if has["answer"]:
        if has["target"]:
            return TARGET
        if words == {"text"}:
            return OUTPUT
        if ending in ("answer", "answers") and words & {"parsed", "extracted"}:
            return OUTPUT
        if has["model"] or words & {"bot", "chatbot", "assistant", "agent"}:
            return OUTPUT
        # a word of two letters is a language, as in answer_en
        is_key = all(word in KEY_WORDS or len(word) == 2 for word in words)
        return TARGET if is_key else ""
    if not has["target"]:
        return ""
    for word in words:
        # reference_en is a reference, and so is ground_truth_summary
        is_key = names(word, "target") or word in ("ground", "standard", *_NOUNS_OF_KEYS)
        if not is_key and len(word) > 2:
            return ""
    return "" if words <= {"right", "true"} | _UNSURE_KEYS else TARGET


def holds_logits(profile: Profile, name: str) -> bool:
    """Tell whether a column's lists have log-probabilities per option, without their texts."""
    sql = profile.table.sql(name)
    query = (
        f"SELECT DISTINCT unnest(json_keys(json_extract({sql}, '$[0]'))) FROM (SELECT {sql} FROM "
        f"{profile.table.relation} "
        f"WHERE json_valid({sql}) AND json_type(json_extract({sql}, '$[0]')) = 'OBJECT' LIMIT 50)"
    )
    keys = [row[0] for row in profile.table.rows(query)]
    are_logits = any("logit" in key.lower() or "logprob" in key.lower() for key in keys)
    return are_logits and not any(names(key, "output") or names(key, "answer") for key in keys)


# names that harnesses give to scores inside a prediction
_METRICS = {"acc", "accuracy", "f1", "em", "bleu", "rouge", "precision", "recall", "loss", "mrr"}


def find_roles(profile: Profile) -> Roles:
    """Find the role of each column by its name and its values."""
    parts: dict[str, list[str]] = {OUTPUT: [], TARGET: [], PROMPT: []}
    for name in profile.names:
        part = part_of(name)
        column = profile[name]
        if part and not column.is_object and not (column.is_list and holds_logits(profile, name)):
            parts[part].append(name)
    # answer_correct says whether an answer is right, correct_answer which one is
    output_values = _values_of(profile, parts[OUTPUT])
    parts[TARGET] = [
        name
        for name in parts[TARGET]
        if words_of(name)[-1:] != ("correct",)
        or not (_is_grade(profile[name], output_values) or profile[name].is_integer)
    ]
    keys = _values_of(profile, parts[TARGET])
    for part in (OUTPUT, PROMPT):
        parts[part] = [name for name in parts[part] if not _is_grade(profile[name], keys)]
    parts = _swap(profile, parts)
    options = _options(profile, parts[TARGET])
    prompts = _prompts(profile, parts[PROMPT], options)
    if prompts and options and not _belong_to_question(profile, prompts[0], options[0]):
        options = ()
        prompts = _prompts(profile, parts[PROMPT], options)
    roles = Roles(options=options, prompts=prompts)
    contexts = tuple(
        name
        for name in profile.names
        if names(name, "context") and _may_be_context(profile, name, parts)
    )
    roles = replace(roles, contexts=contexts)
    roles = _with_output_and_target(profile, roles, parts)
    return _with_graders(profile, roles)


def _values_of(profile: Profile, columns: Iterable[str]) -> set[str]:
    """Return the values of those columns that have few different values."""
    return set(chain.from_iterable(profile[name].values for name in columns))


def _is_grade(column: Column, keys: set[str]) -> bool:
    """Tell whether a column called like an output holds words for right and wrong as grades."""
    # Yes and no may be answers as well. Where every right answer is "yes", an output may be "no".
    are_answers = set(column.values) <= keys or (bool(keys) and keys <= set(column.values))
    return column.is_verdict and not column.is_letter and not are_answers


def _swap(profile: Profile, parts: dict[str, list[str]]) -> dict[str, list[str]]:
    """Correct the parts of names that are ambiguous: `actual`, `answer`, `text`, `label`."""
    outputs, targets = list(parts[OUTPUT]), list(parts[TARGET])
    if outputs and not targets:
        # `true` beside a prediction is the class, beside a text it is a grade
        labels = _values_of(profile, outputs)
        targets = [name for name in profile.names if set(words_of(name)) <= {"true", "right"}]
        targets = [name for name in targets if len(labels & set(profile[name].values)) > 1]
        parts = parts | {TARGET: targets}
    actual = [name for name in outputs if "actual" in words_of(name)]
    other_columns = [name for name in outputs if name not in actual]
    if actual and any("predict" in name.lower() for name in other_columns) and not targets:
        return parts | {OUTPUT: other_columns, TARGET: actual}
    pair = _predicted_and_expected(profile)
    if pair and (not targets or all(set(words_of(name)) <= KEY_WORDS for name in targets)):
        # beside these two, `text` is the text that was classified
        prompts = ["text"] if "text" in other_columns and not parts[PROMPT] else parts[PROMPT]
        return parts | {OUTPUT: [pair[0]], TARGET: [pair[1]], PROMPT: prompts}
    texts = [name for name in other_columns if name.lower() == "text"]
    if texts == other_columns and not parts[PROMPT] and _are_of_models(profile):
        # beside the numbers of several models, `text` is what they were asked about
        return parts | {OUTPUT: [], PROMPT: texts}
    if len(other_columns) > 1 and texts and not parts[PROMPT]:
        # beside a prediction, `text` is the text that was classified
        outputs = [name for name in other_columns if name not in texts]
        return parts | {OUTPUT: outputs, PROMPT: texts}
    if not outputs:
        outputs = _nouns_of_outputs(profile)
        parts = parts | {OUTPUT: outputs} if outputs else parts
    if not outputs and targets:
        outputs = (
            _results_like_key(profile, targets)
            or _final_answers(profile, targets)
            or _varying_answers(profile, parts)
        )
        parts = parts | {OUTPUT: outputs}
    if not targets and (not outputs or texts == outputs):
        if read_labels := _labels_beside_vote(profile):
            return parts | read_labels | {PROMPT: parts[PROMPT] or texts}
    if not outputs and not targets:
        parts = parts | {OUTPUT: _answers_of_agents(profile)}
    weak = [name for name in targets if set(words_of(name)) <= KEY_WORDS]
    strong = [name for name in targets if name not in weak]
    if strong and weak and outputs == ["text"] and _holds_labels_of(profile, weak[0], strong[0]):
        # a classifier's label beside the expected one: the text is what was classified
        return parts | {OUTPUT: weak[:1], TARGET: strong, PROMPT: parts[PROMPT] or outputs}
    if strong and not weak and outputs == ["text"]:
        said = [name for name in profile.names if _is_label_like(profile, name, strong)]
        if len(said) == 1:
            return parts | {OUTPUT: said, TARGET: strong, PROMPT: parts[PROMPT] or outputs}
    if not outputs and strong and weak:
        # "answer" is the model's answer, where another column holds the right one
        answers = [name for name in weak if profile[name].n_distinct > 1]
        return parts | {OUTPUT: answers[:1], TARGET: strong}
    if not outputs and len(weak) == 1 and not strong and _is_graded_sheet(profile, weak[0]):
        return parts | {OUTPUT: weak, TARGET: []}
    return parts


def _are_of_models(profile: Profile) -> bool:
    """Tell whether two or more columns of numbers are called after a model each."""
    models = [name for name in profile.names if names(name, "model") and "," not in name]
    return sum(profile[name].is_numeric for name in models) > 1


_MODELS = {"model", "modell", "modele", "modelo", "modello"}


def _predicted_and_expected(profile: Profile) -> tuple[str, str] | None:
    """Return two columns such as predicted_section and expected_section; None unless there is just
    one such pair."""
    outputs: dict[str, str] = {}
    targets: dict[str, str] = {}
    for name in profile.names:
        words = words_of(name)
        if len(words) == 2 and words[0] not in ("n", "num") and not names(name, "id"):
            for kind, by_subject in ((OUTPUT, outputs), (TARGET, targets)):
                if names(words[0], kind):
                    by_subject[words[1]] = name
                elif names(words[1], kind) or (kind == OUTPUT and words[1] in _MODELS):
                    by_subject[words[0]] = name  # Kategorie (Modell) beside Kategorie (Soll)
    shared = [subject for subject in outputs if subject in targets]
    if len(shared) == 1:
        return outputs[shared[0]], targets[shared[0]]
    # decision beside gold_decision
    for subject, target in () if outputs else targets.items():
        for name in profile.names:
            is_label = words_of(name) == (subject,) and not profile[name].is_numeric
            if is_label and ANSWERS_READ <= profile.share_equal(name, target) < TOO_GOOD:
                return name, target
    # predicted_stance beside stance
    pairs = []
    for subject, output in outputs.items():
        for name in profile.names:
            is_subject = words_of(name) == (subject,) and names(words_of(output)[0], "readout")
            is_label = is_subject and not profile[name].is_numeric
            if is_label and ANSWERS_READ <= profile.share_equal(output, name) < TOO_GOOD:
                pairs.append((output, name))
    return pairs[0] if len(pairs) == 1 else None


def _holds_labels_of(profile: Profile, name: str, key: str) -> bool:
    """Tell whether a column has few values, most of which are right answers too."""
    labels, keys = set(profile[name].values), set(profile[key].values)
    return len(labels) > 1 and 2 * len(labels & keys) > len(labels)


def _is_label_like(profile: Profile, name: str, keys: Sequence[str]) -> bool:
    """Tell whether nearly all values of a column are right answers too, in words."""
    column = profile[name]
    is_word = not (column.is_numeric or column.is_verdict or column.is_text or column.is_list)
    is_other = name not in keys and column.n_distinct > 1 and column.n_filled == profile.n_rows
    return is_word and is_other and profile.share_in(name, keys[0]) >= READ


def _nouns_of_outputs(profile: Profile) -> list[str]:
    """Return a column of texts called caption, summary or translation that differ by model."""
    models = [name for name in profile.names if names(last_part(name), "model")]
    texts = [name for name in profile.names if name.lower() in _NOUNS_OF_TEXTS]
    texts = [name for name in texts if profile[name].is_text]
    return texts if len(texts) == 1 and any(profile[name].n_distinct > 1 for name in models) else []


def _results_like_key(profile: Profile, targets: Sequence[str]) -> list[str]:
    """Return columns called `result` whose values are right answers; none unless another column has
    grades."""
    keys = {value.lower() for value in _values_of(profile, targets)}
    results = []
    for name in profile.names:
        labels = {value.lower() for value in profile[name].values}
        is_result = set(words_of(name)) <= {"result", "results", "value"}
        if is_result and len(labels) > 1 and labels <= keys:
            results.append(name)
    other_names = [name for name in profile.names if name not in results]
    has_grade = any(names(name, "score") and profile[name].is_verdict for name in other_names)
    return results if has_grade else []


def _final_answers(profile: Profile, targets: Sequence[str]) -> list[str]:
    """Return columns called final answer: the model's, where another column is the right one."""
    called = ({"final", "answer"}, {"final", "answers"})
    answers = [name for name in profile.names if set(words_of(name)) in called]
    return [name for name in answers if name not in targets and profile[name].n_distinct > 1]


def _answers_of_agents(profile: Profile) -> list[str]:
    """Return final answers in an object that holds an agent's steps too: answer.final_answer."""
    answers = []
    for name in profile.names:
        agent, _, last = name.rpartition(".")
        keys = [column for column in profile.names if agent and column.startswith(f"{agent}.")]
        has_steps = any(names(last_part(key), "part") for key in keys)
        if set(words_of(last)) == {"final", "answer"} and has_steps:
            answers.append(name)
    return answers


def _labels_beside_vote(profile: Profile) -> dict[str, list[str]]:
    """Return a model's labels as outputs and what most annotators said as right answers, where the
    table has both and a label per annotator; {} for any other table."""
    votes = [name for name in profile.names if names(name, "vote") and not profile[name].is_text]
    for vote in votes if len(votes) == 1 else ():
        alike = [name for name in profile.names if name != vote and profile[name].n_distinct > 1]
        alike = [name for name in alike if profile.share_in(name, vote) >= CROSSED]
        models = [name for name in alike if names(name, "model")]
        if len(models) == 1 and len(alike) > 2:
            return {OUTPUT: models, TARGET: [vote]}
    return {}


def _varying_answers(profile: Profile, parts: dict[str, list[str]]) -> list[str]:
    """Return columns of answers that differ between rows of one question. They are outputs, because
    right answers do not differ there."""
    if not parts[PROMPT]:
        return []
    prompt, *_ = _prompts(profile, parts[PROMPT], ()) or ("",)
    answers = []
    for name in profile.names:
        is_answer = names(name, "answer") and not names(name, "about") and name not in parts[TARGET]
        column = profile[name]
        is_text = not (column.is_numeric or column.is_verdict or column.is_list)
        if not (prompt and is_answer and is_text):
            continue
        # Only a question with at least two rows on average shows whether its answers differ.
        n_questions = profile[prompt].n_distinct
        if 2 * n_questions <= profile.n_rows:
            if profile.n_distinct([prompt, name]) > 1.5 * n_questions:
                answers.append(name)
    return answers


def _is_graded_sheet(profile: Profile, answer: str) -> bool:
    """Tell whether the only answer column has a grade beside it, so that it is the output."""
    is_label = {"label", "labels"} & set(words_of(answer))
    other_columns = [name for name in profile.names if name != answer]
    is_scored = any(names(name, "score") and _is_score(profile[name]) for name in other_columns)
    is_judged = any(
        profile[name].is_verdict and (names(name, "people") or names(name, "judge"))
        for name in other_columns
    )
    return (is_scored or is_judged) and not is_label


def _options(profile: Profile, targets: Sequence[str]) -> tuple[str, ...]:
    """Return the column that lists the options, or a column per option; () for none."""
    for name in profile.names:
        if names(name, "options") and not names(name, "target") and _lists_entries(profile, name):
            return (name,)
    for columns in option_columns(list(profile.names)):
        if targets and len(columns) > 1 and all(profile[name].n_filled for name in columns):
            return tuple(columns)
    dotted = [name for name in profile.names if re.fullmatch(r"(options|choices)\.\w{1,2}", name)]
    return tuple(dotted)


def _belong_to_question(profile: Profile, prompt: str, options: str) -> bool:
    """Tell whether options stand in all rows of their questions, unlike the candidates that one way
    of asking drew."""
    table = profile.table
    n_filled = f"count({table.sql(options)})"
    counts = (
        f"SELECT {n_filled} AS n, count(*) AS n_rows FROM {table.relation} "
        f"GROUP BY {table.sql(prompt)} HAVING {n_filled} > 0"
    )
    query = f"SELECT count(*), count(*) FILTER (n < n_rows) FROM ({counts})"
    ((n_questions, n_partly),) = table.rows(query)
    return 2 * n_partly <= n_questions


def _lists_entries(profile: Profile, name: str) -> bool:
    """Tell whether cells are lists or objects, or each text has several entries: red|blue|green."""
    column = profile[name]
    if column.is_list or column.is_object or column.share(column.n_lists) > 0.5:
        return True
    cells = [row[name] for row in profile.table.frame([name], most=50) if row[name]]
    return bool(cells) and all(_n_entries(cell) > 1 for cell in cells)


def _prompts(
    profile: Profile, candidates: Sequence[str], options: Sequence[str]
) -> tuple[str, ...]:
    """Return the columns of prompts, the one with the most different texts first."""
    texts = [name for name in candidates if name not in options and not profile[name].is_numeric]
    texts = [name for name in texts if profile[name].n_filled]
    # lists of search queries are what a tool was asked
    texts = [name for name in texts if not profile[name].is_list] or texts
    # beside a question, `prompt` may name the prompt: baseline, grounded
    texts = [name for name in texts if not _is_name_of_prompt(profile, name, texts)]
    most = max((profile[name].n_distinct for name in texts), default=1)

    def rank(name: str) -> tuple[float, bool]:
        # rounded, so that a usual name decides between nearly equal counts
        return -round(profile[name].n_distinct / most, 1), words_of(name)[-1] not in _FIRST_PROMPTS

    return tuple(sorted(texts, key=rank))


def _is_name_of_prompt(profile: Profile, name: str, prompts: Sequence[str]) -> bool:
    """Tell whether a column has a word per row, and each of them with nearly all questions."""
    column = profile[name]
    are_words = bool(column.values) and not any(" " in value.strip() for value in column.values)
    if not are_words or column.n_distinct < 2:
        return False
    for text in prompts:
        is_question = profile[text].is_text and profile[text].n_distinct > column.n_distinct
        if text != name and is_question:
            n_crossed = profile[text].n_distinct * column.n_distinct
            if profile.n_distinct([text, name]) >= CROSSED * n_crossed:
                return True
    return False


def _may_be_context(profile: Profile, name: str, parts: dict[str, list[str]]) -> bool:
    column = profile[name]
    if any(name in columns for columns in parts.values()):
        return False
    is_text = not (column.is_numeric or column.is_verdict)  # schema_valid is no schema
    return column.n_distinct > 1 and is_text and not names(last_part(name), "id")


def _with_output_and_target(profile: Profile, roles: Roles, parts: dict[str, list[str]]) -> Roles:
    """Choose the output and the key that agree best, among the columns with such names."""
    targets = [name for name in parts[TARGET] if not _lists_options(profile, name, roles.options)]
    outputs = [name for name in parts[OUTPUT] if profile[name].n_filled]
    whole_outputs = [name for name in outputs if not names(name, "readout")]
    readouts = [name for name in outputs if names(name, "readout")]
    # an answer comes before the list of its citations, and a long text before a short one
    whole_outputs.sort(key=lambda name: (profile[name].is_list, -profile[name].mean_length))
    ordered = [*whole_outputs, *readouts]
    if ordered and not targets:
        targets = _keys_by_values(profile, roles, ordered[0])
        contexts = tuple(name for name in roles.contexts if name not in targets)
        roles = replace(roles, contexts=contexts)
    if not targets or not ordered:
        return replace(
            roles,
            output=next(iter(ordered), ""),
            # what was read of an output that the table lacks is of different kinds
            readouts=tuple(ordered[1:]) if whole_outputs else (),
            target=next(iter(targets), ""),
        )
    # beside a whole output, a column that is only called `label` is a readout by people
    is_read_by_people = whole_outputs and all(
        set(words_of(name)) <= {"label", "labels"} for name in targets
    )
    # unless an extractor read the same labels out of the output: then they are right answers
    if any(_holds_labels_of(profile, name, targets[0]) for name in readouts):
        is_read_by_people = False
    if is_read_by_people and profile[ordered[0]].share(profile[ordered[0]].n_sentences) > 0.5:
        return replace(roles, output=ordered[0], readouts=(*ordered[1:], *targets))
    output, target, agreements = _choose(profile, roles, ordered, targets)
    readouts = [
        name
        for name in ordered
        if name != output and not _is_recoding(profile, name, output, target)
    ]
    return replace(
        roles, output=output, target=target, readouts=tuple(readouts), agreements=agreements
    )


def _is_recoding(profile: Profile, name: str, output: str, target: str) -> bool:
    """Tell whether a column repeats the output in words that no right answer has, such as
    "sarcasm" beside a predicted 1."""
    if profile.share_equal(output, target) < ANSWERS_READ or not profile.are_same(name, output):
        return False
    return not profile.share_equal(name, target)


def with_output(profile: Profile, roles: Roles, output: str) -> Roles:
    """Return the roles with another output, and with its agreement with the right answer."""
    roles = replace(roles, output=output, target="" if roles.target == output else roles.target)
    if not roles.target:
        return roles
    _, _, agreements = _choose(profile, roles, [output], [roles.target])
    return replace(roles, agreements=agreements)


def _keys_by_values(profile: Profile, roles: Roles, output: str) -> list[str]:
    """Return the columns that may be right answers by their names, and are by their values.

    Under `correct` stands a grade or the right number, under `solution` a right answer or a text.
    """
    keys = []
    for name in profile.names:
        column = profile[name]
        if name != output and _holds_expected_labels(profile, output, name):
            keys.append(name)
        is_single = not (column.is_verdict or column.is_list or column.is_object)
        if not (set(words_of(name)) <= _UNSURE_KEYS and is_single and name != output):
            continue
        if column.n_distinct <= 2 or column.mean_length > LONGEST_KEY:
            continue
        rows = profile.table.frame([output, name], most=500)
        shares = [
            agreement(coding, rows, output, name, roles.options).share
            for coding in codings_of(rows, output, name, roles.options)
        ]
        # a guess among the values would agree less often
        least = max(ANSWERS_READ, 2 / column.n_distinct)
        if any(least <= share < TOO_GOOD for share in shares):
            keys.append(name)
    return keys


def _holds_expected_labels(profile: Profile, output: str, name: str) -> bool:
    """Tell whether a column such as expected_behavior holds the labels that the outputs are."""
    column = profile[name]
    is_called = words_of(last_part(name))[:1] == ("expected",) and column.n_distinct > 1
    is_label = bool(column.values) and not (column.is_text or column.is_list or column.is_numeric)
    return is_called and is_label and profile.share_in(output, name) >= CROSSED


def _lists_options(profile: Profile, name: str, options: Sequence[str]) -> bool:
    """Tell whether a column called like the key has an entry per option, such as its score."""
    if not profile[name].is_list:
        return False
    objects = [column for column in profile.names if column != name and profile[column].is_object]
    for option_column in options if len(options) == 1 else objects:
        rows = profile.table.frame([name, option_column], most=200)
        rows = [row for row in rows if row[name] and row[option_column]]
        n_alike = sum(
            len(entries_of(row[name])) == _n_entries(row[option_column]) > 1 for row in rows
        )
        if n_alike > 0.9 * len(rows):
            return True
    return False


def _n_entries(cell: str | None) -> int:
    """Count the entries of a list or an object in a cell."""
    return len(options_in({"": cell}, ""))


def _choose(
    profile: Profile, roles: Roles, outputs: Sequence[str], targets: Sequence[str]
) -> tuple[str, str, tuple[Agreement, ...]]:
    """Return output, key and agreements: the first pair, unless another agrees far better."""
    columns = list(dict.fromkeys([*outputs, *targets, *roles.options]))
    rows = profile.table.frame(columns, most=LOOKED_AT if profile.table.is_whole else 500)
    keys = []
    for target in targets:
        # exports of Ragas hold the output twice, as answer and as response
        if not any(_are_copies(profile, output, target) for output in outputs):
            keys.append(target)
    best: tuple[str, str, tuple[Agreement, ...]] | None = None
    best_share, is_best_usable = -1.0, False
    weak = [target for target in keys if set(words_of(target)) <= KEY_WORDS]
    is_beside_strong = len(weak) < len(keys)
    for target, output in product(keys or targets, outputs):
        if output == target:
            continue
        codings = codings_of(rows, output, target, roles.options)
        agreements = tuple(
            agreement(coding, rows, output, target, roles.options) for coding in codings
        )
        share = max((agreed.share for agreed in agreements), default=0.0)
        if is_beside_strong and target in weak and share >= READ:
            continue  # `answer` was read out of the output; the right one stands under `gold`
        # long right answers are never repeated word for word, so they cannot be compared
        is_usable = bool(agreements) and agreements[0].coding is not Coding.LONG_TEXT
        is_better = (is_usable and not is_best_usable) or best_share + BETTER <= share < TOO_GOOD
        if best is None or is_better:
            best = (output, target, agreements)
            best_share, is_best_usable = share, is_usable
    assert best is not None
    return best


def _are_copies(profile: Profile, output: str, target: str) -> bool:
    """Tell whether a key called `answer` repeats the outputs, which are sentences."""
    is_weak = set(words_of(target)) <= KEY_WORDS and output != target
    return is_weak and profile[target].is_text and profile.share_equal(output, target) >= TOO_GOOD


# Scores, judges and people.


def _is_score(column: Column) -> bool:
    """Tell whether the values are scores: right and wrong, k/n, percentages, numbers."""
    if column.is_verdict or column.is_ratio or column.is_numeric:
        return True
    return bool(column.values) and all(score_of_cell(value) is not None for value in column.values)


def _counts_rows(column: Column) -> bool:
    """Tell whether a column numbers the rows, from 0 or 1 on."""
    if not column.is_integer or (column.least or 0) not in (0, 1):
        return False
    n_numbers = (column.most or 0) - (column.least or 0) + 1
    return column.n_distinct == column.n_rows == n_numbers and column.n_rows >= 5


class Grading(StrEnum):
    """The role of a column that may grade."""

    SCORE = "score"
    JUDGE = "judge"
    PEOPLE = "people"
    READOUT = "readout"  # answers that people read out of the outputs
    UNNAMED = "unnamed"  # scores by the values alone


def _with_graders(profile: Profile, roles: Roles) -> Roles:
    """Add the columns that grade: scores, judges and people, and numbers that may be scores."""
    columns: dict[Grading, list[str]] = {kind: [] for kind in Grading}
    shares = [name for name in profile.names if parts_of_share(name, profile.columns)]
    counted = set(chain.from_iterable(name.split("/") for name in shares))
    for name in profile.names:
        kind = _find_grading(profile, roles, name)
        if name in shares:
            columns[Grading.SCORE].insert(0, name)
        elif kind and name not in counted:
            columns[kind].append(name)
    if any(profile[name].is_verdict for name in columns[Grading.SCORE]):
        # `passed` says whether all tests passed
        columns[Grading.SCORE] = [name for name in columns[Grading.SCORE] if name not in shares]
    errors = tuple(
        name
        for name in profile.names
        if names(name, "error") and name not in roles.taken and not _is_measure(profile[name])
    )
    readouts = (*roles.readouts, *columns[Grading.READOUT])
    roles = replace(roles, errors=errors, readouts=readouts)
    scores = _order_scores(profile, roles, columns)
    roles = replace(
        roles,
        scores=tuple(scores),
        judges=tuple(columns[Grading.JUDGE]),
        # people's numbers are what an error was measured from
        people=() if _is_error_rate(scores) else tuple(columns[Grading.PEOPLE]),
        unnamed_scores=tuple(name for name in columns[Grading.UNNAMED] if name not in scores),
    )
    # on a scale that reaches above 1, one negative value in few rows is no grade
    negatives = lone_negatives(profile, roles)
    sentinel = tuple((name, value) for name, value in negatives if (profile[name].most or 0) > 1)
    return replace(roles, sentinel=sentinel)


def _is_error_rate(scores: Sequence[str]) -> bool:
    """Tell whether the leading score measures an error: wer, abs_error."""
    return bool(scores) and last_names(last_part(scores[0]), "error_rate")


def _is_measure(column: Column) -> bool:
    """Tell whether numbers measure something, unlike codes and counts: error_km."""
    return column.is_numeric and not column.is_integer


def _find_grading(profile: Profile, roles: Roles, name: str) -> Grading | None:
    """Find what a column that may grade is; None for a column that does not grade."""
    column, last = profile[name], last_part(name)
    if name in roles.taken or not _holds_grades(column, last):
        return None
    if _is_named_otherwise(profile, roles, name):
        return None
    if _is_estimate(last) and not column.is_verdict:
        return Grading.UNNAMED
    if _is_of_people(last):
        if column.n_distinct == 1 and 2 * column.n_filled < profile.n_rows:
            return None  # a mark that few rows have, such as manual_collection
        reads_answers = _reads_answers(profile, roles, name)
        return Grading.READOUT if reads_answers else Grading.PEOPLE
    is_setting = _is_named_setting(column, name)
    is_graded = column.n_distinct > 1 or column.is_verdict
    is_flag = bool(set(words_of(last)[-1:]) & _FLAGS)
    if names(last, "judge") and is_graded and not (is_setting or is_flag):
        return Grading.UNNAMED if _is_among_models(profile, name) else Grading.JUDGE
    if _is_named_score(name) and (not is_setting or _ends_in_score(last)):
        return Grading.SCORE
    if _is_verdict_of_model(profile, roles, name):
        return Grading.JUDGE
    if column.is_verdict and column.n_distinct > 1 and names(last, "good"):
        return Grading.UNNAMED  # response_level_factuality
    words = words_of(last)
    if column.is_verdict and words[:1] == ("all",) and is_word(words[-1], "right"):
        return Grading.SCORE  # all_ok, beside date_ok and total_ok
    if column.is_verdict and names(last, "condition") and _is_among_verdicts(profile, name):
        return Grading.UNNAMED  # ✅ and ❌ under Bot v5 and Bot v6
    if is_setting or any(names(last, kind) for kind in _NO_SCORES):
        return None
    if part_of(name) == OUTPUT and not column.is_verdict:
        return None  # a number that the model said
    return Grading.UNNAMED if _may_be_score(column) or _is_rating(column, last) else None


def _is_among_verdicts(profile: Profile, name: str) -> bool:
    """Tell whether another column called after a system holds right and wrong too."""
    systems = [column for column in profile.names if column != name and names(column, "condition")]
    return any(profile[column].is_verdict for column in systems)


def _is_among_models(profile: Profile, name: str) -> bool:
    """Tell whether numbers stand under the name of a model beside those of another: two systems."""
    is_judge = bool({"judge", "grader", "rater"} & set(words_of(name)))
    if not names(name, "model") or _is_named_score(name) or is_judge:
        return False
    systems = [column for column in profile.names if column != name and names(column, "model")]
    if profile[name].is_verdict:
        systems = [column for column in systems if not _is_named_score(column)]
        is_alone = not any(names(column, "people") for column in profile.names)
        return is_alone and any(profile[column].is_verdict for column in systems)
    systems = [column for column in systems if profile[column].is_numeric]
    return any(_share_scale(profile, column, [name]) for column in systems)


_FLAGS = frozenset("skipped parsed used called ran done cached".split())  # of a judge's call


def _holds_grades(column: Column, last: str) -> bool:
    """Tell whether the values may be grades; `last` is the last part of the column's name."""
    # a column that is called a score may hold something else now and then
    is_score = _is_score(column) or (
        last_names(last, "score") and column.share(column.n_numbers) > 0.5
    )
    if column.is_list or column.is_object or not is_score or _counts_rows(column):
        return False
    is_graded = column.is_verdict or set(column.values) <= _GRADES
    if column.is_letter and not (names(last, "score") and is_graded):
        return False  # letters are answers, but Y and N under "correct?" are grades
    # one number outside 0 to 1 in every row is a setting or a remark, whatever its name
    is_one_number = column.n_distinct == 1 and column.least is not None
    return not (is_one_number and not 0 <= (column.least or 0) <= 1)


def _is_named_otherwise(profile: Profile, roles: Roles, name: str) -> bool:
    """Tell whether numbers are no grades by their name, whatever other words it has."""
    column, last = profile[name], last_part(name)
    if roles.output and part_of(name) == TARGET and not column.is_verdict:
        return True  # a second right answer in numbers: correct_answer beside answer
    if last.lower() in _WHO and not column.is_verdict:
        return True  # annotator 7 is a person, not a grade
    if words_of(last)[:1] in (("rank",), ("position",)) and not column.is_verdict:
        return True  # rank_of_first_relevant
    if set(column.values) == {"x", "y"}:
        return True  # what pandas calls the sides of a merge, and no right and wrong
    if set(words_of(last)) <= SHARES and column.is_integer and (column.least or 0) >= 1:
        return True  # a precision of 2 counts decimals
    # the classifier's own probability of a class
    return _is_of_class(profile, roles, name) or _is_confidence(profile, roles, name)


def _is_named_score(name: str) -> bool:
    """Tell whether a column is called a score."""
    if names(last_part(name), "score") or (names(name, "score") and "." in name):
        return True
    return _is_named_entry(name) or bool(_SCALE.search(name))


def _is_named_setting(column: Column, name: str) -> bool:
    """Tell whether a column is called like something about the run, an id or a setting."""
    kinds = ["about", "id", "run"]
    if words_of(last_part(name)) == ("reciprocal", "rank"):
        return False
    # "correct? y/n" is no number of something
    is_verdict_in_words = column.is_verdict and column.n_numbers < column.n_filled
    if not (_is_named_score(name) and is_verdict_in_words):
        kinds.append("configuration")
    return any(names(last_part(name), kind) for kind in kinds)


def _is_verdict_of_model(profile: Profile, roles: Roles, name: str) -> bool:
    """Tell whether right and wrong stand in a column that is called after a model, the judge."""
    column, last = profile[name], last_part(name)
    if not column.is_verdict:
        return False
    is_of_model = names(last, "model")
    if (is_of_model or names(last, "judge")) and is_label_beside_another(profile, name):
        return True
    # a model may be called c or n
    is_in_words = column.n_distinct > 1 and column.n_numbers < column.n_filled
    return is_of_model and is_in_words and bool(roles.output or roles.prompts)


def _order_scores(
    profile: Profile, roles: Roles, columns: Mapping[Grading, Sequence[str]]
) -> list[str]:
    """Return the columns of scores, the one that leads first.

    Without any by their names, they are found by their values.
    """
    named = _without_weak(profile, _scores_of_output(columns[Grading.SCORE]))
    scores = _with_siblings(profile, roles, named)
    good = [name for name in columns[Grading.UNNAMED] if names(last_part(name), "good")]
    has_good = any(profile[name].is_verdict for name in good)  # schema_valid beside n_errors
    if not (scores or columns[Grading.JUDGE] or has_good):
        lower = [name for name in profile.names if _is_lower_score(profile, roles, name)]
        # a transcript that is not word for word right may be nearly right
        rates = [name for name in lower if last_names(last_part(name), "error_rate")]
        scores = rates if _has_match(roles) or columns[Grading.PEOPLE] else lower
    # the first score leads: one of which less is better comes after all others, and so does one
    # that most rows lack; what grades the output comes before what grades a search, and an overall
    # score before its parts
    has_verdict = any(profile[name].is_verdict and profile[name].n_distinct > 1 for name in scores)
    if scores and not has_verdict:
        # `overall` beside helpfulness and accuracy, on their scale
        free = [name for name in profile.names if name not in (*scores, *roles.taken)]
        free = [name for name in free if is_overall(name) and not profile[name].is_list]
        scores += [name for name in free if _share_scale(profile, name, scores)]
    has_f1 = any("f1" in name.lower() for name in scores)
    numbers = [
        name for name in scores if profile[name].is_integer and (profile[name].most or 0) > 1
    ]
    counts = {name for name in numbers if words_of(name)[1:][-1:] in (("passed",), ("solved",))}
    exact = {name for name in scores if set(words_of(last_part(name))) & {"exact", "em"}}
    verdicts = {name for name in scores if profile[name].is_verdict} - exact
    verdicts -= {name for name in scores if set(words_of(last_part(name))) & SHARES}
    plain = {name for name in verdicts if all(map(is_known_word, words_of(last_part(name))))}
    scores.sort(
        key=lambda name: (
            2 * profile[name].n_filled < profile.n_rows,
            lower_is_better(name),
            bool(set(words_of(name)) & STEPS_BEFORE),
            has_verdict or not is_overall(name),
            has_f1 and bool(set(words_of(last_part(name))) & SHARES),
            # tests_passed says less than `passed`
            has_verdict and name in counts,
            # right by a judge or a program says more than equal word for word
            bool(exact and verdicts) and name not in verdicts,
            # sees_depth says less than is_correct
            bool(plain) and name in verdicts - plain,
        )
    )
    if roles.output and roles.target and not scores:
        free = [name for name in profile.names if name not in roles.taken]
        candidates = dict.fromkeys((*columns[Grading.UNNAMED], *free))
        scores = [name for name in candidates if _grades_agreement(profile, roles, name)]
    return scores


def is_overall(name: str) -> bool:
    """Tell whether a score is called overall, total or composite, and nothing else."""
    words = [word for word in words_of(last_part(name)) if word not in ("score", "rating")]
    return bool(words) and all(word in _OVERALL for word in words)


_OVERALL = {"overall", "total", "composite", "combined", "aggregate", "global", "final", "average"}
# graded apart from the output
STEPS_BEFORE = {"context", "contexts", "retrieval", "retriever", "mrr", "ndcg", "hit", "hits"}
SHARES = {"precision", "recall"}  # names of scores that lie from 0 to 1


def _is_of_people(name: str) -> bool:
    """Tell whether a column has labels by people: human_score does, escalate_to_human and
    needs_manual do not."""
    if not names(name, "people") or names(name, "about") or names(name, "id"):
        return False
    if names(name, "configuration"):  # expert_minutes
        return False
    pairs = pairwise(words_of(name))
    not_yet_words = {"to", "needs", "requires"}
    return not any(first in not_yet_words and names(second, "people") for first, second in pairs)


def is_label_beside_another(profile: Profile, name: str) -> bool:
    """Tell whether a column has one of several raters' labels, as llm_label beside human_label."""
    if not _ends_in_label(name):
        return False
    labels = set(profile[name].values)
    raters = [column for column in profile.names if column != name and _ends_in_label(column)]
    return any(len(labels & set(profile[rater].values)) > 1 for rater in raters)


def _ends_in_label(name: str) -> bool:
    return words_of(name)[-1:] in (("label",), ("labels",))


def _is_of_class(profile: Profile, roles: Roles, name: str) -> bool:
    """Tell whether a score is called after a class: score_spam, where "spam" is a right answer."""
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
    return column.is_unit and words_of(roles.output) == (*words[:-1], "label")


def _is_estimate(name: str) -> bool:
    """Tell whether a score is no grade but a model's estimate about the item, such as a risk."""
    words = set(words_of(name))
    return bool(words & _ESTIMATES) and names(name, "score")


_ESTIMATES = set(
    "risk confidence certainty probability likelihood sentiment threat anomaly".split()
)
_SCALE = re.compile(r"[(\[]\s*\d+\s*(?:-|–|to)\s*\d+\s*[)\]]")  # Clarity (1-5)


def _with_siblings(profile: Profile, roles: Roles, scores: Sequence[str]) -> list[str]:
    """Add the columns that share the first word and the scale of two scores, as label_clarity does
    beside label_correctness and label_accuracy."""
    scores_by_word: dict[str, list[str]] = {}
    for name in scores:
        if "_" in name or "." in name:
            scores_by_word.setdefault(re.split(r"[_.]", name)[0], []).append(name)
    siblings = []
    for name in profile.names:
        alike_scores = scores_by_word.get(re.split(r"[_.]", name)[0], [])
        is_free = name not in scores and name not in roles.taken
        if len(alike_scores) > 1 and is_free and _share_scale(profile, name, alike_scores):
            siblings.append(name)
    all_scores = [*scores, *siblings]
    return sorted(all_scores, key=profile.names.index) if siblings else all_scores


def _share_scale(profile: Profile, name: str, scores: Sequence[str]) -> bool:
    """Tell whether a column holds right and wrong as all `scores` do, or whole numbers within the
    range of theirs."""
    column, score_columns = profile[name], [profile[score] for score in scores]
    if column.is_verdict:
        return all(score.is_verdict for score in score_columns)
    if not column.is_integer:
        return False
    if not all(score.is_integer and not score.is_verdict for score in score_columns):
        return False
    least = min(score.least or 0 for score in score_columns)
    most = max(score.most or 0 for score in score_columns)
    return least <= (column.least or 0) and (column.most or 0) <= most <= 100


def _has_match(roles: Roles) -> bool:
    """Tell whether outputs can be compared with the right answers word for word."""
    return bool(roles.agreements) and roles.agreements[0].coding is not Coding.LONG_TEXT


def _is_lower_score(profile: Profile, roles: Roles, name: str) -> bool:
    """Tell whether a column is a score of which less is better."""
    # beside an output, `error` is about the call
    if name in roles.taken or (roles.output and name in roles.errors) or not lower_is_better(name):
        return False
    column = profile[name]
    return _is_score(column) and column.n_distinct > 1 and not (column.is_list or column.is_object)


# columns that name the person who graded, sometimes by a number
_WHO = {"annotator", "worker", "rater", "reviewer", "turker", "coder", "labeler", "labeller"}


def _reads_answers(profile: Profile, roles: Roles, name: str) -> bool:
    """Tell whether people's labels are answers that they read, not grades: some equal the key."""
    if not roles.target or not roles.output or profile[name].is_verdict:
        return False
    return profile.share_equal(name, roles.target) >= ANSWERS_READ


def _is_named_entry(name: str) -> bool:
    """Tell whether a column is an entry of a list of named scores: metrics[Relevancy].score."""
    return bool(re.search(r"\[[^\]]*\]\.\w+$", name))


def _ends_in_score(name: str) -> bool:
    if not last_names(name, "score"):
        return False
    words = words_of(name)
    return not ({"token", "tokens"} & set(words) or names(words[-1], "configuration"))


def _may_be_score(column: Column) -> bool:
    """Tell whether the values may be scores, whatever the name: right and wrong, numbers from 0 to
    1, or percentages."""
    if column.is_verdict and column.n_distinct == 2:
        return True
    are_percentages = bool(column.values) and all(value.endswith("%") for value in column.values)
    is_share = column.is_numeric and (column.is_unit or are_percentages)
    return is_share and column.n_distinct > 1 and column.n_filled >= 5


def _is_rating(column: Column, name: str) -> bool:
    """Tell whether a column is called after a quality, such as truthfulness, and holds whole
    numbers up to 10."""
    if not column.is_integer or column.least is None or column.most is None:
        return False
    is_scale = 0 <= column.least < column.most <= MAX_RATING and column.n_distinct > 2
    return is_scale and names(name, "good")


def _scores_of_output(scores: Sequence[str]) -> Sequence[str]:
    """Keep the scores inside of an object called like an output, where all scores are inside of
    objects: beside generation.grounding, retrieval.hit_at_1 grades another step."""
    if not all("." in name for name in scores):
        return scores
    of_output = []
    for name in scores:
        if any(names(part, "output") for part in name.split(".")[:-1]):
            of_output.append(name)
    return of_output or scores


def _without_weak(profile: Profile, scores: Sequence[str]) -> list[str]:
    """Drop columns that are scores by a vague word alone (`status`), unless they hold verdicts."""
    weak = ("status", "outcome", "result", "results", "eval", "metric", "output", "value")
    strong = []
    for name in scores:
        words = words_of(last_part(name))
        scored = [word for word in words if names(word, "score")]
        is_weak = bool(scored) and all(word in weak for word in scored)
        says_call = scored and scored[0] in ("success", "successful", "status")
        if profile[name].n_distinct == 1 and says_call:
            continue  # every call that says so succeeded
        if not is_weak or profile[name].is_verdict or _is_named_entry(name):
            strong.append(name)
    return strong


def _grades_agreement(profile: Profile, roles: Roles, name: str) -> bool:
    """Tell whether a column says right in the rows in which output and key agree, and wrong in the
    others; up to 2% of the rows may differ."""
    column = profile[name]
    if not 2 <= column.n_distinct <= 4 or not profile.table.is_whole or not roles.agreements:
        return False
    for value in column.values:
        if not (is_word(value, "right") or is_word(value, "wrong") or value in ("0", "1")):
            return False
    rows = profile.table.frame([name, roles.output, roles.target, *roles.options], most=LOOKED_AT)
    coding = roles.agreements[0].coding
    hits = n_right = 0
    for row in rows:
        right = agreement(coding, [row], roles.output, roles.target, roles.options).n_right == 1
        hits += right == (score_of_cell(row[name]) == 1.0)
        n_right += right
    # where all rows are wrong, any column of zeros would agree
    return 0 < n_right < len(rows) and hits >= 0.98 * len(rows)


def lone_negatives(profile: Profile, roles: Roles) -> tuple[tuple[str, float], ...]:
    """Return (score, value) where the only negative value of a score, such as -1, is in under half
    of the rows."""
    negatives = []
    for name in roles.graders:
        column = profile[name]
        if not column.is_numeric or column.least not in _SENTINELS:
            continue
        is_signed = set(column.values) <= {"-1", "1", "-1.0", "1.0"}
        if is_signed and not _stand_for_errors(profile, roles, name):
            continue
        sql = profile.table.sql(name)
        query = (
            f"SELECT count(*), count(DISTINCT v) FROM (SELECT TRY_CAST({sql} AS DOUBLE) AS v "
            f"FROM {profile.table.relation}) WHERE v < 0"
        )
        n_negative, n_values = profile.table.rows(query)[0]
        if n_values == 1 and 2 * n_negative < column.n_filled and column.least is not None:
            negatives.append((name, column.least))
    return tuple(negatives)


def _stand_for_errors(profile: Profile, roles: Roles, name: str) -> bool:
    """Tell whether the negative values of a score stand in the rows that report an error."""
    score = f"TRY_CAST({profile.table.sql(name)} AS DOUBLE)"
    for error in roles.errors:
        has_error = f"({profile.table.sql(error)} IS NOT NULL)"
        query = (
            f"SELECT count(*) FILTER ({has_error} <> ({score} < 0)) FROM {profile.table.relation}"
        )
        if profile[error].n_distinct > 1 and not profile.table.rows(query)[0][0]:
            return True
    return False
