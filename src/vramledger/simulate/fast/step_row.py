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


@compiled
def write_decodes(
    row: Any, step: int, start: int, end: int, requests: int, context: int, used_blocks: int
) -> None:
    """A step in which all that run decode a token each, and nobody waits."""
    row.number, row.start_ns, row.end_ns = step, start, end
    row.prefill_tokens = row.prefill_requests = row.prefill_pairs = 0
    row.decode_tokens = row.decode_requests = requests
    row.decode_context = context
    row.running, row.waiting = requests, 0
    row.used_blocks, row.preempted = used_blocks, 0
