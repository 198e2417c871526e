"""Audit: what does this log say, and does it hold?"""

from collections.abc import Sequence

import streamlit as st

from flipcore.claims.audit_input import OWN_PROMPT, Finding
from flipcore.core.errors import FlipscopeError
from flipcore.extractors import EXTRACTORS
from flipcore.extractors.pattern import DEFAULT
from flipcore.models import model_cards
from flipcore.reports.answer import Question
from flipcore.reports.audit import LESS_SURE, WRONG
from flipcore.reports.browser_data.steps import Steps
from flipcore.reports.log_scores import TaskScore, leading, sentences_of_tasks, task_scores
from flipcore.reports.score import ScoreReport, scored_items
from flipcore.runs import rereading
from flipcore.runs.asking_again import draft_again
from flipcore.store.queries import budgets
from flipcore.store.queries.judges import JUDGE
from flipcore.text.counts import count_of
from pages.audit.cached import audit_of, every_choice
from pages.common import session
from pages.common.answers import answer_of
from pages.common.drafts import open_draft
from pages.common.every_choice import TITLE
from pages.common.header import page_header
from pages.common.headline import score_sentences
from pages.common.inspector import draw_inspector, open_item
from pages.common.showing import SEND_HOLDOUT_LABEL, how_to_read, plain, shown_problem


def offer_next_steps(study_id: str) -> None:
    """Offer to extract answers again, to judge, or to ask the items again, in one row."""
    with st.container(horizontal=True, vertical_alignment="center"):
        _offer_reading(study_id)
        offer_judge(study_id)
        if st.button(
            "Ask again",
            icon=":material/replay:",
            help="Opens New study with these items and this model.",
        ):
            with shown_problem():
                open_draft(f"again-{study_id}", draft_again(session.store(), study_id))
        st.page_link("studies/page.py", label="All studies", icon=":material/folder_open:")


@session.cached(max_entries=8)
def _fitting_extractors(study_id: str) -> list[str]:
    return rereading.fitting(session.store(), study_id)


def _offer_reading(study_id: str) -> None:
    """Offer to apply another extractor to the stored texts; nothing if none fits."""
    names = _fitting_extractors(study_id)
    if not names:
        return
    with st.popover("Read again", icon=":material/find_replace:"):
        st.markdown(
            "Reads the stored texts with another extractor. No model is called, and what was read "
            "before stays."
        )
        name = st.selectbox(
            "Extractor",
            names,
            format_func=lambda extractor_name: EXTRACTORS[extractor_name].title,
            key="reread-extractor",
        )
        params = {}
        if name == "pattern":
            params["expression"] = st.text_input(
                "Regular expression", DEFAULT, key="reread-pattern", max_chars=500
            )
            params["group"] = st.text_input(
                "Group that holds the answer", "1", key="reread-group", max_chars=40
            )
        if st.button("Read the stored texts", type="primary", key="reread-now"):
            with shown_problem(), st.spinner("Reading …"):
                rereading.reread(session.store(), study_id, name, params)
                st.rerun()


# The judge with a prompt is no extractor of the list, so its title is here.
JUDGE_TITLES = {JUDGE: "By a prompt of your own"}


@session.cached("Counting the calls", max_entries=8)
def price(study_id: str, judge: str, prompt: str, extractor: str) -> str:
    """Return in words what judging the stored texts would cost now.

    Raises BadInput if `prompt` is not a valid judge prompt.
    """
    prefix = rereading.AT_MOST if extractor in rereading.COMPARING_EXTRACTORS else ""
    priced = rereading.priced(session.store(), study_id, judge, prompt, extractor=extractor)
    return f"{prefix}{priced.sentence()}"


def offer_judge(study_id: str) -> None:
    """Offer to let a model, the judge, read the stored texts; show the price first."""
    with st.popover(
        "Read with a judge", icon=":material/gavel:", key="judge-form", on_change="rerun"
    ) as unfolded:
        if not unfolded.open:
            # The price takes as long as the rest of the page, so wait until somebody asks.
            return
        st.markdown(
            "A model reads the stored texts. What was read before stays; nothing is claimed "
            "before people checked it."
        )
        judge = st.selectbox("Model", list(model_cards()), key="judge-model")
        extractor = st.selectbox(
            "How",
            [JUDGE, *rereading.COMPARING_EXTRACTORS],
            key="judge-how",
            format_func=lambda extractor_name: (
                JUDGE_TITLES.get(extractor_name) or EXTRACTORS[extractor_name].title
            ),
        )
        prompt = rereading.EXAMPLE
        if extractor == JUDGE:
            prompt = st.text_area(
                "Prompt",
                rereading.EXAMPLE,
                key="judge-prompt",
                height=240,
                max_chars=rereading.MAX_CHARS,
            )
        with shown_problem():
            st.caption(plain(f"{judge}: {price(study_id, judge, prompt, extractor)}."))
            stored_usd = budgets.budget_usd(session.store(), session.declared(study_id))
            budget = st.number_input(
                "Budget of the study, US dollars",
                0.0,
                value=stored_usd,
                key="judge-budget",
                placeholder="none",
            )
            may_send_holdout = st.checkbox(SEND_HOLDOUT_LABEL, key="judge-retro")
            if st.button("Judge the stored texts", type="primary", key="judge-now"):
                _judge(
                    study_id,
                    judge,
                    prompt,
                    extractor=extractor,
                    budget=None if budget == stored_usd else budget,
                    may_send_holdout=may_send_holdout,
                )


