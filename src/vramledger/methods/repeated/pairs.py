"""Two servers in turn: the difference within each pair, and whether it can be put down to anything.

The two runs of a pair have the same requests at nearly the same time, so what the workload and the hour do to both falls out of
their difference. The mean of the differences has the interval of `between`, over pairs. An effect is put down to a change only where
the change is the single one that can be seen.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from vramledger.frozen import frozen
from vramledger.methods.repeated.between import FEWEST, OfRuns, more_runs, of_runs
from vramledger.methods.repeated.figures import STATISTICS, value_of
from vramledger.methods.repeated.one_run import LATENCIES, OneRun
from vramledger.methods.repeated.turns import Side

if TYPE_CHECKING:
    from vramledger.record.document import Deployment

_RATES: Final = ("requests_per_s", "output_tokens_per_s")


@frozen
class Difference:
    """B less A, in the unit of the figure; `base` is the mean of A. `told` is whether the interval leaves 0 out.

    `more` is how many more pairs would tell it, None where no sensible number would.
    """

    name: str
    statistic: str | None
    base: float
    pairs: OfRuns
    told: bool
    more: int | None


@frozen
class Attribution:
    """What differs between the servers, a phrase each; `untold` names what one of them alone tells, and `refused` why no effect is put down to anything."""

    differences: tuple[str, ...]
    untold: tuple[str, ...]
    refused: str | None


def paired(runs: Sequence[OneRun]) -> tuple[tuple[OneRun, OneRun], ...]:
    """The whole pairs, A first, in the order of their numbers."""
    sides: Mapping[Side, dict[int, OneRun]] = {
        side: {one.turn.number: one for one in runs if one.turn.side is side} for side in Side
    }
    numbers = sorted(sides[Side.A].keys() & sides[Side.B].keys())
    return tuple((sides[Side.A][number], sides[Side.B][number]) for number in numbers)


def differences_of(pairs: Sequence[tuple[OneRun, OneRun]]) -> tuple[Difference, ...]:
    """Of every figure that all runs have; none with fewer than two pairs."""
    if len(pairs) < FEWEST:
        return ()
    return tuple(_differences(pairs))


def _differences(pairs: Sequence[tuple[OneRun, OneRun]]) -> Iterator[Difference]:
    for name, statistic, values in _figures(pairs):
        if any(a is None or b is None or a == b == float("inf") for a, b in values):
            continue
        told = [(a, b) for a, b in values if a is not None and b is not None]
        found = of_runs([b - a for a, b in told])
        base = sum(a for a, _ in told) / len(told)
        more = more_runs(found, 0.0)
        yield Difference(name, statistic, base, found, more == 0, more)


def _figures(
    pairs: Sequence[tuple[OneRun, OneRun]],
) -> Iterator[tuple[str, str | None, list[tuple[float | None, float | None]]]]:
    for name in LATENCIES:
        for statistic, share in STATISTICS.items():
            yield name, statistic, [(value_of(a.values[name], share), value_of(b.values[name], share)) for a, b in pairs]  # fmt: skip
    yield "ok_share", None, [(value_of(a.ok, None), value_of(b.ok, None)) for a, b in pairs]
    for name in _RATES:
        yield name, None, [(getattr(a.summary.rates, name), getattr(b.summary.rates, name)) for a, b in pairs]  # fmt: skip


def attribution(pairs: Sequence[tuple[OneRun, OneRun]]) -> Attribution:
    """What differs between the two servers of the first pair, as far as both tell."""
    from vramledger.trial.server.differences import changes

    a, b = pairs[0]
    found = [
        f"{each.title or f'--{each.name}'}: {each.one} of A, {each.other} of B"
        for each in changes(a.about.in_effect, b.about.in_effect, both_seen=True)
    ]
    if a.about.origin != b.about.origin:
        found.append(f"origin: A is {a.about.origin.value}, B is {b.about.origin.value}")
    refused = None
    if len(found) > 1:
        refused = (
            f"{len(found)} things differ between the servers, so no effect can be put down to one of them; change one at a "
            "time."
        )
    return Attribution(tuple(found), tuple(_untold(a.about.in_effect, b.about.in_effect)), refused)


def _untold(a: "Deployment", b: "Deployment") -> Iterator[str]:
    """Fields and arguments that one side tells and the other does not."""
    ours, others = _told(a), _told(b)
    yield from (f"{name} (A alone tells it)" for name in sorted(ours - others))
    yield from (f"{name} (B alone tells it)" for name in sorted(others - ours))


def _told(found: "Deployment") -> set[str]:
    names = ("engine", "engine_version", "model", "model_revision", "weights_sha256", "chat_template", "gpu", "driver")  # fmt: skip
    fields = {name for name in names if getattr(found, name) is not None}
    return fields | {f"--{name}" for name in (found.arguments or {})}
