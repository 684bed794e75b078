"""Write fitted terms as the package's coefficient file."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from accuracy.statistic import Fitted
from vramledger.engine.vllm.coefficients import Coefficient

_HEAD: Final = """\
# Calibrated terms of the vLLM ledger. Written by `make accuracy`; do not edit by hand.
# GiB, except `weights`, whose values are relative. low and high are the ends of the band.
"""


def write(path: Path, fitted: Fitted, seen: Mapping[str, Sequence[str]]) -> None:
    """The file, one table a term, and the GPU architectures behind each family."""
    path.write_text("\n".join((_HEAD, *_lines(fitted), *_seen(seen))), "utf-8")


def _seen(seen: Mapping[str, Sequence[str]]) -> Iterator[str]:
    yield "[seen]"
    for name, found in seen.items():
        quoted = ", ".join(f'"{one}"' for one in found)
        yield f'"{name}" = [{quoted}]'
    yield ""


def _lines(fitted: Fitted) -> Iterator[str]:
    for term, entries in fitted.items():
        yield f"[{term}]"
        for key, entry in entries.items():
            yield f'"{key}" = {_entry(entry)}'
        yield ""


def _entry(entry: Coefficient) -> str:
    note = f', note = "{entry.note}"' if entry.note else ""
    return (
        f"{{value = {entry.value}, low = {entry.low}, high = {entry.high}, "
        f"observations = {entry.observations}, models = {entry.models}{note}}}"
    )
