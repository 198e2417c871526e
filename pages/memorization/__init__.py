"""The Memory page and its parts."""
