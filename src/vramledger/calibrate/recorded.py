"""A run directory as something to calibrate on: deployment, scheduler settings, stamps, levels of its cache."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vramledger.calibrate.client_stamps import ClientStamps, client_stamps
from vramledger.calibrate.run_deployment import Stated, case_of
from vramledger.engine.vllm.deployment import Deployment
from vramledger.errors import CannotKnow
from vramledger.frozen import frozen
from vramledger.ledger.ledger import Ledger
from vramledger.record.run import Run, read_run
from vramledger.record.samples import SERVER, STEPS
from vramledger.simulate.from_deployment import settings_of
from vramledger.simulate.settings import Settings

if TYPE_CHECKING:
    Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

_USAGE: Final = "kv_usage"
_TARGET: Final = "target-0"


@frozen
class Levels:
    """The share of the pool in use, 0..1, at nanoseconds since the first arrival."""

    moments_ns: "np.ndarray[Any, np.dtype[np.int64]]"
    used: "Floats"


@frozen
class Recorded:
    """One run. `levels` is None where it has none; `pool_from` says where the size of its pool is from."""

    path: Path
    origin: str
    sha256: str
    driver: str | None
    deployment: Deployment
    settings: Settings
    pool_from: str
    stamps: ClientStamps
    levels: Levels | None


def read_recorded(folder: Path, stated: Stated) -> Recorded:
    """A run as it lies on disk.

    Raises:
        BadInput: no run, or not enough is known of its deployment.
        UnknownName: a card, model, flag or version that is none.
        CannotKnow: another engine, nothing that can be replayed, or a deployment that is not simulated.
    """
    run = read_run(folder)
    description = run.description
    from vramledger.trial.conduct.history import story_of

    ledger = case_of(description, stated).ledger()
    stamps = client_stamps(run, story_of(run.journal().entries).from_s)
    settings, pool_from = _settings(ledger, _blocks(run, ledger))
    return Recorded(
        path=folder,
        origin=str(description.origin),
        sha256=description.sha256 or "",
        driver=description.in_effect.driver,
        deployment=ledger.deployment,
        settings=settings,
        pool_from=pool_from,
        stamps=stamps,
        levels=_levels(run, stamps.zero_s),
    )


def _settings(ledger: Ledger, blocks: int | None) -> tuple[Settings, str]:
    deployment = ledger.deployment
    if ledger.pool is None:
        raise CannotKnow(ledger.reason or "The ledger has no pool for this run's deployment.")
    caching = deployment.enable_prefix_caching.value
    settings = settings_of(deployment, ledger.pool, prefix_caching=caching)
    if blocks is None:
        return settings, f"the ledger: {settings.num_blocks:,} blocks, derived"
    return replace(settings, num_blocks=blocks), f"the run: {blocks:,} blocks, measured"


def _blocks(run: Run, ledger: Ledger) -> int | None:
    """Blocks of one engine's pool as the run has them, None where it does not say."""
    more = run.description.model_extra or {}
    if isinstance(more.get("num_gpu_blocks"), int):
        return int(more["num_gpu_blocks"])
    tokens, pool = (more.get("trial") or {}).get("kv_tokens"), ledger.pool
    if not isinstance(tokens, int) or pool is None or len(pool.layout.groups) > 1:
        return None
    return tokens // pool.layout.block_size // ledger.deployment.layout.dp or None


def _levels(run: Run, zero_s: float) -> Levels | None:
    if SERVER.name in run.tables:
        return _sampled(run, zero_s)
    if STEPS.name not in run.tables:
        return None
    found = run.table(STEPS).numbers("end_s", _USAGE, "engine")
    first = found["engine"] == 0
    return _level(found["end_s"][first], found[_USAGE][first], zero_s)


def _sampled(run: Run, zero_s: float) -> Levels | None:
    from vramledger.trial.sampling.history import read_histories

    histories = read_histories(run, _USAGE, _TARGET)
    if not histories:
        return None
    told = np.mean([history.values for history in histories], axis=0)
    return _level(histories[0].t_s, told, zero_s)


def _level(t_s: "Floats", used: "Floats", zero_s: float) -> Levels | None:
    known = ~np.isnan(used) & (t_s >= zero_s)
    if not known.any():
        return None
    moments = np.rint((t_s[known] - zero_s) * 1e9).astype(np.int64)
    return Levels(moments, used[known])
