import pytest

from flipcore.access.origins import is_same_origin


@pytest.mark.parametrize(
    ("origin", "host", "same"),
    [
        ("http://flips.example.org", "flips.example.org", True),
        ("https://Flips.example.org:8501", "flips.example.org:8501", True),
        ("https://evil.example.org", "flips.example.org", False),
        ("https://flips.example.org.evil.example", "flips.example.org", False),
        ("https://flips.example.org@evil.example", "flips.example.org", False),
        ("null", "flips.example.org", False),
        ("http://[", "flips.example.org", False),
        ("", "flips.example.org", False),
        ("", "", False),
    ],
)
def test_only_a_page_of_this_server_counts(origin, host, same):
    assert is_same_origin({"origin": origin, "host": host}) is same
