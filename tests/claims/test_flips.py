"""What is said of flips: three parts, floors first, one family of cells, and nothing where nothing may be claimed."""

import math
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from flipcore.claims import flips
from flipcore.claims.claim import Claim
from flipcore.claims.flips import ANYWHERE, WHOSE, prediction_claim
from flipcore.claims.plans import equality_plan, gap_plan
from flipcore.reports.flips import map_claim
from flipcore.reports.study import study_report
from flipcore.stats.base.estimate import MIN_N, Estimate
from flipcore.stats.flips.coded_answers import coded_answers
from flipcore.stats.flips.decomposition import decompositions
from flipcore.stats.flips.pooled import ALL_AXES
from flipcore.stats.flips.predictor import FlipPrediction
from flipcore.stats.flips.unread import RATES
from tests.stats.flips.test_decomposition import REF, E, readme, readouts, with_samples
from tests.stats.flips.test_surface import asked, frame


def cells(rows, **options):
    return decompositions(coded_answers(rows), REF, extractors=[E], **options)


@cache
def readme_cells():
    return cells(readme(15, 2))


def readme_claim(closed_gates=None):
    return flips.cell_claims(readme_cells(), closed_gates)[0]


def only(rows, closed_gates=None, temperature=None, **options):
    return flips.cell_claims(cells(rows, **options), closed_gates, temperature)[0]


def test_a_cell_reads_as_the_design_says():
    claim = only(readme(15, 2), kind="percentile", n_boot=2000)
    assert claim.text == (
        "Option order, first token: mostly the extractor, not the model, p = .010. 50% [31, 69] of pairs flip only under this "
        "extractor, noise included."
    )
    assert claim.is_made and claim.outcome == flips.ARTIFACT and "26 items" in claim.detail
    assert claim.detail.startswith("Of all pairs, these flip: 50% [31, 69] only under this extractor, 0% [")


def test_the_p_counts_an_unseen_item_against_the_verdict():
    found = readme_cells()[0]
    assert 0.003 < readme_claim().numbers["p"] < 0.02 and found.p_more < 0.003


def test_changes_of_the_model_that_nobody_checked_say_so():
    """Two extractors that misread a constant model alike show changes that it never made."""
    same = [["0", "1"]] * 20 + [["0", "0"]] * 20
    frame = asked_twice(readouts({E: same, REF: same}))
    claim = only(frame)
    assert flips.unchecked_words([claim], 0) == flips.UNCHECKED
    assert flips.unchecked_words([claim], 30) == ""
    assert flips.unchecked_words([readme_claim()], 0) == ""  # of the extractor that flips alone
    notes = study_report(frame.assign(model="m", is_correct=None, role="benchmark"), REF)["m"].notes
    assert notes[-1] == flips.UNCHECKED


def asked_twice(rows):
    """The same with every prompt asked again and answered alike."""
    return pd.concat([rows, rows.assign(sample=1)])


def test_more_genuine_than_artifact_is_said_only_where_reruns_were_asked():
    same = [["0", "1"]] * 20 + [["0", "0"]] * 20
    rows = readouts({E: same, REF: same})
    claim = only(asked_twice(rows))
    assert claim.outcome == flips.GENUINE and claim.is_made
    assert claim.text.endswith("mostly the model, not the extractor, p < .001. 50% [34, 66] of pairs flip under both.")
    once = only(rows)
    assert once.outcome == flips.OPEN and not once.is_made and "noise included" in once.text
    again = readouts({E: [["0", "0"]] * 20, REF: [["0", "0"]] * 20}, axis="identity").assign(variant="base")
    again["sample"] = again.groupby(["item_id", "extractor"]).cumcount()
    some = pd.concat([rows, again])  # half of the items were asked again: none of them flips
    assert only(some).outcome == flips.OPEN and only(some, temperature=0.0).outcome == flips.GENUINE


