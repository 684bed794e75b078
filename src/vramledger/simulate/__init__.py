"""vLLM's scheduler, step for step, and the engine loop around it.

`loop.simulate` runs requests through a scheduler in simulated time; `scheduler.Scheduler` decides
one step; `cache/` holds every block; `oracle` answers cases step by step, as the real one does.
"""