def _judge(
    study_id: str,
    judge: str,
    prompt: str,
    *,
    extractor: str,
    budget: float | None,
    may_send_holdout: bool,
) -> None:
    """Judge the stored texts; `budget` (US dollars) is None if it stays as it is."""
    bar = st.progress(0.0, "Judging …")

    def on_progress(progress: rereading.JudgeProgress) -> None:
        bar.progress(
            progress.n_done / progress.n_all,
            f"{progress.n_done:,} of {progress.n_all:,} answers judged",
        )

    judge_run = rereading.judge_again(
        session.store(),
        study_id,
        judge,
        prompt,
        extractor=extractor,
        budget_usd=budget,
        on_progress=on_progress,
        may_send_retro=may_send_holdout,
    )
    if judge_run.name:
        st.rerun()
    st.info(plain(judge_run.sentence), icon=":material/pause_circle:")


def show_finding(number: int, finding: Finding) -> None:
    """Show a finding; its number is the `finding` of the link that opens its items."""
    with st.container(border=True):
        left, right = st.columns([5, 1], vertical_alignment="center")
        left.markdown(f"**{plain(finding.claim.text)}**")
        if finding.claim.detail:
            left.caption(plain(finding.claim.detail))
        if finding.items:
            right.button(
                f"Look at {len(finding.items):,}",
                key=f"look-{number}",
                icon=":material/search:",
                on_click=open_item,
                args=(finding.items[0],),
                kwargs={
                    "axis": finding.axis,
                    "readout": finding.extractor,
                    "finding": str(number),
                    "on": finding.model,
                    "beside": finding.other_model,
                },
                help="Opens the first of the items behind this finding; j and k step through them.",
            )


def show_findings(findings: Sequence[tuple[int, Finding]]) -> None:
    for number, finding in findings:
        show_finding(number, finding)


def _show_every_choice(study_id: str) -> None:
    """Say whether the best model leads under every choice, with a link to that part."""
    claim = every_choice(study_id)
    if claim is None:
        return
    with st.container(border=True):
        left, right = st.columns([5, 1], vertical_alignment="center")
        left.markdown(f"**{plain(claim.text)}**")
        left.caption(plain(claim.detail))
        right.page_link(
            "ranking/page.py",
            label=TITLE,
            icon=":material/alt_route:",
            query_params={"study": study_id, "show": TITLE},
        )


# The `finding` of a link that opens the items behind a model's score, and behind a task's. The
# second is followed by the score's number.
SCORE, TASK = "score", "task-"
MAX_SCORES = 6  # scores of tasks that are shown at once


@session.cached(max_entries=8)
def _task_scores(study_id: str) -> list[tuple[str, TaskScore]]:
    """Return (sentence, score) per model and task of a log, by the task's first scorer."""
    scores = task_scores(session.store(), study_id, session.declared(study_id))
    models = list(dict.fromkeys(score.model for score in scores))
    rows = []
    for model in models:
        first = leading(scores, model)
        prefix = f"{model}: " if len(models) > 1 else ""
        for sentence, score in zip(sentences_of_tasks(first, prefix), first, strict=True):
            rows.append((f"{prefix}{sentence}", score))
    return rows


def _show_scores(study_id: str) -> None:
    """Show a sentence per model or task with a button that opens the outputs behind its score."""
    report: ScoreReport | None = answer_of(study_id, Question.SCORE)
    if report is not None:
        for number, score in enumerate(report.models, start=1):
            link = {
                "axis": score.own_axis,
                "readout": score.reference,
                "finding": SCORE,
                "on": score.model,
            }
            _show_score(score.claim.text, scored_items(score), link, key=f"look-score-{number}")
        return
    # Tasks are never pooled, so such a log has a score per task.
    tasks = _task_scores(study_id)
    if not tasks:
        for sentence in score_sentences(study_id):
            st.markdown(plain(sentence))
        return
    for number, (sentence, task_score) in enumerate(tasks[:MAX_SCORES], start=1):
        _show_task(number, sentence, task_score)
    if len(tasks) > MAX_SCORES:
        with st.expander(count_of(len(tasks) - MAX_SCORES, "further score")):
            for number, (sentence, task_score) in enumerate(tasks[MAX_SCORES:], MAX_SCORES + 1):
                _show_task(number, sentence, task_score)


