"""A checked view of GGUF metadata under one architecture's prefix."""

from collections.abc import Mapping
from typing import Any, Final

from vramledger.errors import BadInput
from vramledger.model.files.stored import show

_LARGEST: Final = 1 << 40
_MOST_LAYERS: Final = 1 << 12


class Metadata:
    """Values by key, without the architecture's prefix (``attention.head_count``)."""

    def __init__(self, values: Mapping[str, Any], architecture: str, where: str) -> None:
        self.values = values
        self.architecture = architecture
        self.where = where

    def has(self, key: str) -> bool:
        return f"{self.architecture}.{key}" in self.values

    def integer(self, key: str, default: int | None = None, least: int = 0) -> int:
        """A whole number; of an array with one entry a layer, the largest.

        Raises:
            BadInput: absent without a default, or no usable number.
        """
        value = self.values.get(f"{self.architecture}.{key}")
        if value is None:
            if default is None:
                raise BadInput(
                    f"{self.where} has no metadata key '{self.architecture}.{key}', which this "
                    "architecture needs; convert the model again with a recent llama.cpp."
                )
            return default
        numbers = value if isinstance(value, list) else [value]
        if not numbers or not all(type(n) is int and least <= n <= _LARGEST for n in numbers):
            raise BadInput(
                f"{self.where}: '{self.architecture}.{key}' is {show(value)}; it must be a whole "
                f"number of at least {least}."
            )
        return int(max(numbers))

    def per_layer(self, key: str, default: int) -> tuple[int, ...]:
        """One number a layer: an array as it is, a single number for every layer.

        Raises:
            BadInput: an array that has not one entry a layer.
        """
        layers = self.layers
        value = self.values.get(f"{self.architecture}.{key}")
        if not isinstance(value, list):
            return (self.integer(key, default),) * layers
        self.integer(key)
        total = layers + self.integer("nextn_predict_layers", 0)
        if len(value) not in (layers, total):
            raise BadInput(
                f"{self.where}: '{self.architecture}.{key}' has {len(value)} entries for "
                f"{layers} layers."
            )
        return tuple(int(n) for n in value[:layers])

    def flags(self, key: str) -> tuple[bool, ...] | None:
        """One flag a layer where the key holds an array, else None."""
        value = self.values.get(f"{self.architecture}.{key}")
        if not isinstance(value, list):
            return None
        if len(value) < self.layers:
            raise BadInput(
                f"{self.where}: '{self.architecture}.{key}' has {len(value)} entries for "
                f"{self.layers} layers."
            )
        return tuple(bool(flag) for flag in value[: self.layers])

    @property
    def layers(self) -> int:
        """Decoder layers; those that only predict further tokens are not among them."""
        layers = self.integer("block_count", least=1) - self.integer("nextn_predict_layers", 0)
        if not 1 <= layers <= _MOST_LAYERS:
            raise BadInput(
                f"{self.where}: '{self.architecture}.block_count' gives {layers} layers, "
                f"which is not between 1 and {_MOST_LAYERS}."
            )
        return layers

    @property
    def hidden(self) -> int:
        return self.integer("embedding_length", least=1)

    @property
    def heads(self) -> int:
        return self.integer("attention.head_count", 0)

    @property
    def key_dim(self) -> int:
        """Width of a head's key; hidden / heads where no key says it."""
        return self.integer("attention.key_length", self.hidden // max(1, self.heads))

    @property
    def value_dim(self) -> int:
        return self.integer("attention.value_length", self.hidden // max(1, self.heads))

    @property
    def kv_heads(self) -> tuple[int, ...]:
        """Per layer; 0 marks a layer without attention."""
        heads = self.per_layer("attention.head_count", self.heads)
        if self.has("attention.head_count_kv"):
            return self.per_layer("attention.head_count_kv", 0)
        return heads
