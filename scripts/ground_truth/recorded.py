"""A world as the directory of a measured trial: requests, the server's pages, the GPU, the client's machine."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ground_truth.engine import Engine
from ground_truth.world import Seen
from vramledger.record.computed_run import ComputedRun
from vramledger.record.document import Deployment, Description, Origin
from vramledger.record.outcome import Outcome
from vramledger.record.requests import RequestRecord
from vramledger.record.samples import GpuSample, MetricKind, Sample

Array = np.ndarray[Any, np.dtype[Any]]
GIB = 1 << 30


@dataclass
class Host:
    """What the machines did beside serving; arrays by page."""

    others_bytes: Array | None = None
    leak_bytes: Array | None = None
    host_leak_bytes: Array | None = None
    cache_bytes: Array | None = None  # of the allocator, on top of what is used
    free_bytes: float | None = None  # at rest; None: as the utilisation leaves
    others_busy: Array | None = None
    tells_ours: bool = True
    tells_gpu: bool = True
    client_cpu: Array | None = None
    retransmits: Array | None = None
    scrape_s: float = 0.004
    uptime_s: float | None = 7200.0
    extra: dict[str, Any] = field(default_factory=dict)


def write(
    folder: Path,
    engine: Engine,
    seen: Seen,
    host: Host,
    draw: np.random.Generator,
    every_s: float = 1.0,
) -> Path:
    """The run's folder."""
    end = float(np.nanmax(np.concatenate((seen.last_s, seen.due_s)))) + 1
    pages = np.arange(0.0, end, every_s) + draw.uniform(0, 0.02, len(np.arange(0.0, end, every_s)))
    with ComputedRun(folder, _described(engine, host)) as run:
        for record in _requests(seen):
            run.append(record)
        for sample in _server(engine, seen, host, pages, draw):
            run.append(sample)
        for gpu in _gpu(engine, seen, host, pages, draw) if host.tells_gpu else ():
            run.append(gpu)
    return folder


def _described(engine: Engine, host: Host) -> Description:
    deployment = engine.deployment
    said = Deployment(
        engine="vllm", engine_version=deployment.version, model=deployment.model.id, gpu=deployment.accelerator.name,
        arguments={"tensor-parallel-size": deployment.layout.tp, "max-num-seqs": engine.settings.max_num_seqs,
                   "max-num-batched-tokens": engine.settings.token_budget, "max-model-len": engine.settings.max_model_len},
        uptime_s=host.uptime_s,
    )  # fmt: skip
    return Description(
        origin=Origin.MEASURED, name="a world", seed=1, asked=said, in_effect=said, **host.extra
    )


def _requests(seen: Seen) -> list[RequestRecord]:
    found = []
    for place in range(len(seen.due_s)):
        tokens = int(seen.served.requests["output_tokens"][place])
        stamps, whole = seen.stamps[place], int(seen.outputs[place])
        first, last = (float(stamps[0]), float(stamps[-1])) if len(stamps) else (None, None)
        offsets = (
            tuple(np.rint((stamps - stamps[0]) * 1e6).astype(np.int64).tolist())
            if len(stamps)
            else None
        )
        found.append(
            RequestRecord(
                place, row=place, due_s=float(seen.due_s[place]), dispatched_s=float(seen.dispatched_s[place]),
                headers_s=float(seen.headers_s[place]) if first is not None else None, first_byte_s=first, first_content_s=first, first_answer_s=first,
                last_content_s=last, done_s=None if last is None else last + 0.001, chunk_offset_us=offsets,
                chunk_tokens=tuple(seen.chunk_tokens[place].tolist()) if len(stamps) else None,
                input_tokens_asked=int(seen.inputs[place]), input_tokens_got=int(seen.inputs[place]) if first is not None else None,
                output_tokens_asked=whole, output_tokens_got=tokens if first is not None else None,
                tokens_basis="usage" if first is not None else None, outcome=Outcome.OK if tokens >= whole else Outcome.INCOMPLETE,
                http_status=200, cached_tokens=int(seen.served.requests["hit_tokens"][place]) if first is not None else None,
            )
        )  # fmt: skip
    return sorted(found, key=lambda one: (one.due_s, one.request_id))


