"""The options of ``vram trial shadow`` as a question."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from vramledger.cli.workload.operator import seconds
from vramledger.errors import BadInput
from vramledger.methods.shadow.asked import ServerAsked, ShadowAsked

_LIMITS: Final = (  # option, least, most
    ("requests", 1, 1_000_000),
    ("max_tokens", 1, 1_000_000),
    ("repeat_a", 0, 1),
    ("concurrency", 1, 1024),
    ("top_logprobs", 1, 100),
    ("seed", 0, 2**63 - 1),
)


_OF_A_MIRROR: Final = ("listen", "share", "for_", "within", "grace", "pass_keys")


def refuse_mirror_options(stated: frozenset[str]) -> None:
    """Without --mirror its options mean nothing.

    Raises:
        BadInput: one was given.
    """
    for name in _OF_A_MIRROR:
        if name in stated:
            raise BadInput(f"{option(name)} belongs to a mirror; add --mirror, or leave it out.")


def option(name: str) -> str:
    """The option of that name."""
    return f"--{name.rstrip('_').replace('_', '-')}"


def shadow_asked(given: Mapping[str, Any]) -> ShadowAsked:
    """What the options ask.

    Raises:
        BadInput: they contradict each other, or one is out of range.
    """
    check_limits(given)
    _check_sides(given)
    timeout = timeout_of(given)
    return ShadowAsked(
        a=side_of(given, "a"),
        b=side_of(given, "b"),
        recorded=given["a_recorded"],
        prompts=given["prompts"],
        requests=given["requests"],
        max_tokens=given["max_tokens"],
        api=given["api"],
        at_once=given["concurrency"],
        repeat=given["repeat_a"],
        top=given["top_logprobs"],
        seed=given["seed"],
        threshold=threshold_of(given["plan"], given["min_agreement"]),
        keep_text=given["keep_text"],
        same_text=given["same_text"],
        timeout_s=timeout,
    )


def _check_sides(given: Mapping[str, Any]) -> None:
    a, b, record, recorded = (given[name] for name in ("a", "b", "record", "a_recorded"))
    if a is not None and recorded is not None:
        raise BadInput("--a and --a-recorded both say what to compare with; give one of them.")
    if record is not None and (b is not None or recorded is not None or a is None):
        raise BadInput(
            "--record takes the answers of --a alone; leave --b and --a-recorded for the next command."
        )
    if a is None and recorded is None:
        raise BadInput(
            "State the server to compare with: --a URL, or --a-recorded FILE that --record wrote."
        )
    if b is None and record is None:
        raise BadInput(
            "State the server that is compared with --b URL, or record A's answers for later with --record FILE."
        )
    if given["keep_text"] and recorded is not None:
        raise BadInput(
            "--keep-text needs both servers at the same time, as a recording holds no text; leave it out."
        )


def check_limits(given: Mapping[str, Any]) -> None:
    """Numbers that mean nothing.

    Raises:
        BadInput: one is out of range.
    """
    for name, least, most in _LIMITS:
        if not least <= given[name] <= most:
            raise BadInput(f"{option(name)} is {given[name]:g}; take {least:,} to {most:,}.")


def timeout_of(given: Mapping[str, Any]) -> float:
    """Most seconds for an answer.

    Raises:
        BadInput: it is out of range.
    """
    timeout = seconds(given["timeout"])
    if not 0 < timeout <= 86_400:
        raise BadInput(
            f"--timeout {given['timeout']} is out of range; take more than 0 and at most a day."
        )
    return timeout


def side_of(given: Mapping[str, Any], side: str) -> ServerAsked | None:
    """One server, None where none is named.

    Raises:
        BadInput: two places are named for its key.
    """
    url = given[side]
    if url is None:
        return None
    env, file = given[f"key_env_{side}"], given[f"key_file_{side}"]
    if env and file:
        raise BadInput(f"--key-env-{side} and --key-file-{side} both name a key; give one of them.")
    return ServerAsked(url, given[f"model_{side}"], env, file)


def threshold_of(plan: Path | None, stated: float | None) -> float | None:
    """The agreement asked for, None where none is.

    Raises:
        BadInput: it is no share, or the plan states none.
    """
    if stated is not None:
        if not 0 < stated <= 1:
            raise BadInput(
                f"--min-agreement is {stated:g}; it is a share above 0 and up to 1, such as 0.98."
            )
        return stated
    if plan is None:
        return None
    from vramledger.plan.read import read_plan

    found = read_plan(str(plan)).quality.min_agreement
    if found is None:
        raise BadInput(
            f"{plan} states no quality.min_agreement; add it there, or give --min-agreement."
        )
    return found
