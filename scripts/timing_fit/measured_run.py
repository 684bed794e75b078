"""Published runs of a real server with the stamps of every request, read into our own objects.

The form is that of the validation runs of LLMServingSim 2.0 (MIT,
https://github.com/casys-kaist/LLMServingSim): ``*_meta.json`` has the arguments of the engine and,
in newer files, its pool and card; ``*_vllm_requests.jsonl`` one request a line, ``arrival_time`` on
the wall clock and the rest as the engine's core stamps them; ``*_timeseries.csv`` a row a second from
``started_at`` on.
"""

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vramledger.calibrate.observed import Observed, Stamps, observed_of
from vramledger.engine.launch import Flag, Launch
from vramledger.engine.vllm.deployment import Deployment
from vramledger.errors import BadInput, CannotKnow, UnknownName
from vramledger.hardware.accelerator import Accelerator
from vramledger.hardware.catalogue import accelerators, find
from vramledger.ledger.account import build
from vramledger.ledger.case import Case
from vramledger.model.load import load_model
from vramledger.simulate.from_deployment import settings_of
from vramledger.simulate.settings import Settings

_META: Final = "_meta.json"
_NO_FLAGS: Final = ("model", "seed")
_ON_UNLESS_SAID: Final = ("enable_prefix_caching", "enable_chunked_prefill", "async_scheduling")
_USUAL: Final = ("SXM", "Server", "80GB", "")  # of cards whose names begin alike


@dataclass(frozen=True, slots=True)
class Series:
    """The pool's use at seconds of the run, as a share; times count from the first arrival."""

    moments_ns: NDArray[np.int64]
    kv_usage: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """One run. `series` is None where the file does not record the pool's use."""

    name: str
    deployment: Deployment
    settings: Settings
    engines: int
    pool_from: str
    observed: Observed
    series: Series | None


def meta_files(folder: Path) -> list[Path]:
    """The runs of a folder, by name."""
    return sorted(folder.glob(f"lss_*{_META}"))


def read_run(meta_file: Path) -> MeasuredRun:
    """A run.

    Raises:
        BadInput: the files are not of this form.
        UnknownName: no such card or model.
        CannotKnow: a deployment that is not simulated.
    """
    stem = meta_file.name.removesuffix(_META)
    meta = json.loads(meta_file.read_text(encoding="utf-8"))
    deployment = _deployment(meta, stem)
    settings, pool_from = _settings(deployment, meta.get("kv_cache") or {})
    raw = list(_lines(meta_file.with_name(f"{stem}_vllm_requests.jsonl")))
    series = _series(meta_file.with_name(f"{stem}_timeseries.csv"), meta, raw)
    return MeasuredRun(
        name=stem.removeprefix("lss_").replace("_", " "),
        deployment=deployment,
        settings=settings,
        engines=deployment.layout.dp,
        pool_from=pool_from,
        observed=observed_of([_stamps(line) for line in raw]),
        series=series,
    )


def _deployment(meta: Mapping[str, Any], stem: str) -> Deployment:
    stated = dict(meta["engine_kwargs"])
    pool = meta.get("kv_cache") or {}
    for name in ("gpu_memory_utilization", "enable_prefix_caching", "block_size"):
        if pool.get(name) is not None:
            stated.setdefault(name, pool[name])
    flags = tuple(_flags(stated))
    launch = Launch("vllm", meta["model"], flags)
    card = _card((meta.get("hardware") or {}).get("device_name"), stem)
    return Case(launch, load_model(meta["model"]), card, meta["vllm_version"]).deployment()


def _flags(stated: Mapping[str, Any]) -> Iterator[Flag]:
    for key, value in stated.items():
        name = key.replace("_", "-")
        if key in _NO_FLAGS or value is None:
            continue
        if isinstance(value, bool):
            if value or key in _ON_UNLESS_SAID:
                yield Flag(name, None if value else "false", f"--{'' if value else 'no-'}{name}")
        else:
            text = value if isinstance(value, str) else json.dumps(value)
            yield Flag(name, text, f"--{name}")


def _card(device: str | None, stem: str) -> Accelerator:
    """The card by the driver's name, or by the file's, which leaves out what tells its kinds apart."""
    written = device or stem.removeprefix("lss_").split("_")[0]
    try:
        return find(written)
    except (BadInput, UnknownName):
        wanted = _folded(written)
    fitting = [card for card in accelerators() if _folded(card.name).startswith(wanted)]
    for kind in _USUAL:
        for card in fitting:
            if kind in card.name:
                return card
    raise UnknownName("GPU", written, [card.name for card in accelerators()])


def _folded(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.casefold().removeprefix("nvidia"))


def _settings(deployment: Deployment, pool: Mapping[str, Any]) -> tuple[Settings, str]:
    """The scheduler's settings with the run's own blocks where it states them, else the ledger's."""
    ledger = build(deployment)
    if ledger.pool is None:
        raise CannotKnow(ledger.reason or "The ledger has no pool for this run.")
    caching = deployment.enable_prefix_caching.value
    settings = settings_of(deployment, ledger.pool, prefix_caching=caching)
    blocks = pool.get("num_gpu_blocks")
    if blocks is None:
        return settings, f"ledger, {settings.num_blocks:,} blocks"
    return replace(settings, num_blocks=int(blocks)), f"recorded, {int(blocks):,} blocks"


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        yield from (json.loads(line) for line in file if line.strip())


def _stamps(line: Mapping[str, Any]) -> Stamps:
    return Stamps(
        arrival_s=float(line["arrival_time"]),
        queued_s=line.get("queued_ts"),
        first_token_s=line.get("first_token_ts"),
        last_token_s=line.get("last_token_ts"),
        input_tokens=int(line["input_toks"]),
        output_tokens=int(line["output_toks"]),
    )


def _series(path: Path, meta: Mapping[str, Any], raw: Sequence[Mapping[str, Any]]) -> Series | None:
    if not path.is_file():
        return None
    with path.open(newline="", encoding="utf-8") as file:
        rows = [(float(row["t"]), float(row["kv_cache_pct"]) / 100) for row in csv.DictReader(file)]
    used = np.array([use for _, use in rows])
    if not used.any():
        return None
    first = min(float(line["arrival_time"]) for line in raw)
    apart = datetime.fromisoformat(meta["started_at"]).timestamp() - first
    moments = np.array([round((second + apart) * 1e9) for second, _ in rows], np.int64)
    return Series(moments, used)
