"""The part Versions: did the last edit of the holdout help?"""

from collections.abc import Mapping

import streamlit as st

from flipcore.charts.holdout import equivalence_figure
from flipcore.reports.holdout_sets import Sets
from flipcore.stats.holdout.versions import describe_edits, read_results, result_of
from flipcore.store.queries import holdout
from pages.common import session
from pages.common.identity import name_field
from pages.common.showing import plain, show_figure, show_table


def show(sets: Sets, tests: Mapping, view: dict) -> None:
    """Offer to store these sets with their `tests` as a version, and compare stored versions."""
    versions = holdout.versions(session.store())
    _offer_storing(sets, tests, view, versions)
    names = list(dict.fromkeys(row["name"] for row in reversed(versions)))
    if not names:
        st.info(
            "No version has been kept yet. Keep this one, edit the file of your holdout, load it "
            "again and keep that: this tab then says whether the edit helped.",
            icon=":material/history:",
        )
        return
    name = st.selectbox("Series", names, key="series", bind="query-params")
    rows = [
        row | {"results": read_results(row["results"])} for row in versions if row["name"] == name
    ]
    labelled_results = [
        {"label": f"v{i}", "results": row["results"]} for i, row in enumerate(rows, start=1)
    ]
    if len(rows) > 1:
        for sentence in describe_edits(rows[-2], rows[-1]):
            st.markdown(plain(sentence))
    if len(rows) > 2:
        st.caption(
            f"{len(rows):,} versions were tested: a set that was edited until it passed has been "
            "fitted to these tests. Confirm the last version on entries that were set aside, or "
            "with another classifier and another embedding."
        )
    show_figure("versions", lambda c: equivalence_figure(labelled_results, c))
    st.caption(
        "Bar: interval of each test. Blue tick: its margin. Filled circle equivalent, diamond "
        "different within it, cross different, upright cross beyond it, open circle undecided; a "
        "change of embedding, classifier or seed between versions is in the table."
    )
    table = []
    for i, row in enumerate(rows, start=1):
        states = {test: result["state"] for test, result in row["results"].items()}
        settings = ", ".join(f"{key} {value}" for key, value in row["settings"].items())
        table.append(
            {
                "version": f"v{i}",
                "kept": row["created"],
                "by": row["author"],
                "note": row["note"],
                "benchmark": len(row["target_ids"]),
                "holdout": len(row["retro_ids"]),
                **states,
                "settings": settings,
                "link": f"?sets=version:{row['version_id']}",
            }
        )
    # The newest version comes first.
    show_table("versions", table[::-1])


def _offer_storing(sets: Sets, tests: Mapping, view: dict, versions: list[dict]) -> None:
    """Offer to store the sets with their test results as the next version of a series."""
    with st.popover("Keep this version", icon=":material/bookmark_add:"):
        series = st.text_input(
            "Name of the series",
            versions[-1]["name"] if versions else "",
            key="version-name",
            placeholder="what this holdout is called",
            max_chars=120,
        )
        note = st.text_input("What was changed", key="version-note", max_chars=400)
        author = name_field("Your name", key="version-author", max_chars=80)
        if st.button(
            "Keep",
            key="keep-version",
            type="primary",
            disabled=not (series.strip() and author.strip()),
        ):
            former_ids = [row["version_id"] for row in versions if row["name"] == series.strip()]
            holdout.keep_version(
                session.store(),
                {
                    "name": series.strip(),
                    "note": note.strip(),
                    "parent_id": former_ids[-1] if former_ids else None,
                    "sets_id": sets.sets_id,
                    "target_ids": [item.item_id for item in sets.target],
                    "retro_ids": [item.item_id for item in sets.retro],
                    "author": author.strip(),
                    "results": {name: result_of(test) for name, test in tests.items()},
                    "settings": {
                        key: view[key]
                        for key in ("embedding", "classifier", "seed", "permutations")
                    },
                },
                [*sets.target, *sets.retro],
            )
            st.rerun()
