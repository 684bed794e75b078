"""The options of ``vram trial shadow --mirror`` as a question."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from vramledger.cli.trial.shadow_asked import (
    check_limits,
    option,
    side_of,
    threshold_of,
    timeout_of,
)
from vramledger.cli.workload.operator import seconds
from vramledger.errors import BadInput
from vramledger.methods.mirror.asked import MirrorAsked

_OF_PROMPTS: Final = (
    "record", "a_recorded", "prompts", "requests", "max_tokens", "api", "top_logprobs", "keep_text", "same_text",
)  # fmt: skip
_AT_ONCE: Final = 16
_LONGEST_S: Final = 366 * 86_400.0


def mirror_asked(
    given: Mapping[str, Any], stated: frozenset[str], html: Path | None
) -> MirrorAsked:
    """What the options ask; `stated` are those that stand in the command.

    Raises:
        BadInput: they contradict each other, or one is out of range.
    """
    for name in _OF_PROMPTS:
        if name in stated:
            raise BadInput(
                f"{option(name)} belongs to a comparison by prompts, and a mirror takes what its clients ask; leave it out."
            )
    if html is not None:
        raise BadInput("--html shows answers side by side, and a mirror keeps none; leave it out.")
    a, b = side_of(given, "a"), side_of(given, "b")
    if a is None or b is None:
        raise BadInput(
            "A mirror needs both servers: --a URL answers the clients, --b URL is compared."
        )
    check_limits(given)
    _check_share(given["share"], "--share", 1)
    _check_share(given["within"], "--within", 0.5)
    if given["pass_keys"] and (b.key_env or b.key_file):
        raise BadInput("--pass-keys and a key of B both say what B is sent; give one of them.")
    host, port = _place(given["listen"])
    return MirrorAsked(
        a=a,
        b=b,
        host=host,
        port=port,
        share=given["share"],
        seed=given["seed"],
        for_s=_time("--for", given["for_"]) if given["for_"] is not None else None,
        at_once=given["concurrency"] if "concurrency" in stated else _AT_ONCE,
        repeat=given["repeat_a"] if "repeat_a" in stated else 0.0,
        threshold=threshold_of(given["plan"], given["min_agreement"]),
        within=given["within"],
        timeout_s=timeout_of(given),
        pass_keys=given["pass_keys"],
        grace_s=_time("--grace", given["grace"]),
    )


def _check_share(found: float, name: str, most: float) -> None:
    if not 0 < found <= most:
        raise BadInput(
            f"{name} is {found:g}; it is a share above 0 and up to {most:g}, such as 0.01."
        )


def _time(name: str, text: str) -> float:
    found = seconds(text)
    if not 0 < found <= _LONGEST_S:
        raise BadInput(f"{name} {text} is out of range; take more than 0 and at most a year.")
    return found


def _place(text: str) -> tuple[str, int]:
    """Host and port of ``HOST:PORT`` or ``[ADDRESS]:PORT``."""
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not host or not port.isascii() or not port.isdigit() or int(port) > 65_535:
        raise BadInput(
            f"--listen is {text!r}; write HOST:PORT, such as 127.0.0.1:8100, or [::1]:8100."
        )
    return host, int(port)
