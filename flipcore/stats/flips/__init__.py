"""Flips: answers that change, and the part of them that the model or the extractor causes."""
