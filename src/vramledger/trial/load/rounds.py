"""A workload sent again and again: the same habits, other people."""

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
        stored = read_metadata(path)
        self._source: Source = source_of(stored)
        self.requests = stored.rows
        self.block_tokens = stored.metadata.block_tokens or 0
        self.sessions = self._source.sessions
        self._common: Array | None = None

    def session(self, row: Row, number: int) -> int | None:
        """The session of a row in round `number`, from 0."""
        return None if row.session is None else row.session + number * self._source.sessions

    def tenant(self, row: Row, number: int) -> int | None:
        """Its tenant."""
        return None if row.tenant is None else row.tenant + number * self._source.tenants

    def blocks(self, row: Row, number: int) -> list[int] | tuple[int, ...]:
        """Its prefix blocks."""
        if not number or not row.blocks:
            return row.blocks
        if self._common is None:
            self._common = common_blocks(self._source.path, self._source.blocks)
        moved, common = number * self._source.blocks, self._common
        return [block if common[block] else block + moved for block in row.blocks]
