"""Errors whose text is a sentence for the user: what is wrong, what was expected, what to do.

Pages show the sentences as they are.
"""


class FlipscopeError(Exception):
    """Base of all errors that a user can cause and mend."""


class BadInput(FlipscopeError):
    """A file, a row or a setting that cannot be used."""


class MissingAbility(FlipscopeError):
    """A model lacks an ability; the readout is absent, never guessed."""


class MissingPackage(FlipscopeError):
    """An optional package is not installed; the sentence names the requirements file."""


class StoreHeld(FlipscopeError):
    """Another process holds the database file; `holder` says which one."""

    def __init__(self, sentence: str, holder: str = "") -> None:
        super().__init__(sentence)
        self.holder = holder or sentence


class OverBudget(FlipscopeError):
    """A study would cost, or has cost, more than its cap."""


class NotStored(FlipscopeError):
    """The disk is full: rows or a file were not written, and no part of them is left."""


class AccessDenied(FlipscopeError):
    """The current person may not do or read this; nothing was changed."""
