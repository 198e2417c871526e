"""The part Parts of Flips: how many flips are genuine, per extractor and axis.

It shows the board with a level to drag, then each extractor by itself and a predictor of flips.
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
from flipcore.stats.flips.per_readout import flip_summaries, running_flip_rates
from flipcore.stats.flips.predictor import flip_prediction, predictor_rows
from flipcore.store.judgements import OUTPUT_LABELS
from flipcore.store.queries import judgements, studies
from pages.common import gates, headline, modes, record, repeats, screen, session
from pages.common.flip_verdicts import show_marked_flips_by_extractor
from pages.common.header import offer_suited
from pages.common.inspector import draw_inspector, open_item
from pages.common.showing import how_to_read, plain, show_figure, show_table, shown_problem
from pages.components import boards

# Locks and decisions of every release are stored under this name.
PAGE = "decomposition"

# Cached statistics of the board, and their tables.


def _answers(study_id: str, model: str, mode: str) -> CodedAnswers:
    lock = session.lock_id(study_id, PAGE) if mode == "locked" else None
    return headline.answers(study_id, model, lock)


def _cells(study_id: str, model: str, mode: str, view: dict) -> list[Decomposition]:
    """Return one cell per axis and extractor at the settings of `view`."""
    settings = [view[name] for name in ("reference", "policy", "kind", "level", "rule")]
    return _decompositions(study_id, model, mode, *settings)


@session.cached("Resampling the items", is_kept=True)
def _decompositions(study_id, model, mode, reference, policy, kind, level, rule):
    """Decompose the flips; in simultaneous mode the intervals are those of the band.

    The other settings are those of `stats.flips.decomposition.decompositions`.
    """
    coded = _answers(study_id, model, mode)
    # An old link may name an extractor that this study lacks.
    if reference not in coded.extractors:
        return []
    # A link may name a kind that does not exist, and the board has a short name for one rule.
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
    # Without cells the study only repeats its prompts, and a band has nothing to hold for.
    if mode != "simultaneous" or not cells:
        return cells
    return levels.banded(cells, _board(study_id, model, mode, ()), level, policy)


def _board_data(
    study_id: str, model: str, mode: str, closed_gates: dict[str, str], view: dict
) -> dict:
    """Return the data of the threshold board for all settings; for many items, those of `view`."""
    # All settings of 12,000 items take half a minute of processor time. A move that chooses other
    # settings draws the page again anyway.
    selection: tuple = ()
    if mode != "simultaneous" and len(_answers(study_id, model, mode).items) > levels.MANY_ITEMS:
        selection = tuple((name, view[name]) for name in ("reference", "policy", "kind", "rule"))
    return _board(study_id, model, mode, tuple(closed_gates.items()), selection).data


@session.cached("Preparing the board", max_entries=12, is_kept=True)
def _board(
    study_id: str, model: str, mode: str, closed_gates: tuple, selection: tuple = ()
) -> levels.LevelBoard:
    coded = _answers(study_id, model, mode)
    return levels.level_board(
        coded,
        title_of,
        simultaneous=mode == "simultaneous",
        closed_gates=dict(closed_gates),
        temperature=session.temperature(study_id, model),
        selection=dict(selection) or None,
    )


@session.cached("Preparing the board", max_entries=12, is_kept=True)
def _every_pairing(study_id: str, model: str, mode: str) -> list[Decomposition] | None:
    """Return the cells under every reference extractor, which simultaneous mode claims together.

    None in the other modes, which claim only the cells on the page.
    """
    if mode != "simultaneous":
        return None
    coded = _answers(study_id, model, mode)
    return verdicts.every_pairing(coded, levels.readable(coded))


def _show_table(cells: list[Decomposition], claims: list[Claim], temperature: float | None) -> None:
    """Show the cells as a table, and their claims as sentences."""
    frame = rows_of_cells(cells, temperature)
    names = ["axis", "extractor"]
    # Estimates with their intervals are texts, which Streamlit would align to the left.
    estimates = [
        name for name in frame.columns if name not in names and frame[name].dtype.kind not in "if"
    ]
    show_table(
        "decomposition",
        frame,
        # All rows are in sight, and a row keeps its name while the columns are scrolled.
        height="content",
        column_config={name: st.column_config.TextColumn(pinned=True) for name in names}
        | {name: st.column_config.TextColumn(alignment="right") for name in estimates},
    )
    with st.popover("The same as sentences", icon=":material/notes:"):
        for claim in claims:
            st.markdown(plain(f"• {claim.text} {claim.detail}"))


def _show_warnings(cells: list[Decomposition]) -> None:
    """Show the warnings of all cells, such as those about unreadable answers."""
    # Warnings belong to no claim, so they are shown even if nothing is claimed.
    for cell in cells:
        for warning in cell.warnings:
            cell_title = f"{cell.axis.replace('_', ' ')}, {title_of(cell.extractor).lower()}"
            st.warning(plain(f"{cell_title}: {warning}"), icon=":material/warning:")


@session.cached(max_entries=64)
def _items(
    study_id: str, lock: str | None, model: str, extractor: str, reference: str, axis: str
) -> list[str]:
    frame = session.readouts(study_id, lock=lock)
    frame = frame[frame["model"] == model]
    order = list(frame["item_id"].unique())
    cells, reference_cells = surface.align(
        surface.variant_cells(frame, axis, extractor),
        surface.variant_cells(frame, axis, reference),
        order,
    )
    positions = surface.order_of(cells, reference_cells, "difference", cells.items)
    return [cells.items[i] for i in positions]


def items_of_row(study_id: str, model: str, mode: str, row: str, reference: str) -> list[str]:
    """Return the items of a row of the board ("axis|extractor").

    Items come first whose flip rates differ most between the extractor and the reference.
    """
    axis, extractor = row.split("|")
    # In locked mode these are the items that were set aside.
    lock = session.lock_id(study_id, PAGE) if mode == "locked" else None
    return _items(study_id, lock, model, extractor, reference, axis)


def opened_row() -> str:
    """Return the row of the board whose item the link opens; "" without one."""
    return st.query_params.get("row", "") if st.query_params.get("item") else ""


def show_each_extractor(study_id: str, model: str, mode: str, policy: str) -> None:
    """Show each extractor's flip rate with bounds for unreadable answers, and over time."""
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
        # Reruns are the noise floor, so they have no flip rate of their own.
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


