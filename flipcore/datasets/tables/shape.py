"""Turn wide tables into long ones, before anything else is decided.

A row with the answers of several models, or with a list of samples, becomes a row per answer.
Column names are split into a stem (the model) and an affix: `gpt` and `score` in `gpt_score`. A
block of columns has two or more stems with the same affixes, one of which is an output. The block
with the most columns is chosen.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from flipcore.datasets.tables.load import Table
from flipcore.datasets.tables.own_columns import (
    OF_SAMPLE,
    SIGNS,
    bare_column,
    is_shared,
    own_key,
    row_labels,
)
from flipcore.datasets.tables.profile import Profile
from flipcore.datasets.tables.roles import KEY_WORDS, OUTPUT, TARGET, holds_logits, part_of
from flipcore.datasets.tables.stems import last_names, names, words_of

OF_VERSION, OF_ROW = "version", "row"  # columns that are added to rows of one version of a question
SHARED_COLUMNS = 3  # least affixes that systems share, if one of them has further columns
_NO_MODELS = ("target", "vote", "people", "judge", "output", "id", "run", "about")
MAX_GRADE = 10  # the largest grade of a criterion
MAX_FILLED = 0.8  # least share of rows with a list, for lists of samples
MAX_SAMPLES = 2_000  # entries of a list of samples
_NO_TEXTS = r"^\[\s*(\{|-?[\d., eE+-]+\]$)"  # a list of objects, or of numbers alone
LONG_TEXT = 40  # characters; so long texts of two systems are not equal by chance
KEY_VALUES = 0.8  # least share of a model's answers that are values of the right answers
_GENERIC = frozenset(
    "model llm final raw assistant student agent ai bot new old en de fr es zh".split()
)
# generic words that name systems only in pairs: baseline_output beside new_output
CONTRASTED = frozenset(
    "old new baseline base before after pre post original tuned finetuned control treatment "
    "candidate clean adversarial adv noisy corrupted perturbed".split()
)
_SYSTEMS = frozenset("agent llm".split())  # generic words for systems, beside a system with a name
_ROLES = (
    "output",
    "answer",
    "target",
    "prompt",
    "options",
    "id",
    "run",
    "score",
    "about",
    "configuration",
    "people",
)


@dataclass(frozen=True)
class Shape:
    """The way to split rows, by one of the three fields; all are empty for a long table."""

    models: tuple[str, ...] = ()  # stems: a row per model
    lists: tuple[str, ...] = ()  # columns of lists: a row per entry
    versions: tuple[str, ...] = ()  # numbered columns of objects (shuffle_0): a row per version
    is_plain: bool = False  # whether nothing else can be meant by the models' columns

    def __bool__(self) -> bool:
        """Tell whether rows are split."""
        return bool(self.models or self.lists or self.versions)


def find_shape(profile: Profile) -> Shape:
    """Find the columns of versions, of lists or of models whose parts become rows."""
    versions = _versions(profile)
    if versions:
        return Shape(versions=versions)
    lists = _lists(profile)
    if lists:
        return Shape(lists=lists)
    keys = tuple(keys_of_outputs(profile))
    if any(names(key, "model") for key in keys):
        return Shape(models=keys)
    models = _models_of_objects(profile) or _models_with_affixes(profile)
    beside_key = _models_beside_key(profile)
    # a system whose name is in no list may stand beside those that are known
    is_part = set(models) <= set(beside_key)
    return Shape(models=beside_key if is_part else models)


def _versions(profile: Profile) -> tuple[str, ...]:
    """Return numbered columns of objects that are versions of one question, each with a prompt."""
    has_prompt: dict[str, dict[str, bool]] = {}
    for name in profile.names:
        matched = re.fullmatch(r"((?P<family>[^.]*?)\d+)\.(.+)", name)
        if matched:
            column, family, key = matched[1], matched["family"], matched[3]
            columns = has_prompt.setdefault(family, {})
            columns[column] = columns.get(column, False) or names(key, "prompt")
    versions = [tuple(columns) for columns in has_prompt.values() if all(columns.values())]
    return max(versions, key=len, default=())


def _lists(profile: Profile) -> tuple[str, ...]:
    """Return columns of lists of equal length per row, one of them scores or outputs."""
    table = profile.table
    kinds = ("options", "context", "target", "prompt", "about", "part")
    candidates = [
        name
        for name in profile.names
        # rows without the list would be lost
        if profile[name].is_list and profile[name].n_filled >= MAX_FILLED * profile.n_rows
    ]
    groups: list[list[str]] = []
    parts = [name for name in candidates if names(name, "context") or names(name, "part")]
    candidates = [name for name in candidates if not any(names(name, kind) for kind in kinds)]
    for name in candidates:
        for group in groups:
            if _have_equal_lengths(table, name, group[0]):
                group.append(name)
                break
        else:
            groups.append([name])
    for group in sorted(groups, key=len, reverse=True):
        # the scores of what a search returned are as many as the passages
        has_output = any(names(name, "output") or names(name, "answer") for name in group)
        are_of_parts = any(_have_equal_lengths(table, name, group[0]) for name in parts)
        if are_of_parts and not has_output:
            continue
        if _holds_attempts(profile, group[0]):
            continue
        if any(_holds_samples(profile, name, len(group)) for name in group):
            return tuple(group)
    return ()


def _holds_attempts(profile: Profile, name: str) -> bool:
    """Tell whether lists are mostly of one entry beside right and wrong, as attempts are."""
    grades = [score for score in profile.names if names(score, "score")]
    if not any(profile[score].is_verdict and profile[score].is_filled for score in grades):
        return False
    length = _length(profile.table.sql(name))
    query = f"SELECT count(DISTINCT {length}), mode({length}) FROM {profile.table.relation}"
    n_lengths, commonest = profile.table.rows(query)[0]
    return n_lengths > 1 and commonest == 1


def _have_equal_lengths(table: Table, name: str, second: str) -> bool:
    """Tell whether the lists of two columns are equally long in every row that has both."""
    left, right = table.sql(name), table.sql(second)
    query = (
        f"SELECT bool_and(coalesce({_length(left)}, 0) = coalesce({_length(right)}, 0)) "
        f"FROM {table.relation} WHERE {left} IS NOT NULL AND {right} IS NOT NULL"
    )
    return bool(table.rows(query)[0][0])


def _length(cell: str) -> str:
    """Return the SQL of the length of a list in a cell; -1 for invalid JSON."""
    return (
        f"CASE WHEN json_valid({cell}) THEN CAST(json_array_length({cell}) AS BIGINT) ELSE -1 END"
    )


def _holds_samples(profile: Profile, name: str, n_lists: int) -> bool:
    """Tell whether lists, `n_lists` of equal length, hold outputs or scores of samples."""
    sql = profile.table.sql(name)
    query = (
        f"SELECT max({_length(sql)}), count(*) FILTER (NOT json_valid({sql})), "
        f"min({_length(sql)}), "
        f"count(*) FILTER ({sql} LIKE '[[%' OR {sql} LIKE '[{{\"role\"%') "
        f"FROM {profile.table.relation} WHERE {sql} IS NOT NULL"
    )
    longest, n_invalid, shortest, n_nested = profile.table.rows(query)[0]
    words = words_of(name)
    # predicted_speakers lists the parts of one output
    is_of_parts = names(words[0], "readout") and words[-1].endswith("s")
    if is_of_parts and not any(names(words[-1], kind) for kind in ("output", "answer", "score")):
        return False
    if names(name, "judge") or n_invalid or n_nested or not longest or shortest == 0:
        return False
    if names(name, "readout") and shortest == longest and _has_whole_output(profile, name):
        return False  # two numbers that were read out of one output
    if longest > MAX_SAMPLES:
        return False  # a label per word or token
    if longest == 1 and not any(names(name, kind) for kind in ("output", "score")):
        return False
    if _are_sets_of_letters(profile, name) or _lists_parts_as_key(profile, name):
        return False
    if holds_logits(profile, name):
        return False
    is_named = names(name, "output") or names(name, "score")
    return is_named or (n_lists > 1 and len(words_of(name)[0]) <= 2)


def _has_whole_output(profile: Profile, name: str) -> bool:
    """Tell whether another column holds outputs as texts."""
    outputs = [column for column in profile.names if column != name and part_of(column) == OUTPUT]
    return any(profile[column].is_text and not profile[column].is_list for column in outputs)


def _lists_parts_as_key(profile: Profile, name: str) -> bool:
    """Tell whether lists hold objects, numbers or labels, as right answers do: one answer per list,
    such as the corners of a box or the topics of a text, and no samples."""
    if not profile[name].is_list:
        return False
    for key in profile.names:
        if key == name or not profile[key].is_list:
            continue
        # predicted_labels beside labels
        words, key_words = words_of(name), words_of(key)
        if names(words[0], "readout") and words[-1:] == key_words[-1:] and words[-1].endswith("s"):
            return True
        if not names(key, "target"):
            continue
        sqls = profile.table.sql(name), profile.table.sql(key)
        cells = ", ".join(f"avg(regexp_matches({sql}, '{_NO_TEXTS}')::INT)" for sql in sqls)
        shares = profile.table.rows(f"SELECT {cells} FROM {profile.table.relation}")[0]
        if all(share and share > 0.5 for share in shares):
            return True
    return False


def _are_sets_of_letters(profile: Profile, name: str) -> bool:
    """Tell whether lists hold different single letters: one answer per list, no samples."""
    sql = profile.table.sql(name)
    letters = f"CAST(from_json({sql}, '[\"VARCHAR\"]') AS VARCHAR[])"
    query = (
        f"SELECT bool_and(regexp_full_match({sql}, '\\[\\s*(\"[A-J]\"[,\\s]*)+\\]')) AND "
        f"bool_and(len(list_distinct({letters})) = len({letters})) FROM {profile.table.relation} "
        f"WHERE {sql} IS NOT NULL"
    )
    return bool(profile.table.rows(query)[0][0])


def _is_stem(stem: str) -> bool:
    """Tell whether part of a column's name may be a model, and is no role and no number."""
    words = words_of(stem)
    if not words or len(stem) > 60 or all(word.isdigit() for word in words):
        return False
    parent, _, last = stem.rpartition(".")
    if names(parent, "score") and not names(last, "model"):
        return False  # scores.clarity is an aspect
    if words in (("setup",), ("call",), ("teardown",)):
        return False  # the phases of a test in pytest
    if all(word in _GENERIC for word in words):
        return words[0] in CONTRASTED or words[-1] in _SYSTEMS
    for word in words:
        if not word.isdigit() and not any(names(word, kind) for kind in _ROLES):
            return True
    return names(stem, "model")


