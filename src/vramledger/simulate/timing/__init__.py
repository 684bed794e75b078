"""Seconds of an engine step from the physical work of one GPU, and what follows for a steady load.

`work` says what a GPU has to do, `step` what that takes, `closed_loop` what a load of equal requests
sees, `predict` puts them together. Only `coefficients.toml` is fitted.
"""
