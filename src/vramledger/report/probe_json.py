"""What a probe found, as the object that ``vram probe --json`` prints."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from vramledger.hardware.condition import Condition, Conditions
from vramledger.report.number import rounded
from vramledger.trial.probing.probe import Probe
from vramledger.trial.probing.remarks import Remark
from vramledger.trial.server import ServerFacts

SCHEMA = "vramledger.probe/1"


def probe_json(probe: Probe, remarks: Sequence[Remark]) -> dict[str, Any]:
    """Figures by name with their unit; null is what could not be read, and `not_checked` says why."""
    return {
        "schema": SCHEMA,
        "basis": "measured",
        "machine": asdict(probe.machine),
        "gpus": None if probe.gpus is None else _gpus(probe.gpus),
        "kernel_log": None
        if probe.xids is None
        else [{"pci": xid.place, "xid": xid.number, "times": xid.times} for xid in probe.xids],
        "speeds": {
            "disk_write_bytes_per_s": rounded(probe.disk.bytes_per_s) if probe.disk else None,
            "download_bytes_per_s": rounded(probe.download.bytes_per_s) if probe.download else None,
            "all_reduce_latency_us": probe.all_reduce.latency_us if probe.all_reduce else None,
            "all_reduce_bus_gb_s": probe.all_reduce.bus_gb_s if probe.all_reduce else None,
        },
        "server": None if probe.server is None else _server(probe.server),
        "remarks": [
            {
                "id": remark.id,
                "severity": str(remark.severity),
                "gpu": remark.gpu or None,
                "message": remark.message,
            }
            for remark in remarks
        ],
        "not_checked": list(probe.not_checked),
    }


def _gpus(found: Conditions) -> dict[str, Any]:
    return {
        "driver": found.driver,
        "cuda": found.cuda,
        "gpus": [_gpu(gpu) for gpu in found.gpus],
        "pairs": [asdict(pair) for pair in found.pairs],
    }


def _gpu(gpu: Condition) -> dict[str, Any]:
    memory = gpu.memory
    rest = {name: value for name, value in asdict(gpu).items() if name != "memory"}
    return {
        **rest,
        "used_bytes": memory.used if memory else None,
        "free_bytes": memory.free if memory else None,
        "reserved_bytes": memory.reserved if memory else None,
    }


def _server(facts: ServerFacts) -> dict[str, Any]:
    return {
        "url": facts.base,
        "models": [asdict(model) for model in facts.models],
        "metrics_url": facts.metrics_url,
        "kv_tokens": facts.seen.kv_tokens,
        "rehearsal": facts.rehearsal,
        "in_effect": facts.deployment().model_dump(mode="json"),
    }