def _server(
    engine: Engine, seen: Seen, host: Host, pages: Array, draw: np.random.Generator
) -> list[Sample]:
    served, steps = seen.served, seen.served.steps
    ends = served.step_end_s
    at = np.searchsorted(ends, pages, side="right") - 1
    usable = engine.settings.num_blocks - 1
    idle = (at < 0) | (at == len(ends) - 1)

    def gauge(name: str) -> Array:
        return np.where(idle, 0, steps[name][np.maximum(at, 0)])

    gauges = {"vllm:num_requests_running": ("running", gauge("running")), "vllm:num_requests_waiting": ("waiting", gauge("waiting")),
              "vllm:kv_cache_usage_perc": ("kv_usage", gauge("used_blocks") / usable)}  # fmt: skip
    counters = _counters(seen, pages)
    labels = json.dumps({"engine": "0", "model_name": "m"}, separators=(",", ":"))
    rss = np.full(len(pages), 2.1e9) + (
        0 if host.host_leak_bytes is None else host.host_leak_bytes[: len(pages)]
    )
    found = []
    scrapes = host.scrape_s * (1 + draw.gamma(1.0, 0.2, len(pages))) + np.interp(
        pages, seen.edges[:-1], np.minimum(seen.front_busy, 1.0) ** 4 * 0.05
    )
    config = json.dumps({"block_size": str(engine.settings.block_size), "num_gpu_blocks": str(engine.settings.num_blocks), "engine": "0"},
                        separators=(",", ":"), sort_keys=True)  # fmt: skip
    load = np.interp(pages, seen.edges[:-1], seen.client_busy)
    client = (
        host.client_cpu[: len(pages)]
        if host.client_cpu is not None
        else np.minimum(0.12 + load + draw.gamma(2, 0.02, len(pages)), 1.0)
    )
    for place, t_s in enumerate(pages.tolist()):
        scrape = float(scrapes[place])
        found.append(Sample(t_s, "target-0", "up", MetricKind.GAUGE, 1.0, scrape, "up"))
        for raw, (name, values) in gauges.items():
            found.append(
                Sample(
                    t_s,
                    "target-0",
                    raw,
                    MetricKind.GAUGE,
                    float(values[place]),
                    scrape,
                    name,
                    labels,
                )
            )
        for raw, (name, values) in counters.items():
            if place == 0 or values[place] != values[place - 1]:
                found.append(
                    Sample(
                        t_s,
                        "target-0",
                        raw,
                        MetricKind.COUNTER,
                        float(values[place]),
                        scrape,
                        name,
                        labels,
                    )
                )
        memory = rss[place]
        found.append(
            Sample(
                t_s,
                "target-0",
                "process_resident_memory_bytes",
                MetricKind.GAUGE,
                float(memory),
                scrape,
                "process_resident_bytes",
            )
        )
        cpu = (
            float(
                np.interp(
                    t_s,
                    seen.edges,
                    np.append(
                        0.0, np.cumsum(np.minimum(seen.front_busy, 1.0) * np.diff(seen.edges))
                    ),
                )
            )
            + 0.02 * t_s
        )
        found.append(
            Sample(
                t_s,
                "target-0",
                "process_cpu_seconds_total",
                MetricKind.COUNTER,
                cpu,
                scrape,
                "process_cpu_s",
            )
        )
        if place == 0:
            found.append(
                Sample(
                    t_s,
                    "target-0",
                    "vllm:cache_config_info",
                    MetricKind.GAUGE,
                    1.0,
                    scrape,
                    "cache_config",
                    config,
                )
            )
        found.append(
            Sample(
                t_s,
                "client",
                "host_cpu_busiest",
                MetricKind.GAUGE,
                float(client[place]),
                None,
                "host_cpu_busiest",
            )
        )
        sent = 0.0 if host.retransmits is None else float(host.retransmits[place])
        found.append(
            Sample(
                t_s,
                "client",
                "host_tcp_retransmits",
                MetricKind.COUNTER,
                sent,
                None,
                "host_tcp_retransmits",
            )
        )
    return sorted(found, key=lambda one: (one.t_s, one.target, one.raw_name, one.labels))