def _show_task(number: int, sentence: str, score: TaskScore) -> None:
    link = {
        "axis": OWN_PROMPT,
        "readout": score.scorer,
        "finding": f"{TASK}{number}",
        "on": score.model,
    }
    _show_score(sentence, score.items, link, key=f"look-task-{number}")


def _show_score(sentence: str, items: Sequence[str], link: dict[str, str], *, key: str) -> None:
    """Show the sentence of a score with a button that opens its first item, given any."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(plain(sentence), width="content")
        if items:
            st.button(
                f"Look at {len(items):,}",
                key=key,
                icon=":material/search:",
                type="tertiary",
                on_click=open_item,
                args=(items[0],),
                kwargs=link,
                help="Opens the outputs behind this score, wrong ones first.",
            )


def _show_item_of_task(study_id: str, number: str) -> None:
    """Draw the inspector of the item in the link, which counts for a task's score."""
    by_number = {str(place): row for place, row in enumerate(_task_scores(study_id), start=1)}
    # A link may name a score that this log does not have.
    if number in by_number:
        sentence, score = by_number[number]
        if score.items:
            draw_inspector(study_id, score.model, Steps(score.items), sheet=True, title=sentence)


def _show_item_of_score(study_id: str, model: str) -> None:
    """Draw the inspector of the item in the link, which counts for the score of `model`."""
    report: ScoreReport | None = answer_of(study_id, Question.SCORE)
    score = report.find_model(model) if report else None
    if score is not None:
        steps = Steps(scored_items(score))
        draw_inspector(study_id, model, steps, sheet=True, title=score.claim.text)


study_id = page_header("audit")
if study_id is not None:
    try:
        report = audit_of(study_id)
    except FlipscopeError as error:
        st.info(plain(error), icon=":material/hourglass_empty:")
        st.stop()
    n = len(report.findings)
    st.markdown(f"## {plain(report.headline)}")
    _show_scores(study_id)
    offer_next_steps(study_id)
    number_in_link = st.query_params.get("finding", "")
    # A link may name a finding of an earlier audit, which this audit does not have. Longer numbers
    # are not converted, because `int` refuses very long ones.
    if number_in_link.isdecimal() and len(number_in_link) < 9 and 0 < int(number_in_link) <= n:
        finding = report.findings[int(number_in_link) - 1]
        if finding.items:
            model, title = finding.model, finding.claim.text
            model = model or session.study_row(study_id)["models"][0]
            draw_inspector(study_id, model, Steps(finding.items), sheet=True, title=title)
    elif number_in_link == SCORE:
        _show_item_of_score(study_id, st.query_params.get("on", ""))
    elif number_in_link.startswith(TASK):
        _show_item_of_task(study_id, number_in_link.removeprefix(TASK))
    for grade, findings in report.graded.items():
        if grade in (WRONG, LESS_SURE):
            st.markdown(f"### {grade} ({len(findings):,})")
            show_findings(findings)
            continue
        # Most people open a log to compare two models, so only comparisons are shown at once.
        compared = [numbered for numbered in report.compared if numbered in findings]
        show_findings(compared)
        collapsed = [numbered for numbered in findings if numbered not in compared]
        if collapsed:
            with st.expander(f"{grade} ({len(collapsed):,})"):
                show_findings(collapsed)
    if report.compared:
        _show_every_choice(study_id)
    lines = report.coverage.lines()
    with st.expander(
        f"Checks that could not be made ({len(lines)})" if lines else "What was checked"
    ):
        st.caption(plain(f"{report.recognised} {report.comparisons}"))
        st.markdown("\n".join(f"- {plain(line)}" for line in lines))
    if report.notes:
        with st.expander(f"What the import said ({len(report.notes):,})"):
            for note in report.notes:
                st.markdown(f"- {plain(note)}")

how_to_read(
    "No model is asked: every number comes from the rows of the log. **Reported against "
    "recomputed** is the mean of the log's own scores. Differences of two scores are **paired** on "
    "the same items and claimed at p < .05 each. **Repeats** are the noise floor. A flip rate is "
    "at most 2 − acc₁ − acc₂. **lm-eval's SCORE** undoes its swap of options twice, so an answer "
    "at the original place always counts as right."
)
