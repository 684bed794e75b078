"""A look at a live server: its line while it lasts, and what it was afterwards."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vramledger.report.number import duration, share
from vramledger.trial.conduct.looking import Looked


def look_line(t_s: float, for_s: float, figures: Mapping[str, float]) -> str:
    """How long it has lasted, and the server's figures of now; what is not known is left out."""
    parts = [f"looked for {duration(t_s)} of {duration(for_s)}"]
    parts += [f"{figures[name]:,.0f} {name}" for name in ("running", "waiting") if name in figures]
    if "kv_usage" in figures:
        parts.append(f"KV {share(figures['kv_usage'])}")
    return "  ".join(parts)


def look_text(found: Looked, folder: Path | None) -> str:
    """Whose look it was, how long, and what of the machine was not seen."""
    lasted = f"{duration(found.seen_s)} of {duration(found.asked_s)}, then interrupted" if found.interrupted else duration(found.seen_s)  # fmt: skip
    lines = [f"Looked at {found.url} for {lasted}; no request was sent."]
    lines += [f"  {each}" for each in found.unseen]
    if folder is not None:
        lines.append(f"  Kept in {folder}; vram diagnose {folder} judges it again.")
    return "\n".join(lines)


def look_json(found: Looked, folder: Path | None) -> dict[str, Any]:
    """The same as an object."""
    return {
        "server": found.url,
        "page": found.metrics_url,
        "asked_s": found.asked_s,
        "seen_s": round(found.seen_s, 3),
        "interrupted": found.interrupted,
        "unseen": list(found.unseen),
        "run": None if folder is None else str(folder),
    }
