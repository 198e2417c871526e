"""Plotly figures of frames of numbers. Colours and number formats are picked in theme.py alone."""
