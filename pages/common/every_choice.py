"""The part Every choice of the pages Ranking, Score and Flips.

It shows one decision under every way of counting, that is, under every combination of choices.
"""

from collections.abc import Mapping
from itertools import combinations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from flipcore.access.acting import Permission, acting
from flipcore.claims.decisions import EVERY_OTHER
from flipcore.extractors import title_of
from flipcore.reports import every_choice
from flipcore.reports.browser_data import every_choice as boards_data
from flipcore.reports.choices import (
    SCORES_ALONE,
    STORED,
    ChoicesReport,
    change_words,
    choices_material,
    counted,
    flip_pairings,
    flips_material,
    leading_models,
    stored_choices,
    was_stored,
)
from flipcore.reports.every_choice import Toggles
from flipcore.stats.base.estimate import level_text
from flipcore.stats.choices.choice import WEIGHTS, selected
from flipcore.stats.choices.curve import Curve
from flipcore.stats.choices.flips import FlipMaterial
from flipcore.stats.choices.material import ALIKE
from flipcore.stats.choices.readouts import AnswerMaterial
from flipcore.store.judgements import KEY_VERDICTS
from flipcore.store.queries import judgements
from pages.common import gates, modes, record, screen, session
from pages.common.answers import PageStudy
from pages.common.inspector import draw_output
from pages.common.showing import how_to_read, plain, show_table, shown_problem
from pages.components import boards

TITLE, ALL_AXES = "Every choice", "all"
# A subject is (model,), (model, model) or (model, axis, extractor). Locks and decisions are stored
# under the page of its length.
PAGES = {1: "score_choices", 2: "ranking_choices", 3: "flips_choices"}
BAD_MESSAGE = "The browser sent settings that this page does not have. Reload the page."
Subject = tuple[str, ...]
Material = AnswerMaterial | FlipMaterial


def _revision(study_id: str) -> tuple:
    # People's verdicts on keys are choices, and they do not change the study's revision.
    return (*gates.revision_with_labels(study_id), judgements.n_rows(session.store(), KEY_VERDICTS))


@session.cached("Collecting the answers", max_entries=16)
def _models(study_id: str) -> list[str]:
    """Return the models with scores, highest score first."""
    return leading_models(PageStudy(session.store(), study_id))


@session.cached("Collecting the answers", max_entries=8, revision=_revision)
def _material(study_id: str, subject: Subject, lock: str | None) -> Material:
    """Return the subject's answers or flips, from which each way is counted."""
    study = PageStudy(session.store(), study_id, lock=lock)
    if len(subject) < 3:
        return choices_material(study, subject)
    model, axis, extractor = subject
    return flips_material(study, axis, extractor, model)


@session.cached("Counting every way", max_entries=32, revision=_revision)
def _curve(study_id: str, subject: Subject, lock: str | None, toggles: Toggles) -> Curve:
    """Count every way of counting that the toggles leave switched on."""
    material = _material(study_id, subject, lock)
    switched_off, switched_on = boards_data.switched(material.choices, dict(toggles))
    return counted(material, selected(material.choices, switched_off, switched_on))


def _report(study_id: str, subject: Subject, lock: dict | None, view: Mapping) -> ChoicesReport:
    lock_id = lock["lock_id"] if lock else None
    material = _material(study_id, subject, lock_id)
    curve = _curve(study_id, subject, lock_id, every_choice.toggles_of(material.choices, view))
    return ChoicesReport(
        every_choice.decision_of(subject, material, view),
        curve,
        offered=material.choices,
        is_locked=was_stored(curve, material.choices, lock),
        note="" if material.has_outputs else SCORES_ALONE,
        level=view["level"],
    )


