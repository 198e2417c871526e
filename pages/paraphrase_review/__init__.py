"""The Review page and its parts."""
