"""Several models on the same items: their order under all prompts and extractors, and the
confidence in that order."""
