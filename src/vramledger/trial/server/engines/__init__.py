"""One module an engine: how it is recognised, and what its own addresses tell."""
