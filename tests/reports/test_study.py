"""A report on a study says which reference extractor it compares with, or that a model lacks it."""

from flipcore.reports.study import study_report
from tests.stats.flips.test_surface import asked, frame


def test_a_reference_that_a_model_lacks_is_said_and_nothing_is_claimed():
    made = frame([row for i in range(12) for e in ("first_token", "regex") for row in asked(f"i{i}", "AB", extractor=e)])
    made = made.assign(is_correct=1.0, variant_id=made["variant"])
    report = study_report(made, "cloze")
    assert "Not claimed: the reference extractor" in report.text() and "has no readouts here" in report.text()
    assert "written answer" in report.text() and "flip" not in report.text().lower().replace("flipped", "")
    (model,) = report.as_dict()["models"].values()
    assert model["cells"] == [] and "cloze" in model["not_claimed"][0]
    assert (
        "cell" not in study_report(made).text()
        and study_report(made, "first_token").decompositions["m"][0].reference == "first_token"
    )


def test_a_default_reference_that_is_not_the_written_answer_is_said():
    made = frame([row for i in range(12) for e in ("first_token", "cloze") for row in asked(f"i{i}", "AB", extractor=e)])
    assert "Reference extractor: " in study_report(made.assign(is_correct=1.0, variant_id=made["variant"])).text()
