"""What the Memorization page calls its parts, and kinds of items."""

PARTS = {
    "summary": "Summary",
    "gap": "Drop gap",
    "loss": "Loss test",
    "pearl": "PEARL",
    "agreement": "Do they agree?",
    "truth": "Ground truth",
}  # a link names a part by its title
KINDS = {"number": "Problems", "choice": "Choices", "completion": "Passages"}


def detector_title(title: str) -> str:
    """A detector's title at the head of a row or a control."""
    return f"{title[:1].upper()}{title[1:]}"
