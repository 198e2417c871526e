"""Step 1: which items, in what role."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain

import streamlit as st

from flipcore.core.errors import FlipscopeError
from flipcore.core.records import ROLES, Item, role_name, role_title
from flipcore.core.study import ItemSource
from flipcore.datasets import LOADERS, load_report, rows_of, sources_by_role
from flipcore.datasets.loading import few_valued
from flipcore.datasets.reading.columns import guess_columns
from flipcore.reports.declaration import OWN, dataset_names, filter_text, source_title
from flipcore.runs.demo import demo_study
from flipcore.store.queries import holdout
from flipcore.text.answers import answer_text
from flipcore.text.counts import count_of
from pages.common import screen, session
from pages.common.showing import UPLOAD_LIMIT, plain, saved_upload, show_table


def own_file(sources: list[ItemSource]) -> None:
    """Offer a place to drop a file of questions, which replaces the sample.

    Below it the first questions, however they came.
    """
    with screen.reserved_space("own-file", 100, 150):
        upload = st.file_uploader("Drop a file with your questions", type=TABLES, key="own-file")
    # The uploader keeps its file, so only a new one replaces the sources.
    if upload is not None and st.session_state.get("own-file-id") != upload.file_id:
        source = ItemSource("file", path=str(saved_upload(upload)))
        sources[:] = [source]
        # What is wrong with the file is said where its items are read.
        with suppress(FlipscopeError):
            sources[:] = sources_by_role(source)
        st.session_state["own-file-id"] = upload.file_id
    if not sources:
        return
    source = sources[0]
    report, problem = report_of(source)
    # A file whose columns cannot be guessed opens the fold in which they are named.
    if upload is not None and source.dataset == "file":
        with st.expander(
            "Which column is what", icon=":material/view_column:", expanded=bool(problem)
        ):
            if mapped := _with_columns(source, key="own"):
                # The benchmark and the control questions of one file have the same columns.
                for place, file_source in enumerate(sources):
                    if file_source.path == source.path:
                        sources[place] = replace(file_source, columns=mapped.columns)
                source = sources[0]
        report, problem = report_of(source)
    if problem:
        st.error(plain(problem), icon=":material/error:")
        return
    for note in report.notes:
        st.caption(plain(note))
    _say_roles(sources)
    is_sample = sources == list(demo_study().items)
    loaded = "The sample is loaded" if is_sample else count_of(len(report.items), "question")
    st.caption(f"{loaded}. The first:")
    with screen.reserved_space("first-items", 200, 200):
        _first(shown_items(source)[:3], "shown", height=143)


def _say_roles(sources: Sequence[ItemSource]) -> None:
    """Say which column of the dropped file parts its questions, and how many have each role."""
    parts = [source for source in sources if source.path and source.path == sources[0].path]
    if len(parts) < 2 or not parts[0].where:
        return
    counts = []
    for source in parts:
        counts.append(f"{len(items_of(source)):,} as {role_name(source.role)}")
    column = next(iter(parts[0].where))
    st.caption(plain(f"The column {column} says what each question is: {', '.join(counts)}."))


def items_step(sources: list[ItemSource], roles: Sequence[str] = ROLES) -> list[ItemSource]:
    """Show the chosen sources with a table of their items, and edit them in place.

    New sources take one of `roles`.
    """
    for position, source in enumerate(sources):
        with st.container(horizontal=True, vertical_alignment="center"):
            number = count_of(source.n, "item") if source.n else "all items"
            subset = f" in {', '.join(source.categories)}" if source.categories else ""
            subset += "".join(
                f" where {name} is {filter_text(value)}" for name, value in source.where.items()
            )
            role = role_name(source.role)
            st.markdown(
                f"**{number}** of {plain(source_title(source))}{plain(subset)} as **{role}**, seed "
                f"{source.seed}"
            )
            if st.button(
                "Remove", key=f"remove-{position}", icon=":material/close:", type="tertiary"
            ):
                sources.pop(position)
                st.rerun()
        _report(source, position + 1)
    if sources:
        with st.expander("Add items", icon=":material/add:"):
            _add(sources, roles)
    else:
        # Without a source there is nothing to fold away.
        st.markdown("**Add items**")
        _add(sources, roles)
    return sources


@session.computed("Reading the items")
def report_of(source: ItemSource):
    """Return (report, None) or (None, the problem of this source)."""
    try:
        return load_report(source), None
    except FlipscopeError as error:
        return None, str(error)


def shown_items(source: ItemSource) -> tuple[Item, ...]:
    """Return the source's items less those that a stored study set aside.

    Their texts are shown nowhere until a lock opens them.
    """
    items = items_of(source)
    # Asking these items is fine; reading them here would spoil the lock.
    hidden = holdout.hidden_items(session.store(), [item.item_id for item in items])
    return tuple(item for item in items if item.item_id not in hidden)


def items_of(source: ItemSource) -> tuple[Item, ...]:
    """Return the source's items, to count and to ask them; none where it cannot be read.

    What is shown comes from `shown_items`.
    """
    report, _ = report_of(source)
    return report.items if report else ()


def _report(source: ItemSource, number: int) -> None:
    report, problem = report_of(source)
    if problem:
        st.error(plain(problem), icon=":material/error:")
        return
    for note in report.notes:
        st.caption(plain(note))
    if report.refusals:
        with st.popover(
            f"{count_of(len(report.refusals), 'row was', 'rows were')} refused",
            icon=":material/warning:",
        ):
            show_table(
                f"refused-items-{number}",
                [{"line": line, "why": reason} for line, reason in report.refusals[:200]],
            )
    items = shown_items(source)
    if n_hidden := len(report.items) - len(items):
        st.caption(
            f"{count_of(n_hidden, 'item is', 'items are')} not shown: a study set them aside. A "
            "new study asks them, hidden until it is locked or deleted."
        )
    _first(items, str(number))


def _first(items: Sequence[Item], key: str, height: int = 215) -> None:
    show_table(
        f"first-items-{key}",
        [
            {
                "item": item.item_id.rpartition("@")[0],
                "question": item.question,
                "options": " | ".join(item.options),
                "right answer": answer_text(item, item.target),
                "category": item.category,
            }
            for item in items[:5]
        ],
        height=height,
    )


def _add(sources: list[ItemSource], roles: Sequence[str]) -> None:
    names = dataset_names()
    dataset = st.selectbox(
        "From", names, format_func=lambda name: LOADERS[name].title, key="add-dataset"
    )
    st.caption(plain(LOADERS[dataset].about))
    source = with_place(ItemSource(dataset))
    if source is None:
        return
    probe, problem = report_of(source)
    if problem:
        st.error(plain(problem), icon=":material/error:")
        return
    if dataset in OWN:
        for note in probe.notes:
            st.caption(plain(note))
        _first(shown_items(source), "add")
    categories = sorted({item.category for item in probe.items if item.category})
    left, middle, right = st.columns(3)
    role = left.selectbox(
        "As",
        roles,
        key=f"add-role-{len(roles)}",
        format_func=lambda name: role_title(name, roles),
        help="Benchmark and control for memory; benchmark and holdout to compare two sets",
    )
    most = len(probe.items)
    # Files of one's own are taken whole, shipped sets in a small part.
    first = 0 if dataset in OWN else min(24, most)
    n = middle.number_input(
        f"How many (of {most:,}; 0 = all)", 0, most, first, key=f"add-n-{dataset}"
    )
    seed = right.number_input(
        "Seed", 0, 2**31 - 1, 0, key="add-seed", help="decides which items are drawn"
    )
    selection = (
        st.multiselect("Categories", categories, key=f"add-categories-{dataset}", placeholder="all")
        if categories
        else []
    )
    source = replace(
        source,
        role=role,
        n=int(n),
        seed=int(seed),
        categories=tuple(selection),
        where=_where(probe.items, dataset),
    )
    if st.button("Add these items", type="primary", key="add-items", disabled=source in sources):
        sources.append(source)
        st.rerun()


def _where(items, dataset: str) -> dict:
    """Offer a filter for each field of the items with few values: dose, split, level, subject."""
    filters = {}
    for name, values in few_valued(items).items():
        selection = st.multiselect(
            f"Only where {plain(name)} is",
            values,
            key=f"add-where-{dataset}-{name}",
            placeholder="any",
        )
        if selection:
            filters[name] = selection
    return filters


# Where items come from: a shipped set, an uploaded file with its columns, a folder of texts, or the
# hub.

SHIPPED = (
    "flipscope_choice",
    "flipscope_problems",
    "flipscope_passages",
    "pocket_choice",
    "pocket_problems",
    "pocket_prose",
)
TABLES = ["jsonl", "json", "csv", "tsv", "parquet", "xlsx"]
FIELDS = {
    "question": "question",
    "options": "options",
    "target": "right answer",
    "category": "category",
    "key": "id",
    "source_id": "written from",
}

NO_KEY = "Off: each row is a passage to continue. On: flips are counted, and there is no accuracy."


def with_place(source: ItemSource) -> ItemSource | None:
    """Return the source with its file or hub address, or None while that is missing."""
    if source.dataset in SHIPPED:
        return source
    if source.dataset == "file":
        upload = st.file_uploader(
            f"JSONL, JSON, CSV, Excel or Parquet, {UPLOAD_LIMIT}", type=TABLES, key="add-file"
        )
        if upload is None:
            return None
        return _with_columns(replace(source, path=str(saved_upload(upload))), key="map")
    if source.dataset == "text":
        left, right = st.columns([3, 1])
        upload = left.file_uploader(
            "Text, XML or a zip of them", type=["txt", "xml", "zip"], key="add-text"
        )
        n_words = right.number_input("Words a passage", 20, 2000, 120, key="add-words")
        if upload is None:
            return None
        return replace(source, path=str(saved_upload(upload)), options={"n_words": int(n_words)})
    if source.dataset == "hub":
        left, middle, right = st.columns(3)
        repo = left.text_input("Repository", placeholder="owner/name", key="add-repo")
        config = middle.text_input("Configuration", key="add-config", placeholder="(default)")
        split = right.text_input("Split", "test", key="add-split")
        options = {"repo": repo, "split": split} | ({"config": config} if config else {})
        return replace(source, options=options) if repo else None
    upload = st.file_uploader(
        f"Its file, {UPLOAD_LIMIT}",
        type=["jsonl", "json", "csv", "parquet", "gz"],
        key=f"add-file-{source.dataset}",
    )
    if upload is not None:
        return replace(source, path=str(saved_upload(upload)))
    key = f"add-path-{source.dataset}"
    path = st.text_input("Or where it is on this machine", key=key, placeholder="a file path")
    if not path and not st.toggle(
        "Ask the hub", key=f"add-hub-{source.dataset}", help="needs a network"
    ):
        return None
    return replace(source, path=path or None)


def _with_columns(source: ItemSource, key: str) -> ItemSource | None:
    """Return the source with the column mapping that was guessed and may be corrected."""
    try:
        rows = rows_of(source, 50)
        guessed = guess_columns(rows)
    except FlipscopeError as error:
        st.error(plain(error), icon=":material/error:")
        return None
    st.caption(
        "Guessed from the first rows; correct what is wrong. Several option columns may be chosen."
    )
    # Rows of a JSON file may lack fields; a dictionary keeps the order in which they come.
    columns = list(dict.fromkeys(chain.from_iterable(rows)))
    mapping: dict[str, str | list[str] | None] = {}
    single = [field for field in FIELDS if field != "options"]
    for place, field in zip(st.columns(len(single)), single, strict=True):
        value = guessed.get(field)
        mapping[field] = place.selectbox(
            FIELDS[field],
            [None, *columns],
            key=f"{key}-{field}",
            index=columns.index(value) + 1 if value in columns else 0,
        )
    value = guessed.get("options")
    option_columns = st.multiselect(
        FIELDS["options"],
        columns,
        value if isinstance(value, list) else [value] if value else [],
        key=f"{key}-options",
    )
    mapping["options"] = option_columns[0] if len(option_columns) == 1 else option_columns
    if not option_columns and not mapping["target"]:
        # Texts that end with a question mark are questions, others are passages to continue.
        asks = [str(row.get(str(mapping["question"]), "")).rstrip().endswith("?") for row in rows]
        if st.toggle(
            "Questions with a short answer, no key",
            2 * sum(asks) > len(asks),
            key=f"{key}-kind",
            help=NO_KEY,
        ):
            mapping["kind"] = "text"
    return replace(source, columns={field: value for field, value in mapping.items() if value})
