"""A table of a page or of the terminal."""

from vramledger.frozen import frozen


@frozen
class Table:
    """A titled table; `right` are its right-aligned columns, `unbroken` those kept on one line, `notes` finished sentences below it."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: frozenset[int] = frozenset()
    notes: tuple[str, ...] = ()
    unbroken: frozenset[int] = frozenset()
