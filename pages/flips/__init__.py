"""The Flips page: the map of items and changes, and the board of genuine flips and artifacts."""
