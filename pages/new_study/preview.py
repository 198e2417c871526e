"""What will be asked: every variant of one item, with what differs from the base marked."""

import streamlit as st

from flipcore.axes import AXES
from flipcore.core.errors import FlipscopeError
from flipcore.core.records import IDENTITY
from flipcore.core.study import Study
from flipcore.runs.plan import is_set_aside, plan
from pages.common import session
from pages.common.differences import differences
from pages.common.notes import plain
from pages.new_study.items import shown_items


def preview(study: Study) -> None:
    """Every variant of one item as the study will ask it, with what differs from the base marked; none that it sets aside."""
    items = [item for source in study.items for item in shown_items(source) if not is_set_aside(study, item)]
    if not items or not study.axes:
        return
    st.markdown("**What will be asked**")
    left, right = st.columns([3, 1])
    item = left.selectbox(
        "Item", items, key="preview-item", format_func=lambda one: f"{one.question[:80]} ({one.item_id.partition('@')[0]})"
    )
    by_axis = {part.name: part for part in study.axes if item.kind in AXES[part.name].applies_to}
    if not by_axis:
        st.caption("None of the chosen axes applies to this item.")
        return
    names = sorted(by_axis, key=lambda axis: axis == IDENTITY)  # an axis that changes something shows more
    name = right.selectbox("Axis", names, key="preview-axis", format_func=lambda axis: AXES[axis].title)
    try:
        item_plan = plan(study, session.store(), only=item.item_id).items[0]
    except FlipscopeError as error:
        st.warning(plain(error), icon=":material/info:")
        return
    variants = [one for one in item_plan.variants if one.axis == name]
    if len(variants) == 1:
        st.caption(
            "This axis sends the base prompt again, so set two or more samples."
            if name == IDENTITY
            else f"{plain(str(variants[0].params.get('why', 'Nothing to change on this item.')))} "
            "It keeps its base prompt only."
        )
    base = variants[0].prompt.transcript
    for start in range(0, len(variants), 2):
        for column, variant in zip(st.columns(2), variants[start : start + 2], strict=False):
            with column.container(border=True):
                st.caption(plain(variant.key))
                if variant.prompt.system:
                    st.caption(f"System prompt: {plain(variant.prompt.system)}")
                differences(base, variant.prompt.transcript, key=f"preview-{variant.key}")
