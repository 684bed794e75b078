"""GPU memory for LLM serving, kept like an account book."""

__version__ = "0.1.0"
