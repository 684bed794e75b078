"""What would mend a shortage of KV cache: every remedy by itself, each with what the simulator expects of it, what it costs, and the limit it leaves."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from vramledger.diagnose.counterfactual.bench import Bench, Played
from vramledger.errors import VramError
from vramledger.frozen import frozen
from vramledger.ledger.case import Case
from vramledger.ledger.question import accelerator_for

_UTILIZATION: Final = "gpu-memory-utilization"
_LARGER: Final = ("A100-80GB-SXM", "H100-80GB-SXM", "H200-141GB-SXM", "B200")
_HIGHEST: Final = 0.96


@frozen
class Remedy:
    """One change by itself. `found` is None where it could not be played, for `reason`. `price_per_hour` is of all GPUs, None where no price is known."""

    name: str
    change: str
    untouched: str
    gpus: int
    price_per_hour: float | None
    found: Played | None
    reason: str = ""


def remedies_of(bench: Bench, prices: Mapping[str, float] | None = None) -> tuple[Remedy, ...]:
    """Every remedy, in the order of what they change: settings first, then hardware."""
    found = []
    for name, change, untouched, make in _ways(bench):
        try:
            made, engines = make()
            played = made.play(engines=engines)
        except VramError as error:
            found.append(
                Remedy(
                    name, change, untouched, bench.deployment.layout.gpus, None, None, str(error)
                )
            )
            continue
        gpus = made.deployment.layout.gpus * engines // max(made.engines, 1)
        price = (prices or {}).get(made.deployment.accelerator.name)
        found.append(Remedy(name, change, untouched, gpus, None if price is None else price * gpus, played))  # fmt: skip
    return tuple(found)


_Made = Callable[[], tuple[Bench, int]]


def _ways(bench: Bench) -> Iterator[tuple[str, str, str, _Made]]:
    """Name, change in words, the limit it leaves as it is, and how to make it."""

    def flag(name: str, value: str) -> _Made:
        def make() -> tuple[Bench, int]:
            made = bench.with_flag(name, value)
            return made, made.engines

        return make

    deployment, case = bench.deployment, bench.case
    share = min(deployment.gpu_memory_utilization.value + 0.04, _HIGHEST)
    yield ("cache_share", f"--{_UTILIZATION} {share:.2f}", "weights and step time stay as they are; less is left for what the engine does not count", flag(_UTILIZATION, f"{share:.2f}"))  # fmt: skip
    fewer = max(_running(bench) * 3 // 4, 1)
    yield ("sequences", f"--max-num-seqs {fewer}", "the pool stays as small; requests wait instead of being computed twice", flag("max-num-seqs", str(fewer)))  # fmt: skip
    budget = max(deployment.max_num_batched_tokens.value // 2, deployment.max_num_seqs.value)
    yield ("token_budget", f"--max-num-batched-tokens {budget}", "frees the activation peak alone; prompts are computed in smaller parts", flag("max-num-batched-tokens", str(budget)))  # fmt: skip
    yield ("kv_dtype", "--kv-cache-dtype fp8", "the quality of answers must be shown again; compute stays as it is", flag("kv-cache-dtype", "fp8"))  # fmt: skip
    wider = deployment.layout.tp * 2
    yield ("tensor_parallel", f"--tensor-parallel-size {wider}", "KV heads bound what a split saves; links are waited for at every layer", flag("tensor-parallel-size", str(wider)))  # fmt: skip
    yield ("replicas", "one server more", "a single request has no more room than before", lambda: (bench, bench.engines * 2))  # fmt: skip
    for card in _cards(case):
        yield (
            "larger_card",
            f"--gpu {card}",
            "max_num_seqs and the token budget stay as they are",
            _on(bench, case, card),
        )


def _on(bench: Bench, case: Case, card: str) -> _Made:
    def make() -> tuple[Bench, int]:
        made = bench.on(replace(case, accelerator=accelerator_for(card)))
        return made, made.engines

    return make


def _cards(case: Case) -> tuple[str, ...]:
    """The next larger well-known card."""
    own = case.accelerator.total_bytes
    larger = [card for card in _LARGER if accelerator_for(card).total_bytes > 1.15 * own]
    return tuple(larger[:1])


def _running(bench: Bench) -> int:
    """Requests that the pool holds when it is full."""
    whole = float((bench.arriving.input_tokens + bench.arriving.output_tokens / 2).mean())
    room = bench.settings.num_blocks * bench.settings.block_size / max(whole, 1.0)
    return max(int(min(room, bench.settings.max_num_seqs)), 1)
