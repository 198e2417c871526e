"""Survey: which one of the three comes from the second set? This page shows no results."""

import streamlit as st

from flipcore.access.acting import acting
from flipcore.annotation.surveys import sheets
from flipcore.annotation.surveys.sheets import TRIPLE, Question, Sheet, Survey
from flipcore.core.records import Item
from flipcore.store.judgements import SURVEY_ANSWERS
from flipcore.store.queries import holdout, judgements
from pages.common import session
from pages.common.header import page_header
from pages.common.identity import name_field
from pages.common.showing import plain


def ask_annotator(survey: Survey) -> str:
    """Return the annotator's name; until it is given, show the instructions and return ""."""
    key = f"annotator-{survey.survey_id}"
    if st.session_state.get(key):
        return st.session_state[key]
    n = survey.n_triples + survey.n_checks
    st.subheader(plain(survey.name), anchor=False)
    st.markdown(
        f"You will first read {survey.n_examples} entries of a set 1 and {survey.n_examples} of a "
        f"set 2. Then come {n} questions. Each shows three texts: two come from set 1 and one from "
        "set 2. **Choose the one from set 2.** Some of them may be hard to tell; then choose what "
        "seems likeliest. A few questions only check that you are reading, and say what to do. "
        "There is no time limit, you may go back, and you may stop and come back later under the "
        "same name."
    )
    with st.form(f"start-{survey.survey_id}", border=False):
        name = name_field("Your name or id", f"name-{survey.survey_id}", max_chars=80)
        if st.form_submit_button("Begin", type="primary") and name.strip():
            st.session_state[key] = name.strip()
            st.rerun()
    return ""


def show_survey(survey: Survey, name: str) -> None:
    """Show the examples, then one question at a time; answers are stored at once."""
    sheet = sheets.sheet(survey, name)
    answers = {row["position"]: row for row in sheets.answers_to(session.store(), survey, name)}
    triple_ids: list[str] = []
    for question in sheet.questions:
        # The choices of the other questions are texts, not ids.
        if question.kind == TRIPLE:
            triple_ids += question.choices
    item_ids = [*sheet.target_examples, *sheet.retro_examples, *triple_ids]
    items = {item.item_id: item for item in holdout.items(session.store(), item_ids)}
    n_missing = len(set(item_ids) - set(items))
    # Entries that a study set aside stay hidden, even from those who have the link.
    if n_missing:
        st.error(
            f"{n_missing} entries of this survey cannot be shown: a study set them aside after "
            "the survey was built, and only "
            "its lock opens them. Ask whoever sent the link for a new survey.",
            icon=":material/lock:",
        )
        return
    first_open = next(
        (i for i in range(len(sheet.questions)) if i not in answers), len(sheet.questions)
    )
    position = st.session_state.get(f"at-{survey.survey_id}", first_open)
    st.progress(
        len(answers) / len(sheet.questions),
        text=f"{len(answers)} of {len(sheet.questions)} answered · {name}",
    )
    read_key = f"read-{survey.survey_id}"
    if sheet.target_examples and not answers and not st.session_state.get(read_key):
        _show_examples(sheet, items)
        if st.button(
            "I have read them: begin the questions", key="begin", type="primary", shortcut="Enter"
        ):
            st.session_state[read_key] = True
            st.rerun()
    elif position >= len(sheet.questions):
        st.success(
            "That was the last question. Thank you: your answers are stored, and this page can be "
            "closed.",
            icon=":material/check_circle:",
        )
        _offer_back(survey, position)
    else:
        _show_question(
            survey, name, sheet.questions[position], position, items, answers.get(position)
        )
        _offer_back(survey, position)
        if sheet.target_examples:
            with st.expander("The labelled examples again"):
                _show_examples(sheet, items)


def _show_examples(sheet: Sheet, items: dict[str, Item]) -> None:
    for place, label, ids in zip(
        st.columns(2),
        ("Set 1", "Set 2"),
        (sheet.target_examples, sheet.retro_examples),
        strict=True,
    ):
        with place:
            st.markdown(f"#### {label}")
            for item_id in ids:
                with st.container(border=True):
                    _show_entry(items[item_id])


def _show_entry(item: Item) -> None:
    # Options are sorted, because their order might tell the sets apart.
    options = sorted(option.strip() for option in item.options)
    lines = [plain(item.question), *(f"– {plain(option)}" for option in options)]
    st.markdown("  \n".join(lines))


def _show_question(
    survey: Survey,
    name: str,
    question: Question,
    position: int,
    items: dict[str, Item],
    earlier_answer: dict | None,
) -> None:
    """Show the three texts of a question, and store the answer; mark the earlier one."""
    st.markdown(
        f"#### Question {position + 1} of {survey.n_triples + survey.n_checks}: which one comes "
        "from set 2?"
    )
    for index, (column, entry) in enumerate(zip(st.columns(3), question.choices, strict=True)):
        with column, st.container(key=f"text-{index}"):
            with st.container(border=True, height=360):
                if question.kind == TRIPLE:
                    _show_entry(items[entry])
                else:
                    st.markdown(plain(entry))
            is_answer = earlier_answer is not None and earlier_answer["chosen"] == entry
            if st.button(
                f"Text {index + 1}",
                key=f"choose-{position}-{index}",
                shortcut=str(index + 1),
                width="stretch",
                type="primary" if is_answer else "secondary",
                help="your answer so far" if is_answer else None,
            ):
                row = sheets.answer_row(survey, name, position, index)
                judgements.keep(session.store(), SURVEY_ANSWERS, [row])
                # Go on to the first question that is still open, also after a step back.
                st.session_state.pop(f"at-{survey.survey_id}", None)
                st.rerun()


def _offer_back(survey: Survey, position: int) -> None:
    if position > 0 and st.button(
        "Back", key="back", icon=":material/arrow_back:", shortcut="Backspace"
    ):
        st.session_state[f"at-{survey.survey_id}"] = position - 1
        st.rerun()


page_header("survey", choose=False)
surveys = sheets.stored_surveys(session.store())
link_id = acting().survey or st.query_params.get("survey", "")

if link_id in surveys:
    name = ask_annotator(surveys[link_id])
    if name:
        show_survey(surveys[link_id], name)
elif link_id:
    st.error(
        "There is no survey under this link. Ask whoever sent it for a new one.",
        icon=":material/link_off:",
    )
elif surveys:
    st.markdown("Choose a survey to answer:")
    for survey_id, survey in surveys.items():
        st.page_link(
            "survey/page.py",
            label=f"{plain(survey.name)} ({survey.n_triples + survey.n_checks} questions)",
            query_params={"survey": survey_id},
            icon=":material/quiz:",
        )
else:
    st.info(
        "No survey has been built yet. It is built on the Holdout page, from two sets.",
        icon=":material/quiz:",
    )
    st.page_link(
        "holdout/page.py", label="Holdout", icon=":material/join:", query_params={"part": "Survey"}
    )
