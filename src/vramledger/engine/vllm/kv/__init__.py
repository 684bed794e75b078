"""vLLM's KV cache planning: pages, groups, blocks, and what a request takes of them."""
