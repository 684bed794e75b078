"""Logs of any kind become one stored, de-identified workload, with a report of what was lost."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from datetime import timezone
from pathlib import Path
from typing import Any, Final

from vramledger.errors import BadInput, VramError
from vramledger.frozen import frozen
from vramledger.workload import coarsen
from vramledger.workload.arrange import Arrangement, arranged
from vramledger.workload.collect import Collector, FileOf
from vramledger.workload.counting import Counter, counter_for
from vramledger.workload.deidentify import KEEPS, Identities
from vramledger.workload.formats.format import Context
from vramledger.workload.formats.mapped import check_columns, mapped_format
from vramledger.workload.formats.registry import format_named
from vramledger.workload.loss import LossReport, Tally
from vramledger.workload.metadata import Metadata
from vramledger.workload.opener import expanded
from vramledger.workload.placing import (
    Asked,
    Placed,
    identical_rows,
    moment,
    placed,
    seconds_east,
    week_offset_s,
)
from vramledger.workload.reading import Sink, read_file
from vramledger.workload.recognise import Recognised, head_for, recognise
from vramledger.workload.spool import Spool
from vramledger.workload.store import Stored, write_workload
from vramledger.written_file import refuse_place

AUTO: Final = "auto"
BLOCK_TOKENS: Final = 16  # of prefix blocks that a log does not number itself: vLLM's own default
Progress = Callable[[int, int], None]


@frozen
class Options:
    """How logs are read.

    `mapping` (field -> column) takes the place of a format. `block_tokens` is the size of prefix
    blocks where the log does not state one.
    """

    format: str = AUTO
    mapping: Mapping[str, str] = field(default_factory=dict)
    counter: Counter | None = None  # None: by characters
    block_tokens: int = BLOCK_TOKENS
    time_zone: timezone | None = None  # of times without one; None: UTC, assumed
    keep: frozenset[str] = frozenset()
    models: Mapping[str, str] = field(default_factory=dict)
    coarsen: bool = False
    spread: bool = False
    seed: int = 0


@frozen
class Imported:
    """What became of the logs. `stored` is None where no request could be read: nothing was written.

    `problems` are finished sentences on files that could not be read, `warnings` on what the
    workload gives away; problems may name files and belong on stderr.
    """

    stored: Stored | None
    report: LossReport
    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def import_logs(
    names: Sequence[str],
    output: Path,
    options: Options | None = None,
    *,
    progress: Progress = lambda _done, _all: None,
) -> Imported:
    """Read logs (files or patterns) and store them as one workload at `output`.

    `progress` gets the bytes read and the bytes in all, as the files lie on disk. Without `keep`, the
    bytes written depend on the requests alone, and not on who they are.

    Raises:
        UnknownName: no such format.
        BadInput: no file could be read, or the output cannot be written or is one of them.
    """
    options = options or Options()
    if options.format != AUTO:
        format_named(options.format)  # an unknown name is refused before anything is read
    paths = expanded(names)
    refuse_place(output, paths)
    try:
        with tempfile.TemporaryDirectory(dir=output.parent, prefix=".import-") as scratch:
            run = _Run(options, Path(scratch))
            run.read_all(paths, progress)
            return run.finished(output)
    except OSError as error:
        raise BadInput(
            f"{output} cannot be written: {error.strerror or error}; choose another -o."
        ) from None


@frozen
class _File:
    """A log whose format is known."""

    number: int  # among those given, from 1
    path: Path
    found: Recognised

    @property
    def block_tokens(self) -> int | None:
        return self.found.format.block_tokens_of(self.found.head)


class _Run:
    """One import: all files into the spool, then the spool into the workload."""

    def __init__(self, options: Options, scratch: Path) -> None:
        self._options, self._scratch = options, scratch
        self._spool = Spool(scratch / "spool.arrow")
        self._tally = Tally()
        self._identities = Identities(options.keep, options.models)
        counter = options.counter or counter_for()
        self._collector = Collector(self._spool, self._tally, counter, keep_order=options.coarsen)
        self._problems: list[VramError] = []
        self._block_tokens = options.block_tokens

    def read_all(self, paths: Sequence[Path], progress: Progress) -> None:
        """Read every file; one that cannot be read is told and does not end the import.

        Raises:
            BadInput: none holds a row.
        """
        found = [self._recognised(number, path) for number, path in enumerate(paths, 1)]
        files = [each for each in found if each is not None]
        self._tally.files = len(paths)
        self._block_tokens = self._chosen_block_tokens(files)
        sizes = [each.path.stat().st_size for each in files]
        with self._spool:
            for place, file in enumerate(files):
                before = sum(sizes[:place])
                self._read(file, lambda done, before=before: progress(before + done, sum(sizes)))  # type: ignore[misc]
        progress(sum(sizes), sum(sizes))
        if not self._tally.rows_read:
            raise self._nothing(paths)

    def finished(self, output: Path) -> Imported:
        """Write what was read."""
        asked = Asked(self._options.spread, self._options.coarsen, self._options.seed)
        result = placed(self._collector.arrivals, asked, self._tally)
        report = self._tally.report(
            self._spool.count,
            result.clock,
            identical_rows=identical_rows(self._collector.fingerprints),
            retries_unmatched=self._collector.retries_unmatched,
        )
        stored = self._written(output, result, report) if self._spool.count else None
        warnings = tuple(KEEPS[name] for name in KEEPS if name in self._options.keep)
        return Imported(stored, report, tuple(map(str, self._problems)), warnings)

    def _recognised(self, number: int, path: Path) -> _File | None:
        options = self._options
        try:
            if options.mapping:
                wanted = mapped_format(options.mapping, options.block_tokens)
                found = Recognised(wanted, head_for(path, wanted))
                check_columns(options.mapping, found.head, str(path))
            elif options.format == AUTO:
                found = recognise(path)
            else:
                wanted = format_named(options.format)
                found = Recognised(wanted, head_for(path, wanted))
            if found.format.refusal:
                raise BadInput(f"{path}: {found.format.refusal}")
        except VramError as error:
            self._fail(error)
            return None
        return _File(number, path, found)

    def _fail(self, error: VramError) -> None:
        self._problems.append(error)
        self._tally.files_unread += 1

    def _read(self, file: _File, progress: Callable[[int], None]) -> None:
        log_format, head = file.found.format, file.found.head
        tally, clock = self._tally, log_format.clock_of(head)
        tally.file = file.number
        zone = self._options.time_zone
        context = Context(
            head=head,
            mapping=self._options.mapping,
            time_zone_s=None if zone is None else seconds_east(zone),
            infer=tally.infer,
            assume=tally.assume,
        )
        scope = self._identities.scope(
            log_format.name, file.number if log_format.per_file else None
        )
        same = file.block_tokens == self._block_tokens
        self._collector.begin(FileOf(scope, clock, self._block_tokens, keeps_blocks=same))
        try:
            read_file(file.path, file.found, context, Sink(self._collector, tally, progress))
        except VramError as error:
            self._fail(error)
        else:
            self._say(file, lost_blocks=bool(file.block_tokens) and not same)
        self._collector.end()

    def _say(self, file: _File, *, lost_blocks: bool) -> None:
        """Count the file, and say what its format does not tell."""
        tally, log_format = self._tally, file.found.format
        name = log_format.name
        tally.formats[name] = tally.formats.get(name, 0) + 1
        for sentence in log_format.lacks:
            tally.lack(sentence)
        if lost_blocks:
            tally.lack(
                f"Prefix ids of {name} stand for another number of tokens than {self._block_tokens}, which "
                "the first log has, and were left out; import it by itself."
            )
        elif file.block_tokens and not log_format.per_file and tally.formats[name] > 1:
            tally.assume(f"Prefix ids mean the same in all logs of {name} (assumed).")

    def _chosen_block_tokens(self, files: Sequence[_File]) -> int:
        """The size of the first log that has one: a workload has blocks of one size."""
        sizes = (each.block_tokens for each in files)
        return next((size for size in sizes if size), self._options.block_tokens)

    def _nothing(self, paths: Sequence[Path]) -> VramError:
        """Why nothing was read."""
        if not self._problems:
            names = ", ".join(map(str, paths))
            return BadInput(f"{names}: there is no row to read; name a log with rows in it.")
        first, *others = self._problems
        if not others:
            return first
        return BadInput(f"{first} Nor could the other files be read ({len(others)}).")

    def _written(self, output: Path, result: Placed, report: LossReport) -> Stored:
        blocks = self._block_tokens if self._collector.blocks else None
        labels = self._identities.model_labels()
        arrangement = Arrangement(
            arrivals=result.arrivals,
            labels=labels,
            sessions=self._collector.sessions,
            retries=self._collector.retries,
            links=self._collector.links,
            change=coarsen.rounding(blocks) if self._options.coarsen else lambda batch: batch,
        )
        with arranged(self._spool, arrangement, self._scratch) as rows:
            kept: dict[str, Any] = {
                kind: [self._identities.names[kind][each] for each in rows.first_appearance(kind)]
                for kind in ("session", "tenant")
                if kind in self._options.keep
            }
            if "dates" in self._options.keep and result.zero_ns is not None:
                kept["dates"] = moment(result.zero_ns)
            metadata = self._metadata(result, report, blocks, kept)
            return write_workload(rows.batches(), metadata, output, ordered=True)

    def _metadata(
        self, result: Placed, report: LossReport, blocks: int | None, kept: Mapping[str, Any]
    ) -> Metadata:
        zone, zero = self._options.time_zone, result.zero_ns
        history = [f"Imported from {', '.join(report.formats)}.", *result.history]
        if self._options.coarsen:
            history.append(coarsen.SAID.format(seed=self._options.seed))
        return Metadata(
            block_tokens=blocks,
            week_offset_s=None if zero is None else week_offset_s(zero, zone),
            time_zone=None if zero is None else _stated(zone),
            formats=report.formats,
            loss=report.to_json(),
            inferred=(*report.inferred, *report.assumed),
            basis=self._collector.basis,
            history=tuple(history),
            kept=kept,
        )


def _stated(zone: timezone | None) -> str:
    if zone is None:
        return "+00:00 (assumed)"
    minutes = seconds_east(zone) // 60
    sign = "-" if minutes < 0 else "+"
    return f"{sign}{abs(minutes) // 60:02}:{abs(minutes) % 60:02} (stated)"
