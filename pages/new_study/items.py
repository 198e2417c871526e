"""Step 1 of New study: which items are asked, and in what role."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain

import streamlit as st

from flipcore.core.errors import FlipscopeError
from flipcore.core.records import ROLES, Item, role_name, role_title
from flipcore.core.study import ItemSource, with_targets
from flipcore.datasets import LOADERS, load_report, rows_of, sources_by_role
from flipcore.datasets.loading import few_valued
from flipcore.datasets.reading.columns import guess_columns
from flipcore.reports.declaration import OWN_SOURCES, dataset_names, filter_text, source_title
from flipcore.runs.demo import demo_study
from flipcore.store.queries import holdout
from flipcore.text.answers import answer_text
from flipcore.text.counts import count_of
from pages.common import screen, session
from pages.common.showing import UPLOAD_LIMIT, plain, saved_upload, show_table


def offer_own_file(sources: list[ItemSource]) -> None:
    """Offer to upload a file of questions, which replaces `sources`; show the first questions."""
    with screen.reserved_space("own-file", 100, 150):
        upload = st.file_uploader("Drop a file with your questions", type=TABLES, key="own-file")
    # The uploader keeps its file over runs, so only a new file replaces the sources.
    if upload is not None and st.session_state.get("own-file-id") != upload.file_id:
        source = ItemSource("file", path=str(saved_upload(upload)))
        sources[:] = [source]
        # `report_of` reports an error of the file below.
        with suppress(FlipscopeError):
            sources[:] = sources_by_role(source)
        st.session_state["own-file-id"] = upload.file_id
    if not sources:
        return
    source = sources[0]
    report, problem = report_of(source)
    # If the columns of a file cannot be guessed, show the fields that name them.
    if upload is not None and source.dataset == "file":
        with st.expander(
            "Which column is what", icon=":material/view_column:", expanded=bool(problem)
        ):
            if mapped := _with_columns(source, key="own"):
                # A file with several roles has one source per role, all with the same columns.
                for position, file_source in enumerate(sources):
                    if file_source.path == source.path:
                        sources[position] = replace(file_source, columns=mapped.columns)
                source = sources[0]
        report, problem = report_of(source)
    if problem:
        st.error(plain(problem), icon=":material/error:")
        return
    for note in report.notes:
        st.caption(plain(note))
    _show_roles(sources)
    is_sample = sources == list(demo_study().items)
    loaded = "The sample is loaded" if is_sample else count_of(len(report.items), "question")
    st.caption(f"{loaded}. The first:")
    with screen.reserved_space("first-items", 200, 200):
        _show_items(shown_items(source)[:3], "shown", height=143)


def _show_roles(sources: Sequence[ItemSource]) -> None:
    """Say which column of the file holds the roles, and how many questions have each role."""
    parts = [source for source in sources if source.path and source.path == sources[0].path]
    if len(parts) < 2 or not parts[0].where:
        return
    counts = []
    for source in parts:
        counts.append(f"{len(items_of(source)):,} as {role_name(source.role)}")
    column = next(iter(parts[0].where))
    st.caption(plain(f"The column {column} says what each question is: {', '.join(counts)}."))


def items_step(sources: list[ItemSource], roles: Sequence[str] = ROLES) -> list[ItemSource]:
    """Show the sources with their items, and offer to remove and add sources; return the list.

    The list is changed in place. New sources take one of `roles`.
    """
    for position, source in enumerate(sources):
        with st.container(horizontal=True, vertical_alignment="center"):
            number = count_of(source.n, "item") if source.n else "all items"
            subset = f" in {', '.join(source.categories)}" if source.categories else ""
            for name, value in source.where.items():
                subset += f" where {name} is {filter_text(value)}"
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
        _show_report(source, position + 1)
    if sources:
        with st.expander("Add items", icon=":material/add:"):
            _offer_source(sources, roles)
    else:
        st.markdown("**Add items**")
        _offer_source(sources, roles)
    return sources


@session.computed("Reading the items")
def report_of(source: ItemSource):
    """Load a source; return (report, None), or (None, error) if it cannot be loaded."""
    try:
        return load_report(source), None
    except FlipscopeError as error:
        return None, str(error)


def shown_items(source: ItemSource) -> tuple[Item, ...]:
    """Return the source's items without those that a stored study set aside."""
    items = items_of(source)
    # The new study may ask items that were set aside. But nobody may read them before a lock.
    hidden = holdout.hidden_items(session.store(), [item.item_id for item in items])
    return tuple(item for item in items if item.item_id not in hidden)


