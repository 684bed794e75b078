"""One module a cause: what must be seen of it, and the one change to try next."""
