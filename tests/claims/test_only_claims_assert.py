"""With every claim replaced by a sentinel, nothing on a page or in `stats` asserts anything any more.

Every page is walked, every tab of it, on studies that have something to assert: flips, items against controls, a target against
a retro set. Questions assert nothing. The words are those of verdicts; explanations under "How to read this", small type,
controls and what an item says are not looked at. Cells of tables, badges, metrics, captions of charts and the words drawn into
charts are.
"""

import json
import re

import pytest
from streamlit.testing.v1 import AppTest

from flipcore.__main__ import main
from flipcore.claims.claim import Claim
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.reports.published import gap_rows
from flipcore.runs import demo, runner
from flipcore.store.connection import Store
from pages.memorization.items import PARTS
from tests.browser.serving import ROOT
from tests.claims.sentences import too_long
from tests.claims.walks import FLIPS, HOLDOUT, MEMORY, REVIEW, page_of, walk_over
from tests.runs.test_runner import tiny_study
from tests.store.queries.test_holdout import STUDY as HELD_OUT

SENTINEL = "SENTINEL"
ASSERTING = re.compile(
    r"mostly the|of answers change|changes answers"
    r"|artifact is|is artifact|of which .* genuine|is genuine|\bmemory\b|memori[sz]ed|memori[sz]ation|remembers|unlike their controls"
    r"|equivalent|indistinguishable|told apart|at least \d|passes the gate|the judge passes|flagged|significant|different:|inflat"
    r"|loses more|found four times in five|the change matters|predicts flips|no sign of|sees? (from|memory)|contaminat",
    re.IGNORECASE,
)
# names of columns and marks, which say what is counted, and the cells of the published table, whose models are simulated
NAMES = re.compile(
    r"^(flagged( by| at \d+×)?|smallest D flagged|sees from|items of the dose flagged|inflation( \(points\)|, points)?"
    r"|(never-seen|read) items flagged|not flagged|memorized|-?0\.\d+ \[.*\], (not )?flagged)$"
)
# sentences that count what a rule did or could do on these rows, and say nothing of memory
COUNTS = re.compile(
    r"after dropping the [\d,]+ flagged|What it would be without memory is the random control's"
    r"|^The decisions: “memory” on|The source's own correction would flag"
    r"|^## [\d,]+ items? (is|are) flagged by one or more of \d+ detectors, (none by all|[\d,]+ of them by every)"
)
CONTROLLED = Study(
    "against controls",
    tuple(
        ItemSource("pocket_problems", role, 20, 3, where=where)
        for role, where in (("benchmark", {"dose": [256]}), ("control", {"split": "control"}))
    ),
    (Part("identity"), Part("paraphrase"), Part("numeric_resample")),
    (Part("regex"), Part("question_loss"), Part("min_k")),
    (ModelUse("pocket", max_tokens=96),),
    control="random",
)
IDS = {"tiny": tiny_study().study_id, "controlled": CONTROLLED.study_id, "holdout": HELD_OUT.study_id}
WAYS = [
    ("studies/page.py", {}),
    (FLIPS, {"study": "tiny"}),
    (FLIPS, {"study": "tiny", "show": "Parts"}),
    (MEMORY, {"study": "tiny"}),
    ("new_study/page.py", {}),
    *((MEMORY, {"study": "controlled", "tab": tab}) for tab in PARTS.values()),
    *(
        (HOLDOUT, {"sets": "study:holdout", "part": part})
        for part in ("Map", "Look inside", "Tests", "Survey", "Inflation", "Versions", "Guide")
    ),
    (HOLDOUT, {"sets": "own"}),
    *((REVIEW, {"part": part}) for part in ("Review", "Agreement", "Effect", "Outputs", "Keys", "Propose and exchange")),
    ("audit/page.py", {"study": "tiny"}),
    ("ranking/page.py", {"study": "tiny"}),
    ("score/page.py", {"study": "tiny"}),
    ("report/page.py", {"part": "Decisions"}),  # what somebody wrote down stands there in their words
    ("report/page.py", {"study": "controlled"}),
    ("report/page.py", {"study": "controlled", "part": "Tables"}),
]
# the survey shows annotators three texts and no result; the glossary explains words, Models lists servers and Access people: no
# study is read
OTHERS = [f"{name}/page.py" for name in ("access", "glossary", "models", "survey")]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.usefixtures("allowed_folders"),
]  # Streamlit's own: threads without a script context


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A store with the three studies, and with paraphrases that people have judged."""
    place = tmp_path_factory.mktemp("claims") / "flips.duckdb"
    store = Store.open(place)
    demo.fill_store(store)
    for study in (HELD_OUT, CONTROLLED, tiny_study()):
        runner.run(study, store)
    store.close()
    return place


@pytest.fixture(scope="module")
def store(path):
    with walk_over(path) as opened:
        yield opened


@pytest.fixture(scope="module")
def silent(store):
    """Every claim that asserts something says SENTINEL; descriptions say what they say."""
    with pytest.MonkeyPatch.context() as patch:
        for name, own in (("text", "sentence"), ("word", "outcome")):
            plain = property(lambda self, own=own: SENTINEL if self.assertion else getattr(self, own))
            patch.setattr(Claim, name, plain)
        gap_rows.cache_clear()  # kept for the process, in the words of whoever asked first
        yield
    gap_rows.cache_clear()


def verdicts_shown(app: AppTest) -> list[str]:
    """Headings, paragraphs and messages; the explanations in expanders and what qualifies in small type are left out."""
    explained = {
        id(block) for expander in app.expander for kind in ("markdown", "caption") for block in getattr(expander, kind)
    }
    blocks = [block for kind in ("markdown", "subheader", "success", "info", "warning") for block in getattr(app, kind)]
    return [str(block.value) for block in blocks if id(block) not in explained and not _in_expander(app, block)]


def words_in_tables_and_charts(app: AppTest) -> list[str]:
    """Cells and headings of tables, names and values of metrics, texts of badges, titles and annotations of charts."""
    words = []
    for table in [*app.dataframe, *app.table]:
        words += [str(column) for column in table.value.columns]
        words += [cell for column in table.value for cell in table.value[column] if isinstance(cell, str)]
    for metric in app.metric:
        words += [str(metric.label), str(metric.value), str(metric.delta)]
    for chart in app.get("plotly_chart"):
        words += _drawn(json.loads(chart.proto.spec or "{}"))
    return words + [text for block in app.markdown for text in re.findall(r":\w+-badge\[(.*?)\]", str(block.value))]


def _drawn(figure: dict) -> list[str]:
    """What a figure says in words: its titles, annotations, names of traces and texts on marks."""
    layout = figure.get("layout", {})
    words = [layout.get("title", {}).get("text", ""), *(one.get("text", "") for one in layout.get("annotations", []))]
    words += [axis.get("title", {}).get("text", "") for name, axis in layout.items() if name[1:5] == "axis"]
    for trace in figure.get("data", []):
        texts = trace.get("text") or []
        words += [
            trace.get("name", ""),
            *([texts] if isinstance(texts, str) else [one for one in texts if isinstance(one, str)]),
        ]
    return [word for word in words if word]


def headings(app: AppTest) -> list[str]:
    """Titles, subheaders and the bold lines that stand where a verdict does, wherever they are on the page."""
    texts = [str(block.value) for kind in ("title", "header", "subheader", "markdown") for block in getattr(app, kind)]
    bold = [line.strip("*# ") for text in texts for line in text.splitlines() if re.match(r"#+ |\*\*[^*]+\*\*$", line.strip())]
    return bold + [str(block.value) for kind in ("title", "header", "subheader") for block in getattr(app, kind)]


def _in_expander(app: AppTest, block) -> bool:
    return any(str(block.value) == str(inner.value) for expander in app.expander for inner in expander.markdown)


def shown(page: str, link: dict[str, str]) -> AppTest:
    parts = {key: value.rpartition(":") for key, value in link.items()}
    return page_of(page, {key: f"{kind}{mark}{IDS.get(name, name)}" for key, (kind, mark, name) in parts.items()}, name="")


def asserting(app: AppTest) -> list[str]:
    texts = (text.replace("\\", "") for text in verdicts_shown(app))
    return [one for one in texts if ASSERTING.search(one) and not one.rstrip("*").endswith("?") and not COUNTS.search(one)]


@pytest.mark.parametrize(("page", "link"), WAYS, ids=[f"{page.split('/')[0]}-{i}" for i, (page, _) in enumerate(WAYS)])
def test_a_page_asserts_nothing_but_claims(page, link, silent):
    app = shown(page, link)
    assert asserting(app) == []
    assert [text for text in words_in_tables_and_charts(app) if ASSERTING.search(text) and not NAMES.search(text)] == []
    assert headings(app) and [text for text in headings(app) if too_long(text)] == []


@pytest.mark.parametrize(
    ("page", "link"),
    [
        *((page, {}) for page in OTHERS),
        *(("report/page.py", {"study": "controlled", "part": part}) for part in ("Sentences", "Methods", "Dataset")),
    ],
)
def test_a_page_that_asserts_nothing_has_short_headings_too(page, link, store):
    app = shown(page, link)
    assert headings(app) and [text for text in headings(app) if too_long(text)] == []


def test_every_page_is_walked():
    pages = {str(path.relative_to(ROOT / "pages")) for path in (ROOT / "pages").glob("*/page.py")}
    assert sorted(pages - {page for page, _ in WAYS}) == OTHERS


@pytest.mark.parametrize(("page", "link"), [WAYS[1], (MEMORY, {"study": "controlled"}), (HOLDOUT, {"sets": "study:holdout"})])
def test_the_walk_sees_the_claims_themselves(page, link, silent):
    """The first sentences of every one of these pages are claims: the sentinel stands in their place."""
    assert any(SENTINEL in text for text in verdicts_shown(shown(page, link)))


@pytest.mark.parametrize("study", ["tiny", "controlled"])
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_stats_asserts_nothing_but_claims(form, study, silent, capsys):
    assert main(["stats", IDS[study], *form]) == 0
    said = capsys.readouterr().out
    assert SENTINEL in said
    # "decision" is the claim's own outcome as a word, "not claimed" where it is withheld
    sentences = [line for line in said.splitlines() if not re.match(r'\s*"(decision|detail|note|rule|method)"', line)]
    assert [line for line in sentences if ASSERTING.search(re.sub(r'^\s*"\w+":', "", line))] == []


def test_a_long_heading_is_seen():
    long = "word " * 26

    def page(long):
        import streamlit as st

        st.title("Short")
        st.markdown(f"Text\n\n## {long}")
        st.markdown(f"**{long.strip()}**")
        st.subheader(long)

    assert sum(map(too_long, headings(AppTest.from_function(page, args=(long,)).run()))) == 3


def test_the_words_that_assert_are_those_of_the_verdicts():
    for said in (
        "mostly the extractor, not the model, p = .01",
        "0.10 flip, of which 0.09 is genuine",
        "Memory: losses alone (20 problems).",
        "The model remembers these questions. One kind of evidence shows it on the 20 problems.",
        "These questions are unlike their controls.",
    ):
        assert ASSERTING.search(said)
    assert not ASSERTING.search("20% of pairs flip only under this extractor")