def _partitions(columns: Sequence[str]) -> dict[tuple[str, bool], set[str]]:
    """Split names at each sign: {(stem, whether it stands first): its affixes}.

    The affix "" means that a column is called like the stem.
    """
    affixes: dict[tuple[str, bool], set[str]] = {}
    for column in columns:
        for i, sign in enumerate(column):
            if sign not in SIGNS:
                continue
            for stem, affix, is_first in (
                (column[:i], column[i + 1 :], True),
                (column[i + 1 :], column[:i], False),
            ):
                # dotted paths are split at dots only: prediction.acc_raw, output.tool_obs
                is_within = sign != "." and "." in affix
                is_key = "." in stem or not (names(stem, "model") or names(stem, "condition"))
                # parsed_result.depth.score is no result.depth.score that was parsed
                has_path = sign != "." and bool(re.search(r"\.[A-Za-z]", stem))
                if not is_first and (is_within or has_path or (sign == "." and is_key)):
                    continue
                if stem and affix and "," not in column and _is_stem(stem):
                    affixes.setdefault((stem, is_first), set()).add(affix)
    for column in columns:
        for is_first in (True, False):
            if (column, is_first) in affixes:
                affixes[column, is_first].add("")
    return affixes


def _models_of_objects(profile: Profile) -> tuple[str, ...]:
    """Return columns of objects with the same keys and a score each: a model per column."""
    keys_by_column: dict[str, list[str]] = {}
    for name in profile.names:
        column, _, key = name.partition(".")
        if key:
            keys_by_column.setdefault(column, []).append(key)
    columns_by_keys: dict[frozenset[str], list[str]] = {}
    for column, keys in keys_by_column.items():
        columns_by_keys.setdefault(frozenset(keys), []).append(column)
    for key_set, columns in columns_by_keys.items():
        if len(key_set) >= SHARED_COLUMNS:  # a system may have keys that the others lack
            larger = [
                column_list for keys, column_list in columns_by_keys.items() if key_set < keys
            ]
            columns = [*columns, *chain.from_iterable(larger)]
        models = [name for name in columns if names(name, "model") or not names(name, "judge")]
        has_score = len(key_set) > 1 and any(names(key, "score") for key in key_set)
        if has_score and len(models) > 1 and all(map(_is_stem, models)):
            return tuple(models)
    return ()


