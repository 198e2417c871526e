"""What the Memory page calls its parts, and kinds of items."""

from flipcore.reports.memory import NAMES

PARTS = {
    "summary": "Summary",
    "gap": "Drop gap",
    "loss": "Losses, completion",
    "pearl": "PEARL",
    "agreement": "Do they agree?",
    "truth": "Ground truth",
}  # a link names a part by its title
KINDS = {kind: f"{name[:1].upper()}{name[1:]}" for kind, name in NAMES.items()}


def set_title(kind: str) -> str:
    """Of what is compared as one set: a kind of items, or a task of a recording."""
    return KINDS.get(kind, kind)


def detector_title(title: str) -> str:
    """A detector's title at the head of a row or a control."""
    return f"{title[:1].upper()}{title[1:]}"
