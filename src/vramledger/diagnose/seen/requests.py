"""The requests of a run as arrays, those of its warm-up left out."""

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vramledger.frozen import frozen
from vramledger.record.outcome import Outcome

if TYPE_CHECKING:
    from vramledger.record.run import Run

    Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

_NUMBERS: Final = (
    "row", "session", "due_s", "dispatched_s", "headers_s", "first_byte_s", "first_content_s", "last_content_s", "done_s",
    "input_tokens_asked", "input_tokens_got", "output_tokens_asked", "output_tokens_got", "preemptions",
    "recomputed_tokens", "cached_tokens", "queue_s",
)  # fmt: skip


@frozen
class Requests:
    """Arrays of one length in the order in which they were due, NaN for what is not known; `columns` are those of requests.parquet.

    `chunk_tokens` is the mean number of tokens a chunk brought, `longest_gap_s` the longest ITL.
    """

    columns: "dict[str, Floats]"
    outcome: "np.ndarray[Any, Any]"
    errors: "dict[str, int]"
    chunk_tokens: "Floats"
    longest_gap_s: "Floats"

    def __len__(self) -> int:
        return len(self.outcome)

    def __getitem__(self, name: str) -> "Floats":
        return self.columns[name]

    @property
    def ok(self) -> "np.ndarray[Any, np.dtype[np.bool_]]":
        """Which ended as asked."""
        found: np.ndarray[Any, np.dtype[np.bool_]] = self.outcome == Outcome.OK.value
        return found

    @property
    def sent_s(self) -> "Floats":
        """When each was sent; when it was due where nobody stamped that."""
        return _first_known(self["dispatched_s"], self["due_s"])

    @property
    def input_tokens(self) -> "Floats":
        """Of the prompt, as the server counted it, else as asked."""
        return _first_known(self["input_tokens_got"], self["input_tokens_asked"])

    @property
    def ttft_s(self) -> "Floats":
        """From when it was due to its first token."""
        return self["first_content_s"] - self["due_s"]

    @property
    def before_headers_s(self) -> "Floats":
        """From when it was sent to the head of its answer."""
        return self["headers_s"] - self.sent_s

    @property
    def after_headers_s(self) -> "Floats":
        """From the head of its answer to its first token."""
        return self["first_content_s"] - self["headers_s"]

    @property
    def late_s(self) -> "Floats":
        """How much later than due it was sent."""
        return self["dispatched_s"] - self["due_s"]

    @property
    def tpot_s(self) -> "Floats":
        """Mean time per token after the first."""
        tokens = self["output_tokens_got"]
        span = self["last_content_s"] - self["first_content_s"]
        found: Floats = np.divide(
            span, tokens - 1, out=np.full_like(span, np.nan), where=tokens >= 2
        )
        return found

    @property
    def cached_share(self) -> "Floats":
        """The part of each prompt that the prefix cache had."""
        tokens = self.input_tokens
        nothing = np.full(len(self), np.nan)
        found: Floats = np.divide(self["cached_tokens"], tokens, out=nothing, where=tokens > 0)
        return found


def read_requests(run: "Run", from_s: float | None) -> Requests:
    """The requests that were due from `from_s` on; all of them for None.

    Raises:
        BadInput: the table is damaged.
    """
    numbers = run.requests.numbers(*_NUMBERS)
    texts = run.requests.read(("outcome", "error_class"))
    outcome = np.asarray(texts["outcome"].to_pylist(), dtype=object)
    kept = np.isfinite(numbers["due_s"])
    if from_s is not None:
        kept &= numbers["due_s"] >= from_s - 1e-6
    order = np.flatnonzero(kept)[np.argsort(numbers["due_s"][kept], kind="stable")]
    errors = np.asarray(texts["error_class"].to_pylist(), dtype=object)[order]
    names, counts = np.unique([each for each in errors if each is not None], return_counts=True)
    chunks, gaps = _chunks(run, len(outcome))
    return Requests(
        {name: values[order] for name, values in numbers.items()},
        outcome[order],
        {str(name): int(count) for name, count in zip(names, counts, strict=True)},
        chunks[order],
        gaps[order],
    )


def no_requests() -> Requests:
    """What there is where a server was looked at and no request was recorded."""
    nothing = np.zeros(0)
    columns = dict.fromkeys(_NUMBERS, nothing)
    return Requests(columns, np.zeros(0, dtype=object), {}, nothing, nothing)


def _chunks(run: "Run", rows: int) -> "tuple[Floats, Floats]":
    """Tokens a chunk and the longest gap of each request, NaN where no chunk was stamped."""
    import pyarrow.compute as pc

    from vramledger.record.latency import longest_gap_s

    tokens, gaps = [np.zeros(0)], [np.zeros(0)]
    for batch in run.requests.batches(("chunk_offset_us", "chunk_tokens", "output_tokens_got")):
        lengths = pc.list_value_length(batch["chunk_offset_us"])
        counts = np.asarray(lengths.to_numpy(zero_copy_only=False), np.float64)
        got = np.asarray(batch["output_tokens_got"].to_numpy(zero_copy_only=False), np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            tokens.append(np.where(counts > 0, got / counts, np.nan))
        gaps.append(longest_gap_s(batch["chunk_offset_us"]))
    found = np.concatenate(tokens), np.concatenate(gaps)
    return found if len(found[0]) == rows else (np.full(rows, np.nan),) * 2


def _first_known(first: "Floats", second: "Floats") -> "Floats":
    return np.where(np.isnan(first), second, first)
