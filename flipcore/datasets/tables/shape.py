"""Step 3: wide tables as long ones, before anything else is decided.

A row that holds the answers of several models, or lists with an entry per sample, becomes a row
per answer. A block of columns is two stems or more with the same affixes, of which one holds
outputs; the block of the most columns wins. Scores belong to the stem that they share.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from flipcore.datasets.tables.load import Table
from flipcore.datasets.tables.own_columns import OF_MODEL, OF_SAMPLE, SIGNS, bare_column, own_key
from flipcore.datasets.tables.profile import Profile
from flipcore.datasets.tables.roles import OUTPUT, TARGET, holds_logits, part_of
from flipcore.datasets.tables.stems import last_names, names, words_of

OF_VERSION, OF_ROW = "version", "row"  # of a row that holds one version of a question
SHARED_COLUMNS = 3  # of systems, one of which has more than the others
_NO_MODELS = ("target", "vote", "people", "judge", "output", "id", "run", "about")
MOST_FILLED = 0.8  # of the rows hold the lists that samples come from
KEY_VALUES = 0.8  # of a column's rows hold values of the right answers, where it is a model's
_GENERIC = frozenset(
    "model llm final raw assistant student agent ai bot new old en de fr es zh".split()
)
# generic words that part two systems only beside each other: baseline_output, new_output
CONTRASTED = frozenset(
    "old new baseline base before after pre post original tuned finetuned control treatment "
    "candidate".split()
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
    """The way rows come apart: a model per stem in `models`, or an entry per sample in `lists`."""

    models: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    versions: tuple[
        str, ...
    ] = ()  # numbered columns that hold an object each: shuffle_0, shuffle_1

    def __bool__(self) -> bool:
        """Tell whether rows come apart at all."""
        return bool(self.models or self.lists or self.versions)


def find_shape(profile: Profile) -> Shape:
    """Find the block of columns or lists whose parts are rows of their own."""
    versions = _versions(profile)
    if versions:
        return Shape(versions=versions)
    lists = _lists(profile)
    if lists:
        return Shape(lists=lists)
    models = (
        _models_of_objects(profile) or _models_with_affixes(profile) or _models_beside_key(profile)
    )
    return Shape(models=models)


def _versions(profile: Profile) -> tuple[str, ...]:
    """Numbered columns that hold an object each, which are the versions of one question."""
    families: dict[str, dict[str, bool]] = {}
    for name in profile.names:
        matched = re.fullmatch(r"(([^.]*?)\d+)\.(.+)", name)
        if matched:
            members = families.setdefault(matched[2], {})
            members[matched[1]] = members.get(matched[1], False) or names(matched[3], "prompt")
    asking = [tuple(members) for members in families.values() if all(members.values())]
    return max(asking, key=len, default=())


def _lists(profile: Profile) -> tuple[str, ...]:
    """Lists as long as each other in every row, one of them scores or outputs."""
    table = profile.table
    candidates = [
        name
        for name in profile.names
        if profile[name].is_list
        # rows without the list would be lost
        and profile[name].n_filled >= MOST_FILLED * profile.n_rows
        and not any(
            names(name, kind)
            for kind in ("options", "context", "target", "prompt", "about", "part")
        )
    ]
    if not candidates:
        return ()
    groups: list[list[str]] = []
    for name in candidates:
        for group in groups:
            left, right = table.sql(name), table.sql(group[0])
            query = (
                f"SELECT bool_and(coalesce({_length(left)}, 0) = coalesce({_length(right)}, 0)) "
                f"FROM {table.relation} WHERE {left} IS NOT NULL AND {right} IS NOT NULL"
            )
            if table.rows(query)[0][0]:
                group.append(name)
                break
        else:
            groups.append([name])
    for group in sorted(groups, key=len, reverse=True):
        if any(_holds_samples(profile, name, len(group)) for name in group):
            return tuple(group)
    return ()


def _length(cell: str) -> str:
    return (
        f"CASE WHEN json_valid({cell}) THEN CAST(json_array_length({cell}) AS BIGINT) ELSE -1 END"
    )


def _holds_samples(profile: Profile, name: str, n_beside: int) -> bool:
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
    if longest == 1 and not any(names(name, kind) for kind in ("output", "score")):
        return False
    if (
        _are_sets_of_letters(profile, name)
        or _lists_as_key(profile, name)
        or holds_logits(profile, name)
    ):
        return False
    is_named = (
        names(name, "output")
        or names(name, "score")
        or (n_beside > 1 and len(words_of(name)[0]) <= 2)
    )
    return is_named


def _lists_as_key(profile: Profile, name: str) -> bool:
    """Tell whether lists hold objects as the right answers do: one answer each, no samples."""
    keys = [
        other_name
        for other_name in profile.names
        if other_name != name and names(other_name, "target")
    ]
    of_objects = "avg(({} LIKE '[{{%')::INT)"
    for key in keys:
        if not (profile[key].is_list and profile[name].is_list):
            continue
        cells = ", ".join(of_objects.format(profile.table.sql(column)) for column in (name, key))
        shares = profile.table.rows(f"SELECT {cells} FROM {profile.table.relation}")[0]
        if all(share and share > 0.5 for share in shares):
            return True
    return False


def _are_sets_of_letters(profile: Profile, name: str) -> bool:
    """Tell whether lists hold single letters, none twice: one answer of several letters, and no
    samples.
    """
    sql = profile.table.sql(name)
    letters = f"CAST(from_json({sql}, '[\"VARCHAR\"]') AS VARCHAR[])"
    query = (
        f"SELECT bool_and(regexp_full_match({sql}, '\\[\\s*(\"[A-J]\"[,\\s]*)+\\]')) AND "
        f"bool_and(len(list_distinct({letters})) = len({letters})) FROM {profile.table.relation} "
        f"WHERE {sql} IS NOT NULL"
    )
    return bool(profile.table.rows(query)[0][0])


def _is_stem(stem: str) -> bool:
    """Tell whether part of a name may be a model's: no word of a role, no letter, no number."""
    words = words_of(stem)
    if not words or len(stem) > 60 or all(word.isdigit() for word in words):
        return False
    if all(word in _GENERIC for word in words):
        return words[0] in CONTRASTED or words[-1] in _SYSTEMS
    return not all(
        any(names(word, kind) for kind in _ROLES) or word.isdigit() for word in words
    ) or names(stem, "model")