def test_where_only_the_reference_misreads_nothing_is_called_genuine():
    claim = only(asked_twice(readouts({E: [["0", "0"]] * 40, REF: [["0", "1"]] * 20 + [["0", "0"]] * 20})))
    assert claim.outcome == flips.OF_REFERENCE and claim.numbers["both"].value == 0
    assert (
        "mostly the reference extractor, not the model, p < .001. 50% [34, 66] of pairs flip only under the reference extractor"
        in claim.text
    )


@pytest.mark.parametrize(
    ("t", "g", "both", "outcomes"),
    [
        (20, 0, 2, (flips.ARTIFACT, flips.OF_REFERENCE)),
        (0, 20, 2, (flips.OF_REFERENCE, flips.ARTIFACT)),
        (18, 18, 2, (flips.OF_BOTH, flips.OF_BOTH)),
        (2, 1, 20, (flips.GENUINE, flips.GENUINE)),
        (8, 6, 8, (flips.OPEN, flips.OPEN)),
    ],
)
def test_swapping_the_reference_swaps_the_words(t, g, both, outcomes):
    kinds = [("1", "0")] * t + [("0", "1")] * g + [("1", "1")] * both + [("0", "0")] * (40 - t - g - both)
    answers = coded_answers(asked_twice(readouts({E: [["0", e] for e, _ in kinds], REF: [["0", r] for _, r in kinds]})))
    there, back = (
        flips.verdicts(decompositions(answers, ref, extractors=[e]))["option_order", e] for e, ref in ((E, REF), (REF, E))
    )
    assert (there.outcome(0.95), back.outcome(0.95)) == outcomes
    assert there.p.tolist() == back.p[[1, 0, 2]].tolist()


def test_a_rule_of_the_source_is_a_description_and_says_whose_it_is():
    for rule in ("paired", "source_nonoverlap"):
        claim = only(readme(15, 2), rule=rule)
        assert not claim.is_made and "A is above G by the source's rule" in claim.text


def test_a_headline_has_at_most_25_words():
    for rows in (readme(15, 2), with_samples(12, 6), readme(9, 7)):
        headline = flips.headline(cells(rows))
        assert len(headline.text.split()) <= 25, headline.text


def test_every_headline_over_all_changes_has_at_most_25_words_and_what_decides_it_behind_it():
    made = [replace(cell, axis=ALL_AXES) for cell in readme_cells()]
    (verdict,) = flips.verdicts(made).values()
    for outcome in (*flips.CLAIMED, flips.OPEN):
        text = flips.with_leading_rate(verdict.sentences[outcome], made[0], verdict.leads[outcome])
        assert len(text.split()) <= 25 and "flip" not in text and "reader" not in text, text
        assert verdict.detail_starts[outcome].startswith("p ")


def test_below_ten_items_nothing_is_claimed():
    claim = only(readme(9, 1, n=9))
    assert not claim.asserted and claim.outcome == flips.FEW and "too few items for a claim (9)" in claim.text


def test_the_reference_and_an_unread_cell_assert_nothing():
    (reference,) = flips.cell_claims(decompositions(coded_answers(readme(15, 2)), REF, extractors=[REF]))
    assert reference.text == "Option order, stated is the reference extractor: 8% [2, 24] of pairs flip."
    unread = only(readouts({E: [[None, None]], REF: [["0", "0"]]}))
    assert "nothing is claimed" in unread.text and not reference.asserted and not unread.asserted


def test_above_the_floor_comes_first_where_both_floors_were_measured():
    claim = only(with_samples(12, 6))
    assert claim.text == (
        "Option order, first token: undecided, p > .99. −5% [−12, 2] of pairs flip only under this extractor, reruns subtracted."
    )
    assert claim.detail.startswith("Of all pairs, ") and "Noise floor: 20% [" in claim.detail


def test_a_deterministic_model_has_no_floor_to_measure():
    assert "deterministic, no floor to measure" in only(with_samples(0), temperature=0.0).detail
    assert "Noise floor: 0% [0, " in only(with_samples(0), temperature=0.7).detail
    assert "not measured" in readme_claim().detail


