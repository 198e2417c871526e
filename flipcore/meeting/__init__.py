"""Meetings: one person presents a page and its thresholds, and others see both move.

Meeting rooms are kept in the server's memory.
"""
