"""Logs and traces become a de-identified workload: rows, profile, scenarios, synthesis."""
