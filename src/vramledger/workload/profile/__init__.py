"""What the requests of a workload look like: integer aggregates, and figures made of them."""
