"""Meetings: one person presents a page and its threshold, others see both while they move.

Rooms live in the server's memory.
"""
