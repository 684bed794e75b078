"""Image encoders that a configuration only names, as published in the timm library.

Their layers are not in the configuration, so their sizes are constants with a source.
"""

from typing import Final

from vramledger.errors import UnknownName
from vramledger.frozen import frozen
from vramledger.model.config import Config
from vramledger.model.model import TowerInput
from vramledger.model.tensor import Role, Tensor


@frozen
class NamedTower:
    """A tower known by its name; it works on squares of `image` pixels."""

    params: int
    image: int
    grid: int  # positions along a side at the end
    width: int
    source: str

    def tensors(self, name: str) -> list[Tensor]:
        """All weights as one; every rank holds them."""
        return [Tensor(name, (self.params,), Role.VISION)]

    def largest_input(self, tokens: int) -> TowerInput:
        return TowerInput("image", 3 * self.image**2, tokens, self.grid**2, self.width)


TOWERS: Final = {
    "mobilenetv5_300m_enc": NamedTower(
        params=294_126_912,
        image=768,
        grid=16,
        width=2048,
        source="timm 1.0.31, mobilenetv5_300m_enc built on the meta device",
    ),
}


def read_named_tower(config: Config) -> NamedTower:
    """The tower that ``architecture`` names.

    Raises:
        UnknownName: its size is not known.
    """
    name = config.text("architecture", "mobilenetv5_300m_enc")
    tower = TOWERS.get(name)
    if tower is None:
        raise UnknownName("vision tower", name, TOWERS, f"{config.where}, 'architecture'")
    return tower