def test_noise_alone_is_no_artifact():
    # e re-asked flips on 30 of 60 items and changes nothing else: raw A is .25, beyond the floor -.25
    claim = only(with_samples(30))
    assert not claim.is_made


def test_a_closed_gate_withholds_and_leaves_the_family():
    found = readme_cells()
    assert readme_claim({"option_order": "Nobody looked."}).text == "Not claimed: Nobody looked."
    other = [replace(one, axis="paraphrase") for one in found] * 1
    alone = flips.verdicts([*found, *other], {"paraphrase": "Nobody looked."})
    both = flips.verdicts([*found, *other])
    key = ("option_order", E)
    assert both[key].p[0] == pytest.approx(2 * alone[key].p[0])
    assert flips.headline(other, {"paraphrase": "Nobody looked."}).text == "Not claimed: Nobody looked."
    assert not flips.headline(other, {E: "Nobody looked."}).is_made


def test_the_tally_counts_what_the_rows_say():
    found = [*readme_cells(), *(replace(one, axis="label_set") for one in cells(readme(9, 7)))]
    outcomes = [claim.outcome for claim in flips.cell_claims(found)]
    assert outcomes == [flips.ARTIFACT, flips.OPEN]
    assert flips.tally(outcomes).text == "Of 2 combinations of axis and extractor: mostly the extractor in 1, undecided in 1."
    assert flips.tally(outcomes[:1]).text == ""


@pytest.mark.parametrize("lost", ["cut", "absent", "unreadable"])
def test_unread_answers_that_could_change_the_verdict_withdraw_it_at_any_share(lost):
    rows = readouts({E: [["0", "1"]] * 20 + [["0", "0"]] * 20, REF: [["0", "0"]] * 40})
    assert only(rows).outcome == flips.ARTIFACT
    at = rows.index[(rows["extractor"] == REF) & (rows["variant"] != "base")]

    def without(n):
        made = rows.copy()
        made.loc[at[:n], ["status", "answer"]] = [lost, None]
        return only(made)

    claim = without(10)  # an eighth of the reference's answers
    assert claim.outcome == flips.OPEN
    assert ("undecided: unread answers could turn it" in claim.text) == (
        lost != "unreadable"
    )  # one more answer, as they are counted
    assert claim.text.endswith(", or 25 to 50%, depending on the 12.5% of answers that could not be read.")
    assert "10 of all answers (0.0% under it, 12.5% under the reference)" in claim.detail
    few = without(1)
    assert few.outcome == flips.ARTIFACT and few.text.endswith(
        ", or 48 to 50%, depending on the 1.2% of answers that could not be read."
    )
    assert few.numbers["p"] > only(rows).numbers["p"]


def test_one_option_in_four_wordings_of_which_one_is_read_is_nothing():
    """The model never changes its answer; the reference reads one wording, the compared extractor all."""
    rng = np.random.default_rng(2)
    rows = readouts({E: [["0"] * 4] * 80, REF: [["0" if rng.random() < 0.25 else None for _ in range(4)] for _ in range(80)]})
    claim = only(asked_twice(rows))
    assert not claim.is_made and "answers (0.0% under it, 7" in claim.detail
    assert "whatever they were, of all pairs 0% only under this extractor, 0 to 9" in claim.detail


