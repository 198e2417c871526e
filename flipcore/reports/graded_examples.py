"""One answer that counts as right and one as wrong: they show whether a table was read as meant."""

from flipcore.core.records import Item
from flipcore.reports.whole_study import WholeStudy
from flipcore.store.queries.inspection import SampleView, inspection
from flipcore.text.answers import answer_text

# Characters of an output. Of a longer one the beginning and the end are shown, or what was read.
MAX_LENGTH = 60
BEGINNING, AROUND = 20, 25
MAX_TRIES = 5  # rows per outcome, of which some may lack an output
GRADES = ("right", "wrong")  # the answers of a readout that is a grade alone


def graded_examples(study: WholeStudy) -> str:
    """Return a sentence with a right and a wrong answer of the first model, as its score counts.

    "" where no answer is stored, as for a table of scores alone, and where some scores lie between
    right and wrong: what 0 means on such a scale is not known.
    """
    model = next(iter(study.models), None)
    model_score = study.score.find_model(model) if study.score and model else None
    if model is None or model_score is None:
        return ""
    frame = study.score_readouts
    is_of_score = (frame["model"] == model) & (frame["extractor"] == model_score.reference)
    readouts = frame[is_of_score]
    if (readouts["value"].notna() & readouts["is_correct"].isna()).any():
        return ""
    scorers = [str(scorer["scorer"]) for scorer in study.study.scorers]
    sentences = []
    for is_correct, word in ((True, "right"), (False, "wrong")):
        of_outcome = readouts[(readouts["is_correct"] == is_correct).to_numpy()].head(MAX_TRIES)
        columns = [of_outcome[name] for name in ("item_id", "axis", "variant_id", "sample")]
        for item_id, axis, variant_id, sample in zip(*columns, strict=True):
            seen = inspection(study.store, study.study_id, model, item_id, axis)
            variants = seen.variants if seen else ()
            variant = next((v for v in variants if v.variant_id == variant_id), None)
            if seen is None or variant is None:
                continue
            readings = [reading for reading in variant.readings if reading.sample == sample]
            # The score's own readout first: it may have no output, as where a column has grades.
            readings.sort(key=lambda reading: reading.extractor != model_score.reference)
            example = _example(seen.item, readings, is_graded=model_score.reference in scorers)
            if example:
                sentences.append(f"Counted as {word}: {example}.")
                break
    return " ".join(sentences)


def _example(item: Item, readings: list[SampleView], *, is_graded: bool) -> str:
    """Return an output with what was read in it and the right answer; "" without an output.

    Nothing is said of what was read if the score is a recorded grade, which stands for no text.
    """
    with_output = [reading for reading in readings if reading.text.strip()]
    answered = [r for r in readings if r.answer is not None and r.answer not in GRADES]
    if not with_output and not answered:
        return ""
    remarks = []
    if with_output:
        output = _excerpt(with_output[0])
        answer = readings[0].answer
        if answer is None and not is_graded:
            remarks.append("nothing was read")
        elif not is_graded and answer_text(item, answer) != with_output[0].text.strip():
            remarks.append(f"read as {_shortened(answer_text(item, answer))}")
    else:
        output = _shortened(answer_text(item, answered[0].answer))
    # Another person may have rated the same output otherwise.
    if readings[0].rater:
        remarks.append(f"rated by {_shortened(readings[0].rater)}")
    if item.target is not None:
        remarks.append(f"right answer: {_shortened(answer_text(item, item.target))}")
    return f'"{output}"' + (f" ({'; '.join(remarks)})" if remarks else "")


def _excerpt(reading: SampleView) -> str:
    """Return an output, shortened to what was read in it."""
    if reading.span is None or len(reading.text) <= MAX_LENGTH:
        return _shortened(reading.text)
    start = max(0, reading.span[0] - AROUND)
    end = min(len(reading.text), reading.span[1] + AROUND)
    before, after = "… " if start else "", " …" if end < len(reading.text) else ""
    return before + _shortened(reading.text[start:end]) + after


def _shortened(text: str) -> str:
    # An output may hold sequences that a terminal would obey.
    visible = "".join(letter if letter.isprintable() else " " for letter in text)
    words = " ".join(visible.split())
    if len(words) <= MAX_LENGTH:
        return words
    return f"{words[:BEGINNING].rstrip()} … {words[BEGINNING - MAX_LENGTH :].lstrip()}"
