"""Seconds of one engine step: the sum of the physical work on a GPU.

Weights are read once, whatever the number of tokens, and multiplied by all of them; which of the two
takes longer decides (a smooth maximum: kernels near the ridge reach neither limit). Everything
else is added, as the kernels of a step run one after another. Formulas and sources are in
docs/explanation/timing.md.
"""

from collections.abc import Container, Iterable, Iterator
from dataclasses import fields
from typing import Final, NamedTuple

from vramledger.frozen import frozen
from vramledger.simulate.timing.arithmetic import Format
from vramledger.simulate.timing.cache_reads import CacheRead
from vramledger.simulate.timing.coefficients import Coefficients
from vramledger.simulate.timing.rates import dense_rate, expert_rate, prompt_attention_rate
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


class _Product(NamedTuple):
    """Seconds to read the operands of products, to multiply them, and both overlapped."""

    read: float
    computed: float
    seconds: float


class Pricer:
    """Prices the steps of one `Work` with one set of coefficients."""

    def __init__(self, work: Work, coefficients: Coefficients) -> None:
        c = self.c = coefficients
        self.work = work
        card, bandwidth = work.accelerator, work.bandwidth
        stages = work.stages
        self._dense_groups = [
            (group, dense_rate(group.arithmetic, bandwidth, card, c))
            for stage in stages
            for group in stage.weights.dense
        ]
        self._expert_groups = [
            (group, expert_rate(group.arithmetic, bandwidth, card, c))
            for stage in stages
            for group in stage.weights.experts
        ]
        self._head_groups = [
            (stage.weights.head, dense_rate(stage.weights.head.arithmetic, bandwidth, card, c))
            for stage in stages
            if stage.weights.head is not None
        ]
        self._reads = [read for stage in stages for read in stage.reads]
        self._prompt_rate = prompt_attention_rate(work.plain_peak, card, c)
        self._layers = sum(stage.layers for stage in stages)
        self._kernels = float(sum(stage.launches.kernels for stage in stages))
        self._reduces = sum(stage.launches.all_reduces for stage in stages)
        self._expert_layers = sum(stage.launches.expert_layers for stage in stages)
        fp8 = any(group.arithmetic.format is Format.FP8 for group, _ in self._expert_groups)
        if work.more_kernels and fp8:
            self._kernels += c.slow_expert_kernels * self._expert_layers

    def step(self, batch: Batch) -> StepTime:
        """The step, stages of a pipeline one after another."""
        parts = {
            "weights": _seconds(self._dense(batch)),
            "experts": _seconds(self._experts(batch)),
            "head": _seconds(self._head(batch)),
            "activations": self._activation_seconds(batch),
            "cache": _seconds(self._decodes(read, batch) for read in self._reads),
            "prompt_attention": self._prompt_seconds(batch),
            "launches": self._kernels * self.c.kernel_us * _MICRO,
            "links": self._link_seconds(batch),
        }
        host = self._host_seconds(batch) + self._launch_wait(batch, sum(parts.values()))
        return StepTime(host=host, **parts)

    def seconds(self, batch: Batch) -> float:
        """The length of the step."""
        return self.step(batch).total

    def limits(self, batch: Batch, kinds: Container[str] = KINDS) -> StepLimits:
        """The same step by what it waits for; of all kinds of work, or of some fields of `StepTime`."""
        step = self.step(batch)
        by_kind: dict[str, Iterable[_Product]] = {
            "weights": self._dense(batch),
            "experts": self._experts(batch),
            "head": self._head(batch),
            "cache": (self._decodes(read, batch) for read in self._reads),
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

    def _dense(self, batch: Batch) -> Iterator[_Product]:
        for group, rate in self._dense_groups:
            read = group.bytes / rate.bytes_per_s
            computed = 2 * group.elements * batch.tokens / rate.flops_per_s
            yield _product(read, computed, self.c.overlap)

    def _experts(self, batch: Batch) -> Iterator[_Product]:
        work, tokens = self.work, batch.tokens * self.work.replicas
        for group, rate in self._expert_groups:
            share = group.resident / work.experts
            read = self._reached(tokens) * share * group.bytes / rate.bytes_per_s
            if group.arithmetic.format is Format.FP8 and work.slow_reads:
                read *= self.c.slow_expert_read
            copies = tokens * work.experts_per_token * share
            computed = 2 * copies * group.elements / rate.flops_per_s
            yield _product(read, computed, self.c.overlap_experts, group.layers)

    def _reached(self, tokens: float) -> float:
        """Experts of a layer that get a token: half are likelier by the skew, half less likely."""
        chance = self.work.experts_per_token / self.work.experts
        skew = min(self.c.routing_skew, _MOST_SKEW)
        likelier, rarer = max(1 - chance * (1 + skew), 0.0), 1 - chance * (1 - skew)
        missed = float(likelier**tokens + rarer**tokens)
        return self.work.experts * (1 - missed / 2)

    def _head(self, batch: Batch) -> Iterator[_Product]:
        """Only the last token of a request needs logits."""
        rows = batch.decodes + batch.prompts
        for head, rate in self._head_groups:
            read = head.bytes / rate.bytes_per_s
            computed = 2 * head.elements * rows / rate.flops_per_s
            yield _product(read, computed, self.c.overlap)

    def _activation_seconds(self, batch: Batch) -> float:
        """Norms, position encoding, quantisation; and sorting the copies that go to experts."""
        work, c = self.work, self.c
        passes = batch.tokens * self._layers * c.hidden_passes
        for group, _ in self._expert_groups:
            share = group.resident / work.experts
            copies = batch.tokens * work.replicas * work.experts_per_token * share
            passes += copies * group.layers * c.routed_passes
        return passes * work.hidden * _ELEMENT / work.bandwidth

    def _decodes(self, read: CacheRead, batch: Batch) -> _Product:
        work, c = self.work, self.c
        memory = read.bytes / (work.bandwidth * c.cache_read)
        computed = read.decode_flops / (work.plain_peak * c.decode_attention)
        times = batch.decodes * read.layers * read.tokens(batch.context)
        return _product(memory, computed, 2.0, times)

    def _prompt_seconds(self, batch: Batch) -> float:
        if not batch.prompt_tokens:
            return 0.0
        flops = sum(
            read.layers * read.tokens(batch.prompt_context) * read.prompt_flops
            for read in self._reads
        )
        return batch.prompt_tokens * flops / self._prompt_rate

    def _link_seconds(self, batch: Batch) -> float:
        work, c = self.work, self.c
        total, row = 0.0, work.hidden * _ELEMENT
        tensor = work.tensor_link
        if tensor.ranks > 1:
            moved = 2 * row * (tensor.ranks - 1) / tensor.ranks * batch.tokens
            total += self._reduces * tensor.all_reduce(c)
            total += 2 * self._layers * moved / tensor.rate(c)
        if work.replicas > 1 and self._expert_layers:
            among = (work.replicas - 1) / work.replicas
            moved = 2 * batch.tokens * work.replicas * row * among
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


def _seconds(products: Iterable[_Product]) -> float:
    return sum(each.seconds for each in products)


def _product(read: float, computed: float, power: float, times: float = 1.0) -> _Product:
    """Overlapped is a smooth maximum: the sum of both at power 1, the larger alone at infinity."""
    both = float((read**power + computed**power) ** (1 / power))
    return _Product(times * read, times * computed, times * both)
