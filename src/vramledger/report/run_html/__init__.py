"""A measured run, or a bundle of them, as one page that needs nothing else."""
