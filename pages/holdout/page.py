"""Holdout: could these have come from the same source?"""

from itertools import chain
from pathlib import Path

import streamlit as st

from flipcore.reports.holdout import FEWEST, START, too_few
from flipcore.reports.holdout_sets import PAGE, Sets
from flipcore.reports.worked_examples import holdout_example
from flipcore.vectors import classifiers, embeddings
from pages.common import modes, record, repeats, screen, session
from pages.common.header import badges, header_line, offer_copy, show_badges
from pages.common.links import binding, say_missing
from pages.common.showing import how_to_read, plain, shown_problem
from pages.holdout import (
    board,
    excluding,
    inflation,
    look_inside,
    set_selection,
    survey_panel,
    tests,
    versions,
)
from pages.holdout import map as entry_map
from pages.holdout.likeness import layouts
from pages.holdout.set_selection import choose_share_aside

PARTS = ["Map", "Look inside", "Tests", "Survey", "Inflation", "Versions", "Guide"]
STEPS = (Path(__file__).parent / "guide.md").read_text(encoding="utf-8").split("\n## ")[1:]

header = header_line("holdout")
with header:
    key, name = set_selection.choose_sets()
say_missing("sets", name, "The benchmark and holdout of this link are not here")
with st.container(horizontal=True, vertical_alignment="center", gap="small", key="view-line"):
    mode = modes.mode_selector()
    controls = screen.Controls()
full_sets = set_selection.sets_of(key, name, confirmatory=mode == "locked")
sets = excluding.without_excluded(full_sets)


def choose_settings(sets: Sets, view: dict, lock: dict | None) -> dict:
    """Draw the controls under View; return `view` with their values, unchanged under a lock."""
    with controls.place:
        embeddings_by_name = {kind.name: kind for kind in embeddings.EMBEDDINGS}
        classifiers_by_name = {kind.name: kind for kind in classifiers.CLASSIFIERS}
        embedding = screen.select(
            "Embedding",
            list(embeddings_by_name),
            "embedding",
            disabled=bool(lock),
            format_func=lambda name: embeddings_by_name[name].title,
        )
        chosen_embedding = embeddings_by_name[embedding]
        st.caption(plain(chosen_embedding.why_not() or chosen_embedding.about))
        classifier = screen.select(
            "Classifier",
            list(classifiers_by_name),
            "classifier",
            disabled=bool(lock),
            format_func=lambda name: classifiers_by_name[name].title,
        )
        chosen_classifier = classifiers_by_name[classifier]
        st.caption(plain(chosen_classifier.why_not() or chosen_classifier.about))
        seed = st.number_input(
            "Seed", 0, 2**31 - 1, 0, key="seed", bind=binding("seed"), disabled=bool(lock)
        )
        n_permutations = st.number_input(
            "Permutations of the cross-validation",
            19,
            9_999,
            START["permutations"],
            key="permutations",
            bind=binding("permutations"),
            disabled=bool(lock),
            help="19 reach p = .05, 199 reach p = .005",
        )
        choose_share_aside(sets, is_locked=lock is not None)
    choices = {
        "embedding": embedding,
        "classifier": classifier,
        "seed": int(seed),
        "permutations": int(n_permutations),
    }
    aside = f"{100 * sets.share_aside:.0f}% set aside" if sets.share_aside else ""
    # The part Tests shows the other settings next to each test.
    controls.note(aside)
    return view if lock else view | choices


example = ""
if full_sets is not None and sets is not None:
    lock = modes.lock_of(sets.record_id, mode, PAGE)
    view = choose_settings(sets, modes.view_of(sets.record_id, PAGE, START, lock), lock)
    with header:
        offer_copy(sets.name, sets.record_id if sets.is_of_study else "")
        # Several studies may have asked these sets, so show each badge once.
        study_badges = chain.from_iterable(
            badges(session.study_row(study_id)) for study_id in sets.study_ids
        )
        show_badges(list(dict.fromkeys(study_badges)))
    if mode == "locked" and lock is None:
        board.offer_lock(sets, board.with_margin(set_selection.sets_of(key, name), view))
    elif min(len(sets.target), len(sets.retro)) < FEWEST:
        st.info(
            plain(too_few(len(sets.target), len(sets.retro), sets.notes)),
            icon=":material/library_add:",
        )
    else:
        # The process that draws the map takes up to 35 s to start, so start it now.
        layouts(session.store()).warm()
        board_place = board.BoardPlace()
        # Both may need the embedding, which is slow, so the first board is drawn without them.
        board_place.draw_quick_tests(sets, view, mode, "semantic", "prediction")
        inflation.show_sentence(sets, confirmatory=mode == "locked")
        tests.show_sizes(sets)
        repeats.show_for_items([*sets.target, *sets.retro])
        part = screen.segments("Part", PARTS, "part")
        # The cross-validation takes longest, so parts that do not need it are drawn before.
        part_place = st.container()
        with part_place, shown_problem():
            if part == "Map":
                # The map also shows the entries that were excluded on it, to put them back.
                entry_map.show(
                    list(full_sets.target),
                    list(full_sets.retro),
                    session.store(),
                    full_sets.sets_id,
                )
            elif part == "Look inside":
                look_inside.show(list(sets.target), list(sets.retro), session.store())
            elif part == "Survey":
                survey_panel.show(sets)
            elif part == "Inflation":
                inflation.show(sets, confirmatory=mode == "locked")
            elif part == "Guide":
                st.markdown(
                    "A holdout is written after a benchmark was published and must look as if it "
                    "had been drawn with it. "
                    "Everything else on this page tests that; this is how to get there."
                )
                for title, _, text in (step.partition("\n") for step in STEPS):
                    with st.expander(title, expanded=title == "Before the first entry"):
                        st.markdown(text)
        report = board_place.draw_verdict(sets, view, mode, lock)
        example = holdout_example(report.tests)
        with board_place.below:
            excluding.show_effect(full_sets, sets, view, report.tests)
        with part_place, shown_problem():
            if part == "Tests":
                tests.show(sets, report, confirmatory=mode == "locked")
            elif part == "Versions":
                versions.show(sets, report.tests, view)
        record.show_decisions(sets.record_id)

how_to_read(
    "**Source's rule**: four tests that do not reject. **Ours**: ✗✗ beyond, the 95% interval lies "
    "outside the margin; ✗ different, p below .05 (Holm); ≈ different, within the margin; ✓ "
    "equivalent, the interval lies inside it; – undecided. Set margins before looking. **Could "
    "detect** is the smallest difference that four such studies in five find.",
    example=example,
)
