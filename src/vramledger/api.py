"""The Python interface: the questions of the command line as functions that return records.

``from vramledger.api import inspect, ledger, size``. What these take and return stays stable
within a major version; everything else in the package may move.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from vramledger.engine.finding import Finding
from vramledger.evidence import Figure
from vramledger.ledger.ledger import Ledger, RankLedger, Row
from vramledger.ledger.solve import Solution
from vramledger.ledger.versus import Versus
from vramledger.model.inspection import CacheFigures, Inspection
from vramledger.sizing.candidate import Candidate, CardResult, Sizing
from vramledger.workload.profile.profile import Profile

if TYPE_CHECKING:
    from vramledger.workload.importer import Imported
    from vramledger.workload.importer import Options as ImportOptions
    from vramledger.workload.synth.make import Synthetic

__all__ = [
    "CacheFigures",
    "Candidate",
    "CardResult",
    "Figure",
    "Finding",
    "Inspection",
    "Ledger",
    "Profile",
    "RankLedger",
    "Row",
    "Sizing",
    "Solution",
    "Versus",
    "compare",
    "import_logs",
    "inspect",
    "ledger",
    "profile",
    "size",
    "size_plan",
    "solve",
    "synth",
]

_FULL: Final = ("duckdb", "pyarrow", "ibis", "numpy", "scipy")


def inspect(model: str) -> Inspection:
    """What a model weighs and what a token costs.

    Args:
        model: a directory, file, catalogue id or ``hf:org/name``.

    Raises:
        BadInput: nothing usable is there.
        UnknownName: the name or its architecture is not known.
    """
    from vramledger.model.inspection import inspect as inspected
    from vramledger.model.load import load_model

    return inspected(load_model(model))


def ledger(
    launch: str,
    gpu: str,
    *,
    engine_version: str | None = None,
    total_gib: float | None = None,
    used_gib: float = 0.0,
    request_tokens: int | None = None,
) -> Ledger:
    """The memory account of a launch command or of a file that holds one.

    Args:
        launch: the command as typed, or a path to a compose file, manifest, values file or unit.
        gpu: a name of ``vram gpus``, or ``auto``.
        engine_version: wins over the version the launch states.
        total_gib: memory the driver reports, per GPU, instead of the catalogue's.
        used_gib: memory that other processes hold, per GPU.
        request_tokens: length of the requests that `capacity_tokens` counts.

    Raises:
        BadInput: the launch, the layout or a value is not possible.
        UnknownName: a flag, version, model or GPU is not known.
        CannotKnow: the launch is another engine's.
    """
    from vramledger.ledger.typed_case import Typed, case_of
    from vramledger.ledger.upgrade import account

    typed = Typed(gpu, engine_version, None, total_gib, used_gib, request_tokens)
    return account(case_of(launch, typed))


def solve(
    launch: str,
    gpu: str,
    target: str,
    *,
    requests: int = 1,
    request_tokens: int | None = None,
    engine_version: str | None = None,
    total_gib: float | None = None,
    used_gib: float = 0.0,
) -> Solution:
    """The extreme value of one setting at which the launch still holds its requests.

    Args:
        launch: as for `ledger`.
        gpu: a name of ``vram gpus``, or ``auto``.
        target: ``max-model-len``, ``max-num-seqs``, ``gpu-memory-utilization``,
            ``kv-cache-memory-bytes`` or ``gpus``.
        requests: how many are held at once.
        request_tokens: their length, full length where none is given.
        engine_version: wins over the version the launch states.
        total_gib: memory the driver reports, per GPU, instead of the catalogue's.
        used_gib: memory that other processes hold, per GPU.

    Raises:
        BadInput: the launch, the layout or a value is not possible.
        UnknownName: a flag, version, model, GPU or target is not known.
        CannotKnow: the launch is another engine's, or the model keeps no cache that is known.
    """
    from vramledger.ledger.solve import Load
    from vramledger.ledger.solve import solve as solved
    from vramledger.ledger.typed_case import Typed, at_least_one, case_of

    typed = Typed(gpu, engine_version, None, total_gib, used_gib, request_tokens)
    case = case_of(launch, typed)
    return solved(case, target, Load(at_least_one(requests, "requests"), request_tokens))


def compare(
    before: str,
    after: str,
    gpu: str,
    *,
    engine_version: str | None = None,
    total_gib: float | None = None,
    used_gib: float = 0.0,
) -> Versus:
    """Two launches on the same card: the settings that differ, what changes in the account, and why.

    Args:
        before: as for `ledger`.
        after: likewise; each keeps the version it states itself.
        gpu: a name of ``vram gpus``, or ``auto``.
        engine_version: of a launch that states none.
        total_gib: memory the driver reports, per GPU, instead of the catalogue's.
        used_gib: memory that other processes hold, per GPU.

    Raises:
        BadInput: a launch, a layout or a value is not possible.
        UnknownName: a flag, version, model or GPU is not known.
        CannotKnow: a launch is another engine's.
    """
    from vramledger.ledger.typed_case import Typed, case_of
    from vramledger.ledger.versus import versus

    typed = Typed(gpu, None, engine_version, total_gib, used_gib)
    return versus(case_of(before, typed), case_of(after, typed))


def size(
    model: str,
    *,
    users: int | None = None,
    concurrent: float | None = None,
    rate: float | None = None,
    profile: str | None = None,
    workload: str | None = None,
    rate_scale: float | None = None,
    limits: bool = False,
    gpus: tuple[str, ...] = (),
) -> Sizing:
    """Cards and layouts that hold a load of a shipped profile, or of recorded requests.

    Args:
        model: a directory, file, catalogue id or ``hf:org/name``.
        users: people with access; give one of the three loads, or `workload`.
        concurrent: requests in flight at the peak.
        rate: requests per second at the peak.
        profile: the shape of the requests; ``chat`` where none is given.
        workload: a stored workload or its profile (JSON), with lengths and load; a load that is given
            wins.
        rate_scale: growth of the recorded arrivals.
        limits: whether the table of context limits is made for lengths that were not recorded too.
        gpus: names of ``vram gpus``; all of them where none is given.

    Raises:
        BadInput: no load or several, a number out of range, or requests longer than the model allows.
        UnknownName: a model, profile or GPU is not known.
    """
    from vramledger.sizing.ask import Asked, question_from
    from vramledger.sizing.search import size as sized

    asked = Asked(
        users=users, concurrent=concurrent, rate=rate, profile=profile, workload=workload,
        rate_scale=rate_scale, limits=limits, gpus=gpus,
    )  # fmt: skip
    return sized(question_from(model, asked))


def size_plan(path: str) -> Sizing:
    """Cards and layouts for a plan file.

    Raises:
        BadInput: the plan cannot be read; the message names line, key and nearest match.
    """
    from vramledger.plan.read import read_plan
    from vramledger.sizing.from_plan import question_of
    from vramledger.sizing.search import size as sized

    return sized(question_of(read_plan(path)))


def import_logs(
    names: Sequence[str], output: str, options: "ImportOptions | None" = None
) -> "Imported":
    """Read logs of any kind into one de-identified workload.

    Args:
        names: files or patterns.
        output: the Parquet file to write.
        options: `vramledger.workload.importer.Options`; formats are recognised without.

    Raises:
        BadInput: no file could be read, the output cannot be written, or ``vramledger[full]`` is not
            installed.
    """
    _need_full("import_logs")
    from vramledger.workload.importer import import_logs as imported

    return imported(names, Path(output), options)


def profile(path: str) -> Profile:
    """Lengths, arrivals, sharing and scenarios of a workload.

    Args:
        path: a stored workload, which needs ``vramledger[full]``, or a profile as JSON, which does not.

    Raises:
        BadInput: it is neither, cannot be read, or needs libraries that are not installed.
    """
    from vramledger.plan.recorded import read_recorded

    return read_recorded(path).profile


def synth(
    like: str,
    output: str,
    *,
    requests: int | None = None,
    hours: float | None = None,
    seed: int = 0,
) -> "Synthetic":
    """A synthetic workload like another, with how close it came.

    Args:
        like: a profile, a stored workload, or a description of ServeGen.
        output: the Parquet file to write.
        requests: end after so many; give this or `hours`.
        hours: end after so many hours of arrivals.
        seed: of every draw.

    Raises:
        BadInput: the request cannot be meant, the output cannot be written, or ``vramledger[full]`` is
            not installed.
        CannotKnow: the source lacks what the request needs.
    """
    _need_full("synth")
    from vramledger.workload.synth.arrivals import Arrivals, check
    from vramledger.workload.synth.make import make, source_at

    asked = Arrivals(requests, None if hours is None else hours * 3600)
    check(asked)
    return make(source_at(Path(like)), asked, Path(output), seed=seed)


def _need_full(function: str) -> None:
    from importlib.util import find_spec

    from vramledger.errors import BadInput

    absent = [name for name in _FULL if find_spec(name) is None]
    if absent:
        raise BadInput(
            f"{function} needs {', '.join(absent)}, which the base installation leaves out; run pip "
            "install 'vramledger[full]'."
        )
