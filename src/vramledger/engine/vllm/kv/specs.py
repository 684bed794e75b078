"""What one layer asks of the KV pool on one rank: a page size and a way of using blocks."""

from dataclasses import replace

from vramledger.engine.vllm.kv.demand import Growing, Use
from vramledger.frozen import frozen
from vramledger.units import round_up


@frozen
class LayerSpec:
    """A cache that one layer owns; equal specs may share a group.

    `position_bytes` is what one stored position takes: a token's keys and values, a compressed
    state that stands for several tokens, or a whole recurrent state (`fixed`).
    """

    use: Use
    block_size: int  # tokens a block covers on one rank
    position_bytes: int
    shape: tuple[int, ...] = ()  # heads and widths: equal bytes alone do not make equal layers
    fixed: bool = False  # the page does not depend on the block size
    latent: bool = False  # MLA: pages cannot be padded to an arbitrary size
    tokens_per_position: int = 1
    alignment: int = 1  # the page is rounded up to a multiple of this many bytes
    page_padded: int | None = None

    @property
    def page_bytes(self) -> int:
        """Bytes of one block of this layer."""
        if self.page_padded is not None:
            return self.page_padded
        if self.fixed:
            return self.position_bytes
        positions = max(1, self.block_size // self.tokens_per_position)
        return round_up(positions * self.position_bytes, self.alignment)

    @property
    def title(self) -> str:
        """The kind in words that people read."""
        return f"latent {self.use.title}" if self.latent else self.use.title

    def same_blocks_as(self, other: "LayerSpec") -> bool:
        """Whether both layers always need the same number of blocks, so that one group holds both."""
        if self.block_size != other.block_size:
            return False
        if self.use.grows and other.use.grows:
            return True
        return self.use == other.use and (not self.fixed or self.page_bytes == other.page_bytes)

    def kept_whole(self, block_size: int) -> "LayerSpec":
        """The layer with every token kept, as when the hybrid manager is off."""
        return replace(self, use=Growing(), block_size=block_size)

    def covering(self, page_bytes: int) -> "LayerSpec | None":
        """The layer with more tokens a block, so that its page becomes `page_bytes`; None if it cannot."""
        if self.fixed or self.page_padded is not None or page_bytes % self.page_bytes:
            return None
        return replace(self, block_size=self.block_size * (page_bytes // self.page_bytes))

    def padded_to(self, page_bytes: int) -> "LayerSpec":
        """The layer with its page padded to `page_bytes`."""
        return replace(self, page_padded=page_bytes)


@frozen
class PlannedLayer:
    """A cache-owning layer and the pipeline stage that holds it."""

    stage: int
    spec: LayerSpec


@frozen
class Group:
    """Layers that share block ids; `size` places of which some may stay empty."""

    members: tuple[PlannedLayer, ...]
    size: int

    @property
    def spec(self) -> LayerSpec:
        """The spec that stands for the group's use of blocks."""
        return self.members[0].spec

    @property
    def padding(self) -> int:
        return self.size - len(self.members)

    def bytes_on(self, stage: int) -> int:
        """Bytes of one block of this group's layers on a pipeline stage."""
        return sum(layer.spec.page_bytes for layer in self.members if layer.stage == stage)
