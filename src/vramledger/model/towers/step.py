"""Step-3.7's image encoder: rotary positions, scaled residuals, two strided convolutions after it.

Names are those of the published checkpoints, defaults those of the class in transformers 5.24.
"""

from dataclasses import dataclass, replace
from typing import Final

from vramledger.model.config import Config
from vramledger.model.model import TowerInput
from vramledger.model.tensor import Role, Tensor
from vramledger.model.towers.vit import Vit, VitNames, depth, layer_norm, replicated, side

_NAMES: Final = VitNames(
    layer="transformer.resblocks.{}.",
    norms=("ln_1", "ln_2"),
    qkv=("attn.in_proj",),
    out="attn.out_proj",
    mlp=("mlp.c_fc", "mlp.c_proj"),
)
_MLP_RATIO: Final = 8960 / 1536
_KERNEL: Final = 3  # side of the convolutions, which stride by 2


@dataclass(frozen=True, slots=True)
class StepTower:
    """Each convolution halves the grid and doubles the width."""

    vit: Vit
    patch: int
    image: int
    channels: int
    positions: int

    @property
    def output(self) -> int:
        return 4 * self.vit.hidden

    def tensors(self, prefix: str) -> list[Tensor]:
        """The weights; `prefix` ends before ``conv1``."""
        role, hidden = Role.VISION, self.vit.hidden
        shape = (hidden, self.channels, self.patch, self.patch)
        found = [
            *replicated(f"{prefix}conv1", shape, role),
            Tensor(f"{prefix}positional_embedding", (self.positions, hidden), role),
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
        grid = self.image // self.patch
        pixels = self.channels * self.image**2
        return TowerInput("image", pixels, (grid // 4) ** 2, grid**2, self.vit.hidden)


def _stored(tensor: Tensor) -> Tensor:
    """The joint projection of queries, keys and values is stored as a parameter of the layer."""
    name = tensor.name.replace(".in_proj.", ".in_proj_")
    return replace(tensor, name=name)


def read_step(config: Config) -> StepTower:
    """From the vision section of a Step model; older spellings of the keys are in use."""

    def pick(new: str, old: str) -> str:
        return old if config.has(old) else new

    hidden = config.integer(pick("hidden_size", "width"), 1536)
    vit = Vit(
        hidden=hidden,
        depth=depth(config, pick("num_hidden_layers", "layers"), 47),
        heads=config.integer(pick("num_attention_heads", "heads"), 16),
        intermediate=int(hidden * config.number("mlp_ratio", _MLP_RATIO)),
        names=_NAMES,
    )
    image, patch = side(config, "image_size", 728), side(config, "patch_size", 14)
    return StepTower(
        vit=vit,
        patch=patch,
        image=image,
        channels=config.integer("num_channels", 3),
        positions=(image // patch) ** 2,
    )