def keys_of_outputs(profile: Profile) -> dict[str, str]:
    """Return {key: a score's column} for keys that an object of texts shares with one of scores.

    In translations.alpha, translations.beta, scores.alpha.bleu and scores.beta.bleu the keys may be
    models. Elsewhere they may be the fields of one output.
    """
    columns_by_object: dict[str, dict[str, str]] = {}
    for name in profile.names:
        parent, _, key = name.partition(".")
        if key:
            columns_by_object.setdefault(parent, {})[key] = name
    for parent, columns in columns_by_object.items():
        if any(names(parent, kind) for kind in _NO_OUTPUTS) or not _are_keys(list(columns)):
            continue
        cells = [profile[name] for name in columns.values()]
        if any(cell.is_numeric or cell.is_verdict or cell.is_list for cell in cells):
            continue
        for scored_parent in columns_by_object:
            scores = {}
            for key in columns:
                score = _score_under(profile, scored_parent, key)
                if score:
                    scores[key] = score
            if len(scores) == len(columns):
                return scores
    return {}


# objects of these names hold texts, and no outputs
_NO_OUTPUTS = ("target", "people", "judge", "about", "prompt", "options", "context")


def _are_keys(keys: Sequence[str]) -> bool:
    """Tell whether keys of an object may be models, and are neither labels nor qualities."""
    if len(keys) < 2 or _are_numbered(keys):
        return False
    return all(len(key) > 2 and _is_stem(key) and not names(key, "good") for key in keys)


