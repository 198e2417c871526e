"""Cut answers and the drop gap: up to 5 % the decision stands, above it only what holds whatever they were."""

import pandas as pd
import pytest

from flipcore.stats.memory.gap_truncation import cut_share, gap_of_frame
from flipcore.stats.memory.members import Members

COLUMNS = ["role", "item_id", "axis", "variant", "sample", "extractor", "status", "is_correct"]


def frame_of(n_broken, n_cut, n=60, cut_role="benchmark", cut_variant="w"):
    """The benchmark loses `n_broken` of `n` answers, the control none; `n_cut` answers of one role and variant were cut off,
    from the end."""
    rows = []
    for role in ("benchmark", "control"):
        for i in range(n):
            for variant in ("base", "w"):
                cut = role == cut_role and variant == cut_variant and i >= n - n_cut
                right = not (role == "benchmark" and variant == "w" and i < n_broken)
                rows.append((role, f"{role}{i}", "paraphrase", variant, 0, "regex", "cut" if cut else "ok", right and not cut))
    return pd.DataFrame(rows, columns=COLUMNS)


def decided(frame):
    return gap_of_frame(frame, "paraphrase", "regex", ["benchmark"], ["control"], Members("random")).decided


def test_the_share_counts_the_answers_that_came_back():
    assert cut_share(frame_of(0, 12), "paraphrase", "regex", ("benchmark", "control")) == pytest.approx(12 / 240)
    assert cut_share(frame_of(0, 12), "paraphrase", "regex", ("control",)) == 0


def test_few_cut_answers_change_nothing():
    assert decided(frame_of(20, 12)).gap_90.method != "worst cases of cut answers"


def test_a_loss_that_cut_answers_alone_could_make_is_not_claimed():
    # 30 of the benchmark's rewritten answers were cut off and count as wrong: that is the whole of the drop
    decision = decided(frame_of(0, 30))
    assert decision.gap.value == pytest.approx(0.5) and not decision.is_larger
    assert decision.withheld.startswith("12 % of the answers were cut off, and they could change the verdict.")


def test_a_loss_that_holds_whatever_they_were_stays_with_the_largest_p():
    decision = decided(frame_of(40, 13))
    assert decision.is_larger and not decision.withheld and decision.gap_90.method == "worst cases of cut answers"
    assert decision.gap_90.low < 40 / 60 < decision.gap_90.high
    alone = decided(frame_of(40, 0))
    assert decision.p >= alone.p


def test_within_the_margin_must_hold_whatever_they_were():
    steady, cut = decided(frame_of(0, 0, n=400)), decided(frame_of(0, 90, n=400, cut_role="control"))
    assert -0.05 < steady.gap_90.low and steady.gap_90.high < 0.05
    assert cut.gap_90.low < -0.05
