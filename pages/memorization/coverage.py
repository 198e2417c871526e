"""What the rewrite method could rewrite: coverage, whether the covered are special, and whether numbers kept their size."""

import streamlit as st

from flipcore.stats.memory.drop_gap_analysis import DropGap
from flipcore.stats.memory.operand_size import operand_check
from flipcore.store.queries import memory
from pages.common import session
from pages.common.notes import plain
from pages.common.tables import show_table
from pages.memorization.cached import View


def show(view: View, operator: str, gap: DropGap) -> None:
    """Sentences, and a table of refusals by class where there are any."""
    sentences = [
        f"Benchmark: {one.selection_sentence()}" if name == "benchmark" else f"Control: {one.selection_sentence()}"
        for name, one in (("benchmark", gap.benchmark), ("control", gap.control))
        if one.selection_sentence()
    ]
    pairs = memory.operands(session.store(), view.study_id, operator)
    if pairs:
        was, became = zip(*pairs, strict=True)
        sentences.append(operand_check(was, became).sentence())
    refusals = memory.refusals(session.store(), view.study_id, operator)
    for one in sentences:
        st.markdown(plain(one))
    if not refusals.empty:
        with st.popover(f"Why {int(refusals['items'].sum()):,} items could not be rewritten", icon=":material/block:"):
            show_table("not-covered", refusals)
