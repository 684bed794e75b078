"""Several engines behind a router: who gets which request, and all of them in one order of time."""
