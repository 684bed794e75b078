"""Live traffic passed through unchanged to A, a share of it also put to B, and the answers compared."""
