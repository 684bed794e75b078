"""A server's metrics page read rightly: each figure in one line, and the traps that lie in it."""
