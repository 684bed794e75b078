"""The same results as the plain loop, compiled: `simulate.simulate_fast` is the way in.

`counting` counts blocks where it does not matter which they are and moves all decodes of a step at
once; `blocks` follows every block. What neither does is refused by name (`refusals`), and the plain loop does it.
Import these modules only to simulate: numpy and numba are heavy.
"""
