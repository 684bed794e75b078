"""The row of a step, as both engines write it."""

from typing import Any

from vramledger.simulate.fast.compiled import compiled


@compiled
def write_row(rows: Any, state: Any, start: int) -> None:
    """Add the step that a state holds, begun at `start`, to the rows."""
    row = rows[state.rows]
    state.rows += 1
    row.number, row.start_ns, row.end_ns = state.step, start, state.device_free
    row.prefill_tokens = state.prefill_tokens
    row.prefill_requests = state.prefill_requests
    row.prefill_pairs = state.prefill_pairs
    row.decode_tokens = state.decode_tokens
    row.decode_requests = state.decode_requests
    row.decode_context = state.decode_context
    row.running, row.waiting = state.running, state.waiting
    row.used_blocks = state.usable_blocks - state.free
    row.preempted = state.preempted
