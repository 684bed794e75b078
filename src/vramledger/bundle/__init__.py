"""Runs sealed as evidence: a bundle that anyone can check, and the verdict made again from it."""
