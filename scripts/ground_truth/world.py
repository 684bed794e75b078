"""A world: requests, an engine, what is around it, and everything that a trial would have recorded of it."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ground_truth.engine import Engine, Served, Warp, serve
from ground_truth.front import FrontEnd, backlog, taken_in
from vramledger.simulate.prefixes import Prefixes

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass
class Around:
    """What is around an engine. Seconds; `fetch_s` and `late_s` by request."""

    front: FrontEnd = field(default_factory=lambda: FrontEnd(0.0008, 0.0006, 0.00002))
    way_s: float = 0.0002  # one way
    jitter: float = 0.1
    fetch_s: Array | None = None
    late_s: Array | None = None
    slow_reader: float = 0.0  # of the client: seconds of its core a token
    warp: Warp = field(default_factory=Warp.none)
    prefixes: Prefixes | None = None


@dataclass
class Seen:
    """Stamps of the client and the engine, by request, in seconds; `stamps` are those of each token at the client."""

    due_s: Array
    dispatched_s: Array
    headers_s: Array
    reached_s: Array  # the front end
    first_s: Array
    last_s: Array
    stamps: list[Array]
    chunk_tokens: list[Array]
    served: Served
    inputs: Array
    outputs: Array
    edges: Array
    front_busy: Array
    client_busy: Array


def played(
    draw: np.random.Generator,
    engine: Engine,
    around: Around,
    due_s: Array,
    inputs: Array,
    outputs: Array,
) -> Seen:
    """The requests through all of it. The front end's load of tokens comes from a first pass, in which it takes no time."""
    count = len(due_s)
    dispatched = due_s + (
        around.late_s if around.late_s is not None else draw.gamma(2.0, 0.0001, count)
    )
    way = around.way_s * (1 + around.jitter * draw.gamma(1.0, 1.0, (2, count)))
    reached = dispatched + way[0]
    fetch = np.zeros(count) if around.fetch_s is None else around.fetch_s
    first_pass = serve(engine, reached + fetch, inputs, outputs, around.warp, around.prefixes)
    edges = np.arange(0.0, float(np.nanmax(first_pass.step_end_s)) + 60.0, 0.5)
    tokens = first_pass.steps["decode_tokens"]
    written = (
        np.histogram(first_pass.step_end_s, edges, weights=tokens)[0]
        * around.front.token_s
        / np.diff(edges)
    )
    handed = taken_in(around.front, reached, inputs, edges, written) + fetch
    served = serve(engine, handed, inputs, outputs, around.warp, around.prefixes)
    busy = around.front.busy(
        edges, reached, inputs, served.step_end_s, served.steps["decode_tokens"]
    )
    client = (
        np.histogram(served.step_end_s, edges, weights=served.steps["decode_tokens"])[0]
        * around.slow_reader
        / np.diff(edges)
    )
    late_s = backlog(edges, busy) + backlog(edges, client)
    ends = served.step_end_s
    stamps, sizes = [], []
    for place in range(count):
        times = _token_times(served, ends, place, int(served.requests["output_tokens"][place]))
        out = times + way[1][place] + np.interp(times, edges, late_s) + around.front.token_s
        out = np.maximum.accumulate(out)
        chunk, size = _merged(out, np.interp(times, edges, late_s))
        stamps.append(chunk)
        sizes.append(size)
    first = np.array([each[0] if len(each) else np.nan for each in stamps])
    last = np.array([each[-1] if len(each) else np.nan for each in stamps])
    headers = np.minimum(handed + way[1], first)
    return Seen(due_s, dispatched, headers, reached, first, last, stamps, sizes, served, inputs, outputs, edges, busy, client)  # fmt: skip


def _token_times(served: Served, ends: Array, place: int, tokens: int) -> Array:
    """The ends of the steps that made its tokens; a pause after a preemption lies in the middle."""
    row = served.requests[place]
    if row["first_token_step"] < 0 or tokens < 1:
        return np.zeros(0)
    steps = np.arange(row["first_token_step"], row["last_token_step"] + 1)
    if len(steps) > tokens:
        half = tokens // 2
        steps = np.concatenate((steps[: tokens - half], steps[len(steps) - half :]))
    return ends[steps]


def _merged(out: Array, late_s: Array) -> tuple[Array, Array]:
    """Tokens that wait together go out together."""
    if len(out) < 2 or float(late_s.max(initial=0.0)) < 0.05:
        return out, np.ones(len(out), np.int64)
    gap = float(np.median(np.diff(out))) or 0.01
    group = max(int(min(late_s.mean() / max(gap, 1e-3), 8)), 1)
    starts = np.arange(0, len(out), group)
    ends = np.minimum(starts + group, len(out)) - 1
    return out[ends], ends - starts + 1
