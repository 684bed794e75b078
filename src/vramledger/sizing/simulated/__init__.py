"""Candidates played in the simulator: speed and queue of what fits in memory."""
