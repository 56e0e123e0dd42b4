"""Presentation of scores: tables, JSON, CSV, Markdown, plots and an HTML page.

Nothing is computed here; the metrics are defined in `evaluation`.
"""
