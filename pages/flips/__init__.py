"""The parts of the Flips page: the map of items and changes, and the board of what is the model and
what the extractor.
"""
