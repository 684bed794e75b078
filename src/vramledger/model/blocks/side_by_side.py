"""Two mixers that read the same input and add their outputs (Falcon-H1)."""

from typing import Protocol

from vramledger.frozen import frozen
from vramledger.model.cache import CacheSpec
from vramledger.model.tensor import Tensor


class _Mixer(Protocol):
    def tensors(self, prefix: str, layer: int, hidden: int) -> list[Tensor]: ...

    def cache(self) -> tuple[CacheSpec, ...]: ...


@frozen
class SideBySide:
    """Owns the weights and caches of both."""

    first: _Mixer
    second: _Mixer

    def tensors(self, prefix: str, layer: int, hidden: int) -> list[Tensor]:
        """The weights of one layer; `prefix` ends before the mixers' own names."""
        return [
            *self.first.tensors(prefix, layer, hidden),
            *self.second.tensors(prefix, layer, hidden),
        ]

    def cache(self) -> tuple[CacheSpec, ...]:
        return self.first.cache() + self.second.cache()
