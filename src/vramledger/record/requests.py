"""requests.parquet: one row an attempt of a request, whatever became of it.

Offsets of chunks are 64-bit: in 32 bits, a stream of more than 35 minutes would not fit.
"""

from collections.abc import Sequence
from typing import Final

from vramledger.frozen import frozen
from vramledger.record.outcome import Outcome
from vramledger.record.table import Column, Table

_NEVER: Final = "did not happen"
_UNSEEN: Final = "unknown"
_MEASURED_ONLY: Final = "did not happen, or the run is simulated"
_SIMULATED_ONLY: Final = "the run is not simulated, no token came, or its pauses are not told"

REQUESTS: Final = Table(
    "requests",
    "Requests",
    {
        "request_id": Column("int64", "", "Number of the attempt in this run; no two rows share one."),
        "row": Column("int64", "", "Row of the workload.", "no row of a workload"),
        "session": Column("int32", "", "Number of the conversation.", "in none"),
        "tenant": Column("int32", "", "Number of the tenant.", _UNSEEN),
        "attempt": Column("int32", "", "0 for the first try of a row, then 1, 2, ..."),
        "due_s": Column("float64", "s", "When the workload wanted it sent; latencies count from here."),
        "dispatched_s": Column("float64", "s", "When its last byte was written.", _NEVER),
        "headers_s": Column("float64", "s", "When the response's headers were complete.", _MEASURED_ONLY),
        "first_byte_s": Column("float64", "s", "First byte of the response's body.", _MEASURED_ONLY),
        "first_role_s": Column("float64", "s", "First chunk with a role and no token.", _MEASURED_ONLY),
        "first_content_s": Column("float64", "s", "First token of any kind, thinking included.", _NEVER),
        "first_answer_s": Column("float64", "s", "First token of the answer, after any thinking.", _NEVER),
        "last_content_s": Column("float64", "s", "Last token.", _NEVER),
        "done_s": Column("float64", "s", "When the request ended, whatever way.", "had not ended when the run did"),
        "chunk_offset_us": Column(
            "list<int64>",
            "us",
            "One a chunk with tokens: microseconds after first_content_s; the first is 0.",
            "no token came, or the chunks follow from first_step and last_step",
        ),
        "chunk_tokens": Column(
            "list<int32>", "tokens", "One a chunk: its tokens.", "one token each if the run is simulated without drafts, else unknown"
        ),
        "input_tokens_asked": Column("int32", "tokens", "Prompt that the workload wanted.", _UNSEEN),
        "input_tokens_got": Column("int32", "tokens", "Prompt as the server counted it.", _UNSEEN),
        "output_tokens_asked": Column("int32", "tokens", "Answer that the workload wanted.", "no length was asked for"),
        "output_tokens_got": Column("int32", "tokens", "Tokens that came, thinking included.", _UNSEEN),
        "tokens_basis": Column(
            "string", "", "Who counted the tokens got: usage, logprobs, tokenizer, chunks or simulated.", "nobody"
        ),
        "outcome": Column("string", "", "ok, failed, rejected, cancelled, timed_out or incomplete."),
        "error_class": Column("string", "", "What failed, as a class; never the server's text.", "nothing failed"),
        "http_status": Column("int32", "", "Status of the response.", _MEASURED_ONLY),
        "server_request_id": Column("string", "", "Name of the request in the server's own log.", _UNSEEN),
        "preemptions": Column("int32", "", "How often it lost its KV cache to others.", _UNSEEN),
        "recomputed_tokens": Column("int32", "tokens", "Computed again because of that.", _UNSEEN),
        "cached_tokens": Column("int32", "tokens", "Part of the prompt that the prefix cache had.", _UNSEEN),
        "queue_s": Column(
            "float64", "s", "From the engine's queue to its first scheduling; waits after a preemption are not in it.", _UNSEEN
        ),
        "engine": Column("int32", "", "Number of the engine that served it; 0 where there is one.", _UNSEEN),
        "first_step": Column("int64", "", "Step of that engine whose end brought the first token.", _SIMULATED_ONLY),
        "last_step": Column("int64", "", "Step whose end brought the last token.", _SIMULATED_ONLY),
        "silent_steps": Column(
            "list<int64>",
            "",
            "Pairs: how many steps after first_step a pause begins, and how many steps it lasts.",
            "every step from first_step to last_step brought tokens",
        ),
        "retry_after_s": Column("float64", "s", "How long the server asked to stay away (Retry-After).", "it did not ask"),
    },
    ("due_s", "request_id"),
)  # fmt: skip

OUTCOMES: Final = tuple(each for each in Outcome if each is not Outcome.UNKNOWN)
TOKENS_BASES: Final = ("usage", "logprobs", "tokenizer", "chunks", "simulated")


@frozen
class RequestRecord:
    """One row of requests.parquet; the fields are its columns, in their order."""

    request_id: int
    row: int | None = None
    session: int | None = None
    tenant: int | None = None
    attempt: int = 0
    due_s: float = 0.0
    dispatched_s: float | None = None
    headers_s: float | None = None
    first_byte_s: float | None = None
    first_role_s: float | None = None
    first_content_s: float | None = None
    first_answer_s: float | None = None
    last_content_s: float | None = None
    done_s: float | None = None
    chunk_offset_us: Sequence[int] | None = None
    chunk_tokens: Sequence[int] | None = None
    input_tokens_asked: int | None = None
    input_tokens_got: int | None = None
    output_tokens_asked: int | None = None
    output_tokens_got: int | None = None
    tokens_basis: str | None = None
    outcome: Outcome = Outcome.INCOMPLETE
    error_class: str | None = None
    http_status: int | None = None
    server_request_id: str | None = None
    preemptions: int | None = None
    recomputed_tokens: int | None = None
    cached_tokens: int | None = None
    queue_s: float | None = None
    engine: int | None = None
    first_step: int | None = None
    last_step: int | None = None
    silent_steps: tuple[int, ...] | None = None
    retry_after_s: float | None = None
