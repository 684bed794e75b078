"""The three live trials that would confirm a search: the best, the runner-up that differs most, the base."""

from collections.abc import Sequence
from math import log2
from typing import Final

from vramledger.frozen import frozen
from vramledger.methods.sweep.base import Base, launch_words
from vramledger.methods.sweep.found import Found
from vramledger.methods.sweep.row import Row
from vramledger.methods.sweep.settings import changed

BEST: Final = "best"
RUNNER_UP: Final = "runner-up"
BASE: Final = "base"

_NEAR: Final = 1.25  # times the GPUs, or a goodput less by as much: still a rival of the best
_COMPARED: Final = {
    "model": "model",
    "gpu": "GPU",
    "engine_version": "engine version",
    "tp": "TP",
    "dp": "DP",
    "replicas": "replicas",
    "kv_cache_dtype": "KV cache",
    "max_num_seqs": "max-num-seqs",
    "max_num_batched_tokens": "max-num-batched-tokens",
}


@frozen
class Difference:
    """A setting that two deployments do not have in common."""

    name: str
    here: str
    there: str


@frozen
class Trial:
    """One deployment to start and to serve the workload to; `differences` are from the best."""

    role: str
    row: Row
    command: str  # that starts one server
    servers: int  # of them, behind a router where there are several
    differences: tuple[Difference, ...]

    @property
    def pool_tokens(self) -> int | None:
        """Tokens of one engine's KV pool at the simulated end of the ledger's band, the null block left out."""
        blocks, size = (self.row.columns.get(name) for name in ("kv_blocks", "block_tokens"))
        return None if blocks is None or size is None else (blocks - 1) * size


def trials(base: Base, found: Found) -> tuple[Trial, ...]:
    """Up to three, all different: where the base is the best, a second runner-up stands for it.

    What would be better with a smaller cache is the first runner-up.
    """
    best = found.best
    if best is None:
        return ()
    start = next((row for row in found.results.rows if not row.point.changes), None)
    at_base = start is None or start is best
    others = [row for row in found.ranking if row is not best and row is not start]
    chosen = [(BEST, best)]
    chosen += [(RUNNER_UP, row) for row in _runners_up(others, best, found)[: 2 if at_base else 1]]
    if start is not None and not at_base:
        chosen.append((BASE, start))
    return tuple(_trial(base, role, row, best) for role, row in chosen)


def _runners_up(others: Sequence[Row], best: Row, found: Found) -> list[Row]:
    """What a smaller cache would make better, then rivals that differ most, then the next in the ranking."""
    owing = found.best_owing
    near = sorted(
        (row for row in others if is_rival(row, best)), key=lambda row: -distance(row, best)
    )
    ordered = [*(row for row in others if row is owing), *near, *others]
    return list({row.point: row for row in ordered}.values())


def differences(row: Row, other: Row) -> tuple[Difference, ...]:
    """The settings in which they differ, after every default."""
    return tuple(
        Difference(title, str(here), str(there))
        for name, title in _COMPARED.items()
        if (here := row.columns.get(name)) != (there := other.columns.get(name))
    )


def distance(row: Row, other: Row) -> float:
    """How much they differ: 1 for each setting, less for a number that is near."""
    total = 0.0
    for name in _COMPARED:
        here, there = row.columns.get(name), other.columns.get(name)
        if isinstance(here, int) and isinstance(there, int) and here and there:
            total += min(abs(log2(here / there)) / 2, 1.0)
        else:
            total += here != there
    return total


def is_rival(row: Row, best: Row) -> bool:
    """Whether it might be the better one in truth: a verdict as good, nearly the GPUs and the goodput."""
    gpus = row.columns["gpus"] <= _NEAR * best.columns["gpus"]
    mine, most = (one.figure("goodput_per_gpu_hour") or 0.0 for one in (row, best))
    return row.verdict == best.verdict and gpus and mine * _NEAR >= most


def _trial(base: Base, role: str, row: Row, best: Row) -> Trial:
    command = launch_words(changed(base, row.point).case.launch)
    servers = row.columns["replicas"]
    return Trial(role, row, command, servers, () if row is best else differences(row, best))
