"""``--router``, ``--closed``, ``--prefill-servers``: several servers, and how requests come to them."""

from collections.abc import Callable, Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from vramledger.errors import BadInput

if TYPE_CHECKING:
    from vramledger.simulate.serving import Serving

_MOST_IN_FLIGHT: Final = 1_000_000
_MOST_SERVERS: Final = 1024
_MOST_GIB_S: Final = 1e6
_MOST_MS: Final = 60_000.0
_COMMAND = TypeVar("_COMMAND", bound=Callable[..., Any])
_OPTIONS: Final = (
    click.option(
        "--router",
        type=click.Choice(["round-robin", "least-loaded", "prefix-aware"]),
        default="round-robin",
        help="Who gets a request, of replicas and data-parallel engines; round-robin by default.",
    ),
    click.option(
        "--closed", type=int, help="Requests in flight, in place of the workload's own arrivals."
    ),
    click.option(
        "--prefill-servers",
        type=int,
        help="Servers that compute prompts only; the replicas then compute answers only.",
    ),
    click.option(
        "--kv-link-gib-s",
        type=float,
        help="GiB/s of a server's link, over which the KV cache of prompts goes.",
    ),
    click.option(
        "--kv-link-ms",
        type=float,
        default=1.0,
        help="Latency of each such transfer in ms; 1 by default, an assumption.",
    ),
)


def routing_options(command: _COMMAND) -> _COMMAND:
    """The options, in the order of the list."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def routing_of(asked: Mapping[str, Any]) -> "Serving":
    """The options as a `simulate.serving.Serving`.

    Raises:
        BadInput: an option that means nothing, or two that exclude each other.
    """
    from vramledger.simulate.serving import Serving
    from vramledger.simulate.split.link import Link
    from vramledger.simulate.split.run import Split
    from vramledger.units import GIB

    if "router" not in asked:  # a verb without these options
        return Serving()
    closed, prefill, rate = asked["closed"], asked["prefill_servers"], asked["kv_link_gib_s"]
    _check_closed(asked)
    _check_link(asked)
    _check_alone(asked)
    split = None
    if prefill is not None:
        split = Split(prefill, Link(rate * GIB, round(asked["kv_link_ms"] * 1e6)))
    return Serving(asked["router"], closed, split)


def _check_alone(asked: Mapping[str, Any]) -> None:
    plain = asked["router"] == "round-robin" and asked["closed"] is None
    if plain and asked["prefill_servers"] is None:
        return
    if asked.get("trace") is not None or asked.get("policy") not in (None, "vllm"):
        raise BadInput(
            "Policies other than vllm, and traces of steps, take engines one by one; leave out --router, "
            "--closed and --prefill-servers, or --policy and --trace-steps."
        )


def _check_closed(asked: Mapping[str, Any]) -> None:
    closed = asked["closed"]
    if closed is None:
        return
    if not 1 <= closed <= _MOST_IN_FLIGHT:
        raise BadInput(
            f"--closed is {closed}; it must be a whole number of requests from 1 to {_MOST_IN_FLIGHT:,}."
        )
    if asked["rate_scale"] is not None:
        raise BadInput(
            "--closed sends a request when another ends, so there are no arrivals for --rate-scale to "
            "scale; give one of the two."
        )


def _check_link(asked: Mapping[str, Any]) -> None:
    prefill, rate, latency = (
        asked[name] for name in ("prefill_servers", "kv_link_gib_s", "kv_link_ms")
    )
    if prefill is None:
        if rate is not None:
            raise BadInput(
                "--kv-link-gib-s is the link from prefill to decode servers, and there are none; give "
                "--prefill-servers too, or leave it out."
            )
        return
    if not 1 <= prefill <= _MOST_SERVERS:
        raise BadInput(
            f"--prefill-servers is {prefill}; it must be a whole number from 1 to {_MOST_SERVERS}."
        )
    if rate is None:
        raise BadInput(
            "State the link between prefill and decode servers with --kv-link-gib-s; one 400 Gbit/s port "
            "carries at most 46.6."
        )
    if not (isfinite(rate) and 0 < rate <= _MOST_GIB_S):
        raise BadInput(
            f"--kv-link-gib-s is {rate:g}; it is a rate above 0 and up to {_MOST_GIB_S:g}."
        )
    if not (isfinite(latency) and 0 <= latency <= _MOST_MS):
        raise BadInput(f"--kv-link-ms is {latency:g}; it is a time from 0 to {_MOST_MS:g} ms.")