def _partitions(columns: Sequence[str]) -> dict[tuple[str, bool], set[str]]:
    """(stem, whether it comes first) -> its affixes; "" for a column called like the stem."""
    affixes: dict[tuple[str, bool], set[str]] = {}
    for column in columns:
        for i, sign in enumerate(column):
            if sign not in SIGNS:
                continue
            for stem, affix, is_first in (
                (column[:i], column[i + 1 :], True),
                (column[i + 1 :], column[:i], False),
            ):
                # an object's own keys are cut at no other sign: prediction.acc_raw, output.tool_obs
                is_within = sign != "." and "." in affix
                if not is_first and (is_within or (sign == "." and _is_part_of_object(stem))):
                    continue
                if stem and affix and "," not in column and _is_stem(stem):
                    affixes.setdefault((stem, is_first), set()).add(affix)
    for column in columns:
        for is_first in (True, False):
            if (column, is_first) in affixes:
                affixes[column, is_first].add("")
    return affixes


def _is_part_of_object(key: str) -> bool:
    """Tell whether a key of an object says what it holds, and names no system: output.action."""
    return "." in key or not (names(key, "model") or names(key, "condition"))


def _models_of_objects(profile: Profile) -> tuple[str, ...]:
    """Columns that hold an object of the same keys each, with an output and its score in it: a
    model per column.
    """
    keys: dict[str, list[str]] = {}
    for name in profile.names:
        column, _, key = name.partition(".")
        if key:
            keys.setdefault(column, []).append(key)
    alike: dict[frozenset[str], list[str]] = {}
    for column, inner in keys.items():
        alike.setdefault(frozenset(inner), []).append(column)
    for shared, columns in alike.items():
        has_score = any(names(key, "score") for key in shared)
        columns = [
            column for column in columns if names(column, "model") or not names(column, "judge")
        ]
        if (
            len(columns) > 1
            and len(shared) > 1
            and has_score
            and all(_is_stem(column) for column in columns)
        ):
            return tuple(columns)
    return ()


