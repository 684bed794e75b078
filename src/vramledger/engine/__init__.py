"""Serving engines: what a launch command means, and the rules each engine applies to memory."""
