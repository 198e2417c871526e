"""The parts of the flips: how much of them is genuine, under each extractor and change.

They are on the board whose level is dragged; under it each extractor by itself, and a predictor of
flips.
"""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from flipcore.annotation.judge_labels import Pairs, labelled_pairs
from flipcore.charts.flips import sequence
from flipcore.claims import flips
from flipcore.claims.claim import Claim
from flipcore.claims.flips import prediction_claim
from flipcore.core.records import FIRST_TOKEN, IDENTITY
from flipcore.extractors import title_of
from flipcore.reports.browser_data import levels, verdicts
from flipcore.reports.browser_data.steps import Steps
from flipcore.reports.read_by_people import cost_words, leading, people_on_flips
from flipcore.reports.study import table as rows_of_cells
from flipcore.reports.worked_examples import flips_example
from flipcore.stats.base.estimate import number_text, p_text, percent_text
from flipcore.stats.flips import decomposition, surface
from flipcore.stats.flips.coded_answers import CodedAnswers
from flipcore.stats.flips.decomposition import Decomposition
from flipcore.stats.flips.per_readout import alone, arriving
from flipcore.stats.flips.predictor import flip_prediction, predictor_rows
from flipcore.store.judgements import OUTPUT_LABELS
from flipcore.store.queries import judgements, studies
from pages.common import gates, headline, modes, record, repeats, screen, session
from pages.common.flip_verdicts import marked_flips_by_readout
from pages.common.header import offer_suited
from pages.common.inspector import inspector_place, open_item
from pages.common.showing import how_to_read, plain, show_figure, show_table, shown_problem
from pages.components import boards

# Cached statistics of the board, and their tables.


def _answers(study_id: str, model: str, mode: str) -> CodedAnswers:
    lock = session.lock_id(study_id, "decomposition") if mode == "locked" else None
    return headline.answers(study_id, model, lock)


def _cells(study_id: str, model: str, mode: str, view: dict) -> list[Decomposition]:
    """Return all cells at the settings that the board was left at."""
    return _decompositions(
        study_id,
        model,
        mode,
        *(view[name] for name in ("reference", "policy", "kind", "level", "rule")),
    )


@session.cached("Resampling the items", is_kept=True)
def _decompositions(study_id, model, mode, reference, policy, kind, level, rule):
    """Decompose the flips; in simultaneous mode with the band's limits, as the board has them."""
    coded = _answers(study_id, model, mode)
    # An old link may name an extractor that this study has not.
    if reference not in coded.extractors:
        return []
    kind = kind if kind in ("default", "percentile", "studentized") else "default"
    rule = "source_nonoverlap" if rule == "nonoverlap" else rule
    cells = decomposition.decompositions(
        coded,
        reference,
        policy=policy,
        kind=kind,
        level=level,
        rule=rule,
        n_boot=levels.resamples(coded),
    )
    # Without cells the study only sends the same prompts again: a band would hold nothing.
    if mode != "simultaneous" or not cells:
        return cells
    return levels.banded(cells, _board(study_id, model, mode, ()), level, policy)


def _arrays(study_id: str, model: str, mode: str, closed_gates: dict[str, str], view: dict) -> dict:
    """Return the data of the threshold board.

    Of many items those of `view` alone.
    """
    # All settings of many items take a processor half a minute at 12,000, and a move that chooses
    # other settings draws the page again anyway.
    selection: tuple = ()
    if mode != "simultaneous" and len(_answers(study_id, model, mode).items) > levels.MANY_ITEMS:
        selection = tuple((name, view[name]) for name in ("reference", "policy", "kind", "rule"))
    return _board(study_id, model, mode, tuple(closed_gates.items()), selection).data


@session.cached("Preparing the board", 12, is_kept=True)
def _board(
    study_id: str, model: str, mode: str, closed_gates: tuple, selection: tuple = ()
) -> levels.LevelBoard:
    simultaneous, heat = mode == "simultaneous", session.temperature(study_id, model)
    coded = _answers(study_id, model, mode)
    return levels.level_board(
        coded,
        title_of,
        simultaneous=simultaneous,
        closed_gates=dict(closed_gates),
        temperature=heat,
        selection=dict(selection) or None,
    )


@session.cached("Preparing the board", 12, is_kept=True)
def _every_pairing(study_id: str, model: str, mode: str) -> list[Decomposition] | None:
    """Return the cells that are claimed together in simultaneous mode.

    None in the other modes, where those on the page are.
    """
    coded = _answers(study_id, model, mode)
    # In the other modes the cells on the page are claimed one by one.
    return verdicts.every_pairing(coded, levels.readable(coded)) if mode == "simultaneous" else None


