"""The simulator as a subject of methods."""