def _models_with_affixes(profile: Profile) -> tuple[str, ...]:
    """The stems of the block with the most columns."""
    blocks: dict[tuple[frozenset[str], bool], list[str]] = {}
    for (stem, is_first), affixes in _partitions(profile.names).items():
        blocks.setdefault((frozenset(affixes), is_first), []).append(stem)
    best: tuple[str, ...] = ()
    most = 0
    for (affix_set, is_first), stems in blocks.items():
        has_score = any(names(affix, "score") for affix in affix_set if affix)
        if len(affix_set) >= SHARED_COLUMNS or (len(affix_set) > 1 and has_score):
            # a system may have columns that the others lack
            fitting = [key for key in blocks if key[1] == is_first and affix_set <= key[0]]
            stems = list(chain.from_iterable(blocks[key] for key in fitting))
        # people and judges grade what a system said, and are no systems
        of_graders = ("people", "judge")
        stems = [
            stem
            for stem in stems
            if names(stem, "model") or not any(names(stem, kind) for kind in of_graders)
        ]
        named = [stem for stem in stems if not set(words_of(stem)) <= _GENERIC]
        # agent_correct and agent_sql beside keyword_correct and keyword_sql
        are_beside = bool(named) and len(affix_set) > 1 and has_score
        if not are_beside and not all(CONTRASTED & set(words_of(stem)) for stem in stems):
            stems = named
        if len(stems) < 2 or _are_numbered(stems):
            continue
        holds_output = any(_are_outputs(profile, stems, affix) for affix in affix_set)
        holds_output = holds_output or (
            are_beside and any(_are_texts(profile, stems, affix) for affix in affix_set)
        )
        if any(len(stem) < 2 for stem in stems) and not (holds_output and has_score):
            continue
        are_models = all(names(stem, "model") for stem in stems) and has_score
        n_columns = len(stems) * len(affix_set)
        if (holds_output or are_models) and n_columns > most and not _is_part(stems, best):
            best, most = _called(profile, stems, affix_set), n_columns
            if len(affix_set) >= SHARED_COLUMNS and holds_output and has_score:
                best = _with_alike(profile, best, affix_set)
    return best


def _with_alike(profile: Profile, stems: Sequence[str], affixes: frozenset[str]) -> tuple[str, ...]:
    """Add the systems that are called like something else and have every column of the others:
    cot_answer, cot_correct, cot_time.
    """
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


def _called(profile: Profile, stems: Sequence[str], affixes: frozenset[str]) -> tuple[str, ...]:
    """Name the models: by the whole column where each has one alone, as such tables always were."""
    if len(affixes) > 1 or "" in affixes:
        return tuple(stems)
    return tuple(_column_of(profile, stem, next(iter(affixes))) for stem in stems)


def _is_part(stems: Sequence[str], best: Sequence[str]) -> bool:
    """Tell whether stems are only longer or shorter names of those that were found already."""
    return bool(best) and len(stems) == len(best) and all(any(s in b for b in best) for s in stems)


def _are_numbered(stems: Sequence[str]) -> bool:
    """Tell whether names differ in a number alone: variants, options or runs, no models."""
    ends = [re.fullmatch(r"(.*?)[_ -]?(\d{1,2})", stem) for stem in stems]
    return all(ends) and len({end[1] for end in ends if end}) == 1 and not names(stems[0], "model")