def _score_under(profile: Profile, parent: str, key: str) -> str:
    """Return the column of a score under a key of an object: scores.alpha or scores.alpha.bleu."""
    for name in profile.names:
        is_under = name == f"{parent}.{key}" or name.startswith(f"{parent}.{key}.")
        is_named = names(parent, "score") or names(name.rpartition(".")[2], "score")
        if is_under and is_named and (profile[name].is_numeric or profile[name].is_verdict):
            return name
    return ""


def _models_with_affixes(profile: Profile) -> tuple[str, ...]:
    """Return the stems of the block with the most columns; () for none."""
    blocks: dict[tuple[frozenset[str], bool], list[str]] = {}
    for (stem, is_first), affixes in _partitions(profile.names).items():
        blocks.setdefault((frozenset(affixes), is_first), []).append(stem)
    best: tuple[str, ...] = ()
    most = 0
    for (affix_set, is_first), stems in blocks.items():
        kinds = ("score", "error_rate")
        has_score = any(any(names(affix, kind) for kind in kinds) for affix in affix_set if affix)
        # a system may have columns that the other systems lack
        has_several = len(affix_set) >= SHARED_COLUMNS or (len(affix_set) > 1 and has_score)
        for (larger_set, is_larger_first), larger_stems in blocks.items():
            if is_larger_first == is_first and affix_set < larger_set:
                if has_several or all(map(_is_about_output, larger_set - affix_set)):
                    stems = stems + larger_stems
        # people and judges grade a system's outputs, and are no systems
        stems = [stem for stem in stems if names(stem, "model") or not _is_grader(stem)]
        named = [stem for stem in stems if not set(words_of(stem)) <= _GENERIC]
        # a generic stem counts beside a named one: agent_correct, agent_sql, keyword_correct, …
        has_named_block = bool(named) and len(affix_set) > 1 and has_score
        if not has_named_block and not all(CONTRASTED & set(words_of(stem)) for stem in stems):
            stems = named
        if len(stems) < 2 or _are_numbered(stems) or _are_versions(profile, stems, affix_set):
            continue
        holds_output = any(_are_outputs(profile, stems, affix) for affix in affix_set)
        if has_named_block and not holds_output:
            holds_output = any(_are_texts(profile, stems, affix) for affix in affix_set)
        if any(len(stem) < 2 for stem in stems) and not (holds_output and has_score):
            continue
        n_named = sum(names(stem, "model") for stem in stems)
        # a system that no list knows may stand beside two that one does
        are_systems = n_named == len(stems) or (n_named > 1 and not any(map(_is_mean, stems)))
        are_models = are_systems and (has_score or _are_graded(profile, stems, affix_set))
        are_models |= _share_scores(profile, stems, affix_set)
        n_columns = len(stems) * len(affix_set)
        # the same columns may be found again by longer or shorter stems
        is_repeated = len(stems) == len(best) and all(
            any(stem in best_stem for best_stem in best) for stem in stems
        )
        # direct_qwen and rag_qwen, rather than direct and rag with a score called qwen_score
        is_finer = n_columns == most and len(stems) > len(best) and _name_models(stems)
        is_larger = n_columns > most or is_finer
        if (holds_output or are_models) and is_larger and not is_repeated:
            best, most = tuple(stems), n_columns
            if len(affix_set) == 1 and "" not in affix_set:
                # a model with one column is named by the whole column, unless it is of scores
                (affix,) = affix_set
                are_scores = has_score and _are_numbers(profile, stems, affix)
                if not are_scores and not _share_further_columns(profile, stems, affix):
                    best = tuple(_column_of(profile, stem, affix) for stem in stems)
            if len(affix_set) >= SHARED_COLUMNS and holds_output and has_score:
                best = _with_full_stems(profile, best, affix_set)
    return best


