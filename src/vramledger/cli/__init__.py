"""The command line: one file a verb; parse, call, render, exit code."""