def items_of(source: ItemSource) -> tuple[Item, ...]:
    """Return the source's items; none if it cannot be read. Show only those of `shown_items`."""
    report, _ = report_of(source)
    return report.items if report else ()


def _show_report(source: ItemSource, number: int) -> None:
    """Show notes, refused rows and the first items of the source at this position (from 1)."""
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
    _show_items(items, str(number))


def _show_items(items: Sequence[Item], key: str, height: int = 215) -> None:
    """Show the first five items as a table."""
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


def _offer_source(sources: list[ItemSource], roles: Sequence[str]) -> None:
    """Offer to choose a source, a role and a selection of items, and to add it to `sources`."""
    names = dataset_names()
    dataset = st.selectbox(
        "From", names, format_func=lambda name: LOADERS[name].title, key="add-dataset"
    )
    st.caption(plain(LOADERS[dataset].about))
    source = with_address(ItemSource(dataset))
    if source is None:
        return
    report, problem = report_of(source)
    if problem:
        st.error(plain(problem), icon=":material/error:")
        return
    if dataset in OWN_SOURCES:
        for note in report.notes:
            st.caption(plain(note))
        _show_items(shown_items(source), "add")
    categories = sorted({item.category for item in report.items if item.category})
    left, middle, right = st.columns(3)
    role = left.selectbox(
        "As",
        roles,
        key=f"add-role-{len(roles)}",
        format_func=lambda name: role_title(name, roles),
        help="Benchmark and control for memory; benchmark and holdout to compare two sets",
    )
    n_items = len(report.items)
    # By default take all of the user's own file (0), but only a part of a shipped set.
    default_n = 0 if dataset in OWN_SOURCES else min(24, n_items)
    n = middle.number_input(
        f"How many (of {n_items:,}; 0 = all)", 0, n_items, default_n, key=f"add-n-{dataset}"
    )
    seed = right.number_input(
        "Seed", 0, 2**31 - 1, 0, key="add-seed", help="decides which items are drawn"
    )
    selection = []
    if categories:
        selection = st.multiselect(
            "Categories", categories, key=f"add-categories-{dataset}", placeholder="all"
        )
    source = replace(
        source,
        role=role,
        n=int(n),
        seed=int(seed),
        categories=tuple(selection),
        where=_choose_filters(report.items, dataset),
    )
    if st.button("Add these items", type="primary", key="add-items", disabled=source in sources):
        sources.append(source)
        sources[:] = with_targets(sources)
        st.rerun()


def _choose_filters(items, dataset: str) -> dict:
    """Offer a filter per field with few values, such as dose or subject; return field -> values."""
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


SHIPPED = (
    "flipscope_choice",
    "flipscope_problems",
    "flipscope_passages",
    "pocket_choice",
    "pocket_problems",
    "pocket_prose",
)
TABLES = ["jsonl", "json", "csv", "tsv", "parquet", "xlsx"]
# Field of an item -> label of its control.
FIELDS = {
    "question": "question",
    "options": "options",
    "target": "right answer",
    "category": "category",
    "key": "id",
    "source_id": "written from",
}

NO_KEY = "Off: each row is a passage to continue. On: flips are counted, and there is no accuracy."


def with_address(source: ItemSource) -> ItemSource | None:
    """Ask for the source's file or hub address; return the source with it, None without one."""
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
    """Offer to correct the guessed columns; return the source with them, None on an error."""
    try:
        rows = rows_of(source, 50)
        guessed = guess_columns(rows)
    except FlipscopeError as error:
        st.error(plain(error), icon=":material/error:")
        return None
    st.caption(
        "Guessed from the first rows; correct what is wrong. Several option columns may be chosen."
    )
    # Rows of a JSON file may lack fields, so collect them from all rows, in their order.
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
        # Guess that texts are questions if most end with a question mark, else passages.
        asks = [str(row.get(str(mapping["question"]), "")).rstrip().endswith("?") for row in rows]
        if st.toggle(
            "Questions with a short answer, no key",
            2 * sum(asks) > len(asks),
            key=f"{key}-kind",
            help=NO_KEY,
        ):
            mapping["kind"] = "text"
    return replace(source, columns={field: value for field, value in mapping.items() if value})
