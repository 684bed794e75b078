"""Seconds of one engine step: the sum of the physical work on a GPU.

Weights are read once, whatever the number of tokens, and multiplied by all of them; which of the two
takes longer decides (a smooth maximum: kernels near the ridge reach neither limit). Everything
else is added, as the kernels of a step run one after another. Formulas and sources are in
docs/explanation/timing.md.
"""

from collections.abc import Container, Iterable, Sequence
from dataclasses import fields
from typing import Final

from vramledger.frozen import frozen
from vramledger.simulate.timing.arithmetic import Format
from vramledger.simulate.timing.coefficients import Coefficients
from vramledger.simulate.timing.matrices import Matrices
from vramledger.simulate.timing.products import (
    CacheProducts,
    DenseProducts,
    ExpertProducts,
    Product,
    Routed,
)
from vramledger.simulate.timing.rates import Rate, dense_rate, expert_rate, prompt_attention_rate
from vramledger.simulate.timing.work import Launching, Work

_ELEMENT: Final = 2  # bytes of an activation
_MICRO: Final = 1e-6
_MOST_SKEW: Final = 0.98


@frozen
class Batch:
    """What a step computes. Contexts are means over its tokens."""

    decodes: float
    context: float = 0.0  # tokens in the cache of a decode
    prompt_tokens: float = 0.0
    prompt_context: float = 0.0  # tokens that a prompt token attends to
    prompts: float = 0.0

    @property
    def tokens(self) -> float:
        """Rows of every dense product."""
        return self.decodes + self.prompt_tokens


@frozen
class StepTime:
    """Seconds by kind of work; they add up."""

    weights: float
    experts: float
    head: float
    activations: float
    cache: float  # reading keys, values and states, with the products of decodes
    prompt_attention: float
    launches: float
    links: float
    host: float

    @property
    def total(self) -> float:
        """Seconds of the step."""
        return sum(self.parts().values())

    def parts(self) -> dict[str, float]:
        """Seconds by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


KINDS: Final = tuple(field.name for field in fields(StepTime))


@frozen
class StepLimits:
    """Seconds of a step by what they wait for; they add up to its length.

    Products whose operands take longer to read than to multiply wait for bandwidth, others for compute.
    """

    bandwidth: float
    compute: float
    links: float
    launches: float  # of kernels, with the host's work between steps

    def parts(self) -> dict[str, float]:
        """Seconds by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


