"""The parts of the Paraphrase review page."""
