import base64
from types import SimpleNamespace

import numpy as np
import pytest

from flipcore.claims import flips
from flipcore.core.randomness import generator
from flipcore.reports.browser_data.board import value_at
from flipcore.reports.browser_data.level_limits import QUANTITIES, level_limits, stated_names
from flipcore.reports.browser_data.levels import (
    BAND_HOLDS_FROM,
    LEVELS,
    WHISKERS,
    at_settings,
    band_words,
    banded,
    board,
    level_board,
    resamples,
)
from flipcore.reports.browser_data.quoted_sentences import sentences_at
from flipcore.reports.browser_data.verdicts import every_pairing
from flipcore.reports.flips import claimed_headline, headline
from flipcore.stats.flips.coded_answers import coded_answers
from flipcore.stats.flips.decomposition import decompositions
from flipcore.stats.flips.pooled import ALL_AXES, across_axes
from tests.lab.simulations.planted import PlantedTruth, planted_readouts
from tests.stats.flips.test_surface import asked, frame


def study(n=40, seed=3):
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        text = ["A" if rng.random() < 0.85 else "B" for _ in range(3)]
        token = [answer if rng.random() < 0.7 else "C" for answer in text]
        rows += asked(f"i{i}", text) + asked(f"i{i}", token, extractor="first_token")
    return coded_answers(frame(rows))


def intervals(made, key="regex|own_class|default"):
    return made["intervals_by_row"]["parts"][key]


def limits(made, side, key="regex|own_class|default"):
    """(`WHISKERS`, rows, levels), NaN where a row has no interval."""
    rows = intervals(made, key)
    found = np.full((len(WHISKERS), len(rows), len(LEVELS)), np.nan)
    for r, row in enumerate(rows):
        for q, name in enumerate(WHISKERS):
            if side in row[name]:
                found[q, r] = np.frombuffer(base64.b64decode(row[name][side]), "<f8")
    return found


def outcomes(made, rule="parts", key="regex|own_class|default"):
    return made["outcomes_by_row"]["parts"][f"{key}|{rule}"]


def headline_of(made, rule="parts", key="regex|own_class|default"):
    (found,) = made["headlines"]["parts"][f"{key}|{rule}"]
    return found


def rows_of(made, key="regex|own_class"):
    """The rows of cells, without the axis under them."""
    return [row for row in made["rows"]["parts"][key] if "title" in row]


@pytest.mark.slow
@pytest.mark.parametrize("n", [40, 20])  # 20: limits are drawn, so both must take the same draws
def test_the_board_holds_what_the_decomposition_says(n):
    answers = study(n)
    made = board(answers, str)
    (control,) = made["controls"]
    at = control["values"].index(control["start"])
    for row, one in enumerate(decompositions(answers, "regex")):
        assert intervals(made)[row]["T"]["value"] == pytest.approx(one.T.value, abs=1e-6)
        if not one.is_reference:
            assert limits(made, "low")[1, row, at] == pytest.approx(one.A_plus.low, abs=1e-5)
            assert limits(made, "high")[3, row, at] == pytest.approx(one.both.high, abs=1e-5)


def test_with_many_items_fewer_draws_do():
    assert [resamples(SimpleNamespace(items=range(n))) for n in (2_000, 2_001)] == [9_999, 1_999]


@pytest.mark.slow
@pytest.mark.parametrize(("n", "kind"), [(40, "percentile"), (20, "default")])
def test_a_higher_level_is_never_narrower(n, kind):
    made = board(study(n), str)
    # of the reference A is 0 by definition, without an interval
    (row,) = [r for r, named in enumerate(intervals(made)) if "low" in named["compared"]]
    assert (np.diff(limits(made, "high", f"regex|own_class|{kind}")[:, row], axis=1) >= -1e-6).all()
    assert (np.diff(limits(made, "low", f"regex|own_class|{kind}")[:, row], axis=1) <= 1e-6).all()


