"""What may be passed on: a licence that is known and allows changed copies."""

from flipcore.datasets.licenses import license_of, may_be_passed_on


def test_a_licence_that_is_unknown_or_forbids_changed_copies_lets_nothing_out():
    assert [may_be_passed_on(one) for one in ("mit", "cc-by-nd-4.0", "", "other", "unknown")] == [True, *[False] * 4]


def test_a_dataset_that_names_a_licence_is_not_declared_another():
    assert license_of("gsm8k", "cc-by-nd-4.0") == "mit"
    assert license_of("file", "cc-by-4.0") == license_of("of nobody", "cc-by-4.0") == "cc-by-4.0" and license_of("file") == ""