class Pricer:
    """Prices the steps of one `Work` with one set of coefficients."""

    def __init__(self, work: Work, coefficients: Coefficients) -> None:
        c = self.c = coefficients
        self.work = work
        stages = work.stages
        self._expert_groups = [group for stage in stages for group in stage.weights.experts]
        self._dense = self._dense_products([g for s in stages for g in s.weights.dense])
        self._head = self._dense_products([s.weights.head for s in stages if s.weights.head])
        self._experts = self._expert_products()
        self._reads = [read for stage in stages for read in stage.reads]
        self._cache = CacheProducts(
            self._reads,
            Rate(work.bandwidth * c.cache_read, work.plain_peak * c.decode_attention),
        )
        self._prompt_rate = prompt_attention_rate(work.plain_peak, work.accelerator, c)
        self._layers = sum(stage.layers for stage in stages)
        self._kernels = float(sum(stage.launches.kernels for stage in stages))
        self._reduces = sum(stage.launches.all_reduces for stage in stages)
        self._expert_layers = sum(stage.launches.expert_layers for stage in stages)
        fp8 = any(group.arithmetic.format is Format.FP8 for group in self._expert_groups)
        if work.more_kernels and fp8:
            self._kernels += c.slow_expert_kernels * self._expert_layers
        self._skew = min(c.routing_skew, _MOST_SKEW)

    def step(self, batch: Batch) -> StepTime:
        """The step, stages of a pipeline one after another."""
        return StepTime(*self._parts(batch))

    def seconds(self, batch: Batch) -> float:
        """The length of the step."""
        return sum(self._parts(batch))

    def _parts(self, batch: Batch) -> tuple[float, ...]:
        """Seconds by kind of work, in the order of `KINDS`."""
        rows = batch.decodes + batch.prompt_tokens
        device = (
            self._dense.seconds(rows),
            self._expert_seconds(rows),
            self._head.seconds(batch.decodes + batch.prompts),
            self._activation_seconds(rows),
            self._cache.seconds(batch.decodes, batch.context),
            self._prompt_seconds(batch),
            self._kernels * self.c.kernel_us * _MICRO,
            self._link_seconds(rows),
        )
        host = self._host_seconds(batch) + self._launch_wait(batch, sum(device))
        return (*device, host)

    def limits(self, batch: Batch, kinds: Container[str] = KINDS) -> StepLimits:
        """The same step by what it waits for; of all kinds of work, or of some fields of `StepTime`."""
        step, rows = self.step(batch), batch.tokens
        by_kind: dict[str, Iterable[Product]] = {
            "weights": self._dense.each(rows),
            "experts": self._experts.each(self._routed(rows)) if self._expert_groups else (),
            "head": self._head.each(batch.decodes + batch.prompts),
            "cache": self._cache.each(batch.decodes, batch.context),
        }
        products = [each for kind in by_kind if kind in kinds for each in by_kind[kind]]
        rest = {kind: value if kind in kinds else 0.0 for kind, value in step.parts().items()}
        reading = sum(each.seconds for each in products if each.read >= each.computed)
        computing = sum(each.seconds for each in products if each.read < each.computed)
        return StepLimits(
            bandwidth=reading + rest["activations"],
            compute=computing + rest["prompt_attention"],
            links=rest["links"],
            launches=rest["launches"] + rest["host"],
        )

    def _dense_products(self, groups: Sequence[Matrices]) -> DenseProducts:
        card, c = self.work.accelerator, self.c
        rated = [(g, dense_rate(g.arithmetic, self.work.bandwidth, card, c)) for g in groups]
        return DenseProducts(rated, c.overlap)

    def _expert_products(self) -> ExpertProducts:
        work, c = self.work, self.c
        rated = []
        for group in self._expert_groups:
            slow = work.slow_reads and group.arithmetic.format is Format.FP8
            rate = expert_rate(group.arithmetic, work.bandwidth, work.accelerator, c)
            rated.append((group, rate, c.slow_expert_read if slow else 1.0))
        return ExpertProducts(rated, work.experts_per_token, c.overlap_experts)

    def _expert_seconds(self, rows: float) -> float:
        return self._experts.seconds(self._routed(rows)) if self._expert_groups else 0.0

    def _routed(self, rows: float) -> Routed:
        """Rows of all replicas meet at the experts.

        Half of a layer's experts are likelier by the skew to get a token, half less likely.
        """
        work, skew = self.work, self._skew
        tokens = rows * work.replicas
        chance = work.experts_per_token / work.experts
        likelier, rarer = max(1 - chance * (1 + skew), 0.0), 1 - chance * (1 - skew)
        missed = float(likelier**tokens + rarer**tokens)
        return Routed(tokens, work.experts * (1 - missed / 2), work.experts)

    def _activation_seconds(self, rows: float) -> float:
        """Norms, position encoding, quantisation; and sorting the copies that go to experts."""
        work, c = self.work, self.c
        passes = rows * self._layers * c.hidden_passes
        for group in self._expert_groups:
            share = group.resident / work.experts
            copies = rows * work.replicas * work.experts_per_token * share
            passes += copies * group.layers * c.routed_passes
        return passes * work.hidden * _ELEMENT / work.bandwidth

    def _prompt_seconds(self, batch: Batch) -> float:
        if not batch.prompt_tokens:
            return 0.0
        context = batch.prompt_context
        flops = sum(
            [read.layers * read.tokens(context) * read.prompt_flops for read in self._reads]
        )
        return batch.prompt_tokens * flops / self._prompt_rate

    def _link_seconds(self, rows: float) -> float:
        work, c = self.work, self.c
        total, row = 0.0, work.hidden * _ELEMENT
        tensor = work.tensor_link
        if tensor.ranks > 1:
            moved = 2 * row * (tensor.ranks - 1) / tensor.ranks * rows
            total += self._reduces * tensor.all_reduce(c)
            total += 2 * self._layers * moved / tensor.rate(c)
        if work.replicas > 1 and self._expert_layers:
            among = (work.replicas - 1) / work.replicas
            moved = 2 * rows * work.replicas * row * among
            total += self._expert_layers * (
                2 * c.all_to_all_us * _MICRO + moved / work.replica_link.rate(c)
            )
        return total

    def _host_seconds(self, batch: Batch) -> float:
        c = self.c
        micros = c.step_us + c.request_us * batch.decodes
        if self.work.synchronous:
            micros += c.synchronous_us
        if batch.prompt_tokens:
            micros += c.prefill_step_us
        return micros * _MICRO

    def _launch_wait(self, batch: Batch, device: float) -> float:
        """Seconds that the GPU waits for the host to launch the step's kernels outside a graph.

        Launches run ahead of the GPU, so only what exceeds the GPU's own work counts.
        """
        work, c = self.work, self.c
        how = work.prefill_launching if batch.prompt_tokens else work.decode_launching
        captured = batch.tokens <= work.largest_graph and how is Launching.COMPILED
        if how is Launching.GRAPH or captured:
            return 0.0
        each = c.eager_kernel_us if how is Launching.EAGER else c.compiled_kernel_us
        return max(self._kernels * each * _MICRO - device, 0.0)
