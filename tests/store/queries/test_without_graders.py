"""Readouts of which flips are made: those of scorers that give grades are left out."""

import pandas as pd

from flipcore.store.queries import scores, studies


def frame_of(*extractors):
    return pd.DataFrame({"item_id": [*"abc"][: len(extractors)], "extractor": pd.Categorical(extractors)})


def test_graders_are_left_out_and_others_stay(store, monkeypatch):
    study = type("Declared", (), {"scorers": ()})()
    monkeypatch.setattr(studies, "study", lambda store, study_id: study)
    frame = frame_of("regex", "judge", "regex")
    monkeypatch.setattr(scores, "graders", lambda *asked: ("judge",))
    kept = studies.without_graders(store, "s", frame)
    assert kept["item_id"].tolist() == ["a", "c"] and kept["extractor"].cat.categories.tolist() == ["regex"]
    monkeypatch.setattr(scores, "graders", lambda *asked: ())
    assert studies.without_graders(store, "s", frame) is frame
    monkeypatch.setattr(studies, "study", lambda store, study_id: None)
    assert studies.without_graders(store, "s", frame) is frame
