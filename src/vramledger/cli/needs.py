"""Verbs that need the full installation say so in one line."""

from importlib.util import find_spec
from typing import Final

from vramledger.errors import BadInput

FULL: Final = ("duckdb", "pyarrow", "ibis", "numpy")


def need_full(verb: str, modules: tuple[str, ...] = FULL) -> None:
    """Refuse where the libraries of the full installation are absent.

    Raises:
        BadInput: with what to install.
    """
    absent = [name for name in modules if find_spec(name) is None]
    if absent:
        raise BadInput(
            f"{verb} needs {', '.join(absent)}, which the base installation leaves out; run "
            "pip install 'vramledger[full]', or '.[full]' in a checkout."
        )


def need_ray() -> None:
    """Refuse where Ray is absent.

    Raises:
        BadInput: with what to install.
    """
    if find_spec("ray") is None:
        raise BadInput("--ray needs Ray; run pip install 'vramledger[full,ray]'.")