@pytest.mark.slow
def test_the_simultaneous_band_is_wider_than_each_interval():
    answers = study()
    one, all_at_once = board(answers, str), board(answers, str, simultaneous=True)
    row = [r for r, named in enumerate(intervals(one)) if "low" in named["compared"]]
    at = LEVELS.index(0.95)
    keys = ((one, "regex|own_class|default"), (all_at_once, "regex|own_class|simultaneous"))
    width = [limits(made, "high", key)[:, row, at] - limits(made, "low", key)[:, row, at] for made, key in keys]
    frequent = [
        0,
        1,
        3,
    ]  # the reference alone flips 3 of 100 pairs, and Wilson's interval of so rare a share is wider than any t
    assert (width[1] > width[0])[frequent].all()


@pytest.mark.slow
def test_every_reference_policy_and_kind_has_a_table():
    made = board(study(), str)
    sizes = [len(choice["options"]) for choice in made["choices"]]
    assert made["intervals_by_row"]["by"] == ["reference", "policy", "kind"]
    assert len(made["intervals_by_row"]["parts"]) == np.prod(sizes[:3]) == 2 * 3 * 3
    assert len(made["outcomes_by_row"]["parts"]) == np.prod(sizes) == 2 * 3 * 3 * 3


@pytest.mark.slow
def test_the_board_at_some_settings_is_that_part_of_the_whole():
    answers, whole = study(), board(study(), str)
    at = {"reference": "first_token", "policy": "drop", "kind": "studentized", "rule": "paired", "level": 0.9}
    part = board(answers, str, selection=at)
    key, parts = "first_token|drop|studentized", ("rows", "intervals_by_row", "outcomes_by_row", "headlines")
    assert list(part["intervals_by_row"]["parts"]) == [key] and list(part["rows"]["parts"]) == ["first_token|drop"]
    assert all(found == whole[name]["parts"][key] for name in parts for key, found in part[name]["parts"].items())
    for choice, among_all in zip(part["choices"], whole["choices"], strict=True):
        assert choice["options"] == among_all["options"] and choice["chosen"] == at[choice["name"]]
    unknown = board(answers, str, selection=at | {"reference": "gone", "kind": "bca"})
    assert list(unknown["intervals_by_row"]["parts"]) == ["regex|drop|default"]  # what is no option is what nobody chose
    moved = at_settings(whole, at)
    assert moved["controls"][0]["start"] == 0.9 and whole["controls"][0]["start"] == 0.95
    assert {choice["name"]: choice["chosen"] for choice in moved["choices"]}.items() <= at.items()


def test_the_banded_cells_hold_what_the_simultaneous_board_shows():
    answers = study()
    made = level_board(answers, str, simultaneous=True)
    low = limits(made.data, "low", "regex|own_class|simultaneous")
    for row, one in enumerate(banded(decompositions(answers, "regex", level=0.9), made, 0.9, "own_class")):
        for i, name in enumerate(("T", "A_plus", "A_minus", "both")):
            assert getattr(one, name).low == pytest.approx(low[i, row, LEVELS.index(0.9)], nan_ok=True)
        assert one.A_plus.has_interval == (one.extractor != "regex")  # what a headline leads with has its band
        assert not one.A_excess.has_interval and np.isnan(one.p_more)


@pytest.mark.slow
def test_in_simultaneous_mode_p_holds_over_every_reference_too():
    """Whoever may choose the reference after looking has more contrasts to choose from; the same two extractors the other way round
    are the same ones."""
    rng, rows = np.random.default_rng(5), []
    for i in range(40):
        text, token, cloze = (["A" if rng.random() < share else "B" for _ in range(3)] for share in (0.95, 0.7, 0.8))
        rows += asked(f"i{i}", text) + asked(f"i{i}", token, extractor="first_token") + asked(f"i{i}", cloze, extractor="cloze")
    answers = coded_answers(frame(rows))
    cells = decompositions(answers, "regex")
    alone, all_at_once = (flips.verdicts(cells, family=family) for family in (None, every_pairing(answers, answers.extractors)))
    key, at = ("option_order", "first_token"), LEVELS.index(0.95)
    assert all_at_once[key].p[0] == pytest.approx(3 / 2 * alone[key].p[0]) and alone[key].p[0] < 0.05  # three pairs for two
    made = board(answers, str, simultaneous=True)
    said = flips.cell_claims(
        banded(cells, level_board(answers, str, simultaneous=True), 0.95, "own_class"),
        family=every_pairing(answers, answers.extractors),
    )
    found = [value_at(row, at) for row in outcomes(made, key="regex|own_class|simultaneous")]
    assert found == [claim.outcome for claim in said] and flips.ARTIFACT in found


