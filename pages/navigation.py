"""The list of all pages with their titles, questions and properties.

A page is a folder with a `page.py` and an entry here. Navigation, headers, keys, study cards, the
decision record and the head start of counting use this list, and so do the tests of all pages.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import streamlit as st

from flipcore.core.study import Study
from pages.common.surroundings import INSPECTOR, MAP, RECORD, REVIEW, SURVEY, Keys

Visibility = Literal["visible", "hidden"]
# Parameters of the link for most pages.
STUDY_LINK = {"study": "{study}"}


@dataclass(frozen=True)
class Entry:
    """One page.

    Attributes
    ----------
    folder
        Folder under `pages`, and the page's address.
    link
        Parameters of a link that opens the page with a study; empty if the page needs no study.
    on_card
        Says for which studies the menu of the card on Studies lists the page; None for none.
    has_decisions
        The page can write decisions into the record.
    shows_flips
        The page shows a study's flips, which are counted as soon as the page is requested.
    in_menu
        The menu next to every title lists the page.
    former_links
        Address in earlier releases (in links and in records) -> parameters that open the same now.
    """

    folder: str
    title: str
    icon: str
    question: str
    link: Mapping[str, str] = field(default_factory=dict)
    keys: Keys = ()
    on_card: Callable[[Study], bool] | None = None
    has_decisions: bool = False
    shows_flips: bool = False
    visibility: Visibility = "visible"
    in_menu: bool = False
    former_links: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def path(self) -> str:
        """Return the page's path for Streamlit, in links as well."""
        return f"{self.folder}/page.py"

    def link_to(self, study_id: str) -> dict[str, str]:
        """Return the parameters of a link that opens the page with this study."""
        return {name: value.format(study=study_id) for name, value in self.link.items()}

    def page(self, visibility: Visibility | None = None) -> st.Page:
        """Return the page for Streamlit's navigation."""
        # Streamlit serves the default page, Studies, at / only; `main` redirects from /studies.
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
        link=STUDY_LINK,
        keys=(*RECORD, *INSPECTOR),
        on_card=lambda study: True,
        has_decisions=True,
        former_links={"score_choices": {"show": "Every choice"}},
    ),
    Entry(
        "flips",
        "Flips",
        ":material/grid_on:",
        "Where do answers flip, and is it the model or the extractor?",
        link=STUDY_LINK,
        keys=(*MAP, *RECORD, *INSPECTOR),
        on_card=lambda study: True,
        has_decisions=True,
        shows_flips=True,
        former_links={
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
        link=STUDY_LINK,
        keys=RECORD,
        on_card=lambda study: len(study.models) > 1,
        has_decisions=True,
        former_links={"ranking_choices": {"show": "Every choice"}},
    ),
    Entry(
        "memorization",
        "Memory",
        ":material/memory:",
        "Is the score memory?",
        link=STUDY_LINK,
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
        link=STUDY_LINK,
        keys=INSPECTOR,
        on_card=lambda study: study.is_recorded,
    ),
    # Hidden pages are reached by a button on Studies, a study's menu or the menu next to a title.
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
        link=STUDY_LINK,
        on_card=lambda study: True,
        visibility="hidden",
        in_menu=True,
        former_links={"record": {"part": "Decisions"}},
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
# Listed for admins only.
ACCESS = Entry("access", "Access", ":material/key:", "Who may do what?")
BY_FOLDER = {entry.folder: entry for entry in (*PAGES, ACCESS)}


def title_of(name: str) -> str:
    """Return the title of a page by its folder or by an address of an earlier release.

    For an unknown name, return the name with a capital.
    """
    entry, _ = find_page(name)
    return entry.title if entry else name.replace("_", " ").capitalize()


def find_page(name: str) -> tuple[Entry | None, Mapping[str, str]]:
    """Return a page by its folder or by an address of an earlier release; None if there is none.

    The second value holds the parameters that open what the earlier address showed.
    """
    for entry in PAGES:
        if name in entry.former_links:
            return entry, entry.former_links[name]
    return BY_FOLDER.get(name), {}
