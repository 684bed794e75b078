"""Many predictions at once: one JSON object a line, as tables of measured runs have them."""
