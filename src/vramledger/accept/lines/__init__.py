"""Kinds of lines of a contract, one module each."""
