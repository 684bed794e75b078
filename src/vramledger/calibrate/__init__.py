"""What a run of one host teaches: step-time coefficients from the stamps of its requests."""