def test_a_band_stays_within_what_a_rate_can_be():
    few, key = board(study(10), str, simultaneous=True), "regex|own_class|simultaneous"
    assert np.nanmin(limits(few, "low", key)) >= 0 and np.nanmax(limits(few, "high", key)) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["parts", "paired", "nonoverlap"])
def test_rows_headline_and_tally_of_the_board_are_the_claims_at_every_level(rule):
    names = ("first_token", "regex")
    answers = coded_answers(planted_readouts(60, PlantedTruth(0.3, 0.08), generator(4), names=names))
    made = board(answers, str)
    lines = headline_of(made, rule)
    source = {"nonoverlap": "source_nonoverlap"}.get(rule, rule)
    seen = set()
    for level in (0.5, 0.8, 0.95, 0.999):
        at = LEVELS.index(level)
        found = decompositions(answers, "regex", level=level, rule=source)
        claims = flips.cell_claims(found)
        assert [value_at(row, at) for row in outcomes(made, rule)] == [claim.outcome for claim in claims]
        lead = value_at(lines["rows"], at)
        said = rows_of(made)[lead]["sentences"][value_at(outcomes(made, rule)[lead], at)]
        claim = flips.headline(found)
        assert said.replace("{lead}", found[lead].A_plus.text_percent()) == claim.text
        view = {"level": level, "rule": rule, "reference": "regex", "policy": "own_class", "kind": "default"}
        assert sentences_at(made, view)[0].startswith(claim.text)
        assert (
            value_at(lines["detail"], at)
            == flips.tally([flips.outcome_of(verdict) for verdict in flips.verdicts(found).values()]).text
        )
        seen |= {claim.outcome for claim in claims}
        assert claim.is_made == (rule == "parts" and claim.outcome == flips.ARTIFACT)
    assert seen >= ({flips.ARTIFACT} if rule == "parts" else {"undecided", flips.ABOVE})


def two_axes(n=30, seed=3):
    """Readouts of two axes: neither decides alone as clearly as both together."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        for axis in ("label_set", "option_order"):
            text = ["A" if rng.random() < 0.9 else "B" for _ in range(3)]
            token = [answer if rng.random() < 0.75 else "C" for answer in text]
            rows += asked(f"i{i}", text, axis=axis) + asked(f"i{i}", token, extractor="first_token", axis=axis)
    read = frame(rows)
    return read.assign(is_correct=1.0, variant_id=read["variant"])


def said_at(made, level, rule="parts"):
    """The board's headline with its leading number at a level."""
    at = LEVELS.index(level)
    r = value_at(headline_of(made, rule)["rows"], at)
    row, outcome = rows_of(made)[r], value_at(outcomes(made, rule)[r], at)
    lead = row["leads"][outcome]
    low, high = (limits(made, side)[WHISKERS.index(lead), r, at] for side in ("low", "high"))
    value = intervals(made)[r][lead]["value"]
    sentence = row["sentences"][outcome].replace("{lead|likely}", f"{value:.0%} (likely {100 * low:.0f} to {high:.0%})")
    return sentence.replace("{lead}", f"{value:.0%} [{100 * low:.0f}, {100 * high:.0f}]")


