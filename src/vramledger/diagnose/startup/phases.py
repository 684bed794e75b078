"""How far a start has come, by lines that each engine prints on the way; the words stand in sentences after "while"."""

from typing import Final

from vramledger.frozen import frozen

BEGINNING: Final = "reading its arguments"
LOADING: Final = "loading the weights"
PROFILING: Final = "measuring its activation peak"
CACHE: Final = "allocating the KV cache"
GRAPHS: Final = "capturing graphs"
WARMING: Final = "warming up"
SERVING: Final = "serving requests"
AFTER_CACHE: Final = (CACHE, GRAPHS, WARMING)
ORDER: Final = (BEGINNING, LOADING, PROFILING, CACHE, GRAPHS, WARMING, SERVING)


@frozen
class Mark:
    """A piece of a line, in lower case, that says that a phase has begun."""

    piece: str
    phase: str


def _marks(phase: str, *pieces: str) -> tuple[Mark, ...]:
    return tuple(Mark(piece, phase) for piece in pieces)


MARKS: Final = (
    *_marks(
        LOADING, "starting to load model", "loading model from scratch", "loading safetensors checkpoint", "loading pt checkpoint",
        "load weight begin", "load_model: loading model", "llama_model_loader: loaded meta data", "loading weights", "loading checkpoint shards",
        "starting shard", "waiting for shard",
    ),
    *_marks(PROFILING, "model loading took", "loading model weights took", "load weight end", "memory used after loading model weights", "warming up model"),
    *_marks(
        CACHE, "available kv cache memory:", "kv cache size:", "# gpu blocks:", "kv cache is allocated", "memory pool end", "llama_kv_cache", "kv buffer size",
        "gib for max tokens in paged kv cache", "kv-cache blocks:", "for kv cache on node", "specified by kv_cache_memory_bytes", "object cache budget",
    ),
    *_marks(GRAPHS, "capturing cuda graph", "capturing the model for cuda graph", "capturing cudagraph", "capture cuda graph begin", "cuda graphs for sizes", "capture piecewise cuda graph begin"),
    *_marks(WARMING, "graph capturing finished", "init engine (profile", "capture cuda graph end", "compute buffer size", "warming up the model"),
    *_marks(
        SERVING, "application startup complete", "the server is fired up and ready to roll", "server is listening on", "listening on http", "uvicorn running on",
        "init: listening", "all slots are idle", "main: model loaded", "http server listening", "invalid hostname, defaulting to 0.0.0.0", ": connected",
    ),
)  # fmt: skip
HEALTHY: Final = frozenset(mark.piece for mark in MARKS if mark.phase == SERVING) - {
    "all slots are idle"
}
MADE: Final = (
    "init engine (profile",
    "graph capturing finished",
    "main: model loaded",
    "llama_server: model loaded",
)
STARTS: Final = (
    "vllm api server version", "vllm server version", "server_args=serverargs(", "llama_server: initializing", "main: build:", "build_info:",
    "args { model_id",
)  # fmt: skip
STOPPING: Final = (
    "[shutdown]", "shutting down", "application shutdown complete", "waiting for application shutdown", "cleaning up before exit", "keyboardinterrupt", "received sigterm",
    "received signal", "finished server process",
)  # fmt: skip


def phase_of(lowered: str) -> str | None:
    """The phase that a line of lower-case text says has begun, None where it says nothing of it."""
    for mark in MARKS:
        if mark.piece in lowered:
            return mark.phase
    return None


def later(one: str, other: str) -> str:
    """The later of two phases."""
    return one if ORDER.index(one) >= ORDER.index(other) else other
