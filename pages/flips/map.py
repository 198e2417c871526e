"""The part Map of Flips: which items flip under which changes, for two extractors side by side.

Below the map it shows how often extractors disagree with each other.
"""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from flipcore.charts.flips import matrix
from flipcore.claims.flips import unchecked_words
from flipcore.core.records import WRITTEN_ANSWER
from flipcore.extractors import title_of
from flipcore.reports.browser_data.flip_map import flip_table
from flipcore.reports.browser_data.steps import Steps
from flipcore.reports.flips import ASKED_ONCE, graders, nothing_to_compare
from flipcore.stats.flips.readout_mismatch import disagreements
from flipcore.stats.flips.surface import Choices
from pages.common import repeats, screen, session
from pages.common.inspector import draw_inspector, open_item
from pages.common.showing import how_to_read, plain, show_figure, show_nothing_yet, show_table
from pages.flips import map_data
from pages.flips.explorer import OPENED_AXES_KEY, draw_explorer
from pages.flips.map_data import View, drawn_map, readouts_of_model


@session.cached("Comparing the extractors", max_entries=16, is_kept=True)
def _disagreements(study_id: str, model: str):
    frame = readouts_of_model(study_id, model)
    return disagreements(frame, graders(frame))


def show_disagreement(study_id: str, model: str) -> None:
    """Show how often two extractors read different answers from the same output."""
    st.subheader("Do the extractors agree with each other?", anchor=False)
    agreement = _disagreements(study_id, model)
    if len(agreement.extractors) < 2:
        advice = "Add another and run it again: calls that were answered are not repeated."
        if session.declared(study_id).is_recorded:
            advice = "A log that holds the outputs' texts is read here besides."
        st.info(plain(f"{nothing_to_compare(readouts_of_model(study_id, model))} {advice}"))
        return
    sentence = agreement.sentence(title_of)
    if not sentence:
        sentence = (
            "No two extractors can be compared: a scorer only judges, "
            "and no right answers are known."
        )
    st.markdown(plain(sentence))
    left, right = st.columns([3, 2])
    show_figure(
        "disagreement",
        lambda c: matrix(agreement.share, [title_of(name) for name in agreement.extractors], c),
        place=left,
    )
    show_table("disagreement", place=right, rows=agreement.table(title_of))
    right.caption(
        "Share of answers to the same variant and sample that differ. First with an unreadable "
        "answer as an answer of its own, then where both read one. Absent readouts and answers "
        "that were cut off are left out. A scorer that only judges is compared by right and wrong."
    )


SORT_TITLES = {
    "field": "most flips, compared extractor",
    "faithful": "most flips, reference extractor",
    "difference": "largest difference",
    "study": "the study's own order",
}
COMPARISONS = ["side by side", "difference"]


def _view_settings(choices: Choices, leading_extractor: str) -> dict:
    """Draw the controls behind the View button; return their values as fields of `View`.

    `leading_extractor` is compared with the reference by default.
    """
    models, names = choices.models, choices.extractors
    default_compared = leading_extractor if leading_extractor in names else names[0]
    default_reference = WRITTEN_ANSWER if WRITTEN_ANSWER in names else names[-1]
    with screen.view_button():
        model = st.selectbox("Model", models, key="model", bind="query-params")
        compared = screen.select(
            "Compared extractor", names, "field", choice=default_compared, format_func=title_of
        )
        reference = screen.select(
            "Reference extractor", names, "faithful", choice=default_reference, format_func=title_of
        )
        sort = st.selectbox(
            "Rows sorted by",
            list(SORT_TITLES),
            key="sort",
            bind="query-params",
            format_func=SORT_TITLES.__getitem__,
        )
        opened = st.multiselect(
            "Axes with their variants",
            choices.axes_with_variants,
            key=OPENED_AXES_KEY,
            bind="query-params",
            format_func=lambda name: name.replace("_", " "),
            placeholder="none; or click a column's name on the map",
        )
    return {
        "model": model,
        "compared": compared,
        "reference": reference,
        "titles": (title_of(compared), title_of(reference)),
        "sort": sort,
        "opened": tuple(opened),
    }


