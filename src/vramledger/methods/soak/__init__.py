"""Whether a server holds for hours: the same load again and again, and what grows meanwhile."""
