"""The table of a stored workload: columns, types and what null means."""

from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import pyarrow as pa

VERSION: Final = 1
METADATA_KEY: Final = b"vramledger"  # of the Parquet file: one JSON object

COLUMNS: Final = {
    "row": ("int64", "Number of the request, by arrival, from 0."),
    "arrival_s": ("float64", "Seconds since the first arrival; null where the log has no times."),
    "input_tokens": ("int32", "Tokens of the prompt; null where the log says nothing of them."),
    "output_tokens": ("int32", "Tokens of the answer, thinking included."),
    "thinking_tokens": ("int32", "The part of output_tokens that was thinking."),
    "cached_tokens": ("int32", "The part of input_tokens that the source's own cache served."),
    "max_output_tokens": ("int32", "The limit on the answer that the request asked for."),
    "duration_s": ("float64", "Seconds from arrival to end, on the server that wrote the log."),
    "first_token_s": ("float64", "Seconds from arrival to the first token, on that server."),
    "prefix_blocks": (
        "list<int32>",
        "One number a block of block_tokens; equal numbers mean equal prompts up to that block's end.",
    ),
    "session": ("int32", "Number of the conversation."),
    "turn": ("int32", "Number of the request within it, from 0."),
    "think_s": ("float64", "Seconds from the end of the turn before to this arrival."),
    "outcome": ("string", "ok, failed, rejected, cancelled, timed_out, incomplete or unknown."),
    "cancel_after_s": ("float64", "Seconds after which the client gave up."),
    "retry_of": ("int32", "Row of the attempt that this request repeats."),
    "images": ("int32", "Images in the prompt."),
    "audio_s": ("float64", "Seconds of audio in the prompt."),
    "model": ("string", "Label of the model: model-0, model-1, ... unless names were kept or mapped."),
    "tenant": ("int32", "Number of the user, team or key the request came from."),
}  # fmt: skip


@cache
def arrow_schema() -> "pa.Schema":
    """The columns as an Arrow schema, all of them nullable but `row` and `outcome`."""
    import pyarrow as pa

    kinds = {
        "int64": pa.int64(),
        "int32": pa.int32(),
        "float64": pa.float64(),
        "string": pa.string(),
        "list<int32>": pa.list_(pa.int32()),
    }
    never_null = ("row", "outcome")
    return pa.schema(
        [pa.field(name, kinds[kind], name not in never_null) for name, (kind, _) in COLUMNS.items()]
    )
