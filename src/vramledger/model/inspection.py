"""What `inspect` says of a model: parameters, bytes and what a token costs, as plain figures."""

from typing import Final

from vramledger.evidence import Basis
from vramledger.frozen import frozen
from vramledger.model import figures
from vramledger.model.cache_words import CacheLine, cache_lines
from vramledger.model.dtype import DType
from vramledger.model.model import Model, count_elements
from vramledger.model.tensor import Role

_BEYOND_THE_CLASS: Final = frozenset({Role.BUFFER})


@frozen
class RoleCount:
    """Parameters of one role."""

    role: Role
    params: int


@frozen
class CacheFigures:
    """Bytes of the caches at tensor parallelism 1 with 2-byte elements."""

    full_bytes_per_token: int
    window_bytes_per_token: int
    window: int | None
    state_bytes_per_sequence: int
    state_bytes_per_sequence_fp32_ssm: int
    cross_bytes_per_sequence: int
    indexer_bytes_per_token: int
    lines: tuple[CacheLine, ...]


@frozen
class Inspection:
    """A model's figures, each with its basis where the name does not say it."""

    model: Model
    params_total: int
    params_active: int
    params_basis: Basis
    roles: tuple[RoleCount, ...]
    buffer_elements: int  # stored beside the parameters
    extra_elements: int  # in the checkpoint but not in the class
    extra_bytes: int
    weights_bytes: int
    weights_bytes_bf16: int
    cache: CacheFigures | None  # None where `cache_reason` says why
    cache_reason: str | None
    not_known: tuple[str, ...]


def inspect(model: Model) -> Inspection:
    """The figures of a model; the cache is left out where it cannot be told."""
    return Inspection(
        model=model,
        params_total=model.params_total,
        params_active=model.params_active,
        params_basis=model.weights_basis if model.cache_unknown else Basis.DERIVED,
        roles=tuple(_roles(model)),
        buffer_elements=model.params_of(Role.BUFFER),
        extra_elements=count_elements(model.extra_tensors),
        extra_bytes=sum(t.nbytes(model.dtype) for t in model.extra_tensors),
        weights_bytes=model.weights_bytes,
        weights_bytes_bf16=figures.weights_bytes_bf16(model),
        cache=None if model.cache_unknown else _cache(model),
        cache_reason=model.cache_unknown,
        not_known=tuple(_not_known(model)),
    )


def _roles(model: Model) -> list[RoleCount]:
    counts = []
    for role in Role:
        own = [t for t in model.tensors if t.role is role]
        if own and role not in _BEYOND_THE_CLASS:
            counts.append(RoleCount(role, count_elements(own)))
    return sorted(counts, key=lambda count: -count.params)


def _cache(model: Model) -> CacheFigures:
    return CacheFigures(
        full_bytes_per_token=figures.full_bytes_per_token(model),
        window_bytes_per_token=figures.window_bytes_per_token(model),
        window=figures.window(model),
        state_bytes_per_sequence=figures.state_bytes_per_sequence(model),
        state_bytes_per_sequence_fp32_ssm=figures.state_bytes_per_sequence(model, DType.FLOAT32),
        cross_bytes_per_sequence=figures.cross_bytes_per_sequence(model),
        indexer_bytes_per_token=figures.indexer_bytes_per_token(model),
        lines=cache_lines(model),
    )


def _not_known(model: Model) -> list[str]:
    """What the figures leave open, a sentence each."""
    lines = [why for why in (model.cache_unknown, model.weights_unknown) if why]
    if model.weights_basis is not Basis.EXACT:
        lines.append(
            "Weight bytes follow from the configuration; headers of the weight files would make "
            "them exact."
        )
    return lines
