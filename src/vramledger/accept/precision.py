"""What was served below the precision that is stored: weights, KV cache, and what evidence of quality is bound to."""

from typing import TYPE_CHECKING, Any

from vramledger.frozen import frozen

if TYPE_CHECKING:
    from vramledger.record.document import Description

_SIXTEEN_BIT = frozenset({"auto", "bfloat16", "float16", "float32", "none", ""})


@frozen
class Served:
    """What evidence is bound to; None where nobody told. Names are as the engine has them, in lower case."""

    weights: str | None = None
    kv_dtype: str | None = None
    engine_version: str | None = None
    backend: str | None = None

    @property
    def rows(self) -> tuple[tuple[str, str | None], ...]:
        """Each with its name."""
        return (
            ("weights", self.weights),
            ("KV dtype", self.kv_dtype),
            ("engine version", self.engine_version),
            ("attention backend", self.backend),
        )


def served_of(about: "Description") -> Served:
    """By what the server told, else by what it was asked to run."""
    arguments = {**(about.asked.arguments or {}), **(about.in_effect.arguments or {})}
    return from_arguments(arguments, about.in_effect.engine_version or about.asked.engine_version)


def from_arguments(arguments: "dict[str, Any]", engine_version: str | None) -> Served:
    """Of an engine's arguments by name, with dashes or underscores."""
    found = {name.replace("_", "-"): value for name, value in arguments.items()}
    return Served(
        weights=_text(found.get("quantization")),
        kv_dtype=_text(found.get("kv-cache-dtype")),
        engine_version=engine_version,
        backend=_text(found.get("attention-backend")),
    )


def _text(value: Any) -> str | None:
    return None if value is None else str(value).casefold()


def smaller(found: Served, stored: str | None) -> tuple[str, ...]:
    """``fp8 weights``, ``fp8 KV cache``; `stored` is how the checkpoint itself is quantised, None where it is not."""
    parts = []
    if found.weights is not None and found.weights not in _SIXTEEN_BIT and not _same(found.weights, stored):  # fmt: skip
        parts.append(f"{found.weights} weights")
    if found.kv_dtype is not None and found.kv_dtype not in _SIXTEEN_BIT:
        parts.append(f"{found.kv_dtype} KV cache")
    return tuple(parts)


def _same(one: str, stored: str | None) -> bool:
    """Engines name kernels of a method after it: awq_marlin is awq."""
    return stored is not None and (stored.casefold() in one or one in stored.casefold())


def unbound(evidence: Served, run: Served) -> tuple[str, ...]:
    """Why evidence is not of what was run, row by row; what neither tells is left out."""
    said = []
    for (name, told), (_, seen) in zip(evidence.rows, run.rows, strict=True):
        of, ran = (None if each in _SIXTEEN_BIT else each for each in (told, seen))
        if of == ran:
            continue
        if of is None:
            said.append(f"it does not say of which {name} it is, and the run had {ran}")
        elif ran is None:
            said.append(f"it is of {name} {of}, and the run does not say what it had")
        else:
            said.append(f"it is of {name} {of}, and the run had {ran}")
    return tuple(said)