def _share_scores(profile: Profile, stems: Sequence[str], affixes: frozenset[str]) -> bool:
    """Tell whether nothing but two or more scores each stands under these names, beside no output:
    bm25_hit@5 and bm25_rr beside e5_hit@5 and e5_rr."""
    if len(affixes) < 2 or not all(affix and names(affix, "score") for affix in affixes):
        return False
    has_other = any(part_of(name) == OUTPUT or names(name, "model") for name in profile.names)
    return not has_other and all(_are_numbers(profile, stems, affix) for affix in affixes)


def _is_mean(stem: str) -> bool:
    """Tell whether a stem says how scores were put together, as avg does beside gpt and claude."""
    return all(names(word, "filler") or names(word, "summary") for word in words_of(stem))


def _are_graded(profile: Profile, stems: Sequence[str], affixes: frozenset[str]) -> bool:
    """Tell whether each system has the same three or more grades, whatever these are called."""
    grades: list[str] = []
    for stem in stems:
        grades += [_column_of(profile, stem, affix) for affix in affixes]
    if len(affixes) < SHARED_COLUMNS or not all(grades):
        return False
    columns = [profile[name] for name in grades]
    return all(
        column.is_integer and 0 <= (column.least or 0) and 1 < (column.most or 0) <= MAX_GRADE
        for column in columns
    )


def _is_about_output(affix: str) -> bool:
    """Tell whether a column of a system is about its output: how sure, long or dear it is."""
    return names(affix, "certainty") or names(affix, "configuration")


def _share_further_columns(profile: Profile, stems: Sequence[str], affix: str) -> bool:
    """Tell whether each system has the same columns beside its output, written otherwise: answer_a
    and answer_b beside A_Relevance and B_Relevance, or beside F1 (A) and F1 (B)."""
    endings = []
    for stem in stems:
        keys = {own_key(name, stem) for name in profile.names}
        endings.append(keys - {"", affix})
    return bool(set.intersection(*endings))


def _name_models(stems: Sequence[str]) -> bool:
    """Tell whether all of these stems hold the name of a model."""
    return all(any(names(word, "model") for word in words_of(stem)) for stem in stems)


def _is_grader(stem: str) -> bool:
    """Tell whether part of a column's name is that of people or of a judge."""
    return names(stem, "people") or names(stem, "judge")


