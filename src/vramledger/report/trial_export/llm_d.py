"""The benchmark report of llm-d, schema 0.2, as JSON (which YAML readers take too).

https://github.com/llm-d/llm-d-benchmark: `analysis/benchmark_report/schema_v0_2.py` and `schema_v0_2_components.py`; it
forbids keys of its own making, so nothing is added.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from vramledger import __version__
from vramledger.record.outcome import Outcome
from vramledger.report.trial_export.export_file import ExportFile, json_file
from vramledger.trial.conduct.detail import Detail, detail
from vramledger.trial.conduct.sent import Sent, sent
from vramledger.trial.conduct.spread import Spread
from vramledger.trial.conduct.summary import Summary
from vramledger.units import GIB

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]

_ENGINE: Final = "engine-0"
_SHARES: Final = {
    0.001: "p0p1", 0.01: "p1", 0.05: "p5", 0.1: "p10", 0.25: "p25", 0.5: "p50", 0.75: "p75", 0.9: "p90", 0.95: "p95",
    0.99: "p99", 0.999: "p99p9",
}  # fmt: skip
_INCOMPLETE: Final = (Outcome.INCOMPLETE, Outcome.CANCELLED)


def llm_d_files(found: Summary) -> Iterator[ExportFile]:
    """The one file."""
    yield json_file("benchmark_report_v0.2.json", _report(found))


def _report(found: Summary) -> dict[str, Any]:
    about, seconds = found.description, found.rates.seconds
    return {
        "version": "0.2",
        "run": {
            "uid": about.sha256,
            "time": {
                "start": about.started_at,
                "end": about.ended_at,
                "duration": None if seconds is None else f"PT{seconds:.6f}S",
            },
            "description": f"{about.origin.value}: {about.name}",
            "keywords": [about.origin.value],
        },
        "scenario": {"stack": [_engine(found)], "load": _load(found)},
        "results": {
            "request_performance": {"aggregate": _aggregate(found)},
            "observability": {"components": [_observed(found)]},
        },
    }


def _engine(found: Summary) -> dict[str, Any]:
    """As a generic component: an inference engine of theirs must name its card and how many there are."""
    seen = found.description.in_effect
    return {
        "metadata": {"schema_version": "0.0.1", "label": _ENGINE, "cfg_id": found.description.sha256},
        "standardized": {
            "kind": "generic",
            "tool": seen.engine or "unknown",
            "tool_version": seen.engine_version or "unknown",
            "kind_draft": "inference_engine",
            "model": {"name": seen.model},
            "accelerator": {"model": seen.gpu},
        },
        "native": {"args": seen.arguments},
    }  # fmt: skip


def _load(found: Summary) -> dict[str, Any]:
    figures = sent(found.run)
    lengths = detail(figures.input_tokens), detail(figures.output_tokens)
    load = found.trial["load"]
    return {
        "metadata": {"schema_version": "0.0.1", "cfg_id": found.description.workload_sha256},
        "standardized": {
            "tool": "vramledger",
            "tool_version": __version__,
            "parallelism": found.trial["workers"],
            "source": "sampled",
            "input_seq_len": _length(lengths[0]),
            "output_seq_len": None if lengths[1] is None else _length(lengths[1]),
            "concurrency": load["closed"],
        },
        "native": {"config": {"rate_scale": found.trial["rate_scale"], "duration_s": load["duration_s"]}},
    }  # fmt: skip


def _length(found: Detail | None) -> dict[str, Any]:
    if found is None:
        return {"distribution": "other", "value": 0}
    ends = {"min": round(found.min), "max": max(round(found.max), 1)}
    return {"distribution": "other", "value": found.mean, **ends}


def _aggregate(found: Summary) -> dict[str, Any]:
    figures, rates = sent(found.run), found.rates
    ok = figures.of(Outcome.OK)
    incomplete = int(figures.of(*_INCOMPLETE).sum())
    return {
        "requests": {
            "total": len(ok),
            "failures": len(ok) - int(ok.sum()) - incomplete,
            "incomplete": incomplete,
            "input_length": _of(figures.input_tokens[ok], "count"),
            "output_length": _of(figures.output_tokens[ok], "count"),
        },
        "latency": _latency(found, figures),
        "throughput": {
            "input_token_rate": _mean(rates.input_tokens_per_s, "tokens/s"),
            "output_token_rate": _mean(rates.output_tokens_per_s, "tokens/s"),
            "total_token_rate": None
            if rates.input_tokens_per_s is None or rates.output_tokens_per_s is None
            else _mean(rates.input_tokens_per_s + rates.output_tokens_per_s, "tokens/s"),
            "request_rate": _mean(rates.requests_per_s, "queries/s"),
        },
    }


def _latency(found: Summary, figures: Sent) -> dict[str, Any]:
    """Of successes, from when they were sent; ITL over all gaps."""
    ok = figures.of(Outcome.OK)
    return {
        "time_to_first_token": _of(figures.ttft_s[ok], "s"),
        "normalized_time_per_output_token": _of(figures.normalized_tpot_s[ok], "s/token"),
        "time_per_output_token": _of(figures.tpot_s[ok], "s/token"),
        "inter_token_latency": _spread(found.latencies.itl_s, "s/token"),
        "request_latency": _of(figures.latency_s[ok], "s"),
    }


def _observed(found: Summary) -> dict[str, Any]:
    side = found.server
    hits = side.prefix_hit_share
    preemptions = side.preemptions
    return {
        "component_label": _ENGINE,
        "aggregate": {
            "kv_cache_usage": _spread(side.levels["kv_usage"], "fraction"),
            "cache_hit_rate": _mean(hits, "fraction"),
            "gpu_memory_usage": _spread(side.gpu_bytes, "GiB", 1 / GIB),
            "running_requests": _spread(side.levels["running"], "count"),
            "waiting_requests": _spread(side.levels["waiting"], "count"),
            "preemptions": _mean(preemptions, "count"),
        },
    }


def _of(values: "Floats", units: str) -> dict[str, Any] | None:
    found = detail(values)
    if found is None:
        return None
    shares = {name: found.percentiles[share] for share, name in _SHARES.items()}
    ends = {"min": found.min, "max": found.max, "stddev": found.std}
    return {"units": units, "mean": found.mean, **ends, **shares}


def _spread(found: Spread, units: str, factor: float = 1.0) -> dict[str, Any] | None:
    if found.mean is None:
        return None
    told = ((name, getattr(found, name)) for name in ("mean", "p50", "p95", "p99", "max"))
    return {"units": units, **{name: value * factor for name, value in told}}


def _mean(value: float | None, units: str) -> dict[str, Any] | None:
    return None if value is None else {"units": units, "mean": value}
