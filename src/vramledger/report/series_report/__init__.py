"""Runs that belong together on one page: repetitions, the steps of a ramp, the segments of a soak."""