def _table(cells: list[Decomposition], claims: list[Claim], temperature: float | None) -> None:
    frame = rows_of_cells(cells, temperature)
    estimates = [
        name
        for name in frame.columns
        if name not in ("axis", "extractor") and frame[name].dtype.kind not in "if"
    ]
    show_table(
        "decomposition",
        frame,
        column_config={
            name: st.column_config.TextColumn(width=150, alignment="right") for name in estimates
        },
    )
    with st.popover("The same as sentences", icon=":material/notes:"):
        for claim in claims:
            st.markdown(plain(f"• {claim.text} {claim.detail}"))


def _warnings(cells: list[Decomposition]) -> None:
    """Warn about unreadable answers, each warning once."""
    for cell in cells:
        # A warning is no part of a claim, so it is said even where nothing is claimed.
        for warning in cell.warnings:
            place = f"{cell.axis.replace('_', ' ')}, {title_of(cell.extractor).lower()}"
            st.warning(plain(f"{place}: {warning}"), icon=":material/warning:")


# Locks and decisions of every release are stored under this name.
PAGE = "decomposition"

# Behind a row of the board: its items, those first on which the two extractors differ most, in the
# inspector.


@session.cached(max_entries=64)
def _items(
    study_id: str, lock: str | None, model: str, extractor: str, reference: str, axis: str
) -> list[str]:
    frame = session.readouts(study_id, lock=lock)
    frame = frame[frame["model"] == model]
    order = list(frame["item_id"].unique())
    first, second = surface.aligned(
        surface.opened(frame, axis, extractor), surface.opened(frame, axis, reference), order
    )
    return [first.items[i] for i in surface.order_of(first, second, "difference", first.items)]


def items(study_id: str, model: str, mode: str, row: str, reference: str) -> list[str]:
    """Return the items of a row ("axis|extractor"), largest difference between extractors first."""
    axis, extractor = row.split("|")
    # Under a lock the items behind a row are those that were set aside.
    lock = session.lock_id(study_id, PAGE) if mode == "locked" else None
    return _items(study_id, lock, model, extractor, reference, axis)


def opened_row() -> str:
    """Return the row that the link looks behind; "" without one."""
    return st.query_params.get("row", "") if st.query_params.get("item") else ""


# Each readout by itself: its flip rate with the bounds that unreadable answers leave, and the rate
# as results arrived.


def each_readout(study_id: str, model: str, mode: str, policy: str) -> None:
    with st.expander("Each extractor by itself: bounds, any flip, and p beyond the noise floor"):
        show_table(
            "each-extractor",
            [
                {
                    "axis": readout.axis.replace("_", " "),
                    "readout": title_of(readout.extractor),
                    "T": readout.T.text_percent(),
                    "T at least": percent_text(readout.lowest),
                    "T at most": percent_text(readout.highest),
                    "pooled over pairs": percent_text(readout.micro),
                    "items that flip at all": readout.any_flip.text_percent(),
                    "modal agreement": percent_text(readout.modal_agreement),
                    "entropy, bits": number_text(readout.entropy_bits),
                    "beyond the noise floor": p_text(p),
                    "items": readout.n_items,
                    "note": readout.note,
                }
                for readout, p in _alone(study_id, model, mode, policy)
            ],
        )
        st.caption(
            "T at least and at most: what it could be, whatever the unreadable answers said "
            "(single samples only). Beyond the noise floor: is the change worse than a second "
            "sample of the same prompt? A permutation of the readouts within items; – where "
            "nothing was asked twice."
        )
    with st.expander("The flip rate as results arrived"):
        # Reruns have no flip rate of their own: they are the noise floor.
        axes = [axis for axis in _answers(study_id, model, mode).axes if axis != IDENTITY]
        axis = screen.select(
            "Axis",
            axes,
            "arriving-axis",
            format_func=lambda name: name.replace("_", " "),
            width=280,
        )
        paths = {
            title_of(name): path
            for name, path in _arriving(study_id, model, mode, axis, policy).items()
        }
        show_figure("arriving", lambda c: sequence(paths, c, "flip rate T"))
        st.caption(
            plain(
                "95% limits that hold at every number of items at once, so that a study may be "
                "watched and stopped "
                "at any moment (empirical Bernstein confidence sequence, arXiv:2010.09686)."
            )
        )