@session.cached("Permuting the readouts", max_entries=12, is_kept=True)
def _alone(study_id: str, model: str, mode: str, policy: str):
    return flip_summaries(_answers(study_id, model, mode), policy)


@session.cached("Following the items as they arrived", max_entries=12, is_kept=True)
def _arriving(study_id: str, model: str, mode: str, axis: str, policy: str):
    return running_flip_rates(_answers(study_id, model, mode), axis, policy)


@session.cached(max_entries=16)
def _labelled_pairs(study_id: str, n_labels: int) -> Pairs:
    return labelled_pairs(session.store(), study_id)


def show_by_people(
    study_id: str, model: str, mode: str, view: dict, closed_gates: dict[str, str], cells: list
) -> None:
    """Show G and A as corrected by people's labels of both outputs of a pair."""
    st.subheader("Flips by people", anchor=False)
    # Once a lock is opened, people see its items and results, so their labels may not correct it.
    if mode == "locked":
        st.caption("Corrections by people are not shown under a lock.")
        return
    pairs = _labelled_pairs(study_id, judgements.n_rows(session.store(), OUTPUT_LABELS))
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
    main_row = leading(rows)
    st.markdown(plain(main_row.sentence))
    cost = cost_words(pairs.n_labels, pairs.n_people, pairs.seconds)
    st.caption(plain(f"{main_row.narrower} {cost}"))
    show_table("flips-by-people", [row.table_row() for row in rows])
    st.caption(
        "A label says which answer an output states. **G by people** is the share of pairs that "
        "state different answers, **A by people** is T less that. Unreadable answers count as one "
        "more answer here, and the noise floor is not taken off."
    )


def show_predictor(study_id: str, model: str, mode: str) -> None:
    """Show how well a small classifier predicts which items flip."""
    st.subheader("Which flips could have been predicted?", anchor=False)
    st.caption(
        "From the first token's margin and entropy, prompt length, number of options and "
        "correctness of the base prompt, and from the axis: a logistic model, five folds grouped "
        "by item. For the p the whole cross-validation is repeated with the flips of each axis "
        "shuffled among its items."
    )
    # Only on request, because it cross-validates the classifier many times.
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


