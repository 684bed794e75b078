"""Whether more memory for the KV cache would help: now, and after the next change, each by playing the run with a larger pool."""

from enum import StrEnum
from typing import Final

from vramledger.diagnose.counterfactual.bench import Bench, Played
from vramledger.diagnose.hypothesis import NextChange
from vramledger.errors import VramError
from vramledger.frozen import frozen

TIMES: Final = 2.0  # the pool that is tried
_PART: Final = 0.1
_LEAST_S: Final = 0.05


class Helps(StrEnum):
    """The answer."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@frozen
class Tried:
    """The run with its own pool and with `TIMES` of it; both None where that could not be played, for `reason`."""

    answer: Helps
    reason: str
    before: Played | None = None
    after: Played | None = None


@frozen
class MoreMemory:
    """Now, and after a change; `change` is empty where there is none to make."""

    now: Tried
    change: str
    after: Tried


def more_memory(bench: Bench | str, change: NextChange | None) -> MoreMemory:
    """The answers; `bench` is the reason where there is none."""
    if isinstance(bench, str):
        unknown = Tried(Helps.UNKNOWN, bench)
        return MoreMemory(unknown, "" if change is None else change.text, unknown)
    now = tried(bench)
    if change is None:
        return MoreMemory(now, "", now)
    if change.flag is None or change.value is None:
        same = Tried(
            now.answer,
            f"The change leaves the engine as it is. {now.reason}",
            now.before,
            now.after,
        )
        return MoreMemory(now, change.text, same)
    try:
        return MoreMemory(now, change.text, tried(bench.with_flag(change.flag, change.value)))
    except VramError as error:
        return MoreMemory(now, change.text, Tried(Helps.UNKNOWN, str(error)))


def tried(bench: Bench) -> Tried:
    """The run with a larger pool beside it with its own."""
    before, after = bench.play(), bench.play(blocks=TIMES)
    helps = better(before, after)
    said = f"Played with {TIMES:g} times the KV cache, the mean time to the first token goes from {before.ttft_mean_s:.3g} s to {after.ttft_mean_s:.3g} s and that of a whole request from {before.e2e_mean_s:.3g} s to {after.e2e_mean_s:.3g} s; preemptions from {before.preemptions:,} to {after.preemptions:,}."
    return Tried(Helps.YES if helps else Helps.NO, said, before, after)


def better(before: Played, after: Played) -> bool:
    """Whether clients would notice: a tenth less, and a twentieth of a second."""
    return (
        any(
            first - second >= max(_PART * first, _LEAST_S)
            for first, second in (
                (before.ttft_mean_s, after.ttft_mean_s),
                (before.ttft_p95_s, after.ttft_p95_s),
                (before.e2e_mean_s, after.e2e_mean_s),
            )
        )
        or after.served > before.served
    )
