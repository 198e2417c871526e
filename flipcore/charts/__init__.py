"""Frames in, Plotly figures out. Colours and number formats are picked in theme.py alone."""