@session.cached("Putting it into words", max_entries=16, revision=_revision)
def _board(study_id: str, subject: Subject, lock: dict | None, view: tuple) -> dict:
    """Return the data of the board for the browser; `view` holds (name, value) of each setting."""
    settings = dict(view)
    material = _material(study_id, subject, lock["lock_id"] if lock else None)
    # The browser gets all options, so that it can switch them without asking the server.
    sent_curve = counted(material, boards_data.in_sight(material.choices, settings))
    return boards_data.board(
        _report(study_id, subject, lock, settings), sent_curve, settings
    ).data()


def show_pair(study_id: str, line: DeltaGenerator) -> None:
    """Show the lead of one model over another; the control in `line` chooses the two."""
    with shown_problem():
        models = _models(study_id)
        pairs = {
            f"{first} v {second}": (first, second) for first, second in combinations(models, 2)
        }
        if len(models) > 2:
            pairs |= {f"{model} v {EVERY_OTHER}": (model, EVERY_OTHER) for model in models}
        pair = screen.select("Models", list(pairs), "pair", place=line, width=340, **_UNLABELED)
        if pair:
            _show(study_id, pairs[pair], line)


def show_score(study_id: str, line: DeltaGenerator) -> None:
    """Show whether a model's score is above a threshold; the control in `line` chooses it."""
    with shown_problem():
        models = _models(study_id)
        model = screen.select("Model", models, "choices-model", place=line, width=260, **_UNLABELED)
        _show(study_id, (model,), line)


def show_flips(study_id: str, line: DeltaGenerator) -> None:
    """Show whether most flips come from the extractor.

    The control in `line` chooses the change, the extractor and the model.
    """
    with shown_problem():
        pairings = {}
        for model, axis, extractor in _pairings(study_id):
            change = "all changes" if axis == ALL_AXES else change_words(axis)
            name = f"{change}, {title_of(extractor).lower()}, {model}"
            pairings[name] = (model, axis, extractor)
        if not pairings:
            st.markdown("## Whose flips they are takes two extractors of the same outputs.")
            return
        pairing = screen.select(
            "Flips", list(pairings), "flips", place=line, width=340, **_UNLABELED
        )
        _show(study_id, pairings[pairing], line)


@session.cached("Collecting the answers", max_entries=16, revision=gates.revision_with_labels)
def _pairings(study_id: str) -> list[Subject]:
    """Return (model, axis, extractor) of every decision on flips.

    All axes together (`ALL_AXES`) come after the single axes.
    """
    subjects: list[Subject] = []
    study = PageStudy(session.store(), study_id)
    for model in study.models:
        pairings = flip_pairings(study, model)
        if len(pairings) > 1:
            shared = set.intersection(*[set(extractors) for extractors in pairings.values()])
            pairings[ALL_AXES] = [name for name in next(iter(pairings.values())) if name in shared]
        for axis, extractors in pairings.items():
            subjects += [(model, axis, extractor) for extractor in extractors]
    return subjects


_UNLABELED = {"label_visibility": "collapsed"}


def _show(study_id: str, subject: Subject, line: DeltaGenerator) -> None:
    """Show the decision on the subject; the control in `line` chooses the mode."""
    page = PAGES[len(subject)]
    with line:
        mode = screen.segments(
            "Mode", ["explore", "locked"], "choices-mode", format_func=modes.MODES.__getitem__
        )
    lock = modes.lock_of(study_id, mode, page)
    material = _material(study_id, subject, lock["lock_id"] if lock else None)
    start = every_choice.start_view(material)
    view = modes.view_of(study_id, page, start, lock)
    report = _report(study_id, subject, lock, view)
    if mode == "locked" and lock is None:
        # The new lock stores the choices as they are for the items that were not set aside.
        stored = {STORED: stored_choices(report.curve.choices)}
        modes.offer_lock(study_id, page, view | stored)
        return
    if not report.offered:
        st.markdown(f"## {plain(report.claims[0].text)}")
        st.caption(plain(f"No choice is open here. {report.note}"))
        return
    _draw(study_id, page, subject, lock, view, start)
    for note in filter(None, (report.note, report.curve.note)):
        st.caption(plain(note))
    with st.expander("Every number", icon=":material/table_rows:"):
        show_table("every-option", every_choice.option_rows(report))
        show_table("every-way", every_choice.way_rows(report))
        st.caption(f"Intervals at {level_text(report.level)}; equal ways stand once.")
    record.show_decisions(study_id)
    how_to_read(
        "A mark is one **way of counting** with its interval; the ring is the declared one. A "
        "triangle lies behind, an open ring may not be claimed. A **thin line** reaches from all "
        "unread answers against the decision to all for it. Below, a cell says which option a way "
        "takes. **Moves it by** is the mean change against the declared option; bold is beyond "
        "chance. A share of ways is no evidence: equal models often agree in nearly all."
    )


