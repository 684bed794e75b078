"""Fits the step time to measured servers and writes coefficients and error tables."""
