"""Runs held against the contract of a plan: PASS, FAIL or INCONCLUSIVE for every line, with an interval and a reason."""
