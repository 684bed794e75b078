"""Named request profiles: the shape of requests where one's own is not known yet.

A profile is one file, `profiles/<name>.toml`: either the joint histogram of a public trace
(`cells`), or percentiles that are assumed. It says nothing about how many requests arrive.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from vramledger.errors import UnknownName
from vramledger.evidence import Basis
from vramledger.frozen import frozen
from vramledger.plan.lengths import (
    LengthDistribution,
    from_cells,
    from_percentiles,
    independent,
)
from vramledger.plan.percentiles import share_of
from vramledger.plan.requirement import Kind

_FOLDER: Final = Path(__file__).with_name("profiles")


@frozen
class Profile:
    """The lengths of one kind of use, with where they were seen."""

    name: str
    title: str
    kind: Kind
    lengths: LengthDistribution
    licence: str
    attribution: str
    note: str

    @property
    def basis(self) -> Basis:
        """Quoted where a public trace shows it, assumed otherwise."""
        return self.lengths.basis

    @property
    def source(self) -> str:
        return self.lengths.source


@cache
def profile_names() -> tuple[str, ...]:
    """Every profile that ships, sorted."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))


@cache
def profile(name: str, where: str = "") -> Profile:
    """The profile of that name; `where` is the file and key it came from.

    Raises:
        UnknownName: none has that name.
    """
    known = profile_names()
    if name not in known:
        raise UnknownName("profile", name, known, where, f"Known are {', '.join(known)}.")
    with (_FOLDER / f"{name}.toml").open("rb") as stream:
        data = tomllib.load(stream)
    return Profile(
        name=name,
        title=data["title"],
        kind=Kind(data["kind"]),
        lengths=_lengths(name, data),
        licence=data["licence"],
        attribution=data["attribution"],
        note=data["note"],
    )


def _lengths(name: str, data: Mapping[str, Any]) -> LengthDistribution:
    basis, source = Basis(data["basis"]), f"profile {name}: {data['source']}"
    if "cells" in data:
        return from_cells((tuple(cell) for cell in data["cells"]), basis, source)
    inputs = from_percentiles(_points(data["input_tokens"]), f"input_tokens of profile {name}")
    outputs = from_percentiles(_points(data["output_tokens"]), f"output_tokens of profile {name}")
    return independent(inputs, outputs, basis, source)


def _points(table: Mapping[str, float]) -> dict[float, float]:
    return {share_of(key): float(tokens) for key, tokens in table.items()}
