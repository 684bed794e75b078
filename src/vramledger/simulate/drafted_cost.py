"""What drafting adds to a step's cost: the draft runs K times, and K+1 rows of each request are verified.

The draft is priced as a model of its own by the same step time, without the host's work, which a step does
once. Its first pass computes every token of the step (prompts too, for its own cache), each further pass
one token of every request that decodes. Three things are approximated:

- in a step of T tokens, T/(K+1) requests decode; prompts in it make that too many, by little cost;
- a layer of multi-token prediction is priced as the mean layer of the model;
- an EAGLE head uses the output projection of the model it drafts for.
"""

from dataclasses import replace

from vramledger.engine.vllm.deployment import Deployment
from vramledger.simulate.drafting import METHODS
from vramledger.simulate.priced import Typical, step_cost
from vramledger.simulate.step_cost import StepCost
from vramledger.simulate.timing.cache_reads import CacheRead
from vramledger.simulate.timing.coefficients import Coefficients
from vramledger.simulate.timing.launches import Launches
from vramledger.simulate.timing.matrices import ExpertMatrices, Matrices, Weights
from vramledger.simulate.timing.work import Stage, Work, work_of


def deployment_cost(
    deployment: Deployment, coefficients: Coefficients, typical: Typical
) -> StepCost:
    """The cost of the deployment's steps, drafting included where it speculates.

    Raises:
        CannotKnow: a card that cannot be timed.
    """
    work, sequences = work_of(deployment), deployment.max_num_seqs.value
    speculation = deployment.speculation
    if speculation is None:
        return step_cost(work, coefficients, typical, sequences)
    rows = 1 + speculation.tokens
    target = step_cost(work, coefficients, typical, sequences * rows)
    method = METHODS[speculation.method]
    verified = replace(
        target,
        decode_requests=target.decode_requests + speculation.tokens * target.prefill_requests,
    )
    if not method.runs_model:
        return verified
    alone = replace(
        coefficients, step_us=0.0, request_us=0.0, synchronous_us=0.0, prefill_step_us=0.0
    )
    draft = step_cost(draft_work(deployment, work), alone, typical, sequences * rows)
    passes = 1 if method.at_once else speculation.tokens
    return _added(verified, draft, passes, rows, sequences)


def _added(target: StepCost, draft: StepCost, passes: int, rows: int, sequences: int) -> StepCost:
    """The target's step, a pass of the draft over its tokens, and the other passes over its decodes."""
    last = len(draft.by_tokens) - 1
    by_tokens = tuple(
        entry
        + draft.by_tokens[min(tokens, last)]
        + (passes - 1) * draft.by_tokens[min(-(-tokens // rows), sequences, last)]
        for tokens, entry in enumerate(target.by_tokens)
    )
    return replace(
        target,
        constant=target.constant + passes * draft.constant,
        prefill_tokens=target.prefill_tokens + draft.prefill_tokens,
        prefill_requests=target.prefill_requests + draft.prefill_requests,
        prefill_pairs=target.prefill_pairs + draft.prefill_pairs,
        decode_requests=target.decode_requests + passes * draft.decode_requests,
        decode_context=target.decode_context + passes * draft.decode_context,
        prefill_step=target.prefill_step + draft.prefill_step,
        by_tokens=by_tokens,
    )


def draft_work(deployment: Deployment, target: Work) -> Work:
    """What one pass of the draft does on each GPU; `target` is the work of the model it drafts for."""
    speculation = deployment.speculation
    if speculation is None or speculation.draft is None:
        return _one_layer(target)
    alone = replace(
        deployment,
        model=speculation.draft,
        layout=replace(deployment.layout, tp=max(1, speculation.draft_tp), pp=1),
        speculation=None,
        lora=None,
        quantization=replace(deployment.quantization, value=None),
    )
    work = work_of(alone)
    (stage,) = work.stages
    if stage.weights.head is not None:
        return work
    weights = replace(stage.weights, head=target.stages[-1].weights.head)
    return replace(work, stages=(replace(stage, weights=weights),))


def _one_layer(target: Work) -> Work:
    """The mean layer of a model, with its output projection."""
    stage = target.stages[-1]
    return replace(target, stages=(_mean_layer(stage),))


def _mean_layer(stage: Stage) -> Stage:
    share = 1 / stage.layers
    weights, launches = stage.weights, stage.launches
    return Stage(
        weights=Weights(
            dense=tuple(
                Matrices(each.arithmetic, each.elements * share, each.bytes * share)
                for each in weights.dense
            ),
            experts=tuple(_of_one(each, share) for each in weights.experts),
            head=weights.head,
        ),
        reads=tuple(_read(each, share) for each in stage.reads),
        launches=Launches(
            layers=1,
            kernels=max(round(launches.kernels * share), 1),
            all_reduces=round(launches.all_reduces * share),
            expert_layers=min(launches.expert_layers, 1),
        ),
        layers=1,
    )


def _of_one(each: ExpertMatrices, share: float) -> ExpertMatrices:
    """Experts whose layers together count as their share of one layer."""
    part = each.layers * share
    return replace(each, layers=1, elements=each.elements * part, bytes=each.bytes * part)


def _read(each: CacheRead, share: float) -> CacheRead:
    """Equal layers as their share of one layer."""
    part = each.layers * share
    return replace(
        each,
        layers=1,
        bytes=each.bytes * part,
        decode_flops=each.decode_flops * part,
        prompt_flops=each.prompt_flops * part,
    )
