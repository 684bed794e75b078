"""``--policy``, ``--acceptance`` and ``--trace-steps``: how a simulated engine serves."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from vramledger.errors import BadInput

_Command = TypeVar("_Command", bound=Callable[..., Any])
_VLLM = "vllm"


def serving_options(command: _Command) -> _Command:
    """The options, for a command that takes ``policy``, ``acceptance`` and ``trace``."""
    options = (
        click.option(
            "--policy",
            default=_VLLM,
            help="vllm, or for contrast with it static or transformers (batches that nobody joins).",
        ),
        click.option(
            "--acceptance",
            type=float,
            metavar="RATE",
            help="Share of drafts accepted at each position (0..1), for launches that speculate.",
        ),
        click.option(
            "--trace-steps",
            "trace",
            type=click.Path(path_type=Path),
            help="Write every step there, a JSON line each; simulates step by step, which is slow.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def serving_of(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a `Question` that these options decide; a verb without them gets the defaults.

    Raises:
        UnknownName: no such policy.
        BadInput: a rate that is none, or options that do not go together.
    """
    from vramledger.simulate.policies import policy_named

    policy, rate, trace = (asked.get(name) for name in ("policy", "acceptance", "trace"))
    policy = policy or _VLLM
    policy_named(policy)
    if rate is not None and not 0 <= rate <= 1:
        raise BadInput(f"--acceptance is {rate:g}; it is a share of the drafts, from 0 to 1.")
    if trace is not None and policy != _VLLM:
        raise BadInput(
            f"--trace-steps follows vLLM's scheduler, and --policy is {policy}; leave one of them out."
        )
    if trace is not None and asked.get("knee"):
        raise BadInput(
            "--knee plays many loads, and --trace-steps follows one; simulate the load that it finds "
            "with --rate-scale."
        )
    return {"policy": policy, "acceptance": rate, "trace": trace}
