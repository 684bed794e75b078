"""Prompts of exact lengths that share what the workload says they share."""
