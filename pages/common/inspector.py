"""The inspector: the two raw outputs behind a cell, with their prompts.

It marks the words in which the prompts differ and the words from which each answer was read. In a
study of several models, the output of another model for the same prompt can stand on the right.
Item, axis, readout, variant and the other model are in the link, so that a copied link opens the
same view.
"""

from itertools import chain

import streamlit as st

from flipcore.core.records import IDENTITY, WRITTEN_ANSWER
from flipcore.extractors import EXTRACTORS, VALUES, title_of
from flipcore.reports.browser_data.steps import Steps
from flipcore.reports.compared_pairs import (
    Pair,
    Side,
    by_other_extractors,
    flips,
    has_any_pair,
    has_both,
    samples_of,
    sides,
    why_no_flip,
)
from flipcore.reports.ratings import mean_words, rating_text, ratings_words
from flipcore.reports.trajectories import Turn, trials, turns_of
from flipcore.stats.base.estimate import number_text
from flipcore.stats.ranking.ways import Way
from flipcore.store.queries.inspection import Inspection, SampleView, SeenVariant, inspection
from flipcore.text.answers import answer_text
from flipcore.text.counts import beginning, count_of
from pages.common import session
from pages.common.differences import show_differences, show_share_bars, show_spans
from pages.common.flip_verdicts import ask_flip_verdict
from pages.common.showing import plain, show_table
from pages.components import component

_link_button = component("copy_link")


def draw_inspector(
    study_id: str,
    model: str,
    steps: Steps,
    *,
    readout: str = WRITTEN_ANSWER,
    sheet: bool = False,
    title: str = "",
) -> bool:
    """Draw the inspector of the item in the link; return False if the link has none.

    `readout` is the extractor if the link names none. With `sheet`, and on screens below 1,200 px,
    the inspector covers the chart; else it is next to it.
    """
    item_id = st.query_params.get("item")
    if not item_id:
        return False
    with st.container(border=not sheet, key="inspector-sheet" if sheet else "inspector"):
        if title:
            st.markdown(f"**{plain(title)}**")
        if steps.place(item_id) is None:
            st.caption("The filters hide the row of this item.")
        axis = st.query_params.get("axis", IDENTITY)
        extractor = st.query_params.get("readout", readout)
        draw_view(study_id, model, item_id, axis, extractor, steps)
    return True


def close_item() -> None:
    # All of these describe the closed view. The next item must not open with them.
    for name in ("item", "axis", "readout", "variant", "beside", "row", "finding", "on", "of"):
        st.query_params.pop(name, None)


