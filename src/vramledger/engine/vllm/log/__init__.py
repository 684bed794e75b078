"""vLLM's start-up log: lines, the readings in them, and the launch they betray."""
