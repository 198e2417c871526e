"""The contracts of models and detectors, over all that are there; those of axes, extractors and datasets stand in their folders."""

import asyncio

import pandas as pd
import pytest

from flipcore.core.contracts import Backend
from flipcore.core.records import ABILITIES, Call, Completion, Request
from flipcore.detectors import DropGap, Pearl, PublishedScore, detectors
from flipcore.detectors.completion import Completed
from flipcore.detectors.hardness_curve import HardnessCurve
from flipcore.detectors.losses import OverReference
from flipcore.models import BACKENDS, model_cards, open_backend
from flipcore.stats.memory import frames
from flipcore.stats.memory.members import Members
from tests.reports.test_memory_headline import COLUMNS, rows_of

HERE = [name for name, card in model_cards().items() if card.backend != "openai_compatible"]


@pytest.mark.parametrize("kind", BACKENDS.values(), ids=BACKENDS)
def test_a_kind_of_model_says_what_it_is(kind):
    assert BACKENDS[kind.name] is kind and kind.title and kind.about.endswith(".")
    assert all(card.backend == kind.name for card in kind.cards)


@pytest.mark.parametrize("name", HERE)
def test_a_model_answers_a_call_with_a_completion_of_that_call_and_says_what_it_lacks(name):
    backend = open_backend(name)
    assert isinstance(backend, Backend) and backend.name == name and backend.revision
    assert backend.abilities <= set(ABILITIES) and backend.abilities and backend.down == backend.trouble == ""
    assert all(backend.why_not(one).endswith(".") for one in set(ABILITIES) - backend.abilities)
    call = Call(name, backend.revision, Request("generate", "Which? A. tin B. oak\nAnswer:", max_tokens=4))

    async def asked():
        completion = await backend.complete(call)
        await backend.close()
        return completion

    completion = asyncio.run(asked())
    assert isinstance(completion, Completion) and completion.call_id == call.call_id and completion.status in ("ok", "failed")
    assert completion.error if completion.status == "failed" else completion.text


def frame_of(detector):
    """20 judged items of which the model knows the published form, and 30 controls."""
    if isinstance(detector, HardnessCurve):  # six reference models of other strengths, to which both sets are alike
        frame = pd.DataFrame(rows_of("number", "identity", "regex", True, False), columns=COLUMNS)
        right = {f"{frames.RIGHT_PREFIX}{k}": frame["item_id"].str[6:].astype(int) % 8 < k for k in range(1, 7)}
        frame["is_correct"] = frame["role"] == "benchmark"
        return frame.assign(**{name: one.astype(float) for name, one in right.items()})
    if isinstance(detector, DropGap | PublishedScore):
        rows = rows_of("number", detector.axis or "identity", "regex", True, False)
    elif isinstance(detector, Pearl):
        rows = rows_of("completion", detector.axis, detector.measure, 1.0, 0.1)
    else:
        rows = rows_of("number", detector.axis or "paraphrase", detector.measure, 1.0, 5.0)
    frame = pd.DataFrame(rows, columns=COLUMNS)
    # a reference model to which the benchmark is as new as the controls
    return frame.assign(reference=5.0) if isinstance(detector, OverReference) else frame


@pytest.mark.slow
@pytest.mark.parametrize("detector", detectors(), ids=lambda one: one.name)
def test_a_detector_says_what_it_is_and_hands_over_evidence(detector):
    assert detector.title and detector.about.endswith(".") and detector.unit and detector.null
    frame = frame_of(detector)
    assert detector.is_in(frame) and not detector.is_in(frame.head(0))
    evidence = detector.evidence(frame, ["benchmark"], ["control"], Members("random"))
    assert sum(one is not None for one in (evidence.gap, evidence.score, evidence.curve, evidence.set_test)) == 1
    assert detector.evidence(frame.head(0), ["benchmark"], ["control"], Members("random")) is None


@pytest.mark.parametrize("detector", detectors(), ids=lambda one: one.name)
def test_the_score_of_a_detector_is_large_where_memory_is_suspected(detector):
    frame = frame_of(detector)
    mine, other = (detector.scores(frame, [role]) for role in ("benchmark", "control"))
    assert {"item_id", "d"} <= set(mine.columns) and len(mine) == 20 and mine["item_id"].is_unique
    if detector.axis and not isinstance(
        detector, Completed
    ):  # what needs no second wording is the same on both sides of these rows
        assert mine["d"].min() > other["d"].max()
