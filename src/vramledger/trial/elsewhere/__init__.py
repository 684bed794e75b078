"""Client workers on other machines: the machines of a Ray cluster, on the clock of the run."""
