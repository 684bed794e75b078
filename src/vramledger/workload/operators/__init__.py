"""Operators: other workloads made of stored ones, streaming, with prefixes and sessions kept consistent."""
