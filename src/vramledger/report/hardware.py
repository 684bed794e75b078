"""Accelerators as JSON and for a terminal."""

from collections.abc import Sequence
from typing import Any

from vramledger.evidence import Figure
from vramledger.hardware.accelerator import Accelerator
from vramledger.hardware.server import Server

SCHEMA = "vramledger.gpus/1"
_FIGURES = (
    ("bandwidth_gb_s", "memory bandwidth", "GB/s"),
    ("multiprocessors", "multiprocessors", ""),
    ("fabric_gb_s", "fabric, both directions", "GB/s"),
    ("pcie_gb_s", "PCIe, one direction", "GB/s"),
    ("slots", "slots", ""),
    ("tdp_w", "power", "W"),
    ("cooling", "cooling", ""),
    ("per_server", "most in one named server", ""),
)


def list_json(cards: Sequence[Accelerator]) -> dict[str, Any]:
    """The object that ``vram gpus --json`` prints."""
    return {"schema": SCHEMA, "gpus": [_card_json(card) for card in cards]}


def card_json(
    card: Accelerator, slices: Sequence[Accelerator], servers: Sequence[Server]
) -> dict[str, Any]:
    """The object that ``vram gpus NAME --json`` prints."""
    return {
        "schema": SCHEMA,
        "gpus": [
            {
                **_card_json(card),
                "sources": dict(card.sources),
                "slices": [_card_json(part) for part in slices],
                "servers": [_server_json(server) for server in servers],
            }
        ],
    }


def list_text(cards: Sequence[Accelerator]) -> str:
    """One line a card, with the band of what programs see."""
    head = f"{'name':<26}{'vendor':<8}{'architecture':<17}{'programs see, GiB':<24}{'GB/s':>7}"
    lines = [head + f"{'bf16':>8}  {'link':<16}{'W':>5}"]
    lines += [_line(card) for card in cards]
    lines += ["", f"{len(cards)} cards. vram gpus NAME shows every figure with its source."]
    return "\n".join(lines)


def card_text(card: Accelerator, slices: Sequence[Accelerator], servers: Sequence[Server]) -> str:
    """Every figure of one card with its source, its slices and its servers."""
    lines = [f"{card.name}: {card.vendor}, {card.architecture}{_capability(card)}"]
    build = (card.form, card.memory_type, card.pcie and f"PCIe {card.pcie}")
    lines += ["  " + ", ".join(part for part in build if part)]
    lines += ["", _figure_line("programs see", card.total)]
    lines += [_plain("nominal size", f"{card.nominal_gb:g} GB", card.sources.get("nominal_gb", ""))]
    if card.nvidia_smi_mib is not None:
        source = card.sources.get("nvidia_smi_mib", "")
        lines.append(_plain("nvidia-smi prints", f"{card.nvidia_smi_mib} MiB", source))
    for key, label, unit in _FIGURES:
        value = getattr(card, key)
        if value not in (None, ""):
            shown = f"{value:,g} {unit}" if isinstance(value, int | float) else str(value)
            lines.append(_plain(label, shown.strip(), card.sources.get(key, "")))
    for kind, rate in card.dense_tflops.items():
        source = card.sources.get(f"tflops.{kind}", "")
        lines.append(_plain(f"dense {kind}", f"{rate:,g} T/s", source))
    lines += _names(card) + _slice_lines(slices) + _server_lines(servers)
    return "\n".join([*lines, *(["", f"Note: {card.notes}"] if card.notes else [])])


def _card_json(card: Accelerator) -> dict[str, Any]:
    capability = card.compute_capability
    return {
        "name": card.name,
        "vendor": str(card.vendor),
        "architecture": card.architecture,
        "compute_capability": None if capability is None else f"{capability[0]}.{capability[1]}",
        "gfx_target": card.gfx_target,
        "total_gib": card.total.to_json(),
        "nominal_gb": card.nominal_gb,
        "nvidia_smi_mib": card.nvidia_smi_mib,
        "memory_type": card.memory_type,
        "dense_tflops": dict(card.dense_tflops),
        "fabric_kind": card.fabric_kind,
        "fabric_group": card.fabric_group,
        **{key: getattr(card, key) for key, _label, _unit in _FIGURES},
        "form": card.form,
        "unified_memory": card.unified_memory,
        "prints": list(card.prints),
        "aliases": list(card.aliases),
        "parent": card.parent,
        "slices_per_parent": card.slices_per_parent,
        "notes": card.notes,
    }


def _server_json(server: Server) -> dict[str, Any]:
    return {
        "name": server.name,
        "gpus": server.gpus,
        "topology": str(server.topology),
        "group": server.group,
        "link": server.link,
        "link_gb_s": server.link_gb_s,
        "basis": str(server.basis),
        "source": server.source,
    }


def _line(card: Accelerator) -> str:
    link = f"{card.fabric_kind} {card.fabric_group}" if card.fabric_kind else ""
    bf16 = card.dense_tflops.get("bf16")
    return (
        f"{card.name:<26}{card.vendor:<8}{card.architecture:<17}"
        f"{_band(card.total) + ' ' + card.total.basis:<24}"
        f"{_number(card.bandwidth_gb_s):>7}{_number(bf16):>8}  {link:<16}"
        f"{_number(card.tdp_w):>5}"
    )


def _capability(card: Accelerator) -> str:
    if card.compute_capability is not None:
        return f", compute capability {card.compute_capability[0]}.{card.compute_capability[1]}"
    return f", {card.gfx_target}" if card.gfx_target else ""


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:g}"


def _band(figure: Figure) -> str:
    if figure.is_sharp:
        return f"{figure.value:.2f}"
    return f"{figure.low:.2f}..{figure.high:.2f}"


def _figure_line(label: str, figure: Figure) -> str:
    return _plain(label, f"{_band(figure)} GiB", f"{figure.basis}: {figure.source}")


def _plain(label: str, shown: str, source: str) -> str:
    return f"  {label:<26}{shown:<22}{source}".rstrip()


def _names(card: Accelerator) -> list[str]:
    lines = []
    if card.prints:
        lines.append(_plain("its driver prints", "; ".join(card.prints), ""))
    if card.aliases:
        lines.append(_plain("also called", "; ".join(card.aliases), ""))
    return lines


def _slice_lines(slices: Sequence[Accelerator]) -> list[str]:
    if not slices:
        return []
    lines = ["", "MIG slices (programs see, GiB; how many one GPU makes)"]
    return lines + [
        f"  {part.name:<34}{_band(part.total):<16}{part.slices_per_parent:>2}  {part.total.basis}"
        for part in slices
    ]


def _server_lines(servers: Sequence[Server]) -> list[str]:
    lines = ["", "Servers"]
    for server in servers:
        speed = "" if server.link_gb_s is None else f", {server.link_gb_s:g} GB/s a direction"
        link = "" if server.gpus == 1 else f" ({server.link}{speed})"
        lines.append(f"  {server.name:<34}{server.topology}{link}  {server.basis}")
    return lines
