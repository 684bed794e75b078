"""The limits that a run's server was started with, as far as anyone told: the run itself, its pages, or the engine's own defaults."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from vramledger.calibrate.run_deployment import Stated, case_of
from vramledger.errors import VramError
from vramledger.frozen import frozen

if TYPE_CHECKING:
    from vramledger.ledger.case import Case
    from vramledger.record.document import Description

_SEQUENCES: Final = "max-num-seqs"
_BUDGET: Final = "max-num-batched-tokens"
_INTERVAL: Final = "stream-interval"
_NO_CASE: Final = "The deployment is not known well enough: "


@frozen
class Setting:
    """Limits of one engine, None where nobody told. `case` is the deployment as something to ask again, None for `reason`.

    `stated` is whether the cap on sequences was given for this run, and is not the engine's default. `drafts` is whether the engine speculates or streams at intervals, so that a chunk may hold several tokens.
    """

    max_num_seqs: int | None = None
    token_budget: int | None = None
    kv_tokens: int | None = None
    engine: str | None = None
    version: str | None = None
    model: str | None = None
    gpu: str | None = None
    drafts: bool = False
    stated: bool = True
    case: "Case | None" = None
    reason: str = ""


def setting_of(description: "Description", config: Mapping[str, str], stated: Stated) -> Setting:
    """What is known of a run's deployment.

    Raises:
        UnknownName: the user named a card, model or version that is none.
    """
    found, asked = description.in_effect, description.asked
    arguments = {**(asked.arguments or {}), **(found.arguments or {})}
    case, reason = _case(description, stated)
    deployment = None
    if case is not None:
        try:
            deployment = case.deployment()
        except VramError as error:
            case, reason = None, _NO_CASE + str(error)
    given = {
        "max_num_seqs": _whole(arguments.get(_SEQUENCES)),
        "token_budget": _whole(arguments.get(_BUDGET)),
    }
    if deployment is not None:
        given = {
            "max_num_seqs": deployment.max_num_seqs.value,
            "token_budget": deployment.max_num_batched_tokens.value,
        }
    return Setting(
        **given,
        kv_tokens=_kv_tokens(description, config),
        engine=found.engine or asked.engine,
        version=found.engine_version or asked.engine_version,
        model=found.model or asked.model,
        gpu=found.gpu or asked.gpu,
        stated=_SEQUENCES in arguments or _in_launch(stated),
        drafts=any("speculative" in name or name == _INTERVAL for name in arguments),
        case=case,
        reason=reason,
    )


def _in_launch(stated: Stated) -> bool:
    return stated.launch is not None and _SEQUENCES in stated.launch


def _case(description: "Description", stated: Stated) -> "tuple[Case | None, str]":
    """The deployment, or why there is none; what the user named himself is refused where it is wrong."""
    try:
        return case_of(description, stated), ""
    except VramError as error:
        if stated != Stated():
            raise
        return None, _NO_CASE + str(error)


def _kv_tokens(description: "Description", config: Mapping[str, str]) -> int | None:
    """Tokens of one engine's pool; of a hybrid model this is what the engine says itself."""
    more = description.model_extra or {}
    parts = [more.get(name) for name in ("trial", "look")]
    told = next((part.get("kv_tokens") for part in parts if isinstance(part, dict)), None)
    sizes = (config.get("kv_cache_size_tokens"), told)
    for each in sizes:
        if (whole := _whole(each)) is not None:
            return whole
    blocks = _whole(more.get("num_gpu_blocks")) or _whole(config.get("num_gpu_blocks"))
    asked = {**(description.asked.arguments or {}), **(description.in_effect.arguments or {})}
    size = _whole(config.get("block_size")) or _whole(asked.get("block-size"))
    return None if blocks is None or size is None else blocks * size


def _whole(value: Any) -> int | None:
    if isinstance(value, bool) or value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return int(number) if number >= 1 and number.is_integer() else None
