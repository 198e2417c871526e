"""The version, which reports, databases and exports name."""

__version__ = "0.2.0"
