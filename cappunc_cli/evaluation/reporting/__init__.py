"""Scores as people and programs read them: tables, JSON, CSV, Markdown, drawings, one HTML page.

Nothing is counted here; what a figure means is in the folder above.
"""
