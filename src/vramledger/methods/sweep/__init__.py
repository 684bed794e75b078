"""Many simulations of one workload that differ in settings: one change at a time, grids, a search."""
