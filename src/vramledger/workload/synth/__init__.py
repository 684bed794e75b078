"""Synthetic workloads: drawn from a profile or a description of rates, and how close they come."""