def _with_full_stems(
    profile: Profile, stems: Sequence[str], affixes: frozenset[str]
) -> tuple[str, ...]:
    """Add systems with another kind of name that have all affixes: cot_answer, cot_correct."""
    all_stems = list(stems)
    for name in profile.names:
        for affix in affixes:
            stem = name[: -len(affix) - 1]
            is_called = affix and name.endswith(affix) and name[len(stem) : len(stem) + 1] in SIGNS
            if not is_called or not stem or stem in all_stems:
                continue
            is_other = any(names(stem, kind) for kind in ("target", "people", "judge", "prompt"))
            if not is_other and all(_column_of(profile, stem, ending) for ending in affixes):
                all_stems.append(stem)
    return tuple(all_stems)


def _are_numbered(stems: Sequence[str]) -> bool:
    """Tell whether names differ in a number alone: variants, options or runs, not models."""
    ends = [re.fullmatch(r"(.*?)[_ -]?(\d{1,2})", stem) for stem in stems]
    return all(ends) and len({end[1] for end in ends if end}) == 1 and not names(stems[0], "model")


def _are_versions(profile: Profile, stems: Sequence[str], affixes: frozenset[str]) -> bool:
    """Tell whether two columns hold one long text, whole and cleaned: full_reply, clean_reply."""
    if len(stems) != 2 or len(affixes) != 1:
        return False
    (affix,) = affixes
    columns = [_column_of(profile, stem, affix) for stem in stems]
    if not all(columns) or not all(profile[name].mean_length >= LONG_TEXT for name in columns):
        return False
    rows = profile.table.frame(columns, most=200)
    pairs = [[(cell or "").strip() for cell in row.values()] for row in rows]
    n_alike = sum(left in right or right in left for left, right in pairs if left and right)
    return 2 * n_alike > len(pairs)


def _are_outputs(profile: Profile, stems: Sequence[str], affix: str) -> bool:
    """Tell whether the columns of an affix hold outputs, by the affix and their values."""
    columns = [_column_of(profile, stem, affix) for stem in stems]
    if not all(columns):
        return False
    profiles = [profile[name] for name in columns]
    if affix and (names(affix, "about") or names(affix, "prompt") or names(affix, "target")):
        return False
    if affix:
        is_output = names(affix, "output")
        is_named = is_output or last_names(affix, "answer")
        if not is_named or all(p.is_verdict for p in profiles):
            return False
        # answer_has_sources and answer_n_urls are about the answer in a column of that name
        if affix in profile.columns and all(p.is_verdict or p.is_numeric for p in profiles):
            return False
        # answer_position and answer_retrieved are about the answer, if another column is the output
        has_output = any(part_of(name) == OUTPUT for name in profile.names if name not in columns)
        is_about = all(name.startswith(affix) for name in columns) and not is_output
        if has_output and is_about and not all(names(stem, "model") for stem in stems):
            return False
        if not all(p.is_numeric for p in profiles):
            return True
        # an output may be a number if a right answer is one
        return any(part_of(name) == TARGET and profile[name].n_numbers for name in profile.names)
    # columns called like the stems hold outputs if they hold texts, and no right and wrong
    has_verdicts = any(p.is_verdict and not p.is_letter for p in profiles)
    return not has_verdicts and any(p.n_numbers < p.n_filled for p in profiles)


def _are_numbers(profile: Profile, stems: Sequence[str], affix: str) -> bool:
    """Tell whether the columns of an affix hold numbers."""
    columns = [_column_of(profile, stem, affix) for stem in stems]
    return all(name and profile[name].is_numeric for name in columns)


def _are_texts(profile: Profile, stems: Sequence[str], affix: str) -> bool:
    """Tell whether the columns of an affix hold various texts, such as the query of each system."""
    columns = [_column_of(profile, stem, affix) for stem in stems]
    if not affix or not all(columns) or names(affix, "about"):
        return False
    texts = [profile[name] for name in columns]
    # a simple system may write the same query for many questions
    are_various = any(2 * column.n_distinct > column.n_filled for column in texts)
    return are_various and all(column.is_text and column.n_distinct > 2 for column in texts)


