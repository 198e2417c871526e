"""Errors are sentences: what came, what was wanted, what to do. Pages show them as they are."""


class FlipscopeError(Exception):
    """Base of every error that a user may cause and can mend."""


class BadInput(FlipscopeError):
    """A file, a row or a setting that cannot be used."""


class MissingAbility(FlipscopeError):
    """A model cannot do what was asked of it; the readout is absent, never guessed."""


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
    """The disk is full: rows or a file were not written, and nothing of them is left."""


class AccessDenied(FlipscopeError):
    """The person who acts may not do or read this; nothing was changed."""