def _are_outputs(profile: Profile, stems: Sequence[str], affix: str) -> bool:
    """Tell whether the columns of an affix hold outputs: by name and content, or texts of their
    own.
    """
    columns = [_column_of(profile, stem, affix) for stem in stems]
    if not all(columns):
        return False
    profiles = [profile[name] for name in columns if name]
    if affix and (names(affix, "about") or names(affix, "prompt") or names(affix, "target")):
        return False
    if affix:
        is_output = names(affix, "output")
        is_named = is_output or last_names(affix, "answer")
        if not is_named or all(p.is_verdict for p in profiles):
            return False
        # answer_position and answer_retrieved are about the answer, beside the output itself
        has_output = any(part_of(name) == OUTPUT for name in profile.names if name not in columns)
        is_about = all(name.startswith(affix) for name in columns) and not is_output
        if has_output and is_about and not all(names(stem, "model") for stem in stems):
            return False
        return not all(p.is_numeric for p in profiles) or _has_number_as_key(profile)
    # A bare name holds outputs if it holds texts, or if the scores beside it are named after it.
    return all(not p.is_verdict or p.is_letter for p in profiles) and any(
        p.n_numbers < p.n_filled for p in profiles
    )


def _are_texts(profile: Profile, stems: Sequence[str], affix: str) -> bool:
    """Tell whether the columns of an affix hold a text of their own in most rows: the query that
    each wrote.
    """
    columns = [_column_of(profile, stem, affix) for stem in stems]
    if not affix or not all(columns) or names(affix, "about"):
        return False
    texts = [profile[name] for name in columns if name]
    # a simple system may write the same query for many questions
    are_various = any(2 * column.n_distinct > column.n_filled for column in texts)
    return are_various and all(column.is_text and column.n_distinct > 2 for column in texts)


def _has_number_as_key(profile: Profile) -> bool:
    """Tell whether a right answer is a number, as an output may be then."""
    return any(part_of(name) == TARGET and profile[name].n_numbers for name in profile.names)


def _column_of(profile: Profile, stem: str, affix: str) -> str:
    if not affix:
        return stem if stem in profile.columns else ""
    return next((name for name in profile.names if own_key(name, stem) == affix), "")


def _models_beside_key(profile: Profile) -> tuple[str, ...]:
    """Columns that hold the values of the right answer, two or more, beside it."""
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
        if column.n_distinct > 60 or column.is_verdict or column.n_distinct == column.n_rows:
            continue
        matched = [
            name for name in profile.names if name != key and _holds_values(profile, name, key)
        ]
        if len(matched) > 1:
            return tuple(matched)
    return _texts_beside_key(profile, keys)


def _texts_beside_key(profile: Profile, keys: Sequence[str]) -> tuple[str, ...]:
    """Free texts of two systems or more beside a right answer, none of which is called an output:
    baseline, fine_tuned.
    """
    if not keys or any(part_of(name) == "output" for name in profile.names):
        return ()
    free = []
    for name in profile.names:
        kinds = [*_NO_MODELS, "context", "options", "score", "prompt"]
        if names(name, "model"):
            kinds.remove("judge")  # gpt-4o judges as often as it answers
        is_of_role = part_of(name) or any(names(name, kind) for kind in kinds)
        column = profile[name]
        # a name of a system in few different cells says who answered, and is no answer
        is_said = (
            column.is_filled and not column.is_numeric and 4 * column.n_distinct > column.n_filled
        )
        if name not in keys and not is_of_role and is_said:
            free.append(name)
    are_systems = any(names(name, "condition") or names(name, "model") for name in free)
    return (
        tuple(free)
        if len(free) > 1 and are_systems and not any(profile[name].is_constant for name in free)
        else ()
    )


