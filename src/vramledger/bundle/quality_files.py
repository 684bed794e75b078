"""Evidence of quality in a bundle: each file lies where the plan looks for it."""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from vramledger.bundle.contents import PLAN
from vramledger.bundle.loads import fits, named_in
from vramledger.errors import BadInput
from vramledger.plan.promises import named_evidence

if TYPE_CHECKING:
    from collections.abc import Mapping


def place_evidence(given: Sequence[Path], folder: Path) -> None:
    """Copy each file to the name that the plan in the folder has for it.

    A file is taken for a name whose last parts are its own; the longest such match decides.

    Raises:
        BadInput: the plan names no such file, or names it where no bundle has one; or it cannot be read.
    """
    names = named_in(folder, named_evidence)
    for path in given:
        name = _name_of(path, names)
        if not fits(name):
            raise BadInput(
                f"{PLAN} names {name}, which leads out of a bundle or is taken there; name the evidence beside the plan, and make "
                "the run with that."
            )
        if not path.is_file():
            raise BadInput(f"{path} is no file, and evidence of quality is one; check its path.")
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)


def absent_evidence(folder: Path) -> tuple[str, ...]:
    """What the plan names and the bundle does not hold."""
    return tuple(
        name
        for name in named_in(folder, named_evidence)
        if not (fits(name) and (folder / name).is_file())
    )


def _name_of(path: Path, names: Sequence[str]) -> str:
    found: Mapping[str, int] = {name: _alike(path, name) for name in names}
    best = max(found.values(), default=0)
    if not best:
        told = " and ".join(names)
        rest = f"names {told}; give that file" if names else "names none; leave --quality out"
        raise BadInput(f"{path} is no evidence that the runs' plan names: it {rest}.")
    return next(name for name, count in found.items() if count == best)


def _alike(path: Path, name: str) -> int:
    """How many parts at the end of both are the same."""
    return sum(1 for _ in _same(path.absolute().parts[::-1], Path(name).parts[::-1]))


def _same(one: Sequence[str], other: Sequence[str]) -> Iterator[str]:
    for left, right in zip(one, other, strict=False):
        if left != right:
            return
        yield left
