"""The lists of models, accelerators and request profiles that ship with the product."""

from vramledger.errors import VramError
from vramledger.evidence import Figure
from vramledger.hardware.accelerator import Accelerator
from vramledger.hardware.catalogue import accelerators
from vramledger.model import catalogue
from vramledger.model.inspection import inspect
from vramledger.model.load import load_model
from vramledger.plan.profile import profile, profile_names
from vramledger.units import GIB, KIB


def models() -> str:
    """Every model that has figures of its own, one row each."""
    rows = [_model_row(name) for name in catalogue.ids()]
    count = len(rows), len(catalogue.aliases())
    return "\n".join(
        [
            f"{count[0]} models have figures of their own; {count[1]} more names share them.",
            "",
            "| model | class | parameters | GiB as stored | KiB a token | window | state, MiB |",
            "|---|---|---:|---:|---:|---:|---:|",
            *rows,
        ]
    )


def _model_row(name: str) -> str:
    try:
        seen = inspect(load_model(name))
    except VramError as error:
        raise SystemExit(f"The catalogue's own model {name} is refused: {error}") from error
    cache = seen.cache
    token = window = state = ""
    if cache is not None:
        both = cache.full_bytes_per_token + cache.window_bytes_per_token
        token = f"{both / KIB:,.1f}" if both else ""
        window = f"{cache.window:,}" if cache.window else ""
        kept = cache.state_bytes_per_sequence
        state = f"{kept / KIB / KIB:,.1f}" if kept else ""
    return (
        f"| {name} | {seen.model.architecture} | {seen.params_total / 1e9:,.2f} B "
        f"| {seen.weights_bytes / GIB:,.2f} | {token} | {window} | {state} |"
    )


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
