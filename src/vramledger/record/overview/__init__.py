"""A run reduced to what a page can draw: some hundred points a curve, with the extremes kept."""
