"""Several models: the page and its parts."""
