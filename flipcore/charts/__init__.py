"""Plotly figures of numbers that other packages compute. Only theme.py chooses the colours."""
