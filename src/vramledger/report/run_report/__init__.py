"""The report of runs: one model, written as a page, as Markdown and as JSON (``vram report``)."""
