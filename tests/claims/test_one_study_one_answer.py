"""Everything that is said of one study, wherever it is said, read together: no two sentences contradict each other, and none its own
interval.

Each claim shows with its assertion and outcome, so that the walk reads claims and not words."""

import re
from collections import defaultdict

import pytest

from flipcore import __main__ as command_line
from flipcore.claims.claim import Claim
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.reports.exports.document import report
from tests.claims.walks import AUDIT, BOARD, FLIPS, page_of, sent, walk_over
from tests.reports.exports.reading import everything_in
from tests.stores import store_with

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.slow, pytest.mark.usefixtures("allowed_folders")]

AXES = (Part("identity"), Part("option_order", {"n": 3}))
READERS = (Part("first_token"), Part("regex"))
ITEMS = (ItemSource("flipscope_choice", n=60),)
STUDIES = [
    Study(
        name="models that differ",
        items=ITEMS,
        axes=AXES,
        extractors=READERS,
        models=tuple(ModelUse(f"simulated-{one}", n_samples=2) for one in ("brittle", "artifact-prone", "noisy")),
    ),
    Study(
        name="models that hardly differ",
        items=ITEMS,
        axes=AXES,
        extractors=READERS,
        models=(ModelUse("simulated-clean"), ModelUse("simulated-clean-000"), ModelUse("simulated-memorized")),
    ),
]
MARKED = re.compile("⟪(.*?)¦(.*?)¦(.*?)⟫", re.DOTALL)
SIGNED = re.compile(r"[+−]\d[\d.]* points \[([+−]?)(\d[\d.]*), ([+−]?)(\d[\d.]*)\]")
P = re.compile(r"p ([=<>]) (\.\d+)")
LEADER = re.compile(r"(?:^|: )(simulated-[\w-]+) (?:leads|scores higher than) (simulated-[\w-]+)")
PLACE = re.compile(r"(?:(simulated-[\w-]+): )?(\w[\w ]+, [\w ]+): (?:mostly|undecided)")
SCORE = re.compile(
    r"(simulated-[\w-]+): (?:[Rr]ight on )?([\d.]+)%(?: right; with other questions | \[)([\d.]+)(?:, | to )([\d.]+)(?:\]|%)"
)


def marked(claim):
    name = claim.assertion.name if claim.is_made else ""
    return f"⟪{name}¦{claim.outcome}¦{claim.withheld or claim.sentence}⟫"


def claims_of(text):
    """{(assertion or "", outcome, sentence)} of everything that was sent; what escapes a sign on a page is taken away."""
    return set(MARKED.findall(text.replace("\\", "").replace("\xa0", " ")))


def without_model(claims):
    """What is said of the one model that a page shows, as the text says it that names each model before its lines."""
    return {(*kind, re.sub(r"^simulated-[\w-]+: ", "", sentence)) for *kind, sentence in claims}


def contradictions(claims):
    """What no reader could believe at once, as sentences."""
    wrong, leaders, outcomes, scores = [], {}, defaultdict(set), defaultdict(set)
    for assertion, outcome, sentence in claims:
        interval, p = SIGNED.findall(sentence), P.findall(sentence)
        if len(interval) == len(p) == 1:
            low, high = (-float(x) if sign == "−" else float(x) for sign, x in (interval[0][:2], interval[0][2:]))
            is_outside, is_small = low > 0 or high < 0, p[0][0] != ">" and float(p[0][1]) < 0.05
            if not bool(assertion) == is_outside == is_small:
                wrong.append(f"verdict, interval and p disagree: {sentence}")
        for pair in LEADER.findall(sentence) if assertion and "combination" not in sentence else ():
            leaders[pair] = sentence
        where = PLACE.search(sentence)
        if where and where[1]:
            outcomes[where.groups()].add(outcome)
        for model, *numbers in SCORE.findall(sentence):
            scores[model, numbers[0]].add(tuple(numbers[1:]))
    wrong += [f"both lead: {one} | {leaders[pair[::-1]]}" for pair, one in leaders.items() if pair[::-1] in leaders]
    wrong += [f"two outcomes of {place}: {sorted(found)}" for place, found in outcomes.items() if len(found) > 1]
    return wrong + [f"two intervals of {model}: {sorted(found)}" for (model, _), found in scores.items() if len(found) > 1]


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_no_two_sentences_of_one_study_contradict_each_other_or_their_interval(study, tmp_path, capsys):
    with pytest.MonkeyPatch.context() as patch, walk_over(store_with(tmp_path, study)) as store:
        patch.setattr(Claim, "text", property(marked))
        link = {"study": study.study_id}
        pages = ("studies/page.py", "score/page.py", FLIPS, "ranking/page.py", AUDIT, "report/page.py")
        there = {page: claims_of(sent(page_of(page, {} if "studies" in page else link))) for page in pages}
        there["board"] = claims_of(sent(page_of(FLIPS, link | BOARD)))
        for command in ("stats", "audit"):
            assert command_line.main([command, study.study_id]) == 0
            there[command] = claims_of(capsys.readouterr().out)
        there["report"] = claims_of(everything_in(report(store, study.study_id, 1)))
    assert {place for place, claims in there.items() if not claims} <= {"report/page.py"}
    every = set().union(*there.values())
    assert len(every) > 15 and contradictions(every) == []
    flips = {place: {one for one in claims if "of pairs flip" in one[2]} for place, claims in there.items()}
    elsewhere = {place: without_model(claims) - without_model(flips["stats"]) for place, claims in flips.items()}
    assert flips["board"] and not any(elsewhere.values()), elsewhere


@pytest.mark.parametrize(
    ("claims", "why"),
    [
        ([("", "undecided", "undecided whether A and B differ: +12.5 points [+1.8, +23.2], p = .062.")], "disagree"),
        ([("audit models", "differ", "A and B differ: +2.5 points [−1.8, +6.2], p = .012.")], "disagree"),
        (
            [("x", "x", "simulated-a leads simulated-b by 3."), ("y", "y", "simulated-b scores higher than simulated-a.")],
            "both lead",
        ),
        (
            [
                ("x", "artifact", "simulated-a: Option order, first token: mostly the reader, not the model, p < .001."),
                ("", "undecided", "simulated-a: Option order, first token: undecided, p = .2."),
            ],
            "two outcomes",
        ),
        (
            [
                ("", "described", "simulated-a: right on 74% [63, 85] of 60 items."),
                ("x", "x", "simulated-a: 74% right; with other questions 62 to 84%. Asked in one wording only."),
            ],
            "two intervals",
        ),
    ],
)
def test_each_kind_of_contradiction_is_seen(claims, why):
    found = contradictions(claims)
    assert found and all(why in one for one in found)
