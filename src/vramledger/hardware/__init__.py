"""Hardware: accelerators, links and servers, with a source for every figure."""
