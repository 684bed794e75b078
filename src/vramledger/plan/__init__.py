"""The plan: what must be served, how long its requests are, and what may be chosen."""
