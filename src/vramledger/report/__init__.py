"""Renderers of results: terminal, JSON and Markdown. No arithmetic here."""