def draw_view(
    study_id: str, model: str, item_id: str, axis: str, extractor: str, steps: Steps
) -> None:
    """Show the original on the left and a variant on the right, each with the answers read from it.

    The keys K and J go through the items of `steps`.
    """
    view = inspection(session.store(), study_id, model, item_id, axis)
    if view is None or not view.variants:
        st.info("This item was not asked under that axis. Choose another cell.")
        _close_button()  # a sheet covers the page, so it must be possible to close it
        return
    _title_line(view, axis, model, steps)
    readouts = chain.from_iterable(variant.readings for variant in view.variants)
    # `dict.fromkeys` keeps the order of the extractors.
    names = list(dict.fromkeys(readout.extractor for readout in readouts))
    if not names:
        st.info("Nothing has come back for this item yet.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        extractor_name = extractor if extractor in names else names[0]
        key_prefix = f"inspect-{item_id}-{axis}"
        st.segmented_control(
            "Extractor",
            names,
            default=extractor_name,
            required=True,
            key=f"{key_prefix}-readout-{extractor_name}",
            format_func=_title,
            on_change=_into_link,
            args=("readout", f"{key_prefix}-readout-{extractor_name}"),
        )
        pairs = sides(view, extractor_name)
        other_models = [name for name in session.study_row(study_id)["models"] if name != model]
        # A single output is compared with what the other models wrote.
        is_alone = bool(other_models) and not has_any_pair(pairs)
        parameter, key = _choose_right(
            {} if is_alone else pairs, other_models, key=f"{key_prefix}-{extractor_name}-{model}"
        )
    link_values = {"item": item_id, "axis": axis, "readout": extractor_name, parameter: key}
    changed = {
        name: value for name, value in link_values.items() if st.query_params.get(name) != value
    }
    # Each write is a message to the browser, so only changed values are written.
    if changed:
        st.query_params.update(changed)
    if parameter == BESIDE:
        _show_two_models(view, study_id, (model, key), axis, extractor_name)
        return
    (base, base_samples), (variant, _) = pairs[key]
    _who_flips(view, names, key)
    left, right = st.columns(2)
    with left:
        draw_side("Original", view, variant, base, base_samples, as_losses=True)
    with right:
        _draw_right_side(f"Variant: {key}", view, pairs[key])
    draw_trials(pairs[key])
    if extractor_name not in VALUES or why_no_flip(view, pairs[key]):
        _ask_verdict(study_id, model, axis, extractor_name, view, pairs[key])


# The right side is a variant of the item, or another model's output for the same prompt. A choice
# is a parameter of the link with its value.
VARIANT, BESIDE = "variant", "beside"
RightSide = tuple[str, str]


def _choose_right(pairs: dict[str, Pair], other_models: list[str], *, key: str) -> RightSide:
    """Offer the variants and the other models; start with those of the link.

    Without any in the link, start with a variant whose answer changes, because that is what people
    look for. If there is no variant, start with the first other model.
    """
    variants: list[RightSide] = [(VARIANT, name) for name in pairs]
    models: list[RightSide] = [(BESIDE, name) for name in other_models]
    in_link = [(name, st.query_params.get(name, "")) for name in (BESIDE, VARIANT)]
    flipped = [(VARIANT, name) for name, pair in pairs.items() if flips(pair)]
    choices = variants + models
    start = next(choice for choice in (*in_link, *flipped, *variants, *models) if choice in choices)
    # The marks depend on the extractor, so each extractor has a control of its own.
    control = f"{key}-{start[0]}-{start[1]}"
    st.selectbox(
        "Compared with the original",
        choices,
        index=choices.index(start),
        width=260,
        key=control,
        on_change=_right_into_link,
        args=(control,),
        format_func=lambda choice: _title_of_right(choice, flipped),
    )
    return start


def _title_of_right(choice: RightSide, flipped: list[RightSide]) -> str:
    parameter, name = choice
    if parameter == BESIDE:
        return f"{name}, same prompt"
    return f"{name} – flipped" if choice in flipped else name


def _right_into_link(control: str) -> None:
    parameter, value = st.session_state[control]
    st.query_params.pop(BESIDE if parameter == VARIANT else VARIANT, None)
    st.query_params[parameter] = value


def _show_two_models(
    view: Inspection, study_id: str, models: tuple[str, str], axis: str, extractor: str
) -> None:
    """Show what two models wrote for the item's original prompt; `view` is of the first model."""
    _, other_model = models
    other_view = inspection(session.store(), study_id, other_model, view.item.item_id, axis)
    # The item may be set aside while its page is open.
    if other_view is None:
        return
    both_samples = []
    views = zip((view, other_view), models, st.columns(2), strict=True)
    for seen_view, model, column in views:
        base = seen_view.variants[0]
        samples = samples_of(seen_view, base, extractor)
        with column:
            draw_side(model, view, base, base, samples, as_losses=seen_view is view)
        both_samples.append((base, samples))
    left, right = both_samples
    draw_trials((left, right))


def _who_flips(view: Inspection, names: list[str], key: str) -> None:
    """Say under which extractors the answer to this variant changes, and under which it stays."""
    # Extractors of values give numbers, which never flip.
    pairs = {name: sides(view, name).get(key) for name in names if name not in VALUES}
    comparable_pairs = {
        name: pair
        for name, pair in pairs.items()
        if pair and has_both(pair) and not why_no_flip(view, pair)
    }
    flipping = ", ".join(_title(name) for name, pair in comparable_pairs.items() if flips(pair))
    staying = ", ".join(_title(name) for name, pair in comparable_pairs.items() if not flips(pair))
    if comparable_pairs:
        parts = [f"**flips** under {flipping}"] if flipping else []
        parts += [f"stays under {staying}"] if staying else []
        st.markdown(f"The answer {'; '.join(parts)}.")


def _ask_verdict(
    study_id: str, model: str, axis: str, extractor: str, view: Inspection, pair: tuple[Side, Side]
) -> None:
    """Ask whether a flip is genuine, or say why there is no flip to judge."""
    (base, _), (variant, _) = pair
    reason = why_no_flip(view, pair)
    if reason:
        st.caption(plain(reason))
    elif base is not variant:
        if flips(pair):
            ask_flip_verdict(
                study_id,
                model,
                view.item.item_id,
                axis,
                base.variant_id,
                variant.variant_id,
                extractor,
            )
        else:
            st.caption("The answers agree under this extractor: there is no flip to judge here.")


def open_item(item_id: str, **link_values: str) -> None:
    """Write an item into the link, which opens it; `link_values` are further parameters."""
    st.query_params.update({"item": item_id} | link_values)
    # This item may lack the variant of the previous item, and its page may not compare models.
    for name in (VARIANT, BESIDE):
        if name not in link_values:
            st.query_params.pop(name, None)


def _into_link(name: str, key: str) -> None:
    st.query_params[name] = st.session_state[key]


def _title(name: str) -> str:
    return EXTRACTORS[name].title if name in EXTRACTORS else plain(name)


def _title_line(view: Inspection, axis: str, model: str, steps: Steps) -> None:
    """Draw item, axis and model with buttons to step through the items, copy the link and close."""
    item = view.item
    # After the @, an item id has a hash of the item's text, which says nothing to people.
    st.markdown(
        f"#### {plain(item.item_id.split('@')[0])} · {plain(axis.replace('_', ' '))} · "
        f"{plain(model)}"
    )
    position = steps.place(item.item_id)
    # Who compares two models goes on doing so with the next item.
    comparison = {BESIDE: st.query_params[BESIDE]} if BESIDE in st.query_params else {}
    with st.container(horizontal=True, vertical_alignment="center"):
        for label, letter, step in (("Previous", "k", -1), ("Next", "j", 1)):
            # At either end of the list the button is disabled.
            target = None if position is None else steps.at(position + step)
            st.button(
                label,
                key=f"inspect-{label.lower()}",
                shortcut=letter,
                disabled=target is None,
                on_click=open_item,
                args=(target or item.item_id,),
                kwargs=comparison,
            )
        _link_button(key="inspect-link", width="content")
        _close_button()
        position_text = f" · {position + 1:,} of {len(steps):,}" if position is not None else ""
        category = f" · {plain(item.category)}" if item.category else ""
        st.caption(
            f"Right answer: {plain(answer_text(item, item.target))}{category}{position_text}"
        )


def _close_button() -> None:
    st.button("Close", key="inspect-close", icon=":material/close:", on_click=close_item)


# Two trials of an agent side by side. Turns are collapsed, except the first ones that differ.

MAX_TITLE_LETTERS, MAX_TURNS, MAX_TEXT_LETTERS = 160, 80, 8_000


def draw_trials(pair: tuple[Side, Side]) -> None:
    """Show both trials turn by turn; nothing if neither was stored with its turns."""
    base_turns, variant_turns = (
        turns_of(samples[0].raw_reply) if samples else () for _, samples in pair
    )
    # Two turns are a question and its answer, not the trial of an agent.
    if max(len(base_turns), len(variant_turns)) < 3:
        return
    are_equal = base_turns == variant_turns
    trial_pair = trials(base_turns, variant_turns)
    st.markdown("**What was done, turn by turn**")
    # Per column: the turns, and the index of the first turn that differs.
    column_turns = [(base_turns, trial_pair.first_at)]
    if not are_equal:
        st.caption(plain(trial_pair.sentence))
        column_turns.append((variant_turns, trial_pair.second_at))
    columns = st.columns(len(column_turns))
    for column, (turns, first_different) in zip(columns, column_turns, strict=True):
        with column:
            _show_turns(turns, first_different)


def _show_turns(turns: tuple[Turn, ...], first_different: int | None) -> None:
    """Show the turns of one trial; those before the index `first_different` share one expander.

    So both trials begin with the first turn that differs. None means that no turn differs.
    """
    start = first_different or 0
    if start:
        with st.expander(f"{count_of(start, 'turn')} before"):
            # Only the last ones, because they lead to the difference.
            for number, turn in list(enumerate(turns[:start], 1))[-MAX_TURNS:]:
                st.caption(plain(f"{number} · {turn.role}"))
                _show_turn(turn)
    # Turns are numbered from 1. Only the first turn that differs is unfolded.
    for number, turn in enumerate(turns[start : start + MAX_TURNS], start + 1):
        title = f"{number} · {beginning(turn.title, MAX_TITLE_LETTERS)}"
        with st.expander(plain(title), expanded=number - 1 == first_different):
            _show_turn(turn)
    n_hidden = len(turns) - start - MAX_TURNS
    if n_hidden > 0:
        st.caption(f"{count_of(n_hidden, 'further turn')} in the raw reply.")


def _show_turn(turn: Turn) -> None:
    for text in (turn.text, *turn.calls):
        if text:
            st.code(beginning(text, MAX_TEXT_LETTERS), language=None, wrap_lines=True)


# One side of the inspector: the output, the answers read from it, and the prompt with differences.

# Longest quotation of the words that another extractor read.
MAX_QUOTED_LETTERS = 80
# More samples than this scroll in a window of this height.
MANY_SAMPLES, MANY_SAMPLES_PX = 3, 520


def draw_side(
    title: str,
    view: Inspection,
    other_variant: SeenVariant,
    variant: SeenVariant,
    samples: list[SampleView],
    *,
    as_losses: bool,
) -> None:
    """Show one side: the outputs, the answers read from them, and `variant`'s prompt.

    Words that differ from `other_variant`'s prompt are underlined, or dotted if `as_losses`.
    """
    # The key names the side, not the item, so that the browser reuses the elements.
    key = "left" if as_losses else "right"
    st.markdown(f"**{plain(title)}**")
    if not samples:
        with st.container(border=True):
            st.markdown("Nothing has come back under this extractor.")
    with st.container(
        height=MANY_SAMPLES_PX if len(samples) > MANY_SAMPLES else "content", border=False
    ):
        if samples and samples[0].rater:
            with st.container(border=True):
                _show_rated_output(view, variant, samples, key)
        else:
            for sample in samples:
                with st.container(border=True):
                    _show_sample(view, variant, sample, f"{key}-{sample.sample}")
    with st.container(border=True):
        st.caption("The prompt")
        if variant.system:
            st.caption(f"System prompt: {plain(variant.system)}")
        # Equal prompts are shown in full, because shortening would leave nothing of them.
        differs = other_variant.prompt != variant.prompt
        show_differences(
            other_variant.prompt,
            variant.prompt,
            key=f"prompt-{key}",
            as_losses=as_losses,
            shorten=differs,
        )


def draw_output(study_id: str, model: str, item: str, way: Way, *, is_left: bool) -> None:
    """Show the prompt of a way, what one model answered and what was read from it.

    `is_left` is True for the left one of two models, which were sent the same prompt.
    """
    axes = [way.axis, *(part.name for part in session.declared(study_id).axes)]
    # The way's own axis comes first. The base prompt may be stored under another axis.
    for axis in dict.fromkeys(axes):
        view = inspection(session.store(), study_id, model, item, axis)
        if view is None:
            continue
        variant = next((variant for variant in view.variants if variant.key == way.key), None)
        if variant and variant.readings:
            st.caption(f"Right answer: {plain(answer_text(view.item, view.item.target))}")
            samples = samples_of(view, variant, way.extractor)
            draw_side(model, view, variant, variant, samples, as_losses=is_left)
            return
    st.info(f"Nothing of {plain(model)} has come back for this item.")


def _draw_right_side(title: str, view: Inspection, pair: tuple[Side, Side]) -> None:
    """Show the variant; for a prompt that was asked once, show what each extractor reads."""
    (base, base_samples), (variant, samples) = pair
    # A prompt that was asked once is compared with itself.
    if base_samples is samples:
        _show_every_readout(view, base)
    else:
        draw_side(title, view, base, variant, samples, as_losses=False)


def _show_every_readout(view: Inspection, variant: SeenVariant) -> None:
    """Show the readouts of all extractors of one variant as a table."""
    readouts: list[SampleView] = []
    for extractor in dict.fromkeys(readout.extractor for readout in variant.readings):
        readouts += samples_of(view, variant, extractor)
    rows = [
        {
            **({"Rater": readout.rater} if view.has_raters else {"Sample": readout.sample + 1}),
            "Extractor": title_of(readout.extractor),
            "Answer": answer_text(view.item, readout.answer)
            if readout.answer is not None
            else readout.reason or readout.status,
            "Right": readout.is_correct,
            "Score": readout.value,
        }
        for readout in readouts
    ]
    with st.container(border=True):
        title = "What each person and extractor says of it" if view.has_raters else ""
        st.markdown(f"**{title or 'What each extractor reads in it'}**")
        show_table(
            "readouts-of-item", rows, column_config={"Right": st.column_config.CheckboxColumn()}
        )


def _answer_words(view: Inspection, sample: SampleView) -> str:
    """Return the answer's text, or the number if the extractor measures one."""
    if sample.answer is None and sample.value is not None:
        return f"measured **{number_text(sample.value, 3)}**"
    return f"read as **{plain(answer_text(view.item, sample.answer))}**"


def _show_rated_output(
    view: Inspection, variant: SeenVariant, ratings: list[SampleView], key: str
) -> None:
    """Show an output with the ratings that several people gave it, their mean first."""
    st.markdown(f"**{plain(mean_words(ratings))}**")
    lines = []
    for rating in ratings:
        reason = f" ({plain(rating.reason)})" if rating.reason else ""
        lines.append(
            f"- {plain(rating.rater)}: **{plain(rating_text(view.item, rating))}**{reason}"
        )
    st.markdown("\n".join(lines))
    texts = dict.fromkeys(rating.text for rating in ratings if rating.text)
    for number, text in enumerate(texts):
        show_spans(text, [], key=f"text-{key}-{number}")
    _list_other_readouts(view, variant, ratings[0])
    _show_raw(ratings[0], key)


def _show_sample(view: Inspection, variant: SeenVariant, sample: SampleView, key: str) -> None:
    """Show one sample: answer, output with the words read, probabilities, raw exchange."""
    other_samples = by_other_extractors(variant, sample)
    status_text = {
        "ok": _answer_words(view, sample),
        "unreadable": "**no answer could be read**",
        "cut": "**cut off**: wrong for accuracy, and never counted as a flip",
        "absent": "**absent**: missing, and never counted as a flip",
    }[sample.status]
    right = "" if sample.is_correct is None else " · right" if sample.is_correct else " · wrong"
    # Where several people rated an output, its samples are the raters, and it was sampled once.
    label = "Output" if view.has_raters else f"Sample {sample.sample + 1}"
    st.markdown(f"{label}: {status_text}{right}")
    if sample.reason:
        st.caption(plain(sample.reason))
    if sample.error:
        st.caption(f"The call failed: {plain(sample.error)}")
    if sample.reasoning_title and not sample.reasoning:
        st.caption(plain(sample.reasoning_title))
    if sample.reasoning:
        with st.expander(sample.reasoning_title, icon=":material/psychology:"):
            st.code(sample.reasoning, language=None, wrap_lines=True)
    if sample.text:
        # A span fits only its own text, so skip samples with another text.
        same_text = [
            other_sample.span for other_sample in other_samples if other_sample.text == sample.text
        ]
        show_spans(sample.text, [sample.span, *same_text], key=f"text-{key}")
    _list_other_readouts(view, variant, sample)
    if sample.probabilities:
        show_share_bars(
            [
                (answer_text(view.item, option), share, option == sample.answer)
                for option, share in sorted(sample.probabilities, key=lambda pair: -pair[1])
            ],
            key=f"bars-{key}",
        )
    if sample.label_mass is not None:
        st.caption(
            f"Label mass {sample.label_mass:.0%}: the share of first-token probability that lies "
            "on any label."
        )
    _show_raw(sample, key)


def _show_raw(sample: SampleView, key: str) -> None:
    """Show the raw request and reply, folded."""
    folded = st.expander(
        "Raw request and reply", icon=":material/data_object:", key=f"raw-{key}", on_change="rerun"
    )
    if folded.open:
        # Drawn only when unfolded, so that a click on the map need not wait for it.
        with folded:
            _show_exchange(sample)


def _list_other_readouts(view: Inspection, variant: SeenVariant, sample: SampleView) -> None:
    """List what each other extractor read, from which words, and whether it differs; and all
    ratings by people."""
    lines = []
    for other_sample in by_other_extractors(variant, sample):
        title = plain(_title(other_sample.extractor))
        if other_sample.rater:
            ratings = samples_of(view, variant, other_sample.extractor)
            words = plain(f"{mean_words(ratings)} {ratings_words(view.item, ratings)}.")
            lines.append(f"- {title}: {words}")
            continue
        if other_sample.answer is None and other_sample.value is None:
            answer = f"no answer ({plain(other_sample.reason or other_sample.status)})"
        else:
            answer = _answer_words(view, other_sample).removeprefix("read as ")
        differs = (
            " – differs"
            if other_sample.value is None
            and not sample.rater
            and other_sample.answer != sample.answer
            else ""
        )
        low, high = other_sample.span or (0, 0)
        words = (
            f", from “{plain(' '.join(other_sample.text[low:high].split())[:MAX_QUOTED_LETTERS])}”"
            if low < high
            else ""
        )
        lines.append(f"- {title}: {answer}{words}{differs}")
    if lines:
        st.markdown("\n".join(lines))


def _show_exchange(sample: SampleView) -> None:
    """Show the request, the reply and the log-probabilities that the server returned."""
    st.json(sample.request, expanded=1)
    body = sample.raw_reply or sample.text
    if body:
        st.code(body, language=None, wrap_lines=True)
    for title, returned in sample.log_probabilities.items():
        st.caption(f"Returned log-probabilities (nats), {title}:")
        st.json(returned, expanded=len(returned) <= 20)
    # An empty field would look like an error of the page.
    if not body and not sample.log_probabilities:
        st.caption("The reply was empty, or its body was not kept.")
    if sample.ended:
        st.caption(plain(sample.ended))
