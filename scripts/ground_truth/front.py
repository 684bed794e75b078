"""What lies between client and engine: a front end with one core, a way, a fetch; and a client with one core."""

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


def one_server(arrival_s: Array, work_s: Array) -> Array:
    """When each job of a first-come queue with one server is done; jobs by arrival."""
    order = np.argsort(arrival_s, kind="stable")
    done = np.empty(len(arrival_s))
    free = -np.inf
    for at in order:
        free = max(free, arrival_s[at]) + work_s[at]
        done[at] = free
    return done


@dataclass
class FrontEnd:
    """Seconds of one core: for a request, for a thousand tokens of its prompt, for each token that is sent on."""

    request_s: float
    thousand_tokens_s: float
    token_s: float

    def work(self, inputs: Array) -> Array:
        """Of taking requests in."""
        return self.request_s + self.thousand_tokens_s * inputs / 1000

    def busy(
        self, edges: Array, sent_s: Array, inputs: Array, token_s: Array, tokens: Array
    ) -> Array:
        """The share of the core that it needs in each part of the time."""
        widths = np.diff(edges)
        taken = np.histogram(sent_s, edges, weights=self.work(inputs))[0]
        written = np.histogram(token_s, edges, weights=tokens)[0] * self.token_s
        return (taken + written) / widths


def taken_in(
    front: FrontEnd, reached_s: Array, inputs: Array, edges: Array, tokens_busy: Array
) -> Array:
    """When the front end has handed each request to the engine; the tokens that it sends on meanwhile slow that down."""
    at = np.clip(np.searchsorted(edges, reached_s, side="right") - 1, 0, len(tokens_busy) - 1)
    left = np.maximum(1 - tokens_busy[at], 0.05)
    return one_server(reached_s, front.work(inputs) / left)


def backlog(edges: Array, busy: Array) -> Array:
    """Seconds of work that wait at each edge: what comes beyond one core piles up; below, as in an M/M/1 queue of short jobs."""
    piled = np.zeros(len(edges))
    for place, width in enumerate(np.diff(edges)):
        piled[place + 1] = max(piled[place] + (busy[place] - 1) * width, 0.0)
    return piled
