"""What a run is, simulated or measured: its records, its directory, and what follows from them."""
