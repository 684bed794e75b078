"""The KV cache as the scheduler sees it: a pool of blocks, what is in them, who holds them."""
