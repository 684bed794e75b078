"""The common vocabulary: one name for what engines call differently, with its unit and its meaning.

A histogram is three names on a page: its buckets carry the name here, `NAME_sum` and `NAME_count` the rest.
"""

from typing import Final

from vramledger.frozen import frozen


@frozen
class CommonName:
    """One figure of a server. `shape` is gauge, counter, histogram or info."""

    name: str
    shape: str
    unit: str
    meaning: str


def _row(name: str, shape: str, unit: str, meaning: str) -> CommonName:
    return CommonName(name, shape, unit, meaning)


NAMES: Final = (
    _row("running", "gauge", "requests", "Requests that the scheduler counts as running."),
    _row("waiting", "gauge", "requests", "Requests in the engine's queue, preempted ones included."),
    _row("waiting_by_reason", "gauge", "requests", "The same, by the label `reason`."),
    _row("swapped", "gauge", "requests", "Requests whose cache lies in host memory."),
    _row("paused", "gauge", "requests", "Requests that lost their place and wait to go on."),
    _row("front_end_waiting", "gauge", "requests", "Requests waiting before the engine's own queue."),
    _row("kv_usage", "gauge", "0..1", "Share of the KV cache that requests hold."),
    _row("kv_committed_tokens", "gauge", "tokens", "KV tokens promised to the running requests."),
    _row("kv_used_tokens", "gauge", "tokens", "KV tokens that requests hold."),
    _row("kv_capacity_tokens", "gauge", "tokens", "KV tokens that the cache can hold."),
    _row("kv_used_blocks", "gauge", "blocks", "KV blocks that requests hold."),
    _row("kv_capacity_blocks", "gauge", "blocks", "KV blocks of the cache."),
    _row("kv_block_tokens", "gauge", "tokens", "Tokens of a block."),
    _row("preemptions", "counter", "events", "Running requests that lost their cache to others."),
    _row("prompt_tokens", "counter", "tokens", "Prompt tokens, cached ones included."),
    _row("prompt_tokens_computed", "counter", "tokens", "Prompt tokens that were not in a cache."),
    _row("prompt_tokens_cached", "counter", "tokens", "Prompt tokens found in a cache."),
    _row("generation_tokens", "counter", "tokens", "Tokens of answers."),
    _row("prefix_queries", "counter", "tokens", "Prompt tokens looked up in the prefix cache."),
    _row("prefix_hits", "counter", "tokens", "Prompt tokens found in the prefix cache."),
    _row("prefix_hit_rate", "gauge", "0..1", "Hit rate as the engine sums it up, over a time of its choice."),
    _row("external_prefix_queries", "counter", "tokens", "Prompt tokens looked up in a cache outside the engine."),
    _row("external_prefix_hits", "counter", "tokens", "Prompt tokens found there."),
    _row("ttft_s", "histogram", "s", "Time to the first token, as the server sees it."),
    _row("itl_s", "histogram", "s", "Time between two output events of a request."),
    _row("tpot_s", "histogram", "s", "Mean time per output token of a request."),
    _row("e2e_s", "histogram", "s", "From a request's arrival to its end."),
    _row("queue_s", "histogram", "s", "From the queue to the first scheduling."),
    _row("prefill_s", "histogram", "s", "From the first scheduling to the first token."),
    _row("decode_s", "histogram", "s", "From the first token to the last."),
    _row("inference_s", "histogram", "s", "From the first scheduling to the last token."),
    _row("iteration_tokens", "histogram", "tokens", "Tokens of a step of the engine."),
    _row("request_prompt_tokens", "histogram", "tokens", "Prompt of a finished request."),
    _row("request_generation_tokens", "histogram", "tokens", "Answer of a finished request."),
    _row("request_preemptions", "histogram", "events", "Preemptions of a finished request."),
    _row("requests_finished", "counter", "requests", "Requests that ended, by the label of their end."),
    _row("requests_failed", "counter", "requests", "Requests that failed."),
    _row("requests_aborted", "counter", "requests", "Requests given up by the client or the server."),
    _row("requests_rejected", "counter", "requests", "Requests turned away."),
    _row("spec_drafts", "counter", "drafts", "Drafts of speculative decoding."),
    _row("spec_draft_tokens", "counter", "tokens", "Tokens that were drafted."),
    _row("spec_accepted_tokens", "counter", "tokens", "Drafted tokens that were accepted."),
    _row("spec_accept_length", "gauge", "tokens", "Mean tokens a step under speculative decoding."),
    _row("spec_accept_rate", "gauge", "0..1", "Share of drafted tokens accepted."),
    _row("cache_config", "info", "", "The cache configuration, in the labels."),
    _row("sleep_state", "gauge", "", "Whether the engine sleeps, by the label `sleep_state`."),
    _row("http_requests", "counter", "requests", "Requests that the HTTP server answered."),
    _row("process_start_s", "gauge", "s", "When the server's process began: seconds since 1970."),
    _row("process_resident_bytes", "gauge", "bytes", "Host memory of the server's process."),
    _row("process_cpu_s", "counter", "s", "Processor time of the server's process."),
    _row("up", "gauge", "", "1 for each page that was read; a page that could not be read has no row."),
    _row("host_cpu", "gauge", "0..1", "Share of all processors in use."),
    _row("host_cpu_busiest", "gauge", "0..1", "Share of the busiest processor in use."),
    _row("host_memory_used_bytes", "gauge", "bytes", "Host memory not available to a new program."),
    _row("host_memory_total_bytes", "gauge", "bytes", "Host memory."),
    _row("host_load", "gauge", "processes", "Load average over a minute."),
    _row("host_tcp_retransmits", "counter", "segments", "TCP segments sent again."),
    _row("host_sockets", "gauge", "sockets", "TCP sockets in use."),
)  # fmt: skip
BY_NAME: Final = {row.name: row for row in NAMES}
