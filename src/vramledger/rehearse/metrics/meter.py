"""What the engine does, counted as vLLM counts it.

Intervals are those of ``vllm/v1/metrics/stats.py``: a preemption counts when its request brings its next token, a prompt
when its first token comes; histograms of whole requests have those that finished, never those whose clients went away.
"""

from vramledger.rehearse.live.clock import Clock
from vramledger.rehearse.live.ticket import Ticket
from vramledger.rehearse.metrics.families import Figure
from vramledger.rehearse.metrics.page import Page
from vramledger.simulate.state import State


class Meter:
    """Keeps a page; `caches` is whether there is a prefix cache."""

    def __init__(self, page: Page, clock: Clock, *, caches: bool) -> None:
        self.page, self._clock, self._caches = page, clock, caches
        page.set(Figure.SLEEP_STATE, 1, "awake")

    def admitted(self, ticket: Ticket) -> None:
        """Its prompt was looked up."""
        if self._caches:
            self.page.add(Figure.PREFIX_QUERIES, ticket.arrival.input_tokens)
            self.page.add(Figure.PREFIX_HITS, ticket.hit_tokens)
            self.page.add(Figure.CACHED_BY_SOURCE, ticket.hit_tokens, "device")

    def tokens(self, ticket: Ticket, count: int, before_ns: int | None, now: int) -> None:
        """Tokens of an answer."""
        page, request = self.page, ticket.request
        if before_ns is None:
            self._first(ticket, now)
        else:
            page.observe(Figure.ITL, self._clock.seconds(now - before_ns))
        page.add(Figure.GENERATION_TOKENS, count)
        if request is not None and request.preemptions > ticket.preemptions_told:
            page.add(Figure.PREEMPTIONS, request.preemptions - ticket.preemptions_told)
            ticket.preemptions_told = request.preemptions

    def drafted(self, drafts: int, accepted: int) -> None:
        """A request's drafts were verified."""
        self.page.add(Figure.DRAFTS)
        self.page.add(Figure.DRAFT_TOKENS, drafts)
        self.page.add(Figure.ACCEPTED_TOKENS, accepted)

    def finished(self, ticket: Ticket) -> None:
        """A request has all its tokens."""
        page, arrival, count = self.page, ticket.arrival, ticket.delivered
        page.add(Figure.SUCCESS, 1, ticket.receiver.finish)
        page.observe(Figure.REQUEST_PROMPT, arrival.input_tokens)
        page.observe(Figure.REQUEST_GENERATION, count)
        page.observe(Figure.MAX_GENERATION, count)
        page.observe(Figure.PARAMS_N, 1)
        page.observe(Figure.PARAMS_MAX_TOKENS, ticket.receiver.max_tokens)
        page.observe(Figure.REQUEST_PREEMPTIONS, ticket.preemptions_told)
        page.observe(Figure.COMPUTED, arrival.input_tokens - ticket.hit_tokens)
        self._intervals(ticket, count)

    def stepped(self, tokens: int, state: State) -> None:
        """A step is back."""
        page, waits = self.page, state.waits
        page.set(Figure.RUNNING, len(state.running))
        page.set(Figure.WAITING, waits)
        page.set(Figure.WAITING_BY_REASON, waits, "capacity")
        page.set(Figure.KV_USAGE, state.cache.pool.usage)
        if tokens:
            page.observe(Figure.STEP_TOKENS, tokens)

    def _first(self, ticket: Ticket, now: int) -> None:
        page, prompt, hit = self.page, ticket.arrival.input_tokens, ticket.hit_tokens
        page.observe(Figure.TTFT, self._clock.seconds(now - ticket.received_ns))
        page.add(Figure.PROMPT_TOKENS, prompt)
        page.add(Figure.PROMPT_BY_SOURCE, prompt - hit, "local_compute")
        page.add(Figure.PROMPT_BY_SOURCE, hit, "local_cache_hit")
        page.add(Figure.PROMPT_CACHED, hit)

    def _intervals(self, ticket: Ticket, count: int) -> None:
        """Queue, prefill, decode, inference, TPOT and E2E, between times that all are there now."""
        queued, scheduled = ticket.queued_ns, ticket.scheduled_ns
        first, last = ticket.first_ns, ticket.last_ns
        if queued is None or scheduled is None or first is None or last is None:
            raise AssertionError(f"Request {ticket.number} finished without having begun.")
        stretches = {
            Figure.E2E: last - ticket.received_ns,
            Figure.QUEUE: scheduled - queued,
            Figure.PREFILL: first - scheduled,
            Figure.DECODE: last - first,
            Figure.INFERENCE: last - scheduled,
            Figure.TPOT: (last - first) // max(count - 1, 1),
        }
        for figure, stretch in stretches.items():
            self.page.observe(figure, self._clock.seconds(stretch))
