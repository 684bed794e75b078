"""`predict`: TTFT, TPOT and throughput of a deployment under a steady load."""

from collections.abc import Callable
from math import isfinite
from typing import Final

from vramledger.engine.vllm.deployment import Deployment
from vramledger.errors import BadInput
from vramledger.model.model import ModelKind
from vramledger.simulate.timing.bands import Region, banded, region
from vramledger.simulate.timing.carrying import refusals
from vramledger.simulate.timing.closed_loop import Load, Steady
from vramledger.simulate.timing.coefficients import Fit, shipped
from vramledger.simulate.timing.outlook import Outlook, Prepared, outlook, prepare, waits_for_room
from vramledger.simulate.timing.prediction import Prediction

_MOST: Final = 1e9  # tokens, requests: beyond it the question is a slip of the pen
_IN_STEP: Final = (
    "All requests have one length, so that those who start together end together: every round of prompts comes at "
    "once. With lengths that differ (--spread, --workload) TTFT is shorter."
)
_NEIGHBOURS: Final = "neighbours' prompts"


class DoesNotStart(BadInput):
    """The ledger says that the deployment does not start; the message is its reason."""


def predict(
    deployment: Deployment,
    load: Load,
    fit: Fit | None = None,
    *,
    version_known: bool = True,
    preparing: Callable[[Deployment], Prepared] = prepare,
) -> Prediction:
    """The prediction for that load, by the shipped coefficients unless others are given.

    `preparing` is `prepare`, or what remembers what it said.

    Raises:
        DoesNotStart: the ledger says so, and leaves no room for a request.
        BadInput: a load that means nothing, or requests that this deployment never serves.
        CannotKnow: the card's or the model's figures are missing.
    """
    _refuse_encoder(deployment)
    _refuse_nonsense(load)
    _refuse_long(deployment, load)
    prepared = preparing(deployment)
    _refuse_unheld(prepared, load)
    return answer(prepared, load, fit or shipped(), version_known=version_known)


def answer(prepared: Prepared, load: Load, fit: Fit, *, version_known: bool = True) -> Prediction:
    """The prediction for one load of a prepared deployment."""
    found = outlook(prepared, load, fit.coefficients)
    around = region(prepared.deployment, prepared.work, fit, version_known=version_known)
    waits = waits_for_room(found, load)
    source = f"step time, {fit.source}" + (f" of {fit.date}" if fit.date else "")
    layout = prepared.deployment.layout
    shares = _shares(found.steady)
    return Prediction(
        deployment=_words(prepared.deployment),
        load=load,
        ttft=banded(found.ttft, fit.ttft_waiting if waits else fit.ttft, around, source),
        tpot=banded(found.tpot, fit.tpot_waiting if waits else fit.tpot, around, source),
        output_tokens_per_s=found.tokens_per_s,
        output_tokens_per_s_per_gpu=found.tokens_per_s / layout.world,
        gpus=layout.world,
        room=prepared.room.feasible(load),
        sequences=prepared.room.sequences,
        binding=max(shares, key=lambda name: shares[name]),
        shares=shares,
        outlook=found,
        starts=not prepared.room.shortage,
        evidence=not refusals(prepared.deployment, fit),
        notes=_notes(prepared, load, found, around),
    )


def _refuse_encoder(deployment: Deployment) -> None:
    if deployment.model.kind is ModelKind.ENCODER:
        raise BadInput(
            f"{deployment.model.id} is an encoder and generates no tokens, so it has neither TTFT nor "
            "TPOT; name a model that generates."
        )


def _refuse_nonsense(load: Load) -> None:
    for what, value in (
        ("The input", load.input_tokens),
        ("The output", load.output_tokens),
        ("The concurrency", load.concurrency),
    ):
        if not 1 <= value <= _MOST:
            raise BadInput(f"{what} is {value:g}; it must lie between 1 and {_MOST:g}.")
    if not load.requests >= load.concurrency:
        raise BadInput(
            f"A run of {load.requests:g} requests cannot keep {load.concurrency:g} in flight; give at "
            "least as many requests as the concurrency."
        )


def _refuse_long(deployment: Deployment, load: Load) -> None:
    tokens = load.input_tokens + load.output_tokens
    if load.recorded is not None:
        tokens = max(map(sum, zip(load.recorded.prompts, load.recorded.outputs, strict=True)))
    limit = deployment.max_model_len.value or deployment.model.text.max_positions
    if limit and tokens > limit:
        raise BadInput(
            f"A request of {tokens:.0f} tokens is longer than the {limit} that max_model_len allows, so "
            "the engine refuses it; raise --max-model-len or give shorter lengths."
        )


def _refuse_unheld(prepared: Prepared, load: Load) -> None:
    tokens = load.input_tokens + load.output_tokens
    if prepared.room.held(load.input_tokens, load.output_tokens) < 1:
        if prepared.room.shortage:
            raise DoesNotStart(prepared.room.shortage)
        raise BadInput(
            f"The KV cache does not hold one request of {tokens:.0f} tokens, so none is ever answered; "
            "use more GPUs, a smaller cache type or shorter requests."
        )


def _shares(found: Steady) -> dict[str, float]:
    return {**found.decode_step.parts(), _NEIGHBOURS: found.neighbours}


def _words(deployment: Deployment) -> str:
    layout = deployment.layout
    splits = [("TP", layout.tp), ("PP", layout.pp), ("DP", layout.dp)]
    said = " x ".join(f"{name} {ranks}" for name, ranks in splits if ranks > 1)
    expert = ", expert parallel" if layout.expert_parallel else ""
    return (
        f"{deployment.model.id} on {layout.gpus} x {deployment.accelerator.name}"
        + (f" ({said}{expert})" if said else "")
        + f", vLLM {deployment.version}"
    )


def _notes(prepared: Prepared, load: Load, found: Outlook, around: Region) -> tuple[str, ...]:
    notes = []
    if prepared.room.shortage:
        notes.append(f"The ledger says that this does not start: {prepared.room.shortage}")
    if waits_for_room(found, load):
        notes.append(
            f"{load.concurrency:.0f} requests are in flight, but {found.running:.0f} run at once; on "
            f"average {found.waiting:.0f} wait for room."
        )
    if found.played is not None and found.played.preemptions:
        notes.append(
            f"The cache runs full: {found.played.preemptions} preemptions, each computed again."
        )
    if isfinite(load.requests) and found.burst > 0:
        notes.append(
            f"{load.concurrency:.0f} of {load.requests:.0f} requests start together, which is about "
            f"{found.burst * 1e3:.0f} ms of the mean TTFT."
        )
    if load.in_step and load.concurrency > 1:
        notes.append(_IN_STEP)
    return (*notes, *around.notes)
