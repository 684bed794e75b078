"""A synthetic workload on disk, with the report of how close it came."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from vramledger.frozen import frozen
from vramledger.workload.metadata import Metadata
from vramledger.workload.profile.profile import Profile
from vramledger.workload.synth.arrivals import OWN, Arrivals, check, gap_cv, mean_rate
from vramledger.workload.synth.closeness import Closeness, closeness
from vramledger.workload.synth.draws import streams
from vramledger.workload.synth.servegen import Description, is_servegen, read_servegen
from vramledger.workload.synth.servegen_draws import drawn_requests
from vramledger.workload.synth.servegen_profile import profile_of
from vramledger.workload.synth.synthesise import Rest, batches, synthesise

if TYPE_CHECKING:
    import pyarrow as pa

    from vramledger.workload.store import Stored


@frozen
class Synthetic:
    """What was made. `closeness` is None where it was not asked for."""

    stored: "Stored"
    arrivals: Arrivals
    said: tuple[str, ...]  # how it was drawn and what was left out, finished sentences
    closeness: Closeness | None


class Source(Protocol):
    """What a synthetic workload is to be like."""

    def batches(
        self, asked: Arrivals, seed: int, *, prefix: bool
    ) -> "Iterator[pa.RecordBatch]": ...

    def keeps(self, asked: Arrivals) -> tuple[str, ...]:
        """Which of `_LEFT_OUT` is not left out."""
        ...

    def profile(self, span_s: float | None = None) -> Profile:
        """The source as a profile; where it is a description, of its first `span_s` seconds."""
        ...


def source_at(path: Path) -> Source:
    """A profile, the profile of a stored workload, or a description of ServeGen.

    Raises:
        BadInput: none of them, or damaged.
    """
    if is_servegen(path):
        return _Described(read_servegen(path))
    from vramledger.workload.profile.load import load_profile

    return _Profiled(load_profile(path))


def make(
    like: Source,
    asked: Arrivals,
    output: Path,
    *,
    seed: int = 0,
    prefix: bool = True,
    compare: bool = True,
    progress: Callable[[int], None] = lambda _rows: None,
) -> Synthetic:
    """Draw a workload, store it, profile it and compare the profiles.

    Raises:
        BadInput: the request cannot be meant, or the output cannot be written.
        CannotKnow: the source lacks what the request needs.
    """
    from vramledger.workload.profile.compute import profile_workload
    from vramledger.workload.store import write_workload

    check(asked)
    source = like.profile()
    said = (*_drawn(source, asked, seed), *_left_out(source, like.keeps(asked), prefix=prefix))
    metadata = _metadata(source, asked, said, prefix=prefix)
    drawn = like.batches(asked, seed, prefix=prefix)
    stored = write_workload(drawn, metadata, output, ordered=True, progress=progress)
    report = None
    if compare:
        made = profile_workload(output)
        stretch = made.arrival.span_s if asked.kind == OWN else None
        report = closeness(like.profile(stretch), made, seed, asked=asked)
    return Synthetic(stored, asked, said, report)


class _Profiled:
    def __init__(self, profile: Profile) -> None:
        self._profile = profile

    def batches(self, asked: Arrivals, seed: int, *, prefix: bool) -> "Iterator[pa.RecordBatch]":
        return synthesise(self._profile, seed=seed, arrivals=asked, prefix=prefix)

    def keeps(self, asked: Arrivals) -> tuple[str, ...]:
        del asked
        return ()

    def profile(self, span_s: float | None = None) -> Profile:
        del span_s
        return self._profile


class _Described:
    def __init__(self, description: Description) -> None:
        self._description = description

    def batches(self, asked: Arrivals, seed: int, *, prefix: bool) -> "Iterator[pa.RecordBatch]":
        if asked.kind != OWN:
            return synthesise(self.profile(), seed=seed, arrivals=asked, prefix=prefix)
        rng = streams(seed)
        drawn = drawn_requests(self._description, asked, rng)
        return batches(
            ((each.times, each.lengths, each.client) for each in drawn),
            Rest(Profile(requests=0), rng, prefix=False),
        )

    def keeps(self, asked: Arrivals) -> tuple[str, ...]:
        return (TENANTS,) if asked.kind == OWN else ()

    def profile(self, span_s: float | None = None) -> Profile:
        return profile_of(self._description, span_s)


def expected_requests(source: Profile, asked: Arrivals) -> int:
    """About how many there will be: for a progress bar."""
    if asked.requests is not None:
        return asked.requests
    return round((asked.seconds or 0.0) * mean_rate(source, asked))


_ALONG: Final = {
    OWN: "along the source's own rate curve",
    "poisson": "as a Poisson process",
    "gamma": "with gamma gaps",
    "weibull": "with Weibull gaps",
}


def _drawn(source: Profile, asked: Arrivals, seed: int) -> tuple[str, ...]:
    along = _ALONG[asked.kind]
    if asked.kind in ("gamma", "weibull"):
        along += f" of cv {gap_cv(source, asked):.3g}"
    rate = "" if asked.rate is None else f", {asked.rate:g} requests/s at the mean"
    return (f"Drawn at random like a profile (seed {seed}); arrivals {along}{rate}.",)


TENANTS: Final = "who sent them"
_LEFT_OUT: Final[tuple[tuple[str, Callable[[Profile], object]], ...]] = (
    ("durations and time to the first token, which a server makes", lambda p: p.duration_s),
    ("when clients gave up", lambda p: p.cancellations),
    ("which requests are retries", lambda p: p.retries),
    (TENANTS, lambda p: p.tenants),
    ("images", lambda p: p.images),
    ("audio", lambda p: p.audio_s),
    ("tokens that the source's own cache served", lambda p: p.prefix.cached_share),
)


def _left_out(source: Profile, keeps: tuple[str, ...], *, prefix: bool) -> tuple[str, ...]:
    absent = [name for name, held in _LEFT_OUT if held(source) and name not in keeps]
    if not prefix and source.prefix.block_tokens:
        absent.append("prefix blocks")
    return (f"Left out: {'; '.join(absent)}.",) if absent else ()


def _metadata(source: Profile, asked: Arrivals, said: tuple[str, ...], *, prefix: bool) -> Metadata:
    clock = asked.kind == OWN
    shared = prefix and source.prefix.shared_blocks
    return Metadata(
        block_tokens=source.prefix.block_tokens if shared else None,
        week_offset_s=source.week_offset_s if clock else None,
        time_zone=source.time_zone if clock else None,
        basis=source.basis,
        history=(*source.history, *said),
        synthetic=True,
    )
