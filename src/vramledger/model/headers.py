"""Headers beside a configuration: exact bytes, and every point on which the two disagree."""

import re
from collections.abc import Iterable, KeysView, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Final

from vramledger.evidence import Basis
from vramledger.frozen import frozen
from vramledger.model.dtype import DType
from vramledger.model.files.stored import StoredTensor, StoredWeights, show
from vramledger.model.model import Model, ModelKind, TextShape
from vramledger.model.names import layer_of, role_of
from vramledger.model.tensor import Role, Tensor
from vramledger.units import format_bytes

_FLOATS: Final = {
    "F64": DType.FLOAT64,
    "F32": DType.FLOAT32,
    "F16": DType.FLOAT16,
    "BF16": DType.BFLOAT16,
}
_INTEGERS: Final = {"I64": DType.INT64, "U8": DType.UINT8, "I8": DType.INT8, "BOOL": DType.BOOL}
_EXPERT: Final = re.compile(r"\.experts\.\d+\.")
_WRAPPERS: Final = frozenset({"model", "language_model", "transformer", "backbone", "base_model"})

# Names of what a quantised matrix is stored as -> the name of the matrix itself.
_COMPANION: Final = re.compile(
    r"\.(?:qweight|qzeros|scales|g_idx|q_perm|SCB|weight_format|weight_[a-z0-9_]+|weight\.[a-z_0-9.]+"
    r"|(?:input|output|k|v|q|prob)_(?:scale|zero_point|global_scale|scale_inv))\Z"
)
_MXFP4: Final = re.compile(r"_(?:blocks|scales)\Z")


