"""Readers of weight files: headers only, never a weight; every byte of input is untrusted."""
