"""Whether a larger card is needed: by the causes that were found, and by playing the run on it and beside it with one setting changed."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Final

from vramledger.diagnose.counterfactual.bench import Bench, Played
from vramledger.diagnose.counterfactual.memory import better
from vramledger.diagnose.counterfactual.remedies import Remedy
from vramledger.diagnose.finding import Finding, Severity
from vramledger.errors import VramError
from vramledger.frozen import frozen
from vramledger.ledger.question import accelerator_for

_ENGINE: Final = frozenset(
    {"kv_cache", "sequence_cap", "token_budget", "decode_bandwidth", "arrivals_above_capacity"}
)
_RAISED: Final = "raised_limit"
_SEQUENCES: Final = 256
_SETTINGS: Final = frozenset({_RAISED, "cache_share", "sequences", "token_budget", "kv_dtype"})
_AS_GOOD: Final = 0.8  # of what the card gains


class Standing(StrEnum):
    """How an upgrade ends."""

    NOT_NEEDED = "not needed"
    JUSTIFIED = "justified"
    UNPROVEN = "unproven"


@frozen
class Upgrade:
    """The answer for one card, with the plays it rests on; None where nothing was played."""

    candidate: str
    standing: Standing
    reason: str
    before: Played | None = None
    after: Played | None = None


def upgrade_of(
    bench: Bench | str, candidate: str, findings: Sequence[Finding], remedies: Sequence[Remedy]
) -> Upgrade:
    """Whether the run justifies the card.

    Raises:
        UnknownName: no such card.
    """
    card = accelerator_for(candidate, where="--upgrade")
    first = findings[0]
    if first.severity is Severity.SILENT and first.cause == "healthy":
        return Upgrade(
            card.name, Standing.NOT_NEEDED, "Nothing was found that makes this server slow."
        )
    if first.cause not in _ENGINE:
        return Upgrade(
            card.name,
            Standing.NOT_NEEDED,
            f"What was found first is no want of hardware: {first.message}",
        )
    if isinstance(bench, str):
        return Upgrade(card.name, Standing.UNPROVEN, bench)
    try:
        before, after = bench.play(), bench.on(replace(bench.case, accelerator=card)).play()
    except VramError as error:
        return Upgrade(card.name, Standing.UNPROVEN, str(error))
    if not better(before, after):
        said = f"Played on it, the mean time of a request goes from {before.e2e_mean_s:.3g} s to {after.e2e_mean_s:.3g} s, which nobody would notice."
        return Upgrade(card.name, Standing.UNPROVEN, said, before, after)
    return _beside_settings(card.name, before, after, (*remedies, *_raised(bench, first.cause)))


def _raised(bench: Bench, cause: str) -> Iterator[Remedy]:
    """The limit that was found, raised as far as it can matter."""
    deployment = bench.deployment
    raised = {
        "sequence_cap": ("max-num-seqs", max(_SEQUENCES, 2 * deployment.max_num_seqs.value)),
        "token_budget": ("max-num-batched-tokens", 2 * deployment.max_num_batched_tokens.value),
    }.get(cause)
    if raised is None:
        return
    flag, value = raised
    try:
        found = bench.with_flag(flag, str(value)).play()
    except VramError:
        return
    gpus = deployment.layout.gpus
    yield Remedy(_RAISED, f"--{flag} {value}", "the other limits stay", gpus, None, found)


def _beside_settings(
    name: str, before: Played, after: Played, remedies: Sequence[Remedy]
) -> Upgrade:
    """Whether one setting on the card that is there does nearly as much."""
    gain = before.e2e_mean_s - after.e2e_mean_s
    for each in remedies:
        if (
            each.name in _SETTINGS
            and each.found is not None
            and before.e2e_mean_s - each.found.e2e_mean_s >= _AS_GOOD * gain > 0
        ):
            said = f"{each.change} on the card that is there does nearly as much: the mean time of a request goes from {before.e2e_mean_s:.3g} s to {each.found.e2e_mean_s:.3g} s, and to {after.e2e_mean_s:.3g} s on {name}."
            return Upgrade(name, Standing.NOT_NEEDED, said, before, after)
    said = f"Played on it, the mean time of a request goes from {before.e2e_mean_s:.3g} s to {after.e2e_mean_s:.3g} s, and no single setting on the card that is there does nearly as much."
    return Upgrade(name, Standing.JUSTIFIED, said, before, after)
