"""Step-3.7's image encoder: rotary positions, scaled residuals, two strided convolutions after it.

Names are those of the published checkpoints, defaults those of the class in transformers 5.24.
"""

from dataclasses import replace
from typing import Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.model.config import LARGEST_DIMENSION, Config
from vramledger.model.model import TowerInput
from vramledger.model.tensor import Role, Tensor
from vramledger.model.towers.vit import (
    PatchGrid,
    Vit,
    VitNames,
    depth,
    layer_norm,
    read_grid,
    replicated,
)

_NAMES: Final = VitNames(
    layer="transformer.resblocks.{}.",
    norms=("ln_1", "ln_2"),
    qkv=("attn.in_proj",),
    out="attn.out_proj",
    mlp=("mlp.c_fc", "mlp.c_proj"),
)
_MLP_RATIO: Final = 8960 / 1536
_KERNEL: Final = 3  # side of the convolutions, which stride by 2


@frozen
class StepTower:
    """Each convolution halves the grid and doubles the width."""

    vit: Vit
    grid: PatchGrid
    channels: int

    @property
    def output(self) -> int:
        return 4 * self.vit.hidden

    def tensors(self, prefix: str) -> list[Tensor]:
        """The weights; `prefix` ends before ``conv1``."""
        role, hidden = Role.VISION, self.vit.hidden
        shape = (hidden, self.channels, self.grid.patch, self.grid.patch)
        found = [
            *replicated(f"{prefix}conv1", shape, role),
            Tensor(f"{prefix}positional_embedding", (self.grid.patches, hidden), role),
            *layer_norm(f"{prefix}ln_pre", hidden, role),
            *(_stored(tensor) for tensor in self.vit.tensors(prefix)),
        ]
        for i in range(self.vit.depth):
            base = f"{prefix}{_NAMES.layer.format(i)}"
            found += [Tensor(f"{base}ls_{j}.gamma", (hidden,), role) for j in (1, 2)]
        for i, width in ((1, hidden), (2, 2 * hidden)):
            kernel = (2 * width, width, _KERNEL, _KERNEL)
            found += replicated(f"{prefix}vit_downsampler{i}", kernel, role, bias=True)
        return found

    def largest_input(self) -> TowerInput:
        """One tile; two strides of 2 leave a sixteenth of its patches."""
        return TowerInput(
            modality="image",
            pixels=self.channels * self.grid.image**2,
            tokens=max(1, self.grid.side // 4) ** 2,
            patches=self.grid.patches,
            hidden=self.vit.hidden,
        )


def _stored(tensor: Tensor) -> Tensor:
    """The joint projection of queries, keys and values is stored as a parameter of the layer."""
    name = tensor.name.replace(".in_proj.", ".in_proj_")
    return replace(tensor, name=name)


def read_step(config: Config) -> StepTower:
    """From the vision section of a Step model; older spellings of the keys are in use.

    Raises:
        BadInput: the MLP would have no width.
    """

    def pick(new: str, old: str) -> str:
        return old if config.has(old) else new

    hidden = config.integer(pick("hidden_size", "width"), 1536)
    ratio = config.number("mlp_ratio", _MLP_RATIO)
    if not 1 <= hidden * ratio < LARGEST_DIMENSION:
        raise BadInput(
            f"{config.where}: 'mlp_ratio' is {ratio}; the MLP must be at least one channel wide."
        )
    vit = Vit(
        hidden=hidden,
        depth=depth(config, pick("num_hidden_layers", "layers"), 47),
        heads=config.integer(pick("num_attention_heads", "heads"), 16),
        intermediate=int(hidden * ratio),
        names=_NAMES,
    )
    return StepTower(
        vit=vit,
        grid=read_grid(config, image=728, patch=14),
        channels=config.integer("num_channels", 3),
    )
