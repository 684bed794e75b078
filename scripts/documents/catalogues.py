"""The lists of models, accelerators and request profiles that ship with the product."""

from typing import Final

from vramledger.engine.vllm.loaded import loaded
from vramledger.errors import VramError
from vramledger.evidence import Figure
from vramledger.hardware.accelerator import Accelerator
from vramledger.hardware.catalogue import accelerators, find
from vramledger.model import catalogue
from vramledger.model.inspection import inspect
from vramledger.model.load import load_model
from vramledger.plan.profile import profile, profile_names
from vramledger.units import GIB, KIB, MIB

_CARD: Final = "H100-80GB-SXM"


def models() -> str:
    """Every model that has figures of its own, one row each."""
    rows = [_model_row(name) for name in catalogue.ids()]
    count = len(rows), len(catalogue.aliases())
    return "\n".join(
        [
            f"{count[0]} models have figures of their own; {count[1]} more names share them.",
            "",
            (
                "| model | class | parameters | GiB as stored | KiB a token | window "
                "| indexer, KiB a token | state, MiB |"
            ),
            "|---|---|---:|---:|---:|---:|---:|---:|",
            *rows,
        ]
    )


def _model_row(name: str) -> str:
    try:
        seen = inspect(load_model(name))
    except VramError as error:
        raise SystemExit(f"The catalogue's own model {name} is refused: {error}") from error
    cache = seen.cache
    token = window = state = indexer = ""
    if cache is not None:
        both = cache.full_bytes_per_token + cache.window_bytes_per_token
        token = f"{both / KIB:,.1f}" if both else ""
        window = f"{cache.window:,}" if cache.window else ""
        own = loaded(seen.model, find(_CARD)).kept
        state = _both(cache.state_bytes_per_sequence, own.state_bytes_per_sequence, MIB)
        indexer = _both(cache.indexer_bytes_per_token, own.indexer_bytes_per_token, KIB)
    return (
        f"| {name} | {seen.model.architecture} | {seen.params_total / 1e9:,.2f} B "
        f"| {seen.weights_bytes / GIB:,.2f} | {token} | {window} | {indexer} | {state} |"
    )


def _both(plain: int, own: int, unit: int) -> str:
    """The 16-bit figure, and after a stroke what vLLM keeps where that differs."""
    if not plain:
        return ""
    first = f"{plain / unit:,.1f}"
    return first if own in (0, plain) else f"{first} / {own / unit:,.1f}"


def gpus() -> str:
    """Every accelerator with what programs see of its memory."""
    rows = [_gpu_row(card) for card in accelerators()]
    return "\n".join(
        [
            f"{len(rows)} accelerators.",
            "",
            "| name | vendor | architecture | sold as, GB | programs see, GiB | basis |",
            "|---|---|---|---:|---:|---|",
            *rows,
        ]
    )


def _gpu_row(card: Accelerator) -> str:
    nominal = "" if card.nominal_gb is None else f"{card.nominal_gb:g}"
    return (
        f"| {card.name} | {card.vendor} | {card.architecture} | {nominal} "
        f"| {_span(card.total)} | {card.total.basis} |"
    )


def _span(total: Figure) -> str:
    if total.high - total.low < 0.005:
        return f"{total.value:.2f}"
    return f"{total.low:.2f} to {total.high:.2f}"


def profiles() -> str:
    """Every request profile, with its lengths' basis and where they were seen."""
    rows = []
    for name in profile_names():
        found = profile(name)
        rows.append(f"| `{name}` | {found.title} | {found.kind} | {found.basis} | {found.source} |")
    head = "| profile | what it is | kind | basis | source |"
    return "\n".join([head, "|---|---|---|---|---|", *rows])
