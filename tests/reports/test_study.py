"""A report on a study says which reference extractor it compares with, or that a model lacks it."""

from flipcore.reports.study import study_report
from tests.stats.flips.test_surface import asked, frame


def test_a_reference_that_a_model_lacks_is_said_and_nothing_is_claimed():
    made = frame([row for i in range(12) for e in ("first_token", "regex") for row in asked(f"i{i}", "AB", extractor=e)])
    made = made.assign(is_correct=1.0, variant_id=made["variant"])
    flips = study_report(made, "cloze")["m"]
    said = "\n".join(flips.lines())
    assert "Not claimed: the reference extractor" in said and "has no readouts here" in said
    assert "written answer" in said and "flip" not in said.lower().replace("flipped", "")
    assert flips.as_dict()["cells"] == [] and "cloze" in flips.as_dict()["not_claimed"][0]
    assert "cell" not in "\n".join(study_report(made)["m"].lines())
    assert study_report(made, "first_token")["m"].cells[0].reference == "first_token"


def test_a_default_reference_that_is_not_the_written_answer_is_said():
    made = frame([row for i in range(12) for e in ("first_token", "cloze") for row in asked(f"i{i}", "AB", extractor=e)])
    flips = study_report(made.assign(is_correct=1.0, variant_id=made["variant"]))["m"]
    assert "Reference extractor: " in "\n".join(flips.lines())