def _column_of(profile: Profile, stem: str, affix: str) -> str:
    """Return the column of a stem and an affix; "" if there is none."""
    if not affix:
        return stem if stem in profile.columns else ""
    return next((name for name in profile.names if own_key(name, stem) == affix), "")


def _models_beside_key(profile: Profile) -> tuple[str, ...]:
    """Return two or more columns that hold values of the right answer; () for none."""
    has_options = any(
        names(name, "options") and not names(name, "target") for name in profile.names
    )
    if has_options:
        letters = [
            name for name in profile.names if profile[name].is_letter and profile[name].is_filled
        ]
        letters = [name for name in letters if part_of(name) != TARGET]
        models = [
            name
            for name in letters
            if not any(names(name, kind) for kind in _NO_MODELS) or names(name, "model")
        ]
        if len(models) > 1:
            return tuple(models)
    keys = [
        name
        for name in profile.names
        if names(name, "target")
        and not names(name, "people")
        and profile[name].is_filled
        and not profile[name].is_list
    ]
    for key in keys:
        column = profile[key]
        if column.n_distinct > 60 or column.n_distinct == column.n_rows:
            continue
        matched = [
            name for name in profile.names if name != key and _holds_values(profile, name, key)
        ]
        if column.is_verdict:  # true and false, unlike 0 and 1, may be answers of models
            models = [name for name in matched if names(name, "model")]
            matched = [] if column.n_numbers else models
        if len(matched) > 1 and not _are_numbered(matched):
            return tuple(matched)
    # `answer` is the right one beside letters of models
    for key in profile.names if not keys else ():
        if set(words_of(key)) <= KEY_WORDS and profile[key].is_letter:
            models = [name for name in profile.names if name != key and names(name, "model")]
            models = [name for name in models if _holds_values(profile, name, key)]
            if len(models) > 1:
                return tuple(models)
    return _texts_beside_key(profile, keys)


def _texts_beside_key(profile: Profile, keys: Sequence[str]) -> tuple[str, ...]:
    """Return texts called like systems (baseline, fine_tuned), if no column is called an output."""
    if not keys or any(part_of(name) == OUTPUT for name in profile.names):
        return ()
    texts = []
    for name in profile.names:
        kinds = [*_NO_MODELS, "context", "options", "score", "prompt"]
        if names(name, "model"):
            kinds.remove("judge")  # gpt-4o judges as often as it answers
        has_role = part_of(name) or any(names(name, kind) for kind in kinds)
        if name in keys or has_role:
            continue
        column = profile[name]
        # a column of few different values names the system that answered, and is no answer
        is_various = 4 * column.n_distinct > column.n_filled
        if column.is_filled and not column.is_numeric and is_various:
            texts.append(name)
    are_systems = any(names(name, "condition") or names(name, "model") for name in texts)
    is_block = len(texts) > 1 and not any(profile[name].is_constant for name in texts)
    return tuple(texts) if is_block and are_systems else ()


def _holds_values(profile: Profile, name: str, key: str) -> bool:
    """Tell whether a column holds values of the right answer, and is not called like a role."""
    kinds = "target vote people judge options context id cluster about score run output".split()
    # pred and raw_pred, for example, are two readouts of one output
    is_strategy = all(names(word, "strategy") for word in words_of(name))  # zero_shot, cot
    if not (names(name, "model") or is_strategy) and any(names(name, kind) for kind in kinds):
        return False
    column, right = profile[name], profile[key]
    if not column.is_filled or (column.is_numeric and not right.is_numeric) or column.is_list:
        return False
    if column.is_letter and right.is_letter:
        return True
    is_part = profile.share_in(name, key) >= KEY_VALUES
    return is_part and column.n_distinct <= right.n_distinct


def reshape(table: Table, shape: Shape) -> Table:
    """Return the table with a row per answer, and with columns named as in such a table."""
    if shape.versions:
        return _by_models(table, {name: {OF_VERSION: name} for name in shape.versions})
    if shape.models:
        return _by_models(table, row_labels(shape.models))
    return _by_samples(table, shape.lists)


