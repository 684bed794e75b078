"""A trial from its first question to its closed record: server, load, workers, sampler."""
