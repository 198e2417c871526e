"""Shared statistics: estimates, intervals, resampling, multiplicity, power, agreement."""
