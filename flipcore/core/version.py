"""The version, which reports, databases and exports name."""

__version__ = "0.1.0"
