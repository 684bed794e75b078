"""A workload's profile as one page that loads nothing: script, style and numbers are inside it."""
