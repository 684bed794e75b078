"""A workload sent again and again: the same habits, other people."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from vramledger.trial.load.rows import Row
from vramledger.workload.operators.part import Source, source_of
from vramledger.workload.operators.sharing import common_blocks
from vramledger.workload.store import read_metadata

if TYPE_CHECKING:
    from vramledger.workload.operators.columns import Array


class Rounds:
    """What a later round adds to the numbers of the workload.

    Sessions, tenants and blocks are new in each round, but for the blocks that belong to nobody alone
    (`common_blocks`), as in the copies of `--rate-scale`.
    """

    def __init__(self, path: Path) -> None:
        self._stored = read_metadata(path)
        self.requests = self._stored.rows
        self.block_tokens = self._stored.metadata.block_tokens or 0
        self._measured: Source | None = None
        self._common: Array | None = None

    def session(self, row: Row, number: int) -> int | None:
        """The session of a row in round `number`, from 0."""
        if not number or row.session is None:
            return row.session
        return row.session + number * self._source.sessions

    def tenant(self, row: Row, number: int) -> int | None:
        """Its tenant."""
        if not number or row.tenant is None:
            return row.tenant
        return row.tenant + number * self._source.tenants

    def blocks(self, row: Row, number: int) -> Sequence[int]:
        """Its prefix blocks."""
        if not number or not row.blocks:
            return row.blocks
        moved, common = number * self._source.blocks, self._shared
        return [block if common[block] else block + moved for block in row.blocks]

    @property
    def _source(self) -> Source:
        """The workload's numbers, which take a pass over it and are needed from the second round on."""
        if self._measured is None:
            self._measured = source_of(self._stored)
        return self._measured

    @property
    def _shared(self) -> "Array":
        if self._common is None:
            self._common = common_blocks(self._stored.path, self._source.blocks)
        return self._common