@session.cached("Cross-validating", max_entries=12, is_kept=True)
def _predicted(study_id: str, model: str, mode: str):
    lock = session.lock_id(study_id, PAGE) if mode == "locked" else None
    frame = session.readouts(study_id, lock=lock)
    base = studies.base_first_tokens(session.store(), study_id, model, lock=lock)
    # The predictor needs the margins of the first token.
    if base.empty:
        return None
    return flip_prediction(predictor_rows(frame[frame["model"] == model], base, FIRST_TOKEN))


def show_closed_gates(closed_gates: dict[str, str]) -> None:
    """Show each reason for a closed gate once, with its axes and extractors."""
    # One judge or one source may close several gates for the same reason.
    for reason in dict.fromkeys(closed_gates.values()):
        names = [name.replace("_", " ") for name in closed_gates if closed_gates[name] == reason]
        st.warning(
            plain(f"Not claimed: {' and '.join(names)}. {reason}"), icon=":material/door_front:"
        )


@st.fragment
def draw_board(
    study_id: str, model: str, mode: str, view: dict, closed_gates: dict, cells: list
) -> None:
    """Draw the threshold board, and next to it the outputs behind a row that was clicked."""
    rows = {f"{cell.axis}|{cell.extractor}" for cell in cells}
    is_open = opened_row() in rows
    # The inspector takes space only while a row is opened.
    with st.container(key="beside"):
        left, right = st.columns([11, 9], gap="medium") if is_open else (st.container(), None)
    with left:
        board_data = levels.at_settings(
            _board_data(study_id, model, mode, closed_gates, view), view
        )
        # The height of the drawn board, wide and narrow: its head and its rows.
        with screen.reserved_space("board", 140 + 51 * len(rows), 300 + 118 * len(rows)):
            moved, decision, row = boards.draw(
                board_data,
                key=f"board-{study_id}-{model}-{mode}",
                locked=mode == "locked",
                opened=opened_row(),
            )
        record.log_move(study_id, moved)
        record.offer_decision(study_id, PAGE, mode, decision and decision | {"model": model})
        st.caption(modes.note_text(mode, study_id, levels.band_words(cells)))
    if right is not None:
        with right:
            items = items_of_row(study_id, model, mode, opened_row(), view["reference"])
            draw_inspector(study_id, model, Steps(items))
    # The click may come from a board that was drawn before the settings changed.
    if row in rows:
        axis, extractor = row.split("|")
        for item in items_of_row(study_id, model, mode, row, view["reference"])[:1]:
            open_item(item, axis=axis, readout=extractor, row=row)
        st.rerun(scope="fragment")
    modes.remember(study_id, PAGE, levels.start_of(session.declared(study_id).scorer_names), moved)


def show(study_id: str, line: DeltaGenerator) -> None:
    """Show the board and all estimates; the controls for mode and model are drawn in `line`."""
    with line:
        mode = modes.mode_selector()
        model_place = st.container(width=220)
    lock = modes.lock_of(study_id, mode, PAGE)
    scorers = session.declared(study_id).scorer_names
    start = levels.start_of(scorers)
    frame = session.readouts(study_id, lock=lock["lock_id"] if lock else None)
    models = list(frame["model"].unique())
    example = ""
    if modes.can_show(study_id, PAGE, mode, lock, start, has_readouts=not frame.empty):
        model = model_place.selectbox(
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
            draw_board(study_id, model, mode, view, closed_gates, cells)
            show_closed_gates(closed_gates)
            repeats.show(study_id)
            st.subheader("Every estimate", anchor=False)
            temperature = session.temperature(study_id, model)
            all_pairings = _every_pairing(study_id, model, mode)
            claims = flips.cell_claims(cells, closed_gates, temperature, all_pairings)
            _show_table(cells, claims, temperature)
            _show_warnings(cells)
            show_marked_flips_by_extractor(study_id, model, cells)
            # People's labels treat an unreadable answer as one more answer, like this policy.
            if view["policy"] == "own_class":
                show_by_people(study_id, model, mode, view, closed_gates, cells)
            show_each_extractor(study_id, model, mode, view["policy"])
            show_predictor(study_id, model, mode)
            record.show_decisions(study_id)
    how_to_read(
        "**T** is how often two harmless versions of an item get different answers, **G** the same "
        "under the reference extractor, **A** is T − G. ✓ artifact: more pairs flip under one "
        "extractor alone than under both. ✓ genuine: more under both. Each beyond its **noise "
        "floor** (line; reference: diamond), how often reruns flip. p: Holm over rows.",
        example=example,
    )
