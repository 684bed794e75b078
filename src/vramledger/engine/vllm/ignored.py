"""Arguments that are given but that the version does not act on, or does not even accept."""

from collections.abc import Callable
from typing import Final

from vramledger.engine.setting import Origin, Setting
from vramledger.engine.vllm.rules import Rules
from vramledger.engine.vllm.values import Values
from vramledger.frozen import frozen


@frozen
class _Ignored:
    """A flag without effect under some rules, with the sentence that says so."""

    flag: str
    applies: Callable[[Rules], bool]
    note: str


_NEVER_SWAPS: Final = "the V1 engine recomputes preempted requests and never swaps to host memory."
_IGNORED: Final = (
    _Ignored("swap-space", lambda r: r.v1, _NEVER_SWAPS),
    _Ignored("preemption-mode", lambda r: r.v1, _NEVER_SWAPS),
    _Ignored("num-scheduler-steps", lambda r: r.v1, "the V1 engine schedules every step."),
    _Ignored("scheduler-delay-factor", lambda r: r.v1, "the V1 engine does not delay prompts."),
    _Ignored(
        "max-num-partial-prefills", lambda r: r.v1, "the V1 engine has one budget for all prefills."
    ),
    _Ignored(
        "max-long-partial-prefills", lambda r: r.v1, "the V1 engine has one budget for all prefills."
    ),
    _Ignored("use-v2-block-manager", lambda _r: True, "there is only one block manager left."),
    _Ignored(
        "max-seq-len-to-capture", lambda r: r.v1, "V1 captures graphs by batch size, not by length."
    ),
    _Ignored("num-lookahead-slots", lambda r: r.v1, "V1 takes them from the draft method."),
)  # fmt: skip


def ignored_settings(values: Values, rules: Rules) -> tuple[Setting[str], ...]:
    """Flags given without effect: each setting's value is the flag, its note says why."""
    found = [
        Setting(
            f"--{entry.flag}",
            Origin.IGNORED,
            f"--{entry.flag} has no effect: {entry.note}",
        )
        for entry in _IGNORED
        if _accepted(values, entry.flag) and entry.applies(rules)
    ]
    found += [
        Setting(flag.written, Origin.IGNORED, f"{flag.refused}.")
        for flag in values.launch.flags
        if flag.refused
    ]
    return tuple(found)


def _accepted(values: Values, name: str) -> bool:
    flag = values.launch.flag(name)
    return flag is not None and not flag.refused
