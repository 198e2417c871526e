"""The licence of items: that of their dataset, or the one that a user declares for a file of their own."""

from flipcore.datasets import LOADERS

UNKNOWN = "unknown"


def may_be_passed_on(license: str) -> bool:
    """Tell whether a licence allows changed copies of items to be passed on: it is known and allows derivatives."""
    return bool(license) and "-nd" not in license and license not in ("other", UNKNOWN)


def license_of(dataset: str, declared: str = "") -> str:
    """Return the licence of a dataset, or else the `declared` one; "" for an unknown licence."""
    return (LOADERS[dataset].license if dataset in LOADERS else "") or declared
