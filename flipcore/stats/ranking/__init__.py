"""Several models on the same items: their order under every way of asking and reading, and what that order is worth."""
