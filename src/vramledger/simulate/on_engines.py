"""A question's requests on its engines, with the prefix cache as the deployment has it.

Without the workload's prefix hits no prompt begins like another. Then a cache that is on changes nothing until a request
is preempted: nobody else can ask for a block by name, and blocks are as free with a name as without. After a preemption
it does, because the request finds its own blocks again as far as nobody has taken them. So such a load is run with the cache
off, which is fast, and run again with it on if anybody was preempted.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from vramledger.simulate.arriving import arriving_of
from vramledger.simulate.batches import Batching, serve_batches
from vramledger.simulate.engine_load import Serve
from vramledger.simulate.engines import Engine, Progress, run_engines
from vramledger.simulate.groups import FullAttention
from vramledger.simulate.policies import policy_named
from vramledger.simulate.serving import Serving
from vramledger.simulate.settings import Settings
from vramledger.simulate.step_trace import StepTrace
from vramledger.simulate.timing.coefficients import shipped

if TYPE_CHECKING:
    from vramledger.simulate.run import Bench


def engines_of(
    bench: "Bench", settings: Settings, progress: Progress, *, hits: bool, traced: bool
) -> tuple[Engine, ...]:
    """What every engine did, with the workload's own prefix hits or without any; traced where that is asked.

    Raises:
        BadInput: requests, costs or names that no simulator takes.
        CannotKnow: what a prefill and a decode pool cannot exchange.
    """
    question, batching = bench.question, policy_named(bench.question.policy).batching
    fit = question.fit or shipped()
    arriving = arriving_of(
        bench.offered,
        fit.coefficients,
        settings.block_size if hits else None,
        min(question.serving.closed or 0, len(bench.offered)) / bench.engines,
    )
    serve, serving = _serve(bench, batching, traced=traced), _serving(bench)

    def run(asked: Settings) -> tuple[Engine, ...]:
        return run_engines(
            asked,
            arriving,
            bench.cost,
            bench.engines,
            seed=question.seed,
            progress=progress,
            serve=serve,
            serving=serving,
        )

    if hits or serve is not None or serving.split is not None or not off_is_alike(settings):
        return run(settings)
    engines = run(replace(settings, prefix_caching=False))
    return run(settings) if any_preempted(engines) else engines


def off_is_alike(settings: Settings) -> bool:
    """Whether a run of prompts that share nothing, and without preemption, is the same with the cache off, and worth it.

    Windows and recurrent states keep other blocks where they are cached. Several pipeline stages are no faster without.
    """
    plain = all(isinstance(group, FullAttention) for group in settings.groups)
    return settings.prefix_caching and plain and settings.pipeline_stages == 1


def any_preempted(engines: tuple[Engine, ...]) -> bool:
    """Whether any request was preempted."""
    return any(bool(engine.found.requests["preemptions"].any()) for engine in engines)


def _serving(bench: "Bench") -> Serving:
    """As asked, with what only the deployment tells: engines of a server, bytes of a block over all its GPUs."""
    serving, layout = bench.question.serving, bench.deployment.layout
    if serving.split is None:
        return serving
    block = sum(bench.pool.layout.bytes_per_block) * layout.tp * layout.pcp
    prefill = serving.split.prefill * layout.dp
    return replace(serving, split=replace(serving.split, prefill=prefill, bytes_per_block=block))


def _serve(bench: "Bench", batching: Batching | None, *, traced: bool) -> Serve | None:
    """How each engine serves its part, None for vLLM's scheduler without a trace."""
    if batching is not None:
        return lambda part: serve_batches(part.settings, part.load, part.cost, batching)
    trace = bench.question.trace
    return StepTrace(trace, bench.engines).serve if traced and trace is not None else None
