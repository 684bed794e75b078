"""A workload against a live server, everything recorded on one clock."""
