"""Paraphrases made by a model, checked by rule, waiting for review."""

from flipcore.annotation.proposals.checks import checks, overlap
from flipcore.annotation.proposals.proposing import Proposal, expected, maker, propose
from flipcore.annotation.proposals.recipes import RECIPES, Recipe

__all__ = ["RECIPES", "Proposal", "Recipe", "checks", "expected", "maker", "overlap", "propose"]
