"""A calibration as JSON, which is also its file: ``vramledger.calibration/1``."""

from typing import Any

from vramledger.calibrate.accuracy import Difference
from vramledger.calibrate.calibration import Calibration, Source, Told
from vramledger.calibrate.start_up import StartUp
from vramledger.evidence import Basis
from vramledger.ledger.calibration_file import SCHEMA, memory_json
from vramledger.simulate.timing.calibration import host_json

_EVIDENCE = ("measured", "imported")


def to_json(found: Calibration, date: str, version: str) -> dict[str, Any]:
    """The document; `date` and the program's `version` are told by the caller."""
    host, setting = found.host, found.host.setting
    return {
        "schema": SCHEMA,
        "date": date,
        "client_version": version,
        "engine": setting.engine,
        "engine_version": setting.version,
        "version_family": setting.family,
        "precision": {"weights": setting.weights, "kv_cache": setting.kv_cache},
        "backend": setting.backend,
        "gpu": setting.gpu,
        "driver": next((each.driver for each in found.sources if each.driver), None),
        "model": setting.model,
        "terms": {name: _term(each, host.origin) for name, each in found.terms.items()},
        "reproduces": _reproduces(found.sources),
        "runs": [_run(each) for each in found.sources],
        **host_json(host, found.coefficients),
        "notes": list(found.notes),
    }


def start_up_json(found: StartUp, date: str, version: str) -> dict[str, Any]:
    """The document of a start-up log: memory alone, no step times."""
    setting = found.setting
    return {
        "schema": SCHEMA,
        "date": date,
        "client_version": version,
        "engine": setting.engine,
        "engine_version": setting.version,
        "version_family": setting.family,
        "precision": {"weights": setting.weights, "kv_cache": setting.kv_cache},
        "backend": setting.backend,
        "gpu": setting.gpu,
        "driver": None,
        "model": setting.model,
        "terms": memory_terms_json(found),
        "reproduces": {
            "ttft_err": None,
            "tpot_err": None,
            "e2e_err": None,
            "kv_err": None,
            "reason": "a start-up log has no requests",
        },
        **start_up_part(found),
    }


def start_up_part(found: StartUp) -> dict[str, Any]:
    """The log, and what the ledger takes from it; `memory_terms_json` tells the same in figures for people."""
    return {"log": found.log, "memory": memory_json(found.memory)}


def memory_terms_json(found: StartUp) -> dict[str, Any]:
    """Each row, measured beside what the ledger has."""
    return {
        name: {
            **each.measured.to_json(),
            "unit": "GiB a rank",
            "meaning": each.label,
            "predicted": None if each.predicted is None else each.predicted.to_json(),
        }
        for name, each in found.terms.items()
    }


def _term(each: Told, origin: str) -> dict[str, Any]:
    determined = each.term.determined and origin in _EVIDENCE
    return {
        "value": each.value,
        "low": each.low,
        "high": each.high,
        "basis": str(Basis.CALIBRATED if determined else Basis.ASSUMED),
        "unit": each.unit,
        "meaning": each.meaning,
        "coefficient": each.coefficient,
        "determined": each.term.determined,
        "factor": each.term.factor,
    }


def _reproduces(sources: tuple[Source, ...]) -> dict[str, Any]:
    """The worst of the runs, by each figure."""
    runs = [each.reproduced for each in sources]
    return {
        "ttft_err": _worst([_mean(run.ttft) for run in runs]),
        "tpot_err": _worst([_mean(run.tpot) for run in runs]),
        "e2e_err": _worst([_mean(run.e2e) for run in runs]),
        "kv_err": _worst([run.kv for run in runs]),
    }


def _worst(errors: list[float | None]) -> float | None:
    known = [error for error in errors if error is not None]
    return max(known, key=abs) if known else None


def _mean(found: Difference | None) -> float | None:
    return None if found is None else found.mean


def _run(each: Source) -> dict[str, Any]:
    found = each.reproduced
    return {
        "name": each.name,
        "origin": each.origin,
        "sha256": each.sha256,
        "requests": each.requests,
        "pool": each.pool_from,
        "ttft": _difference(found.ttft),
        "tpot": _difference(found.tpot),
        "e2e": _difference(found.e2e),
        "kv_err": found.kv,
        "preemptions": found.preemptions,
    }


def _difference(found: Difference | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "measured_mean_s": found.mean_s,
        "mean_err": found.mean,
        "p50_err": found.p50,
        "p90_err": found.p90,
        "p99_err": found.p99,
    }
