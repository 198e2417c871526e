"""The part Losses, completion: does the model know benchmark items better than controls?

It shows one detector with one score per item, such as a loss.
"""

import streamlit as st

from flipcore.claims.memory_sets import corrected_accuracy_claim
from flipcore.core.records import IDENTITY, WRITTEN_ANSWER
from flipcore.detectors import ScoreDetector
from flipcore.detectors.losses import Loss
from flipcore.reports.browser_data.cutoffs import detector_line, rule_rows
from flipcore.reports.published import loss_notes, loss_rows
from flipcore.reports.worked_examples import loss_example
from flipcore.stats.memory import frames
from flipcore.stats.memory.loss_analysis import LossTest
from flipcore.stats.memory.loss_diagnostics import Diagnosis, diagnosis
from pages.common import screen, session
from pages.common.showing import how_to_read, plain, show_table, shown_problem
from pages.components import boards
from pages.memorization import cached
from pages.memorization.items import detector_title, show_item_table

START = {"loss_cutoff": None}


def show(view: cached.View, mode: str, settings: dict, controls: screen.Controls) -> None:
    """Show the test of the chosen detector, with a cut-off to drag and the items."""
    detector = _choose_detector(view, controls)
    if detector is None:
        return
    measure = detector.name
    test = cached.loss(view, measure)
    judged_test = cached.verdict(view, settings["margin"], detector.name)
    sentences = cached.show_verdict(judged_test)
    cached.warn_without_fresh_controls(view, cached.losses(view, measure)[1]["item_id"])
    start = settings["loss_cutoff"] if isinstance(detector, Loss) else None
    line = detector_line(
        judged_test, test, detector.unit, start, simultaneous=mode == "simultaneous"
    )
    moved, decision, _ = boards.draw(
        line.data(), key=f"loss-{view}-{measure}-{mode}", locked=mode == "locked"
    )
    # The verdict is about the declared cut-off, so a moved one needs a claim of its own.
    if moved or settings["loss_cutoff"] is not None:
        sentences += cached.show_any_cutoff(judged_test, view, test, settings["margin"])
    cached.handle_move(
        view,
        mode,
        setting="loss_cutoff",
        start=START,
        sentences=sentences,
        moved=moved,
        decision=decision,
        about={"measure": measure},
    )
    st.markdown(plain(test.reach.sentence()))
    show_table("rules", rule_rows(test))
    _show_published()
    n_left_out = test.n_excluded + test.n_controls_excluded
    if n_left_out:
        st.caption(f"{n_left_out:,} items without a finite loss are left out.")
    for extractor in cached.answer_extractors(view)[:1]:
        _show_accuracy(view, measure, test, extractor)
    scores = cached.losses(view, measure)[0]
    # Scores that are not losses lack the columns that this check needs.
    if "reworded" in scores:
        _show_exchangeability(view, measure)
    st.markdown("**Items, the largest D first**")
    rows = scores.sort_values("d", ascending=False, ignore_index=True)
    show_item_table(
        view,
        rows,
        detector.table_axis or IDENTITY,
        detector.measure or WRITTEN_ANSWER,
        key=f"loss-{measure}",
    )
    in_nats = isinstance(detector, Loss)
    quantity = "the score"
    if in_nats:
        quantity = "how much more surprising a paraphrase is than the published text, in nats"
    how_to_read(
        f"**D** is {quantity}: {plain(detector.about)} The **verdict** tests the whole set: how "
        "many items lie above the controls' mark, against chance. Benjamini–Hochberg only names "
        "items. A line that you drag is exploratory.",
        example=loss_example(test, "nats" if in_nats else ""),
    )


def _choose_detector(view: cached.View, controls: screen.Controls) -> ScoreDetector | None:
    """Return the chosen detector; None, after a hint, if the study has none."""
    by_name = cached.score_detectors(view)
    if not by_name:
        st.info(
            "The loss test needs log-probabilities of the items' own text: add question loss or "
            "answer loss and the axis paraphrase to a study, on a model that can score a given "
            "text. For any other model, as behind an API, add the axis question completion and "
            "similarity by words.",
            icon=":material/ssid_chart:",
        )
        return None
    name = screen.segments(
        "Measured by",
        list(by_name),
        "measure",
        place=controls.place,
        label_visibility="visible",
        format_func=lambda name: detector_title(by_name[name].title),
    )
    controls.note(by_name[name].title)
    return by_name[name]


def _show_published() -> None:
    with st.expander("The source's published table, recomputed", icon=":material/menu_book:"):
        rows = loss_rows()
        show_table(
            "published-losses",
            rows,
            column_config={
                name: st.column_config.NumberColumn(format="%.2f")
                for name, value in rows[0].items()
                if isinstance(value, float)
            },
        )
        st.caption(
            "Counts as published (flagged at p < .01, uncorrected, 1,200 controls). What lies "
            "beyond chance, with its "
            "one-sided 95% Clopper–Pearson bound, is computed here. " + loss_notes()
        )


def _show_accuracy(view: cached.View, measure: str, test: LossTest, extractor: str) -> None:
    """Show the accuracy of flagged items and the accuracy without them, next to the controls'."""
    right, right_on_paraphrase = frames.correctness(view.frame, extractor)
    ids, control_ids = (frame["item_id"].tolist() for frame in cached.losses(view, measure))
    # The comparison is paired, so every item needs an answer to both versions.
    if not set(ids) | set(control_ids) <= right.keys() & right_on_paraphrase.keys():
        return
    control = [right[item] for item in control_ids]
    control_on_paraphrase = [right_on_paraphrase[item] for item in control_ids]
    correctness = test.paired_correctness(
        right, right_on_paraphrase, control, control_on_paraphrase
    )
    st.markdown(plain(correctness.sentence()))
    corrected = test.corrected_accuracy(right, control)
    claim = corrected_accuracy_claim(corrected, cached.members(view).control)
    st.markdown(plain(claim.text))


def _show_exchangeability(view: cached.View, measure: str) -> None:
    """Check that controls resemble the benchmark, on which the test's p-values depend."""
    # Only on request, because it trains a small classifier a few hundred times.
    if not st.toggle(
        "Check that controls and benchmark are exchangeable", key="exchange", bind="query-params"
    ):
        st.caption(
            "The p-values are valid only if a control could have been an item: same length, "
            "topics and difficulty."
        )
        return
    with shown_problem():
        report = _diagnosis(view, measure)
        st.markdown(plain(report.exchangeability.sentence()))
        show_table(
            "flagged-by-p",
            [
                {"p-values": name, "flagged after Benjamini-Hochberg": n, "without a p": missing}
                for name, n, missing in report.rows
            ],
        )


@session.cached("Comparing the texts", max_entries=16)
def _diagnosis(view: cached.View, measure: str) -> Diagnosis:
    items = session.study_items(view.study_id).set_index("item_id")
    rows, control_rows = cached.losses(view, measure)
    # Each list has an entry for the judged items and one for the controls.
    texts, topics, base_losses = [], [], []
    for frame in (rows, control_rows):
        texts.append(items.loc[frame["item_id"], "question"].tolist())
        topics.append(items.loc[frame["item_id"], "category"].tolist())
        has_paraphrases = frame["reworded"].notna().all()
        base_losses.append(frame["reworded"] if has_paraphrases else frame["original"])
    return diagnosis(cached.loss(view, measure), texts, base_losses, topics)