def _by_models(table: Table, labels: Mapping[str, Mapping[str, str | int]]) -> Table:
    """Return a row per model, with what `labels` say of it; a model without a value has no row."""
    columns_of: dict[str, dict[str, str]] = {}  # by model: {new name: name in the wide table}
    for model in labels:
        columns_of[model] = {}
        for name in table.names:
            key = "" if name in labels else own_key(name, model)
            if key and not is_shared(name, key, model, table.names):
                columns_of[model][key] = name
        if model in table.names:
            columns_of[model][bare_column(model)] = model
    own_names = set(chain.from_iterable(columns.values() for columns in columns_of.values()))
    added = list(next(iter(labels.values())))
    # a new column replaces one of the same name, which cannot be what distinguishes the models
    shared = [name for name in table.names if name not in own_names and name not in added]
    new_names = list(dict.fromkeys(chain.from_iterable(columns_of.values())))
    is_version = added == [OF_VERSION]
    row_name = [OF_ROW] if is_version else []
    row_cell = ["CAST(place AS VARCHAR)"] if is_version else []
    selects = []
    for model, columns in columns_of.items():
        cells = [table.sql(name) for name in shared]
        cells += [table.sql(columns[name]) if name in columns else "NULL" for name in new_names]
        filled = " OR ".join(f"{table.sql(name)} IS NOT NULL" for name in columns.values())
        cells += ["'" + str(cell).replace("'", "''") + "'" for cell in labels[model].values()]
        aliases = ", ".join(f"{cell} AS c{i}" for i, cell in enumerate([*cells, *row_cell]))
        selects.append(f"SELECT {table.place}, {aliases} FROM {table.relation} WHERE {filled}")
    table.connection.execute(f"CREATE TEMP TABLE apart AS {' UNION ALL '.join(selects)}")
    return table.with_relation("apart", [*shared, *new_names, *added, *row_name])


def _by_samples(table: Table, lists: Sequence[str]) -> Table:
    """Return a row per entry of the lists, numbered in the column OF_SAMPLE."""
    shared = [name for name in table.names if name not in lists]
    cells = [table.sql(name) for name in shared]
    unnested = []
    for name in lists:
        sql = table.sql(name)
        unnested.append(f"unnest(CAST(from_json({sql}, '[\"JSON\"]') AS JSON[]))")
    aliases = ", ".join(f"{cell} AS c{i}" for i, cell in enumerate([*cells, *unnested]))
    first = table.sql(lists[0])
    count = f"unnest(range(CAST(json_array_length({first}) AS BIGINT)))"
    table.connection.execute(
        f"CREATE TEMP TABLE unnested AS SELECT {table.place}, {aliases}, {count} AS "
        f"c{len(shared) + len(lists)} FROM {table.relation}"
    )
    # SQL cells by new name; the first of two columns with the same name stays
    columns = {name: f"c{i}" for i, name in enumerate(shared)}
    for offset, name in enumerate(lists):
        source = f"c{len(shared) + offset}"
        keys = _keys_of_objects(table, source)
        for key in keys:
            new_name = f"{name}.{key}" if key in shared else key
            columns.setdefault(new_name, f"json_extract_string({source}, '$.\"{key}\"')")
        if not keys:
            entry = f"nullif(nullif(json_extract_string({source}, '$'), ''), 'null')"
            columns.setdefault(name, entry)
    columns.setdefault(OF_SAMPLE, f"CAST(c{len(shared) + len(lists)} AS VARCHAR)")
    final = ", ".join(f"{cell} AS c{i}" for i, cell in enumerate(columns.values()))
    table.connection.execute(
        f"CREATE TEMP TABLE apart AS SELECT {table.place}, {final} FROM unnested"
    )
    return table.with_relation("apart", list(columns))


def _keys_of_objects(table: Table, source: str) -> list[str]:
    """Return the keys of the objects in an unnested list; [] for plain entries."""
    query = (
        f"SELECT DISTINCT unnest(json_keys({source})) FROM (SELECT {source} FROM unnested "
        f"WHERE json_type({source}) = 'OBJECT' LIMIT 200)"
    )
    return sorted(row[0] for row in table.rows(query) if '"' not in row[0])
