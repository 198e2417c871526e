"""The Ranking page and its cached reports."""
