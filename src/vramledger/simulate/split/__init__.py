"""Prompts computed on some servers and answers on others, with the cache sent over a link between them."""