def _holds_values(profile: Profile, name: str, key: str) -> bool:
    """Tell whether a column holds values of the right answer, and is called like no other role."""
    for kind in (
        "target",
        "vote",
        "people",
        "judge",
        "options",
        "context",
        "id",
        "cluster",
        "about",
        "score",
        "run",
    ):
        if names(name, kind) and not names(name, "model") and not names(name, "output"):
            return False
    column, right = profile[name], profile[key]
    if names(name, "output") and not names(name, "model"):
        return False  # pred and raw_pred are two readings of one output
    if not column.is_filled or (column.is_numeric and not right.is_numeric) or column.is_list:
        return False
    if column.is_letter and right.is_letter:
        return True
    sql, key_sql = profile.table.sql(name), profile.table.sql(key)
    query = (
        f"SELECT avg((lower({sql}) IN (SELECT lower({key_sql}) FROM {profile.table.relation} "
        f"WHERE {key_sql} IS NOT NULL))::INT) "
        f"FROM {profile.table.relation} WHERE {sql} IS NOT NULL"
    )
    return (
        profile.table.rows(query)[0][0] or 0
    ) >= KEY_VALUES and column.n_distinct <= right.n_distinct


def reshape(table: Table, shape: Shape) -> Table:
    """Return the table with a row per answer, with the names of columns that such rows have."""
    if shape.versions:
        return _by_models(table, shape.versions, label=OF_VERSION)
    return _by_models(table, shape.models) if shape.models else _by_samples(table, shape.lists)


def _by_models(table: Table, models: Sequence[str], label: str = OF_MODEL) -> Table:
    affix_set: dict[str, dict[str, str]] = {}
    for model in models:
        keys = {
            key: name
            for name in table.names
            if name not in models and (key := own_key(name, model))
        }
        affix_set[model] = keys | ({bare_column(model): model} if model in table.names else {})
    own_names = set(chain.from_iterable(keys.values() for keys in affix_set.values()))
    # a column of the same name, as of the one model whose settings stand in columns, is not what
    # parts them
    shared = [name for name in table.names if name not in own_names and name != label]
    inner = list(dict.fromkeys(chain.from_iterable(affix_set.values())))
    is_version = label == OF_VERSION
    names_after = [*shared, *inner, label, *([OF_ROW] if is_version else [])]
    parts = []
    row = ["CAST(place AS VARCHAR)"] if is_version else []
    for model, keys in affix_set.items():
        cells = [f"{table.sql(name)}" for name in shared]
        cells += [table.sql(keys[key]) if key in keys else "NULL" for key in inner]
        filled = " OR ".join(f"{table.sql(name)} IS NOT NULL" for name in keys.values())
        quoted = "'" + model.replace("'", "''") + "'"
        aliases = ", ".join(f"{cell} AS c{i}" for i, cell in enumerate([*cells, quoted, *row]))
        parts.append(f"SELECT {table.place}, {aliases} FROM {table.relation} WHERE {filled}")
    table.connection.execute(f"CREATE TEMP TABLE apart AS {' UNION ALL '.join(parts)}")
    return table.with_relation("apart", names_after)


def _by_samples(table: Table, lists: Sequence[str]) -> Table:
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
    names_after = [*shared]
    final = [f"c{i} AS c{i}" for i in range(len(shared))]
    for offset, name in enumerate(lists):
        source = f"c{len(shared) + offset}"
        keys = _keys_of_objects(table, source)
        for key in keys:
            cell = f"json_extract_string({source}, '$.\"{key}\"')"
            final.append(f"{cell} AS c{len(names_after)}")
            names_after.append(f"{name}.{key}" if key in shared else key)
        if not keys:
            final.append(
                f"nullif(nullif(json_extract_string({source}, '$'), ''), 'null') AS "
                f"c{len(names_after)}"
            )
            names_after.append(name)
    final.append(f"CAST(c{len(shared) + len(lists)} AS VARCHAR) AS c{len(names_after)}")
    names_after.append(OF_SAMPLE)
    table.connection.execute(
        f"CREATE TEMP TABLE apart AS SELECT {table.place}, {', '.join(final)} FROM unnested"
    )
    return table.with_relation("apart", names_after)


def _keys_of_objects(table: Table, source: str) -> list[str]:
    """The keys of the objects in an unnested list; none where its entries are plain."""
    query = (
        f"SELECT DISTINCT unnest(json_keys({source})) FROM (SELECT {source} FROM unnested "
        f"WHERE json_type({source}) = 'OBJECT' LIMIT 200)"
    )
    return sorted(row[0] for row in table.rows(query) if '"' not in row[0])
