"""What a reader must know of how requests came to the servers."""

from typing import Any

from vramledger.engine.setting import Layout
from vramledger.simulate.routing.least_loaded import PUBLISHED_EVERY_NS
from vramledger.simulate.routing.prefix_aware import MOST_APART, MOST_TIMES, SHARE
from vramledger.simulate.routing.registry import LEAST_LOADED, PREFIX_AWARE, ROUND_ROBIN
from vramledger.simulate.serving import Serving
from vramledger.simulate.split.run import Split

_ROUTERS = {
    LEAST_LOADED: (
        "Each request goes to the engine with the least waiting x 4 + running, by counts that are up to "
        f"{PUBLISHED_EVERY_NS // 1_000_000} ms old, as vLLM's front end chooses among its data-parallel engines."
    ),
    PREFIX_AWARE: (
        "Each request goes to the engine that was sent the longest prefix of it, where that is more than "
        f"{SHARE:.0%} of its prompt; else, and while loads are more than {MOST_APART} requests and {MOST_TIMES:g} times "
        "apart, to the least loaded: the rule of the SGLang and vLLM routers."
    ),
}


def serving_document(serving: Serving) -> dict[str, Any]:
    """The same as keys of a JSON object; null where there is no closed loop or no prefill server."""
    split = serving.split
    return {
        "router": serving.router,
        "closed": serving.closed,
        "prefill_servers": None if split is None else split.prefill,
        "kv_link_gib_s": None if split is None else split.link.gib_per_s,
        "kv_link_ms": None if split is None else split.link.latency_ns / 1e6,
    }


def serving_remarks(serving: Serving, engines: int, layout: Layout) -> tuple[str, ...]:
    """Sentences on pipeline stages, the router, closed loops, and prefill servers."""
    dp, found = layout.dp, []
    if layout.pp > 1:
        found.append(
            f"Each step passes {layout.pp} pipeline stages that take equal shares of its time, up to {layout.pp} steps at "
            "once; a request is in one of them, and what stages send each other is not in the step time."
        )
    if serving.closed is not None:
        requests = "request" if serving.closed == 1 else "requests"
        found.append(
            f"A closed loop of {serving.closed:,} {requests} in flight: the workload's order is kept, its times "
            "of arrival are not."
        )
    if engines > 1 and serving.router in _ROUTERS:
        found.append(_ROUTERS[serving.router])
    if dp > 1 and serving.router == ROUND_ROBIN:
        found.append(
            "Data-parallel engines take turns here; vLLM itself sends to the least loaded, which --router "
            f"{LEAST_LOADED} simulates."
        )
    return (*found, *(() if serving.split is None else _split(serving.split)))


def _split(split: Split) -> tuple[str, ...]:
    link = split.link
    return (
        (
            "TTFT counts from sending to the first token of the decode server: queue, prompt, transfer of its KV "
            "cache, and the last prompt token again."
        ),
        (
            f"Each server's link carries {link.gib_per_s:g} GiB/s in each direction, one cache at a time, and "
            f"every transfer takes {link.latency_ns / 1e6:g} ms more (assumed, as given)."
        ),
        "The line of theory and the safe load count the decode servers only, as if they computed prompts too.",
    )