@session.cached("Permuting the readouts", 12, is_kept=True)
def _alone(study_id: str, model: str, mode: str, policy: str):
    return alone(_answers(study_id, model, mode), policy)


@session.cached("Following the items as they arrived", 12, is_kept=True)
def _arriving(study_id: str, model: str, mode: str, axis: str, policy: str):
    return arriving(_answers(study_id, model, mode), axis, policy)


# T = G + A with people's labels of pairs in it.


@session.cached(max_entries=16)
def _pairs(study_id: str, n_labels: int) -> Pairs:
    return labelled_pairs(session.store(), study_id)


def by_people(
    study_id: str, model: str, mode: str, view: dict, closed_gates: dict[str, str], cells: list
) -> None:
    """Show what labels of both outputs of a pair make of G and A.

    Nothing under a lock, whose items people see with it.
    """
    st.subheader("Flips by people", anchor=False)
    # People see the items of a lock with it, so their labels may not correct it.
    if mode == "locked":
        st.caption("Corrections by people are not shown under a lock.")
        return
    pairs = _pairs(study_id, judgements.n_rows(session.store(), OUTPUT_LABELS))
    frame = session.readouts(study_id)
    model_frame = frame[frame["model"] == model]
    rows = people_on_flips(
        model,
        cells,
        model_frame,
        pairs,
        closed_gates,
        view["level"],
        at_once=mode == "simultaneous",
    )
    if not rows:
        st.markdown(
            "Nobody has labelled both outputs of a pair, so how many flips are misread is not "
            "known."
        )
        st.page_link(
            "paraphrase_review/page.py",
            label="Label pairs",
            icon=":material/label:",
            query_params={"part": "Outputs"},
        )
        return
    first = leading(rows)
    st.markdown(plain(first.sentence))
    cost = cost_words(pairs.n_labels, pairs.n_people, pairs.seconds)
    st.caption(plain(f"{first.narrower} {cost}"))
    show_table("flips-by-people", [row.table_row() for row in rows])
    st.caption(
        "A label says which answer an output states. **G by people** is the share of pairs that "
        "state different answers, **A by people** is T less that. Unreadable answers count as one "
        "more answer here, and the noise floor is not taken off."
    )


# The flip predictor: can it be told beforehand which items will flip?


def predictor(study_id: str, model: str, mode: str) -> None:
    """Predict flips, on request: it cross-validates a small classifier many times."""
    st.subheader("Which flips could have been predicted?", anchor=False)
    st.caption(
        "From the first token's margin and entropy, prompt length, number of options and "
        "correctness of the base prompt, and from the axis: a logistic model, five folds grouped "
        "by item. For the p the whole cross-validation is repeated with the flips of each axis "
        "shuffled among its items."
    )
    # On request: it cross-validates a small classifier many times.
    if not st.toggle("Compute", key="predictor", bind="query-params"):
        return
    with shown_problem():
        fit = _predicted(study_id, model, mode)
        if fit is None:
            st.info(
                "This study has no first-token extractor, whose margin the predictor uses. Add "
                "that extractor."
            )
        elif fit.note:
            st.info(plain(f"Nothing to predict: {fit.note}"))
        else:
            claim = prediction_claim(fit)
            st.markdown(plain(claim.text))
            st.caption(plain(claim.detail))
            show_table(
                "weights",
                [
                    {"feature": name, "weight (standardised)": round(weight, 2)}
                    for name, weight in fit.weights.items()
                ],
                width=420,
            )


@session.cached("Cross-validating", 12, is_kept=True)
def _predicted(study_id: str, model: str, mode: str):
    lock = session.lock_id(study_id, PAGE) if mode == "locked" else None
    frame = session.readouts(study_id, lock=lock)
    base = studies.base_first_tokens(session.store(), study_id, model, lock=lock)
    # The margin of the first token is what the predictor rests on.
    if base.empty:
        return None
    return flip_prediction(predictor_rows(frame[frame["model"] == model], base, FIRST_TOKEN))


# The board, and the tab.


def what_is_not_claimed(closed_gates: dict[str, str]) -> None:
    """Say each reason once, with all the axes and extractors that it closes."""
    # One judge or one source may close several axes for the same reason.
    for reason in dict.fromkeys(closed_gates.values()):
        names = [name.replace("_", " ") for name in closed_gates if closed_gates[name] == reason]
        st.warning(
            plain(f"Not claimed: {' and '.join(names)}. {reason}"), icon=":material/door_front:"
        )


