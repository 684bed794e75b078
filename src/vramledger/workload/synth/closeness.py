"""How close a synthetic workload comes to its source: distances, each beside its sampling error.

Both sides are profiles, made by the same code. A distance is *within* where two samples of one source,
of these sizes, differ by as much in `LEVEL` of all pairs. Since the synthetic workload is drawn from
the profile, the source's own chance is not in the distance but is in the sampling error: a faithful
draw comes out beyond far more rarely than 1 - `LEVEL`.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from vramledger.frozen import frozen
from vramledger.workload.profile.profile import Profile
from vramledger.workload.synth.arrivals import OWN, Arrivals
from vramledger.workload.synth.compare_arrivals import arrival_lines
from vramledger.workload.synth.compare_lengths import joint_line, label_line, length_lines
from vramledger.workload.synth.compare_sharing import prefix_lines, session_lines
from vramledger.workload.synth.draws import streams
from vramledger.workload.synth.line import Line, Verdict, as_asked

if TYPE_CHECKING:
    import numpy as np

LEVEL: Final = 0.99
_ARRIVALS: Final = "arrivals"


@frozen
class Closeness:
    """The report."""

    lines: tuple[Line, ...]
    level: float
    source_requests: int
    requests: int
    not_compared: tuple[str, ...]  # parts that the source has and the synthetic workload lacks

    @property
    def holds(self) -> bool:
        """Whether no line is beyond."""
        return not self.beyond

    @property
    def beyond(self) -> tuple[str, ...]:
        """The parts of the lines that are beyond."""
        return tuple(line.part for line in self.lines if line.verdict is Verdict.BEYOND)


def closeness(
    source: Profile,
    made: Profile,
    seed: int = 0,
    level: float = LEVEL,
    asked: Arrivals | None = None,
) -> Closeness:
    """Distances of all parts that both profiles have; the seed is that of the sampling errors.

    Arrivals that were asked to differ from the source's are shown and not judged.
    """
    rng = streams(seed)["closeness"]
    lines: list[Line] = []
    missing = []
    for part, of, compared in _PARTS:
        one, other = of(source), of(made)
        if one and other:
            found = compared(source, made, level, rng)
            lines += _excused(found, asked) if part == _ARRIVALS and asked else found
        elif one:
            missing.append(part)
    return Closeness(tuple(lines), level, source.requests, made.requests, tuple(missing))


def _excused(lines: tuple[Line, ...], asked: Arrivals) -> tuple[Line, ...]:
    """Arrivals, marked where an option asked for others than the source's."""
    options = [f"--arrivals {asked.kind}"] if asked.kind != OWN else []
    if asked.rate is not None:
        options.append("--rate")
    return tuple(as_asked(line, " and ".join(options)) for line in lines) if options else lines


def _lengths(name: str) -> "tuple[str, Callable[[Profile], Any], _Compare]":
    def compared(
        source: Profile, made: Profile, level: float, rng: "np.random.Generator"
    ) -> tuple[Line, ...]:
        part = name.replace("_", " ")
        return length_lines(part, getattr(source, name), getattr(made, name), level, rng)

    return name.replace("_", " "), lambda profile: getattr(profile, name), compared


def _labels(name: str) -> "tuple[str, Callable[[Profile], Any], _Compare]":
    def compared(
        source: Profile, made: Profile, level: float, rng: "np.random.Generator"
    ) -> tuple[Line, ...]:
        return label_line(name, getattr(source, name), getattr(made, name), level, rng)

    return name, lambda profile: getattr(profile, name), compared


def _models(
    source: Profile, made: Profile, level: float, rng: "np.random.Generator"
) -> tuple[Line, ...]:
    """By rank: labels are numbered by first appearance, so that names do not say which is which."""
    one, other = (
        {f"{rank:06}": count for rank, count in enumerate(sorted(each.values(), reverse=True))}
        for each in (source.models, made.models)
    )
    return label_line("models", one, other, level, rng)


_Compare = Callable[[Profile, Profile, float, "np.random.Generator"], tuple[Line, ...]]
_PARTS: Final[tuple[tuple[str, Callable[[Profile], Any], _Compare], ...]] = (
    _lengths("input_tokens"),
    _lengths("output_tokens"),
    _lengths("total_tokens"),
    _lengths("thinking_tokens"),
    _lengths("max_output_tokens"),
    (
        "input x output",
        lambda profile: profile.joint and profile.joint.cells,
        lambda source, made, level, rng: (
            joint_line(source.joint, made.joint, level, rng) if source.joint and made.joint else ()
        ),
    ),
    (
        _ARRIVALS,
        lambda profile: profile.arrival.span_s,
        lambda source, made, level, rng: arrival_lines(source.arrival, made.arrival, level, rng),
    ),
    (
        "prefix sharing",
        lambda profile: profile.prefix.shared_blocks,
        lambda source, made, level, rng: prefix_lines(
            source.prefix, made.prefix, source.joint, level, rng
        ),
    ),
    (
        "sessions",
        lambda profile: profile.sessions and profile.sessions.turns,
        lambda source, made, level, rng: (
            session_lines(source.sessions, made.sessions, level, rng)
            if source.sessions and made.sessions
            else ()
        ),
    ),
    _labels("outcomes"),
    ("models", lambda profile: profile.models, _models),
)
