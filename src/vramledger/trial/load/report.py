"""What a load leaves out, fills in or sends otherwise than the workload says, and why."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, field
from typing import Any

from vramledger.frozen import frozen


@frozen
class LoadReport:
    """Counts of rows; all but those in `left_out` are of rows that are offered.

    `notes` are finished sentences on how the part was made.
    """

    rows: int
    left_out: Mapping[str, int] = field(default_factory=dict)  # reason -> rows
    drawn: int = 0  # answers that the workload lacks
    around: int = 0  # tokens that the server puts around a prompt
    too_short: int = 0  # prompts of fewer tokens than these
    context: int | None = None  # the most tokens of a request, where the server tells
    too_long: int = 0  # requests of more
    cancelled: int = 0  # leave before the end, at a moment that the workload knows
    timed_out: int = 0  # of these, by a limit of time
    unknown_end: int = 0  # left in the workload, nobody knows when
    retries: int = 0
    sharing: int = 0  # have prefix blocks
    own_prompts: int | None = None  # prompts in a file of the user
    notes: tuple[str, ...] = ()

    @property
    def offered(self) -> int:
        """Rows that are sent."""
        return self.rows - sum(self.left_out.values())

    def sentences(self) -> tuple[str, ...]:
        """What a reader must know, one finished sentence each."""
        return (*self.notes, *_left_out(self), *_prompts(self), *_ends(self))

    def to_json(self) -> dict[str, Any]:
        """As JSON holds it."""
        return asdict(self) | {"left_out": dict(self.left_out), "offered": self.offered}


def _left_out(report: LoadReport) -> Iterator[str]:
    for reason, count in report.left_out.items():
        if count:
            yield (
                f"Left out: {count:,} of {report.rows:,} requests ({count / report.rows:.1%}), which have {reason}; "
                "the true load is larger."
            )


def _prompts(report: LoadReport) -> Iterator[str]:
    if report.drawn:
        yield (
            f"Answers that the workload lacks: {report.drawn:,}; each is as long as that of another request with a "
            "prompt about as long, drawn by the seed (assumed)."
        )
    if report.too_short:
        yield (
            f"Prompts shorter than the {report.around:,} tokens that the server puts around each: {report.too_short:,} of the load's "
            f"{report.offered:,}; they are sent with {report.around:,}."
        )
    if report.too_long and report.own_prompts is None:
        yield (
            f"Requests of more than the {report.context:,} tokens that the server takes, prompt and answer: "
            f"{report.too_long:,} of the load's {report.offered:,}; they are sent, and count as it answers them."
        )
    if report.own_prompts is not None:
        yield (
            "Prompts of your own are as long as they are: the lengths of prompts that the workload has are not sent, those of "
            "answers are."
        )
    if report.own_prompts is not None and report.own_prompts < report.offered:
        yield (
            f"Prompts of your own: {report.own_prompts:,} for {report.offered:,} requests; they repeat, so the prefix "
            "cache is warmer than under prompts that differ."
        )
    if report.own_prompts is not None and report.sharing:
        yield (
            f"Requests that share prefixes in the workload: {report.sharing:,}; prompts of your own share what is alike in "
            "them instead."
        )
    if report.own_prompts is None and report.sharing:
        yield (
            "Where a prefix block holds an earlier answer, prompts have made text: what the server keeps of its own "
            "answers is not found again."
        )


def _ends(report: LoadReport) -> Iterator[str]:
    if report.cancelled:
        yield (
            f"Requests that the client gives up when the workload's did: {report.cancelled:,}, of which "
            f"{report.timed_out:,} by a limit of time."
        )
    if report.unknown_end:
        yield (
            f"Requests that were given up at a moment the workload does not tell: {report.unknown_end:,}; they are sent "
            "to the end."
        )
    if report.retries:
        yield (
            f"Retries: {report.retries:,}; each is sent when the workload's was, whether or not the attempt before fails."
        )