@pytest.mark.slow
def test_the_board_leads_with_the_sentence_of_the_card():
    rows = two_axes()
    made = board(coded_answers(rows), str, n_boot=199)
    said = said_at(made, 0.95)
    assert (
        said.startswith("Undecided whether the model or the extractor changes answers: ")
        and said == headline(rows).claims[0].text
    )
    labels = [row["title"] for row in rows_of(made) if not row.get("is_hidden")]
    assert len(labels) == 4 and not any("all changes" in label for label in labels)
    assert headline_of(made)["detail"][0][1].startswith("Of 2 combinations ")
    shut = {"label_set": "Nobody reviewed it."}
    behind = board(coded_answers(rows), str, n_boot=199, closed_gates=shut)
    assert said_at(behind, 0.95) == claimed_headline(rows, shut).claims[0].text
    assert said_at(behind, 0.95).startswith("Option order, first token: ")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["default", "percentile", "studentized"])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_a_row_over_all_axes_is_the_pooled_decomposition(kind, level):
    answers = coded_answers(two_axes())
    axes = ("label_set", "option_order")
    found = level_limits(answers, ["regex"], kinds=[kind], levels=[level], pooled=axes, n_boot=400, seed=5)
    cells = decompositions(answers, "regex", level=level, n_boot=400, seed=5)
    for one in across_axes(cells, kind=kind, seed=5, n_boot=400):
        row = found.rows.index((ALL_AXES, one.extractor))
        for q, name in enumerate(QUANTITIES[:2] if one.is_reference else stated_names(one.item_values)):
            wanted = getattr(one, name)
            assert found.values[0, 0, row, q] == pytest.approx(wanted.value)
            assert (found.low[0, 0, 0, row, q, 0], found.high[0, 0, 0, row, q, 0]) == pytest.approx((wanted.low, wanted.high))


@pytest.mark.slow
def test_a_closed_gate_withholds_every_sentence_of_its_rows():
    made = board(study(), str, closed_gates={"option_order": "Nobody reviewed it."})
    said = [text for row in rows_of(made) for text in row["sentences"].values() if "reference extractor" not in text]
    assert said and all(text == "Not claimed: Nobody reviewed it." for text in said)
    assert headline_of(made)["sentence"] == [[0, "Not claimed: Nobody reviewed it."]]
    assert headline_of(made)["rows"] == [[0, None]]


@pytest.mark.slow
def test_without_a_written_answer_board_and_table_take_the_same_reference():
    answers = coded_answers(
        frame([row for i in range(12) for e in ("first_token", "cloze") for row in asked(f"i{i}", "AB", extractor=e)])
    )
    assert board(answers, str)["choices"][0]["chosen"] == "cloze"


def test_few_items_are_said_to_make_the_band_hold_less_often():
    few, many = (band_words(decompositions(study(n), "regex")) for n in (20, 40))
    assert "with fewer than 40 items, as here, less often than the level says" in few and "fewer" not in many


@pytest.mark.slow
def test_the_band_holds_for_everything_at_once_from_the_number_of_items_on_that_is_said():
    """Of 150 samples at least 90%: a nominal 95% falls below it in one of 200 test runs."""

    def limits_and_truth(n, seed, n_boot):
        rows = planted_readouts(n, PlantedTruth(0.3, 0.1), generator(seed, "band"), names=("first_token", "regex"))
        return board(coded_answers(rows), str, simultaneous=True, n_boot=n_boot)

    truth = limits_and_truth(20_000, 1, 19)
    n_held, at = 0, LEVELS.index(0.95)
    for seed in range(150):
        held = True
        made = limits_and_truth(BAND_HOLDS_FROM, 1_000 + seed, 599)
        for name in made["intervals_by_row"]["parts"]:
            low, high = (limits(made, side, name)[..., at] for side in ("low", "high"))
            rows = intervals(truth, name)
            true = np.array([[row[quantity]["value"] for row in rows] for quantity in WHISKERS], dtype=float)
            held &= not ((low > true + 0.003) | (high < true - 0.003)).any()
        n_held += held
    assert n_held >= 135