def _counters(seen: Seen, pages: Array) -> dict[str, tuple[str, Array]]:
    """Counters as the engine would have them: sums and counts of histograms, each event when the engine counts it."""
    served, steps, rows = seen.served, seen.served.steps, seen.served.requests
    ends = served.step_end_s
    gaps = np.diff(ends, prepend=ends[0] if len(ends) else 0.0)
    began, done = served.first_s, served.last_s
    after = began - seen.reached_s

    def at(times: Array, weights: Array) -> Array:
        told = np.isfinite(times) & np.isfinite(weights)
        order = np.argsort(times[told], kind="stable")
        sums = np.concatenate(([0.0], np.cumsum(weights[told][order])))
        return sums[np.searchsorted(times[told][order], pages, side="right")]

    one = np.ones(len(began))
    found = {
        "prompt_tokens_total": ("prompt_tokens", at(began, seen.inputs.astype(float))),
        "generation_tokens_total": ("generation_tokens", at(ends, steps["decode_tokens"].astype(float))),
        "prefix_cache_queries_total": ("prefix_queries", at(began, seen.inputs.astype(float))),
        "prefix_cache_hits_total": ("prefix_hits", at(began, rows["hit_tokens"].astype(float))),
        "num_preemptions_total": ("preemptions", at(ends + 0.5, steps["preempted"].astype(float))),
        "time_to_first_token_seconds_sum": ("ttft_s_sum", at(began, after)),
        "time_to_first_token_seconds_count": ("ttft_s_count", at(began, one)),
        "inter_token_latency_seconds_sum": ("itl_s_sum", at(ends, gaps * steps["decode_tokens"])),
        "inter_token_latency_seconds_count": ("itl_s_count", at(ends, steps["decode_tokens"].astype(float))),
        "request_queue_time_seconds_sum": ("queue_s_sum", at(done, served.scheduled_s - served.queued_s)),
        "request_queue_time_seconds_count": ("queue_s_count", at(done, one)),
        "request_prefill_time_seconds_sum": ("prefill_s_sum", at(done, began - served.scheduled_s)),
        "request_prefill_time_seconds_count": ("prefill_s_count", at(done, one)),
        "e2e_request_latency_seconds_sum": ("e2e_s_sum", at(done, done - seen.reached_s)),
        "e2e_request_latency_seconds_count": ("e2e_s_count", at(done, one)),
        "iteration_tokens_total_sum": ("iteration_tokens_sum", at(ends, (steps["prefill_tokens"] + steps["decode_tokens"]).astype(float))),
        "iteration_tokens_total_count": ("iteration_tokens_count", at(ends, np.ones(len(ends)))),
        "request_success_total": ("requests_finished", at(done, one)),
    }  # fmt: skip
    return {f"vllm:{raw}": told for raw, told in found.items()}


def _gpu(
    engine: Engine, seen: Seen, host: Host, pages: Array, draw: np.random.Generator
) -> list[GpuSample]:
    total = engine.deployment.accelerator.total_bytes
    utilization = engine.deployment.gpu_memory_utilization.value
    ours = np.full(len(pages), total * utilization + 0.8 * GIB)
    if host.free_bytes is not None:
        ours[:] = total - host.free_bytes
    filling = 1 - np.exp(-pages / 15)
    ours += 0.15 * GIB * filling if host.free_bytes is None else 0.0
    for more in (host.leak_bytes, host.cache_bytes):
        ours += 0 if more is None else more[: len(pages)]
    ours = np.minimum(ours, total - 0.05 * GIB)
    others = np.zeros(len(pages)) if host.others_bytes is None else host.others_bytes[: len(pages)]
    used = np.minimum(ours + others, total - 0.02 * GIB)
    steps, lasted = seen.served.step_start_s, seen.served.step_end_s - seen.served.step_start_s
    edges = np.append(pages - np.diff(pages, prepend=pages[0] - 1.0), pages[-1])
    busy = np.clip(np.histogram(steps, np.sort(edges), weights=lasted)[0][: len(pages)], 0, 1)
    busy = np.maximum(busy, 0 if host.others_busy is None else host.others_busy[: len(pages)])
    return [
        GpuSample(t_s, "GPU-0", used_bytes=int(used[place]), free_bytes=int(total - used[place]),
                  ours_bytes=int(ours[place]) if host.tells_ours else None, utilization=float(min(busy[place], 1.0)),
                  power_w=150.0 + 400 * float(min(busy[place], 1.0)), sm_clock_mhz=1755.0 + float(draw.normal(0, 5)), throttle="")
        for place, t_s in enumerate(pages.tolist())
    ]  # fmt: skip