def test_items_of_one_family_count_once():
    rows = readouts({E: [["0", "1"]] * 20 + [["0", "0"]] * 20, REF: [["0", "0"]] * 40})
    item = rows["item_id"].str[1:].astype(int)
    assert only(rows).is_made
    few = only(rows.assign(family=item // 8))  # five families of eight
    assert few.outcome == flips.FEW and "clusters of items for a claim (5)" in few.text
    found = cells(rows.assign(family=item // 2))[0]
    assert (found.n_items, found.T.n, found.T.method) == (40, 20, "families") and found.T.value == 0.5
    clustered = only(rows.assign(family=item // 2)).detail
    assert "40 items in 20 clusters" in clustered and "Assumes clusters like those seen." in clustered


def test_the_surface_says_what_the_cells_say():
    made = frame(
        [
            row
            for i in range(40)
            for axis in ("option_order", "label_set")
            for row in asked(f"i{i}", "AB" if i < 20 else "AA", extractor="first_token", axis=axis)
            + asked(f"i{i}", "AA", axis=axis)
        ]
    ).assign(is_correct=1.0)
    opened = map_claim(made, "first_token", "regex", "option_order")
    assert (
        opened.text.startswith("Option order, first token: mostly the extractor, not the model, p < .001. 50%")
        and opened.is_made
    )
    over = map_claim(made, "first_token", "regex")
    assert over.text == (
        "50% (likely 34 to 66%) of answers change only because of how they are read (first token)."
    ) and over.detail.startswith("p < .001. Changes that a rerun alone makes count, too. Of all pairs")
    shut = map_claim(made, "first_token", "regex", closed_gates={"option_order": "x", "label_set": "y"})
    assert shut.text == "Not claimed: x y"
    part = map_claim(made, "first_token", "regex", closed_gates={"label_set": "Nobody looked."})
    assert part.is_made and part.detail.endswith("Left out, not reviewed enough: label set.")
    assert "The answer differs between two prompts of one question in" in map_claim(made, "regex", "regex").text
    assert not np.isnan(map_claim(made, "first_token", "regex").numbers["p"]) and isinstance(made, pd.DataFrame)


def test_the_predictor_reports_its_numbers_and_claims_nothing():
    auc = Estimate(0.7, 0.6, 0.8, 0.95, "bootstrap", 40, 0)
    said = prediction_claim(FlipPrediction(auc, 0.2, 0.25, 1.1, 0.01, 0.61, 80, 2, {}, np.empty(0), np.empty(0)))
    assert said.text == "Out-of-fold AUC 0.70 [0.60, 0.80]; the axis alone gives 0.61 (p = .010)."
    assert not said.asserted and "80 item-axis rows (2 dropped" in said.detail


# A plan says its power.


@pytest.mark.slow
def test_a_plan_says_its_power():
    said = equality_plan(0.4, 0.2)
    n, percent = said.numbers["n"], round(100 * said.numbers["power"])
    assert said.text == f"{n} items a set: the rule then shows equivalence in {percent}% of studies."
    assert gap_plan(0.15, 0.05, 0.8).text == "73 rewritten items a set, so 92 items to start from."
    # answers that change both ways widen the difference: 7.849 (.30 - .04 + .15 - .0025) / .0225 = 142.2
    assert gap_plan(0.15, 0.05, 0.8, gains=0.05).text == "143 rewritten items a set, so 179 items to start from."


@pytest.mark.parametrize(
    ("n", "n_cells", "difference", "words"),
    [
        (
            0,
            0,
            0.2,
            "One extractor shows how often answers change. It takes a second one to tell whether the model or the extractor",
        ),
        (1, 1, 0.2, f"Two extractors read 1 item; from {MIN_N} on they tell"),
        (MIN_N - 1, 1, 0.2, f"Two extractors read {MIN_N - 1} items; from {MIN_N} on they tell"),
        (
            MIN_N,
            0,
            0.2,
            f"{MIN_N} items find a medium effect (20 points more changes by the extractor than by the model) four times",
        ),
        (1_000, 1, 0.2, "1,000 items find a medium effect (20 points more"),
        (40, 2, 0.2, "40 items and 2 combinations of axis and extractor find a medium effect"),
        (40, 1, 0.299, "40 items find a medium effect (30 points"),
        (40, 1, 0.3, "40 items find a large effect (30 points"),
        (40, 1, 0.15, "40 items find a medium effect (15 points"),
        (40, 1, 0.149, "40 items find a small effect (15 points"),
        (
            20,
            1,
            np.nan,
            "20 items are too few. From 1,234 items on a large effect (40 points more changes by the extractor than by the model) "
            "is found four times in five (simulated).",
        ),
        (
            20,
            2,
            np.nan,
            "20 items and 2 combinations of axis and extractor are too few. From 1,234 items on a large effect (40 points more "
            "changes by the extractor than by the model) is found four times in five (simulated). For all changes together fewer "
            "may do.",
        ),
    ],
)
def test_a_plan_says_which_effect_its_items_can_show(monkeypatch, n, n_cells, difference, words):
    monkeypatch.setattr(flips, "detectable_difference", lambda n, n_cells: 0.4 if n == 1_234 else difference)
    monkeypatch.setattr(flips, "fewest_items", lambda n_cells: 1_234)
    monkeypatch.setattr(flips, "power_in_worse_worlds", lambda n, difference, n_cells: (0.4, 0.6 if n_cells > 1 else 0.4))
    said = flips.plan_sentence(n, n_cells)
    assert said.startswith(words) and (n != 20 or said == words)
    if said.startswith("40"):
        powers = "40% to 60%" if n_cells > 1 else "40%"
        assert said.endswith(
            f"if 10% of pairs flip under both extractors and 4% by noise; {powers} of studies with more under both or twice the "
            "noise (simulated)."
        )


def test_each_claim_of_whose_flips_errs_in_one_of_twenty():
    assert (WHOSE.error_rate, WHOSE.sides) == (ANYWHERE.error_rate, ANYWHERE.sides) == (0.05, 1)
    assert (flips.PLAN.error_rate, flips.PLAN.sides) == (0.20, 1)  # the plan errs by what it misses


@pytest.mark.parametrize(
    ("p", "level", "outcome"),
    [
        ((0.05, 0.05, 0.05), 0.95, flips.OF_BOTH),
        ((0.05, 0.051, 0.05), 0.95, flips.ARTIFACT),
        ((0.051, 0.05, 0.05), 0.95, flips.OF_REFERENCE),
        ((0.051, 0.051, 0.05), 0.95, flips.GENUINE),
        ((0.051, 0.051, 0.051), 0.95, flips.OPEN),
        ((0.051, 0.2, 0.2), 0.9, flips.ARTIFACT),
        ((np.nan, 0.2, 0.05), 0.95, flips.GENUINE),
        ((np.nan, np.nan, np.nan), 0.95, flips.FEW),
    ],
)
def test_a_verdict_is_the_artifacts_that_are_shown_else_what_is_genuine(p, level, outcome):
    verdict = flips.Verdict(None, None, p=np.array(p), sentences={}, leads={}, detail_starts={})
    assert verdict.outcome(level) == outcome


@pytest.mark.parametrize(
    ("outcome", "p"),
    [
        (flips.ARTIFACT, 0.01),
        (flips.OF_REFERENCE, 0.02),
        (flips.OF_BOTH, 0.02),
        (flips.GENUINE, 0.6),
        (flips.OPEN, 0.01),
        (flips.FEW, 0.01),
    ],
)
def test_a_sentence_gives_the_p_of_its_outcome(outcome, p):
    assert flips.p_of(np.array([0.01, 0.02, 0.6]), outcome) == p
    assert flips.p_of(np.array([np.nan, 0.02, 0.6]), flips.OPEN) == 0.02


@pytest.mark.parametrize(
    ("a", "g", "difference", "paired", "apart"),
    [
        ((0.3, 0.4), (0.1, 0.2), (-0.1, 0.4), flips.OPEN, flips.ABOVE),
        ((0.3, 0.4), (0.1, 0.3), (0.1, 0.4), flips.ABOVE, flips.OPEN),
        ((0.1, 0.2), (0.3, 0.4), (0.0, 0.4), flips.OPEN, flips.BELOW),
        ((0.1, 0.3), (0.3, 0.4), (-0.4, -0.1), flips.BELOW, flips.OPEN),
        ((0.1, 0.4), (0.2, 0.3), (-0.4, 0.0), flips.OPEN, flips.OPEN),
    ],
)
def test_the_rule_of_the_source_compares_the_difference_or_both_intervals(a, g, difference, paired, apart):
    assert flips.source_outcome("paired", a, g, difference) == paired
    assert flips.source_outcome("overlap", a, g, difference) == apart


def test_the_p_of_cells_are_corrected_together_and_at_least_doubled():
    first, second = flips._adjusted([np.array([0.001, 0.5, np.nan]), np.array([0.01, 0.3, 0.9])])
    assert first[:2].tolist() == pytest.approx([0.005, 1.0]) and np.isnan(first[2])
    assert second.tolist() == pytest.approx([0.04, 0.9, 1.0])
    (alone,) = flips._adjusted([np.array([0.01, np.nan, np.nan])])
    assert alone[0] == 0.02 and flips._adjusted([]) == []


def test_extractors_that_change_places_change_their_p():
    p = np.array([0.1, 0.2, 0.3])
    for names, order in ((("a", "b"), [0.1, 0.2, 0.3]), (("b", "a"), [0.2, 0.1, 0.3])):
        cell = SimpleNamespace(axis="style", extractor=names[0], reference=names[1])
        assert flips._in_name_order(cell, p).tolist() == order and flips._pair(cell) == ("style", "a", "b")


@pytest.mark.parametrize(
    ("outcome", "is_asserted", "n_labelled", "is_said"),
    [
        (flips.GENUINE, True, 0, True),
        (flips.GENUINE, True, 1, False),
        (flips.ARTIFACT, True, 0, False),
        (flips.GENUINE, False, 0, False),
    ],
)
def test_genuine_flips_of_outputs_that_nobody_checked_have_a_warning(outcome, is_asserted, n_labelled, is_said):
    claims = [Claim(WHOSE, flips.OPEN, "Open."), Claim(WHOSE, outcome, "Said.", asserted=is_asserted)]
    assert flips.unchecked_words(claims, n_labelled) == (flips.UNCHECKED if is_said else "")
    assert flips.unchecked_words([claim.not_claimed("Closed.") for claim in claims], 0) == ""


def floor_of(floor, reference_floor=math.nan, is_reference=False):
    share, other = (Estimate(x, x - 0.01, x + 0.01, 0.95, "t", 40, None) for x in (floor, reference_floor))
    return SimpleNamespace(W=share, W_ref=other, is_reference=is_reference, floor_source="reruns")


@pytest.mark.parametrize(
    ("floor", "temperature", "words"),
    [
        (floor_of(math.nan), 0.0, "Noise floor: not measured, so flips include decoding noise."),
        (floor_of(0.0), 0.0, "Noise floor: deterministic, no floor to measure."),
        (floor_of(0.0), 1.0, "Noise floor: 0.0% [−1.0, 1.0] (reruns)."),
        (floor_of(0.1), 0.0, "Noise floor: 10.0% [9.0, 11.0] (reruns)."),
        (floor_of(0.1, 0.2), None, "Noise floor: 10.0% [9.0, 11.0], under the reference 20.0% [19.0, 21.0] (reruns)."),
        (floor_of(0.1, 0.2, is_reference=True), None, "Noise floor: 10.0% [9.0, 11.0] (reruns)."),
    ],
)
def test_the_noise_floor_is_said_as_far_as_it_is_known(floor, temperature, words):
    assert flips.floor_words(floor, temperature) == words


@pytest.mark.parametrize(
    ("low", "high", "words"), [([0.5, np.nan, 0.7], [0.7, np.nan, 0.8], ("60", "75%")), ([np.nan], [np.nan], ("–", "–"))]
)
@pytest.mark.parametrize("is_beyond_noise", [False, True])
def test_the_range_of_a_rate_is_over_items_with_pairs(low, high, words, is_beyond_noise):
    column = list(RATES).index("A_plus")
    limits = [np.full((len(low), len(RATES)), 0.9) for _ in range(2)]
    limits[0][:, column], limits[1][:, column] = low, high
    wanted, other = SimpleNamespace(low=limits[0], high=limits[1]), SimpleNamespace(low=limits[1] * 0, high=limits[1] * 0)
    unread = SimpleNamespace(
        n=3, shares=(0.01, 0.025), **({"beyond": wanted, "raw": other} if is_beyond_noise else {"beyond": other, "raw": wanted})
    )
    cell = SimpleNamespace(unread=unread)
    assert flips.unread_limits(cell, "A_plus", is_beyond_noise=is_beyond_noise) == words
    if words[0] != "–":
        suffix = flips._unread_suffix(cell, "A_plus", is_beyond_noise=is_beyond_noise)
        assert suffix == ", or 60 to 75%, depending on the 2.5% of answers that could not be read"
        name = "A_plus_excess" if is_beyond_noise else "A_plus"
        for lead, said in (((0.59, 0.76), ""), ((0.61, 0.76), "It may"), ((0.59, 0.74), "It may")):
            setattr(cell, name, Estimate(0.65, *lead, 0.95, "t", 40, None))
            found = flips._headline_suffix(cell, "A_plus", is_beyond_noise=is_beyond_noise)
            assert found == (" It may be 60 to 75%, because 2.5% of answers were not read." if said else "")
        if not is_beyond_noise:
            assert flips._unread_suffix(cell, "A_plus") == suffix and flips.unread_limits(cell, "A_plus") == words
            assert flips._headline_suffix(cell, "A_plus") == found
        unread.n = 0
        assert flips._unread_suffix(cell, "A_plus", is_beyond_noise=is_beyond_noise) == ""


def test_a_range_that_prints_as_one_number_is_one():
    assert flips._range_words("20", "30%") == "20 to 30%" and flips._range_words("20", "20%") == "20%"


@pytest.mark.parametrize(
    ("p", "level", "is_shown"), [(0.1, 0.9, True), (0.5, 0.5, True), (0.051, 0.95, False), (np.nan, 0.95, False)]
)
def test_what_is_shown_among_the_answers_that_were_read_is_what_a_verdict_would_show(p, level, is_shown):
    assert flips._any_shown(np.array([np.nan, 0.9, p]), level) == is_shown
    verdict = flips.Verdict(None, None, p=np.array([0.9, 0.9, p]), sentences={}, leads={}, detail_starts={})
    assert (verdict.outcome(level) == flips.GENUINE) == is_shown


def verdict_of(name, artifact, target=0.5):
    rates = {part: SimpleNamespace(value=value) for part, value in (("A", artifact), ("T", target))}
    return SimpleNamespace(name=name, cell=SimpleNamespace(**rates))


@pytest.mark.parametrize(
    ("outcomes", "leading"),
    [
        (((0.2, flips.ARTIFACT), (0.9, flips.GENUINE), (0.95, flips.OPEN)), 0),  # artifact comes first
        (((0.2, flips.OF_BOTH), (0.3, flips.ARTIFACT), (0.9, flips.GENUINE)), 1),
        (((0.9, flips.OPEN), (0.2, flips.ABOVE), (0.3, flips.OF_REFERENCE)), 1),
        (((0.9, flips.OPEN), (0.2, flips.GENUINE), (0.3, flips.OF_REFERENCE)), 2),
        (((0.1, flips.OPEN), (0.2, flips.FEW)), 1),
    ],
)
def test_a_headline_names_artifact_before_other_claims_and_claims_before_the_rest(outcomes, leading):
    decided = [(verdict_of(i, artifact), outcome) for i, (artifact, outcome) in enumerate(outcomes)]
    assert flips.leading_verdict(decided).name == leading
    level = [(verdict_of(i, 0.2, target), flips.ARTIFACT) for i, target in enumerate((0.4, 0.6))]
    assert flips.leading_verdict(level).name == 1  # of equal artifact the one that flips more