def choose_view(study_id: str) -> View:
    """Draw the controls of the map, whose values are in the link; return them as a view.

    Controls that change rarely are behind the View button.
    """
    choices = map_data.choices(study_id)
    settings = _view_settings(choices, map_data.leading_extractor(study_id))
    groups = _groups(study_id, choices.models)
    group = screen.select(
        "Rows",
        list(groups),
        "group",
        format_func=groups.__getitem__,
        width=165,
        label_visibility="collapsed",
    )
    compare = screen.segments("Compare", COMPARISONS, "compare")
    search = st.text_input(
        "Find",
        key="item-search",
        bind="query-params",
        placeholder="Find words of a question",
        width=165,
        label_visibility="collapsed",
    )
    flips_only = st.toggle("Flips only", key="flips-only", bind="query-params")
    view = View(
        study_id,
        group="" if group == "items" else group,
        # The difference between an extractor and itself is zero everywhere.
        is_difference=compare == COMPARISONS[1] and settings["compared"] != settings["reference"],
        sort_title=SORT_TITLES[settings["sort"]],
        search=search,
        flips_only=flips_only,
        **settings,
    )
    screen.view_line(
        view.model,
        " v ".join(title.lower() for title in view.titles),
        # The default order is not named.
        view.sort_title if view.sort != "field" else "",
    )
    return view


def _groups(study_id: str, models: list[str]) -> dict[str, str]:
    """Return the useful groupings of rows: key -> label."""
    n_items = len(session.study_items(study_id))
    # A grouping with a single group, or with one item per group, is useless.
    groupings = {
        "items": True,
        "category": map_data.n_groups(study_id, "category") > 1,
        "template": map_data.n_groups(study_id, "family") < n_items,
        "model": len(models) > 1,
    }
    return {
        name: "one row per item" if name == "items" else f"by {name}"
        for name, is_useful in groupings.items()
        if is_useful
    }


def show_asked_once(study_id: str) -> None:
    """Show how extractors read the outputs of a study that asked each question once."""
    st.markdown(f"## {ASKED_ONCE}")
    st.caption(
        "Flips need further prompts or runs. Audit asks recorded items again; New study asks your "
        "own in several ways."
    )
    # Without a second prompt only the extractors can be compared.
    models = map_data.choices(study_id).models
    linked = st.query_params.get("of", "")
    model = linked if linked in models else models[0]
    items = map_data.most_disputed(study_id, model)
    if not draw_inspector(study_id, model, Steps(items), sheet=True) and items:
        axis = readouts_of_model(study_id, model)["axis"].iloc[0]
        st.button(
            "Read the outputs",
            key="read-outputs",
            icon=":material/search:",
            on_click=open_item,
            args=(items[0],),
            kwargs={"axis": str(axis), "of": model},
            help="Items whose extractors disagree come first; j and k step through them.",
        )
    show_disagreement(study_id, model)


def show(study_id: str, line: DeltaGenerator) -> None:
    """Show the claim, the map with its inspector, and how extractors disagree.

    The controls are drawn in `line`.
    """
    # This takes long, so do it while the page is empty: its progress line then stands at the top.
    map_data.leading_extractor(study_id)
    if not map_data.choices(study_id).models:
        show_nothing_yet(is_recorded=session.declared(study_id).is_recorded)
        return
    with line:
        view = choose_view(study_id)
    # If the variants of one axis are shown, the claim is about that axis only.
    one_axis = view.opened[0] if len(view.opened) == 1 else None
    claim = map_data.map_claim(study_id, view.model, view.compared, view.reference, one_axis)
    st.markdown(f"## {plain(claim.text)}")
    # The noise floor is shown on hover, because three lines of numbers push the map out of sight.
    parts, _, noise_floor = claim.detail.partition(" Noise floor: ")
    st.caption(plain(parts), help=plain(f"Noise floor: {noise_floor}") if noise_floor else None)
    if unchecked := unchecked_words([claim], map_data.n_labelled_pairs(study_id)):
        st.caption(plain(unchecked))
        st.page_link(
            "paraphrase_review/page.py",
            label="Label outputs",
            icon=":material/label:",
            query_params={"part": "Outputs"},
        )
    for warning in map_data.label_warnings(study_id, view.model):
        st.warning(plain(warning), icon=":material/label_off:")
    flipmap = drawn_map(view)
    if flipmap.items:
        cells = map_data.cells(study_id, view.model, view.compared, view.reference)
        questions = map_data.questions(study_id)
        draw_explorer(view, flipmap, flip_table(*cells, flipmap.items, questions, view.titles))
    else:
        st.info("No item passes these filters.", icon=":material/filter_alt_off:")
    show_disagreement(study_id, view.model)
    repeats.show(study_id)
    how_to_read(
        "A row is an item, a column one kind of harmless change. The more a cell stands out, the "
        "more pairs of its variants get different answers. **Noise floor** compares repeated "
        "samples of one prompt. Hatched: nothing to compare. Dots: answers that could not be read. "
        "A folded corner: answers that were cut off. The thin bar is the item's mean. Where a cell "
        "stands out on the left map alone, the pair flips under the compared extractor alone."
    )
