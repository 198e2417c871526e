"""The page of what was decided, from what, and what was left open."""
