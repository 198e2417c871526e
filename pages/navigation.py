"""The pages: what each is called, which question it answers, and what everything that lists pages
has to know of it.

A page is a folder with a `page.py` and its entry here. Navigation, headers, keys, a study's card,
the record, the head start of counting and the tests of all pages read this list.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import streamlit as st

from flipcore.core.study import Study
from pages.common.surroundings import INSPECTOR, MAP, RECORD, REVIEW, SURVEY, Keys

Visibility = Literal["visible", "hidden"]
# Most pages are told their study by this parameter.
OF_STUDY = {"study": "{study}"}


@dataclass(frozen=True)
class Entry:
    """One page.

    `link` are the parameters that name a study, none where the page is of no study. `on_card`: of
    which studies the row on Studies leads to it. `has_decisions`: something is decided on it and
    written into the record. `counts`: it shows the flips of a study, which are counted as soon as
    it is asked for. `in_menu`: the menu beside every title leads to it. `was`: addresses under
    which earlier releases had it, in links and in records, with the parameters that open the same
    today.
    """

    folder: str
    title: str
    icon: str
    question: str
    link: Mapping[str, str] = field(default_factory=dict)
    keys: Keys = ()
    on_card: Callable[[Study], bool] | None = None
    has_decisions: bool = False
    counts: bool = False
    visibility: Visibility = "visible"
    in_menu: bool = False
    was: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def path(self) -> str:
        """Return the page's path for Streamlit, in links as well."""
        return f"{self.folder}/page.py"

    def link_to(self, study_id: str) -> dict[str, str]:
        return {name: value.format(study=study_id) for name, value in self.link.items()}

    def page(self, visibility: Visibility | None = None) -> st.Page:
        """The page for Streamlit's navigation, which opens Studies at / alone; /studies is a page
        of its own in `main`.
        """
        is_start = self.folder == "studies"
        return st.Page(
            self.path,
            title=self.title,
            icon=self.icon,
            url_path="home" if is_start else self.folder,
            default=is_start,
            visibility=visibility or self.visibility,
            help=self.question,
        )


PAGES = (
    Entry(
        "studies", "Studies", ":material/science:", "What have we measured, and what did it say?"
    ),
    Entry(
        "score",
        "Score",
        ":material/straighten:",
        "How much of this score to trust?",
        link=OF_STUDY,
        keys=(*RECORD, *INSPECTOR),
        on_card=lambda study: True,
        has_decisions=True,
        was={"score_choices": {"show": "Every choice"}},
    ),
    Entry(
        "flips",
        "Flips",
        ":material/grid_on:",
        "Where do answers flip, and is it the model or the extractor?",
        link=OF_STUDY,
        keys=(*MAP, *RECORD, *INSPECTOR),
        on_card=lambda study: True,
        has_decisions=True,
        counts=True,
        was={
            "flip_surface": {"show": "Map"},
            "decomposition": {"show": "Parts"},
            "flips_choices": {"show": "Every choice"},
        },
    ),
    Entry(
        "ranking",
        "Ranking",
        ":material/leaderboard:",
        "Which model is better, and does that order hold?",
        link=OF_STUDY,
        keys=RECORD,
        on_card=lambda study: len(study.models) > 1,
        has_decisions=True,
        was={"ranking_choices": {"show": "Every choice"}},
    ),
    Entry(
        "memorization",
        "Memory",
        ":material/memory:",
        "Is the score memory?",
        link=OF_STUDY,
        keys=(*RECORD, *INSPECTOR),
        on_card=lambda study: len(study.roles) > 1,
        has_decisions=True,
    ),
    Entry(
        "holdout",
        "Holdout",
        ":material/join:",
        "Could the holdout and the benchmark come from the same source?",
        link={"sets": "study:{study}", "part": "Inflation"},
        keys=RECORD,
        on_card=lambda study: {"target", "retro"} <= study.roles,
        has_decisions=True,
    ),
    Entry(
        "paraphrase_review",
        "Review",
        ":material/rate_review:",
        "Is this the same question?",
        link={"effect-study": "{study}", "part": "Effect"},
        keys=REVIEW,
    ),
    Entry(
        "audit",
        "Audit",
        ":material/fact_check:",
        "What does this log say, and does it hold?",
        link=OF_STUDY,
        keys=INSPECTOR,
        on_card=lambda study: study.is_recorded,
    ),
    # Reached from where they are used: a button on Studies, a study's menu, the menu beside a
    # page's title
    Entry(
        "new_study",
        "New study",
        ":material/add_circle:",
        "What do you want to know about which model?",
        link={"from_study": "{study}"},
        visibility="hidden",
    ),
    Entry(
        "report",
        "Report and decisions",
        ":material/description:",
        "What do I hand on?",
        link=OF_STUDY,
        on_card=lambda study: True,
        visibility="hidden",
        in_menu=True,
        was={"record": {"part": "Decisions"}},
    ),
    Entry(
        "models",
        "Models",
        ":material/smart_toy:",
        "Which models can I ask, and what can they do?",
        visibility="hidden",
        in_menu=True,
    ),
    Entry(
        "glossary",
        "Glossary",
        ":material/menu_book:",
        "What does this word mean?",
        visibility="hidden",
        in_menu=True,
    ),
    Entry(
        "survey",
        "Survey",
        ":material/quiz:",
        "Which one comes from the second set?",
        keys=SURVEY,
        visibility="hidden",
    ),
)
# Listed only for those who may change who may do what.
ACCESS = Entry("access", "Access", ":material/key:", "Who may do what?")
BY_FOLDER = {entry.folder: entry for entry in (*PAGES, ACCESS)}


def title_of(name: str) -> str:
    """Return the title that a page has today, by its name of any release.

    The name itself where there is no such page.
    """
    place, _ = place_of(name)
    return place.title if place else name.replace("_", " ").capitalize()


def place_of(name: str) -> tuple[Entry | None, Mapping[str, str]]:
    """Return the page of this name, today's or an earlier release's.

    With it the parameters that open what it had; None for any other.
    """
    former: dict[str, tuple[Entry, Mapping[str, str]]] = {}
    for entry in PAGES:
        for former_name, link in entry.was.items():
            former[former_name] = entry, link
    return former.get(name) or (BY_FOLDER.get(name), {})
