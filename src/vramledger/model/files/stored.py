"""What the headers of weight files say, whatever their format."""

from collections.abc import Iterable

from vramledger.errors import BadInput
from vramledger.frozen import frozen


@frozen
class StoredTensor:
    """One tensor as a header lists it; `nbytes` is exact, `shape` is ``[out, in]`` order."""

    name: str
    dtype: str  # the format's own name: "BF16", "F8_E4M3", "Q4_K"
    shape: tuple[int, ...]
    nbytes: int


@frozen
class StoredWeights:
    """All tensors of a checkpoint, over all of its files."""

    tensors: tuple[StoredTensor, ...]
    where: str  # the file, index or directory they came from
    files: int = 1

    @property
    def nbytes(self) -> int:
        return sum(tensor.nbytes for tensor in self.tensors)


def check_unique(names: Iterable[str], where: str) -> None:
    """Refuse a tensor name that occurs twice.

    Raises:
        BadInput: names the first one that does.
    """
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise BadInput(
                f"{where} lists the tensor {show(name)} twice; the file is damaged, fetch it again."
            )
        seen.add(name)


def show(name: object) -> str:
    """A name from a file, quoted and cut to a readable length."""
    text = repr(name)
    return text if len(text) <= 80 else text[:77] + "..."