@st.fragment
def _draw(
    study_id: str, page: str, subject: Subject, lock: dict | None, view: dict, start: dict
) -> None:
    """Draw the board, and below it the settings and outputs of the mark that was clicked."""
    data = _board(study_id, subject, lock, tuple(view.items()))
    # The board only shows its controls to those who may decide. The store refuses others anyway.
    data = data | {"is_waiting": not acting().may(Permission.DECIDE)}
    n_rows = sum(len(choice["options"]) for choice in data["rows"][0]["pictures"][0]["choices"])
    with screen.reserved_space("every-choice", 480 + 24 * n_rows, 800 + 60 * n_rows):
        moved, decision, opened = boards.draw(
            data,
            key=f"{page}-{study_id}-{'|'.join(subject)}",
            locked=lock is not None,
            has_own_words=True,
        )
    for sent in (moved, decision):
        if sent is not None and not every_choice.fits(sent, start):
            st.error(BAD_MESSAGE)
            return
    if moved and all(isinstance(moved.get(end), (int, float)) for end in ("lowest", "highest")):
        record.log_move(study_id, moved)
    # Made again from the settings, because a browser may send any sentence.
    decided = decision and every_choice.stored_decision(
        _report(study_id, subject, lock, decision), decision
    )
    record.offer_decision(study_id, page, "locked" if lock else "explore", decided)
    if opened is not None:
        # Cut, because a browser may send a text of any length.
        st.query_params["way"] = str(opened)[:2_000]
        st.rerun(scope="fragment")
    if way := st.query_params.get("way"):
        material = _material(study_id, subject, lock["lock_id"] if lock else None)
        _show_behind(study_id, subject, material, way)
    modes.remember(study_id, page, start, moved)


def _show_behind(study_id: str, subject: Subject, material: Material, way: str) -> None:
    """Show the settings of a way, and the outputs of an item that it counts differently."""
    setting, words = every_choice.setting_from(way, material)
    # Items that this way counts differently from the declared way.
    items, item = every_choice.differing_items(setting, material), None
    with st.container(border=True, key="behind-way"):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.markdown(plain(words))
            if items:
                label = f"{len(items):,} items are counted otherwise"
                item = screen.select(label, items, "behind-item", width=320)
            st.button("Close", key="behind-close", icon=":material/close:", on_click=_close_way)
        if item is None:
            if setting.get(WEIGHTS) == ALIKE:
                st.caption("Every item counts as declared, but with another weight.")
            else:
                st.caption("It counts every item as the declared way does.")
            return
        if isinstance(material, FlipMaterial):
            link = {"study": study_id, "item": item, "readout": material.extractor}
            link |= {"axis": material.axes[0], "model": subject[0]}
            st.page_link("flips/page.py", label=f"Open {plain(item)} on the map", query_params=link)
            return
        # For a lead over every other model, show the first of the others.
        models = material.answers.models[:2]
        for column, model in zip(st.columns(len(models)), models, strict=True):
            with column:
                prompt_way = every_choice.way_of(setting, material)
                draw_output(study_id, model, item, prompt_way, is_left=model == models[0])


def _close_way() -> None:
    st.query_params.pop("way", None)
