"""A resolved argument that remembers where its value came from."""

from enum import StrEnum
from typing import Generic, TypeVar

from vramledger.frozen import frozen

T_co = TypeVar("T_co", covariant=True)


class Origin(StrEnum):
    """Where a value came from."""

    GIVEN = "given"
    DEFAULT = "default"  # the engine's own, for this version, GPU and usage
    DERIVED = "derived"  # computed by the engine from others (max_model_len from the model)
    IGNORED = "ignored"  # given, but this version does not act on it


@frozen
class Setting(Generic[T_co]):
    """A value with its origin; `note` is one sentence where the origin needs explaining."""

    value: T_co
    origin: Origin = Origin.DEFAULT
    note: str = ""

    @property
    def given(self) -> bool:
        return self.origin is Origin.GIVEN


@frozen
class Layout:
    """How the model is spread. `world` GPUs make one replica of one data-parallel group."""

    tp: int = 1
    pp: int = 1
    dp: int = 1
    expert_parallel: bool = False
    dcp: int = 1  # decode context parallel, inside tp
    pcp: int = 1  # prefill context parallel

    @property
    def world(self) -> int:
        """GPUs of one engine (one scheduler)."""
        return self.tp * self.pp * self.pcp

    @property
    def gpus(self) -> int:
        return self.world * self.dp

    @property
    def expert_ranks(self) -> int:
        """Ranks that share the experts when expert parallelism is on."""
        return self.tp * self.dp * self.pcp if self.expert_parallel else 1
