"""vLLM: versions, arguments, memory rules, KV planning and log lines."""
