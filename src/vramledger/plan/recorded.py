"""Recorded requests as a plan reads them: a workload's profile, its slices and their load.

A scenario named as one of the profile's (`SLICES`) takes that slice; any other name takes the whole.
"""

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from stat import S_ISREG
from typing import Final

from vramledger.errors import BadInput
from vramledger.evidence import Basis
from vramledger.frozen import frozen
from vramledger.plan.problems import NotStated
from vramledger.plan.requirement import Load, LoadUnit
from vramledger.record.outcome import Outcome
from vramledger.units import plain
from vramledger.workload.profile.profile import Joint, Lengths, Profile, Slice

SLICES: Final = ("daily", "peak", "long-burst", "tail", "day", "night")
LOGS: Final = (".csv", ".jsonl", ".gz", ".zst", ".log")  # imported first
_NEEDED: Final = ("duckdb", "ibis", "numpy", "pyarrow")  # to profile a stored workload
_UNSERVED: Final = (
    Outcome.FAILED,
    Outcome.REJECTED,
    Outcome.CANCELLED,
    Outcome.TIMED_OUT,
    Outcome.INCOMPLETE,
)


@frozen
class Recorded:
    """A recorded workload, and the name it was given by."""

    file: str
    profile: Profile


@frozen
class Part:
    """What a scenario takes of a recorded workload: a slice, or None for the whole."""

    recorded: Recorded
    slice: Slice | None
    notes: tuple[str, ...] = ()

    @property
    def joint(self) -> Joint | None:
        return self.recorded.profile.joint if self.slice is None else self.slice.joint

    @property
    def requests(self) -> int:
        return self.recorded.profile.requests if self.slice is None else self.slice.requests

    @property
    def output_tokens(self) -> Lengths | None:
        """The outputs of its requests, counted one by one."""
        of = self.recorded.profile if self.slice is None else self.slice
        return of.output_tokens

    @property
    def is_whole(self) -> bool:
        """Whether it has all requests at the log's own arrivals, as `tail` does."""
        return self.slice is None or self.slice.seconds is None

    @property
    def mean_per_s(self) -> float | None:
        if self.slice is None or self.slice.seconds is None:
            return self.recorded.profile.arrival.mean_per_s
        return self.slice.mean_per_s

    @property
    def name(self) -> str:
        """``workload.parquet`` or ``daily of workload.parquet``."""
        file = self.recorded.file
        return file if self.slice is None else f"{self.slice.name} of {file}"


def read_recorded(file: str, folder: Path = Path()) -> Recorded:
    """A stored workload (Parquet) or a profile (JSON), named relative to `folder`.

    Raises:
        BadInput: it is neither, cannot be read, or needs libraries that are not installed.
    """
    if file.casefold().endswith(LOGS):
        raise BadInput(
            f"{file} is a log; read it first with vram workload import {file} -o workload.parquet."
        )
    path = folder / file
    absent = [name for name in _NEEDED if find_spec(name) is None]
    if absent and path.suffix.casefold() != ".json":
        raise BadInput(
            f"{file} is a stored workload, and profiling it needs {', '.join(absent)}, which the base "
            "installation leaves out; run pip install 'vramledger[full]', or give its profile (vram "
            "workload profile --json), which needs none of them."
        )
    try:
        state = path.stat()
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}; name another file.") from None
    except ValueError:  # a NUL in the name
        raise BadInput(f"{file!r} is no name of a file; name another.") from None
    if not S_ISREG(state.st_mode):
        raise BadInput(
            f"{path} is no file but a folder, pipe or device; name a workload or its profile."
        )
    return Recorded(file, _profile(path, state.st_mtime_ns, state.st_size))


@lru_cache(maxsize=8)
def _profile(path: Path, changed_ns: int, size: int) -> Profile:
    """The profile of a file in this state."""
    from vramledger.workload.profile.load import load_profile

    del changed_ns, size
    return load_profile(path)


def part_for(recorded: Recorded, scenario: str) -> Part:
    """The slice of the scenario's name, or the whole; a slice that is missing is told."""
    if scenario not in SLICES:
        return Part(recorded, None)
    found = recorded.profile.scenario(scenario)
    if found is not None and found.requests > 0 and found.joint is not None:
        return Part(recorded, found)
    why = recorded.profile.unknown.get(scenario, "")
    reason = f" ({why.rstrip('.')})" if why else ""
    return Part(
        recorded,
        None,
        (f"{scenario}: {recorded.file} has no such slice{reason}, so all of it is taken.",),
    )


def recorded_load(part: Part, scale: float = 1.0) -> Load:
    """The load of a part: requests in flight where the log has durations, else its mean rate.

    The whole takes the 99th percentile of the requests in flight that the log shows; a slice its mean
    rate times its mean duration, of which the peak is taken as for any rate. Durations are those of
    the server that wrote the log. `scale` multiplies the arrivals.

    Raises:
        NotStated: the log has no times.
    """
    profile, file = part.recorded.profile, part.recorded.file
    if part.mean_per_s is None:
        raise NotStated(
            f"{file} has no times of arrival, so no load; state one of "
            f"{', '.join(str(unit) for unit in LoadUnit)} beside it."
        )
    rate, growth = part.mean_per_s * scale, "" if scale == 1 else f" times {plain(scale)}"
    source = f"arrivals of {file}{growth}"
    basis = Basis.ASSUMED if profile.synthetic else Basis.MEASURED
    if part.is_whole and profile.concurrency is not None:
        flights = profile.concurrency
        return Load(
            LoadUnit.CONCURRENT,
            max(1.0, flights.p99 * scale),
            basis=basis,
            source=source,
            per_s=rate,
            mean=flights.mean * scale,
            recorded=True,
        )
    seconds = None if part.slice is None else part.slice.mean_duration_s
    return Load(
        LoadUnit.REQUESTS_PER_S,
        rate,
        seconds or None,
        basis=basis,
        source=source,
        recorded=True,
    )


def unserved(profile: Profile) -> int:
    """Requests that the log shows as failed, rejected, cancelled or cut short."""
    return sum(profile.outcomes.get(str(outcome), 0) for outcome in _UNSERVED)