@frozen
class StoredEncoding:
    """A weight whose bytes are known from a header; a part of it takes its share of them."""

    name: str  # the stored element types, "I32+F16"
    total_bytes: int  # of one whole matrix
    elements: int  # of one whole matrix

    def nbytes(self, shape: Sequence[int]) -> int:
        return -(-self.total_bytes * prod(shape) // self.elements)


@dataclass(slots=True)
class _Stored:
    """All header entries that make up one logical weight (or one layer's experts)."""

    nbytes: int = 0
    dtypes: set[str] = field(default_factory=set)
    entries: list[StoredTensor] = field(default_factory=list)

    def add(self, tensor: StoredTensor) -> None:
        self.nbytes += tensor.nbytes
        self.dtypes.add(tensor.dtype)
        self.entries.append(tensor)


def apply_headers(model: Model, weights: StoredWeights) -> Model:
    """The model with the bytes its files really take.

    Tensors are matched by name; those whose names only the files or only the configuration have
    are matched as a whole by layer and role, so that experts stored one by one meet fused ones. A
    match that takes other bytes than the configuration implies takes those of the file, unless only
    the plain element type differs (an engine casts it). What the files hold beyond the
    configuration joins `extra_tensors`. Each disagreement becomes a note.
    """
    stored, expected = _group(weights.tensors), _expected(model)
    common = _common_names(stored.keys(), expected.keys())
    stored, expected = _merged(stored, common), _summed(expected, common)

    def name_of(tensor: Tensor) -> str:
        name = canonical(tensor.name)
        return common.get(name, name)

    tensors = tuple(
        _as_stored(tensor, stored.get(name_of(tensor)), expected[name_of(tensor)], model.dtype)
        for tensor in model.tensors
    )
    extra = tuple(
        tensor for name, group in stored.items() if name not in expected for tensor in _plain(group)
    )
    return replace(
        model,
        tensors=tensors,
        extra_tensors=model.extra_tensors + extra,
        weights_basis=Basis.EXACT,
        header_bytes=weights.nbytes,
        notes=model.notes + tuple(_disagreements(model, stored, expected)),
    )


def _common_names(stored: KeysView[str], expected: KeysView[str]) -> dict[str, str]:
    """A common name for what a layer stores and should store of one role under other names."""
    sides = [
        {name: f"layer {layer_of(name)}, {role_of(name)}" for name in names}
        for names in (stored - expected, expected - stored)
    ]
    shared = set(sides[0].values()) & set(sides[1].values())
    return {name: group for side in sides for name, group in side.items() if group in shared}


def _merged(stored: dict[str, _Stored], common: dict[str, str]) -> dict[str, _Stored]:
    merged: dict[str, _Stored] = {}
    for name, group in stored.items():
        target = merged.setdefault(common.get(name, name), _Stored())
        for tensor in group.entries:
            target.add(tensor)
    return merged


def _summed(expected: dict[str, int], common: dict[str, str]) -> dict[str, int]:
    totals: dict[str, int] = {}
    for name, amount in expected.items():
        target = common.get(name, name)
        totals[target] = totals.get(target, 0) + amount
    return totals


def from_headers(
    weights: StoredWeights, model_id: str, model_type: str, cache_unknown: str
) -> Model:
    """A model of which only the weights are known; roles are told from names.

    Packed low-bit weights count as the elements they are stored in, which a note says.
    """
    tensors = tuple(t for group in _group(weights.tensors).values() for t in _plain(group))
    packed = any(t.dtype not in _FLOATS for t in weights.tensors if len(t.shape) > 1)
    note = "Packed weights count as the elements they are stored in, not as parameters."
    return Model(
        id=model_id,
        architecture="unknown",
        model_type=model_type,
        kind=ModelKind.DECODER,
        dtype=DType.BFLOAT16,
        text=TextShape(0, 0, 0, 0, 0, 0, 0, 0),
        tensors=tensors,
        cache_layers=(),
        tied_embeddings=False,
        weights_basis=Basis.EXACT,
        header_bytes=weights.nbytes,
        notes=(note,) if packed else (),
        cache_unknown=cache_unknown,
    )


def canonical(name: str) -> str:
    """A tensor's name without what differs between spellings of one checkpoint.

    Wrappers in front are dropped, expert numbers become ``{e}``, and the parts of a quantised
    matrix (packed weight, scales, zeros) take the name of the matrix.
    """
    name = _EXPERT.sub(".experts.{e}.", name)
    name = _MXFP4.sub("", _COMPANION.sub(".weight", name))
    head, _, rest = name.partition(".")
    while rest and head in _WRAPPERS:
        name = rest
        head, _, rest = name.partition(".")
    return name


def _group(tensors: Iterable[StoredTensor]) -> dict[str, _Stored]:
    groups: dict[str, _Stored] = {}
    for tensor in tensors:
        groups.setdefault(canonical(tensor.name), _Stored()).add(tensor)
    return groups


def _expected(model: Model) -> dict[str, int]:
    """Bytes by canonical name; the pieces of a fused parameter add up."""
    totals: dict[str, int] = {}
    for tensor in (*model.tensors, *model.extra_tensors):
        name = canonical(tensor.name)
        totals[name] = totals.get(name, 0) + tensor.nbytes(model.dtype)
    return totals


def _as_stored(tensor: Tensor, group: _Stored | None, whole: int, default: DType) -> Tensor:
    """The tensor with its share of the bytes that its group takes; `whole` is the implied total."""
    if group is None or tensor.elements == 0:
        return tensor
    if group.nbytes == whole or _only_cast(group):
        return tensor
    share = -(-group.nbytes * tensor.nbytes(default) // max(1, whole))
    encoding = StoredEncoding(
        "+".join(sorted(group.dtypes)), share // tensor.copies, prod(tensor.shape)
    )
    return replace(tensor, encoding=encoding)


def _only_cast(group: _Stored) -> bool:
    """One plain floating matrix (or one an expert): an engine casts it to the model's type."""
    return group.dtypes <= _FLOATS.keys()


def _plain(group: _Stored) -> list[Tensor]:
    return [
        Tensor(
            stored.name,
            stored.shape,
            role_of(stored.name),
            layer=layer_of(stored.name),
            dtype=_FLOATS.get(stored.dtype) or _INTEGERS.get(stored.dtype),
            encoding=None
            if stored.dtype in _FLOATS or stored.dtype in _INTEGERS
            else StoredEncoding(stored.dtype, stored.nbytes, max(1, prod(stored.shape))),
        )
        for stored in group.entries
    ]


def _disagreements(
    model: Model, stored: dict[str, _Stored], expected: dict[str, int]
) -> Iterable[str]:
    """One sentence a kind of disagreement: other bytes, not stored, not expected."""
    differing = [
        name for name in expected if name in stored and stored[name].nbytes != expected[name]
    ]
    if differing:
        first = differing[0]
        yield (
            f"{len(differing)} tensor(s) take other bytes in the files than the configuration "
            f"implies; the first is {show(first)}: {stored[first].nbytes} stored "
            f"({'+'.join(sorted(stored[first].dtypes))}), {expected[first]} implied."
        )
    optional = {
        canonical(t.name)
        for t in (*model.extra_tensors, *(t for t in model.tensors if t.role is Role.BUFFER))
    }
    absent = [name for name in expected if name not in stored and name not in optional]
    if absent:
        total = sum(expected[name] for name in absent)
        yield (
            f"The configuration implies {len(absent)} tensor(s) that are not in the files "
            f"({format_bytes(total)}); the first is {show(absent[0])}."
        )
    beyond = [name for name in stored if name not in expected]
    if beyond:
        total = sum(stored[name].nbytes for name in beyond)
        yield (
            f"The files hold {len(beyond)} tensor(s) that the configuration does not imply "
            f"({format_bytes(total)}); the first is {show(beyond[0])}."
        )
