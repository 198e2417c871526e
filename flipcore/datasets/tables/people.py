"""Compare the rows that people labelled with the other rows, column by column.

Labels correct a judge's score only if the labelled rows are a random sample. To judge that, rows
with and without a label are counted for every value or quarter of every other column.
"""

from flipcore.datasets.tables.profile import Profile
from flipcore.datasets.tables.roles import Roles

MAX_GROUPS = 30  # values of a column that are counted one by one; of more, quarters are counted
PLACE = "place in the file"  # the name of the tenths of the file, beside those of columns


def labelled_by(profile: Profile, roles: Roles) -> dict[str, tuple[tuple[int, int], ...]]:
    """Return {column: a pair (rows with a label, rows without) per group of its values}.

    {} unless some rows have a label, some have none, and a score stands beside the labels.
    """
    if not roles.people or not (roles.scores or roles.judges):
        return {}
    people = profile[roles.people[0]]
    if not 0 < people.n_filled < profile.n_rows:
        return {}
    counts: dict[str, tuple[tuple[int, int], ...]] = {}
    for name in profile.names:
        column = profile[name]
        if name in roles.people or column.n_distinct < 2:
            continue
        sql = profile.table.sql(name)
        if column.n_distinct <= MAX_GROUPS:
            group = f"coalesce({sql}, '')"
        elif column.is_numeric:
            group = f"ntile(4) OVER (ORDER BY TRY_CAST({sql} AS DOUBLE))"
        else:
            group = f"ntile(4) OVER (ORDER BY length({sql}))"
        counts[name] = _counts(profile, people.name, group)
    counts[PLACE] = _counts(profile, people.name, "ntile(10) OVER (ORDER BY place)")
    return {name: groups for name, groups in counts.items() if len(groups) > 1}


def _counts(profile: Profile, people: str, group: str) -> tuple[tuple[int, int], ...]:
    label = profile.table.sql(people)
    query = (
        f"SELECT count({label}), count(*) - count({label}) FROM "
        f"(SELECT {label}, {group} AS part FROM {profile.table.relation}) GROUP BY part"
    )
    return tuple((n_with, n_without) for n_with, n_without in profile.table.rows(query))