@st.fragment
def board(
    study_id: str, model: str, mode: str, view: dict, closed_gates: dict, cells: list
) -> None:
    """Draw the threshold board, and next to it the outputs behind a row that was clicked."""
    rows = {f"{cell.axis}|{cell.extractor}" for cell in cells}
    is_open = opened_row() in rows
    # The inspector takes room only while something is opened.
    with st.container(key="beside"):
        left, right = st.columns([11, 9], gap="medium") if is_open else (st.container(), None)
    with left:
        board_data = levels.at_settings(_arrays(study_id, model, mode, closed_gates, view), view)
        # The height of the drawn board, wide and narrow: its head and its rows.
        with screen.room("board", 140 + 51 * len(rows), 300 + 118 * len(rows)):
            moved, decision, row = boards.draw(
                board_data,
                key=f"board-{study_id}-{model}-{mode}",
                locked=mode == "locked",
                opened=opened_row(),
            )
        record.log_move(study_id, moved)
        record.offer(study_id, PAGE, mode, decision and decision | {"model": model})
        st.caption(modes.note(mode, study_id, levels.band_words(cells)))
    if right is not None:
        with right:
            inspector_place(
                study_id,
                model,
                Steps(items(study_id, model, mode, opened_row(), view["reference"])),
            )
    # A row may come from a board that was drawn before the settings changed.
    if row in rows:
        axis, extractor = row.split("|")
        for item in items(study_id, model, mode, row, view["reference"])[:1]:
            open_item(item, axis=axis, readout=extractor, row=row)
        st.rerun(scope="fragment")
    modes.remember(study_id, PAGE, levels.start_of(session.declared(study_id).scorer_names), moved)


def show(study_id: str, line: DeltaGenerator) -> None:
    """Show the board with every estimate under it; mode and model stand in `line`."""
    with line:
        mode = modes.mode_selector()
        choice = st.container(width=220)
    lock = modes.lock_of(study_id, mode, PAGE)
    scorers = session.declared(study_id).scorer_names
    start = levels.start_of(scorers)
    frame = session.readouts(study_id, lock=lock["lock_id"] if lock else None)
    models = list(frame["model"].unique())
    example = ""
    if modes.has_something(study_id, PAGE, mode, lock, start, has_readouts=not frame.empty):
        model = choice.selectbox(
            "Model", models, key="model", bind="query-params", label_visibility="collapsed"
        )
        coded = _answers(study_id, model, mode)
        # A log may lack the usual reference and bring a scorer of its own.
        view = levels.with_own_reference(
            modes.view_of(study_id, PAGE, start, lock), coded.extractors, scorers
        )
        cells = _cells(study_id, model, mode, view)
        example = flips_example(cells)
        if view["reference"] not in coded.extractors:
            claim = flips.missing_reference_claim(view["reference"], coded.extractors)
            st.markdown(f"## {plain(claim.text)}")
        elif not cells:
            st.markdown(
                "## This study only sends the same prompts again. Add an axis to have something "
                "to decompose."
            )
            offer_suited("flips/page.py", lambda study: study.changes_prompts)
        else:
            axes, extractors = {cell.axis for cell in cells}, {cell.extractor for cell in cells}
            closed_gates = gates.closed_gates(
                study_id, axes, extractors, lock["lock_id"] if lock else None
            )
            board(study_id, model, mode, view, closed_gates, cells)
            what_is_not_claimed(closed_gates)
            repeats.show(study_id)
            st.subheader("Every estimate", anchor=False)
            heat = session.temperature(study_id, model)
            family = _every_pairing(study_id, model, mode)
            _table(cells, flips.cell_claims(cells, closed_gates, heat, family), heat)
            _warnings(cells)
            marked_flips_by_readout(study_id, model, cells)
            # People's labels count an unreadable answer as a class of its own, as this policy does.
            if view["policy"] == "own_class":
                by_people(study_id, model, mode, view, closed_gates, cells)
            each_readout(study_id, model, mode, view["policy"])
            predictor(study_id, model, mode)
            record.history(study_id)
    how_to_read(
        "**T** is how often two harmless versions of an item get different answers, **G** the same "
        "under the reference extractor, **A** is T − G. ✓ artifact: more pairs flip under one "
        "extractor alone than under both. ✓ genuine: more under both. Each beyond its **noise "
        "floor** (line; reference: diamond), how often reruns flip. p: Holm over rows.",
        example=example,
    )
