"""vLLM V1's scheduler: one step after another, over requests that run and requests that wait.

After ``vllm/v1/core/sched/scheduler.py`` of 0.32.0. `schedule` decides a step and counts its tokens as
computed at once; `settle` is told later what came of it. `running` serves the requests that run,
`admission` those that wait.
"""

from vramledger.simulate.acceptance import accepted_drafts
from vramledger.simulate.admission import admit_waiting
from vramledger.simulate.cache.kv_cache import KvCache
from vramledger.simulate.policy import Policy, Vllm
from vramledger.simulate.queues import QUEUES
from vramledger.simulate.request import Request, Status
from vramledger.simulate.running import serve_running
from vramledger.simulate.settings import Settings
from vramledger.simulate.state import State
from vramledger.simulate.step import Budget, Step


class Scheduler:
    """The scheduler of one engine; `seed` decides which drafts are accepted."""

    def __init__(self, settings: Settings, policy: Policy | None = None, seed: int = 0) -> None:
        self.settings = settings
        self.seed = seed
        self.state = State(
            settings, policy or Vllm(settings), KvCache(settings), QUEUES[settings.order]()
        )
        self.steps = 0

    @property
    def is_idle(self) -> bool:
        """Whether no request runs or waits."""
        return not self.state.running and not self.state.waiting and not self.state.fetched

    def add(self, request: Request) -> None:
        """A request that arrives."""
        self.state.waiting.add(request)

    def abort(self, request: Request) -> None:
        """End a request from outside; its blocks are free at once, what is in flight is lost."""
        if request.is_over:
            return
        if request.status is Status.RUNNING:
            self.state.running.remove(request)
        elif request.status is Status.FETCHING:
            del self.state.fetching[request.rank]
        elif request in self.state.fetched:
            self.state.fetched.remove(request)
        else:
            self.state.waiting.remove(request)
        request.status = Status.ABORTED
        self.state.cache.release(request)

    def fetched(self, request: Request) -> None:
        """A request's cache has come; its last prompt token is computed again, which brings its first token."""
        del self.state.fetching[request.rank]
        request.status = Status.WAITING
        request.computed = request.prompt - 1
        self.state.cache.publish(request, request.computed)
        self.state.fetched.append(request)

    def release_kept(self, request: Request) -> None:
        """The blocks of a request that is over have been fetched."""
        del self.state.kept[request.rank]
        self.state.cache.release(request)

    def schedule(self) -> Step:
        """Decide the next step: running requests first, then waiting ones, unless one was preempted."""
        step, budget = Step(self.steps), Budget(self.settings)
        self.steps += 1
        self.state.cache.step_begins()
        cap = self._prefill_cap()
        serve_running(self.state, step, budget, cap)
        if not step.preempted:
            admit_waiting(self.state, step, budget, cap)
        self._advance(step)
        return step

    def _prefill_cap(self) -> int:
        """Tokens of a long prefill in one step, 0 for no cap; who is alone has nobody to starve."""
        alone = len(self.state.running) + len(self.state.waiting) <= 1
        if alone and self.settings.rules.lone_prefill_uncapped:
            return 0
        return self.settings.long_prefill_threshold

    def _advance(self, step: Step) -> None:
        """Count the scheduled tokens as computed, drafts included; rejected ones are taken back later."""
        for request, tokens in step.scheduled.items():
            request.computed += tokens
            request.in_flight += tokens
            request.prefilling = request.computed < request.tokens + request.placeholders
            if request.prefilling:
                continue
            step.sampled.add(request.rank)
            if self.settings.async_scheduling:
                request.placeholders += 1 + step.drafts.get(request, 0)
                request.drafts = self.settings.drafts

    def settle(self, step: Step) -> list[Request]:
        """Take in the tokens of a step that the device has finished; returns the requests that end."""
        ended = []
        for request, tokens in step.scheduled.items():
            request.in_flight -= tokens
            stale = request.stale > 0
            if stale:
                request.stale -= tokens
            if request.is_over or request.rank not in step.sampled:
                continue
            if self._deliver(request, step.drafts.get(request, 0), stale=stale):
                ended.append(request)
        if not self.settings.async_scheduling and self.settings.drafts:
            for request in step.scheduled:
                request.drafts = 0 if request.prefilling else self.settings.drafts
        return ended

    def _deliver(self, request: Request, drafts: int, *, stale: bool) -> bool:
        """The sampled token and the accepted drafts before it; whether the request ends with them.

        Tokens from before a preemption count too, but no longer change what is computed.
        """
        accepted = self._accepted(request, drafts)
        if drafts and not stale:
            rejected = drafts - accepted
            request.computed -= rejected if request.computed > 0 else 0
            request.placeholders -= rejected if request.placeholders > 0 else 0
        left = max(
            1,
            min(
                request.arrival.output_tokens - request.generated,
                self.settings.max_model_len - request.tokens,
            ),
        )
        delivered = min(accepted + 1, left)
        request.generated += delivered
        if self.settings.async_scheduling:
            if not stale:
                request.placeholders -= delivered
            if request.status is Status.RUNNING:
                self.state.cache.publish(request, request.computed - request.placeholders)
        if delivered == left:
            self._finish(request)
        return delivered == left

    def _accepted(self, request: Request, drafts: int) -> int:
        speculation = self.settings.speculation
        if not drafts or speculation is None:
            return 0
        return accepted_drafts(
            self.seed, request.rank, request.generated, drafts, speculation.acceptance
        )

    def _finish(self, request: Request) -> None:
        if request.status is Status.RUNNING:
            self.state.running.remove(request)
        else:
            self.state.waiting.remove(request)
        request.status = Status.FINISHED
        if request.arrival.hands_over:
            self.state.kept[request.rank] = request
        else:
            self.state.cache.release(request)
