"""Blocks of a decoder layer: attention and feed-forward variants with their weights and caches."""
