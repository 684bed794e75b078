"""A whole engine block by block and request by request, as the plain loop has it, compiled.

For prefix caching, windows, recurrent states, priorities, thresholds, drafts and clients that go away. Each
module answers to one of the plain simulator: `pool` to `cache.pool`, `tables` to `cache.group` and
`cache.kv_cache`, `states` to `cache.state` and `cache.checkpoint`, `running`, `admission`, `chunks` and `boundaries` to
those of the same name, `settle` to `scheduler`, `run` to `engine_loop`. `calm` and `cruise` have no counterpart: they
leave out what changes nothing.
"""
