"""What every architecture reads the same way."""

from vramledger.errors import UnknownName
from vramledger.model.config import Config
from vramledger.model.dtype import DType


def stored_dtype(config: Config) -> DType:
    """The element type of the checkpoint: ``dtype`` or ``torch_dtype``, bfloat16 when neither says.

    Raises:
        UnknownName: the name is no element type.
    """
    key = "dtype" if config.has("dtype") else "torch_dtype"
    name = config.text(key, "bfloat16").removeprefix("torch.")
    try:
        return DType(name)
    except ValueError:
        raise UnknownName("element type", name, list(DType), f"{config.where}, {key!r}") from None
