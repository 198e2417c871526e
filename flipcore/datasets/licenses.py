"""Under which licence items may be passed on: that of their dataset, or what the user declares for a file of their own."""

from flipcore.datasets import LOADERS

UNKNOWN = "unknown"


def may_be_passed_on(license: str) -> bool:
    """Tell whether a licence lets others have changed copies of the items: it is known and does not forbid derivatives."""
    return bool(license) and "-nd" not in license and license not in ("other", UNKNOWN)


def license_of(dataset: str, declared: str = "") -> str:
    """The licence that a dataset names; `declared` where it names none, which is "" where nobody knows."""
    return (LOADERS[dataset].license if dataset in LOADERS else "") or declared
