"""The page of a search for the knee: the finding, the curve, and the run at the load that was found."""
