"""A whole engine block by block and request by request, as the plain loop has it, compiled.

For full attention with prefix caching, priorities, thresholds, drafts and clients that go away. Each
module answers to one of the plain simulator: `pool` to `cache.pool`, `tables` to `cache.group` and
`cache.kv_cache`, `running` and `admission` to those of the same name, `settle` to `scheduler`, `run` to `loop`.
"""
