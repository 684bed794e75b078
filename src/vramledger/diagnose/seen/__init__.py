"""What was seen of a run, all of it in the same windows of time."""
