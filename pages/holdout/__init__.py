"""The Holdout page and its parts."""
