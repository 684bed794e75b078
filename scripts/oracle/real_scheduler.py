"""Runs inside the engine's environment: vLLM's own scheduler answers cases, step by step.

JSON lines on stdin and on stdout, in the format of ``vramledger.simulate.oracle``. A step is scheduled, then
"executed": a request yields a token when all it knows is computed. One engine configuration is made and
altered for each case; making it anew takes far longer than a case.
"""

import copy
import json
import math
import os
import sys
import tempfile
from collections import deque
from pathlib import Path
from typing import Any

ANSWERS = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # whatever the engine prints goes to stderr

import torch  # noqa: E402 - after the descriptors are settled
import vllm  # noqa: E402
from vllm.config import set_current_vllm_config  # noqa: E402
from vllm.engine.arg_utils import EngineArgs  # noqa: E402
from vllm.sampling_params import SamplingParams  # noqa: E402
from vllm.utils.hashing import sha256  # noqa: E402
from vllm.v1.core.kv_cache_utils import (  # noqa: E402
    get_request_block_hasher,
    init_none_hash,
)
from vllm.v1.core.sched.async_scheduler import AsyncScheduler  # noqa: E402
from vllm.v1.core.sched.scheduler import Scheduler  # noqa: E402
from vllm.v1.kv_cache_interface import (  # noqa: E402
    FullAttentionSpec,
    KVCacheConfig,
    KVCacheGroupSpec,
    MambaSpec,
    SlidingWindowSpec,
)
from vllm.v1.outputs import DraftTokenIds, ModelRunnerOutput  # noqa: E402
from vllm.v1.request import Request, RequestStatus  # noqa: E402
from vllm.v1.structured_output import StructuredOutputManager  # noqa: E402

from vramledger.simulate.acceptance import accepted_drafts  # noqa: E402

MODEL = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 32000,
    "max_position_embeddings": 131072,
    "torch_dtype": "bfloat16",
}
FIRST_GENERATED = 7
MOST_STEPS = 100_000


def engine_config(case: dict[str, Any]) -> Any:
    """The configuration that ``vllm serve`` would make; raises what vLLM raises."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "config.json").write_text(json.dumps(MODEL))
        return EngineArgs(
            model=folder,
            skip_tokenizer_init=True,
            load_format="dummy",
            max_model_len=case["max_model_len"],
            max_num_seqs=case["max_num_seqs"],
            max_num_batched_tokens=case["max_num_batched_tokens"],
            block_size=case["block_size"],
            enable_prefix_caching=case["prefix_caching"],
            enable_chunked_prefill=True,
            async_scheduling=False,
            long_prefill_token_threshold=case.get("long_prefill_token_threshold", 0),
            scheduling_policy=case.get("policy", "fcfs"),
        ).create_engine_config()


class Drafting:
    """What the scheduler asks of a speculative configuration, as a case lays it down."""

    num_speculative_tokens_per_batch_size = None

    def __init__(self, case: dict[str, Any]) -> None:
        self.case = case["speculation"]
        self.num_speculative_tokens = self.case["tokens"]
        self.max_num_new_slots_for_drafting = self.case["rows"]

    def use_eagle(self) -> bool:
        return bool(self.case["drops_last_block"])

    def use_eagle_block_drop(self) -> bool:
        return bool(self.case["drops_last_block"])

    def use_multi_module_mtp(self) -> bool:
        return False

    def use_dspark(self) -> bool:
        return False

    def use_dflash(self) -> bool:
        return bool(self.case["lookahead"] > self.case["tokens"])

    def uses_draft_model(self) -> bool:
        return bool(self.case["lookahead"] == self.case["tokens"])


TEMPLATE: list[Any] = []


def configured(case: dict[str, Any]) -> Any:
    """The template with a case's values; a case that vLLM would refuse is refused by making it whole."""
    if (
        case["max_num_batched_tokens"] < case["max_num_seqs"]
        or case.get("long_prefill_token_threshold", 0) > case["max_model_len"]
        or not TEMPLATE
    ):
        TEMPLATE.append(engine_config(case))
    config = copy.copy(TEMPLATE[0])
    config.scheduler_config = copy.copy(config.scheduler_config)
    config.cache_config = copy.copy(config.cache_config)
    config.model_config = copy.copy(config.model_config)
    scheduler, cache = config.scheduler_config, config.cache_config
    scheduler.max_num_seqs = case["max_num_seqs"]
    scheduler.max_num_batched_tokens = case["max_num_batched_tokens"]
    scheduler.max_num_scheduled_tokens = case.get("max_num_scheduled_tokens")
    scheduler.watermark = case.get("watermark", 0.0)
    scheduler.enable_chunked_prefill = case.get("chunked_prefill", True)
    scheduler.long_prefill_token_threshold = case.get("long_prefill_token_threshold", 0)
    scheduler.policy = case.get("policy", "fcfs")
    scheduler.async_scheduling = bool(case.get("async_scheduling"))
    cache.block_size = case["block_size"]
    cache.enable_prefix_caching = case["prefix_caching"]
    cache.num_gpu_blocks = case["num_blocks"]
    cache.mamba_cache_mode = "align" if case["prefix_caching"] else "none"
    config.model_config.max_model_len = case["max_model_len"]
    config.speculative_config = Drafting(case) if case.get("speculation") else None
    return config


def group_spec(case: dict[str, Any], group: Any) -> Any:
    """One KV cache group of a case as vLLM's own record."""
    shape = {"num_kv_heads": 1, "head_size": 1, "dtype": torch.float32}
    if group == "full":
        return FullAttentionSpec(block_size=case["block_size"], **shape)
    if "window" in group:
        return SlidingWindowSpec(
            block_size=case["block_size"], sliding_window=group["window"], **shape
        )
    aligned = case["prefix_caching"]
    return MambaSpec(
        block_size=case["block_size"] if aligned else case["max_model_len"],
        shapes=((1, 1),),
        dtypes=(torch.float32,),
        mamba_cache_mode="align" if aligned else "none",
        num_speculative_blocks=group["state"],
        num_prefill_checkpoint_blocks=int(group.get("checkpoint") is not None),
        prefill_checkpoint_alignment=group.get("checkpoint"),
    )


def build(case: dict[str, Any]) -> Any:
    """VLLM's scheduler for a case."""
    config = configured(case)
    groups = [
        KVCacheGroupSpec([f"layer{number}"], group_spec(case, group))
        for number, group in enumerate(case.get("groups", ["full"]))
    ]
    cache = KVCacheConfig(
        num_blocks=case["num_blocks"], kv_cache_tensors=[], kv_cache_groups=groups
    )
    cache.prefix_cache_retention_interval = case.get("retention")
    kind = AsyncScheduler if case.get("async_scheduling") else Scheduler
    with set_current_vllm_config(config):
        return kind(
            vllm_config=config,
            kv_cache_config=cache,
            block_size=math.lcm(
                case["block_size"], *(group.kv_cache_spec.block_size for group in groups)
            ),
            hash_block_size=case["block_size"],
            log_stats=True,
            structured_output_manager=StructuredOutputManager(config),
        )


def request_of(row: dict[str, Any], number: int, hasher: Any) -> Request:
    """A request of a case; `number` is its place in the order of arrivals."""
    return Request(
        request_id=row["id"],
        prompt_token_ids=row["prompt"],
        sampling_params=SamplingParams(
            max_tokens=row["output_len"], min_tokens=row["output_len"], ignore_eos=True
        ),
        pooling_params=None,
        arrival_time=float(number),
        block_hasher=hasher,
        priority=row.get("priority", 0),
    )


class Run:
    """One case under way: the scheduler, its requests and the steps in flight."""

    def __init__(self, case: dict[str, Any]) -> None:
        self.case = case
        self.scheduler = build(case)
        self.hasher = get_request_block_hasher(case["block_size"], sha256)
        self.pending = deque(sorted(case["requests"], key=lambda row: row["arrival_step"]))
        self.requests: dict[str, Request] = {}
        self.in_flight: deque[Any] = deque()
        self.depth = 2 if case.get("async_scheduling") else 1

    def arrive(self, step: int) -> None:
        """Requests whose step has come."""
        while self.pending and self.pending[0]["arrival_step"] <= step:
            row = self.pending.popleft()
            request = request_of(row, len(self.requests), self.hasher)
            self.requests[row["id"]] = request
            self.scheduler.add_request(request)

    def abort(self, step: int) -> None:
        """Requests whose clients go away before this step."""
        for row in self.case["requests"]:
            request = self.requests.get(row["id"])
            if row.get("abort_step") == step and request and not request.is_finished():
                self.scheduler.finish_requests(row["id"], RequestStatus.FINISHED_ABORTED)

    def samples(self, out: Any) -> dict[str, bool]:
        """Which requests of a step just scheduled yield tokens from it."""
        return {name: not self.requests[name].is_prefill_chunk for name in out.num_scheduled_tokens}

    def settle(self, out: Any, samples: dict[str, bool]) -> None:
        """The device's answer to a step: the sampled token, after the drafts that held."""
        names = list(out.num_scheduled_tokens)
        tokens = []
        for name in names:
            request = self.requests[name]
            count = request.num_output_tokens
            drafts = len(out.scheduled_spec_decode_tokens.get(name, ()))
            held = self.held_drafts(name, drafts)
            first = FIRST_GENERATED + count
            tokens.append(list(range(first, first + held + 1)) if samples[name] else [])
        self.scheduler.update_from_output(
            out,
            ModelRunnerOutput(
                req_ids=names,
                req_id_to_index={name: index for index, name in enumerate(names)},
                sampled_token_ids=tokens,
            ),
        )
        self.propose(names)

    def held_drafts(self, name: str, drafts: int) -> int:
        """How many of a request's drafts hold; the draw is a rule of the case, not of the scheduler."""
        speculation = self.case.get("speculation")
        if not speculation or not drafts:
            return 0
        rank = list(self.requests).index(name)
        generated = self.requests[name].num_output_tokens
        return accepted_drafts(
            speculation["seed"], rank, generated, drafts, speculation["acceptance"]
        )

    def propose(self, names: list[str]) -> None:
        """Drafts for the next step, which without asynchronous scheduling come after this one."""
        drafts = self.scheduler.num_spec_tokens
        if drafts and names and self.depth == 1:
            self.scheduler.update_draft_token_ids(
                DraftTokenIds(names, [[1] * drafts for _ in names])
            )

    def step(self, number: int) -> dict[str, Any]:
        """Schedule a step, settle the oldest in flight once enough are, and tell what happened."""
        self.arrive(number)
        self.abort(number)
        out = self.scheduler.schedule()
        self.in_flight.append((out, self.samples(out)))
        before = {name for name, request in self.requests.items() if not request.is_finished()}
        if len(self.in_flight) >= self.depth:
            self.settle(*self.in_flight.popleft())
        scheduler = self.scheduler
        return {
            "scheduled": out.num_scheduled_tokens,
            "preempted": sorted(out.preempted_req_ids or []),
            "running": len(scheduler.running),
            "waiting": len(scheduler.waiting),
            "kv_usage": round(scheduler.kv_cache_manager.usage, 6),
            "finished": sorted(name for name in before if self.requests[name].is_finished()),
        }

    @property
    def is_over(self) -> bool:
        """Whether every request has come and ended."""
        return not self.pending and not self.scheduler.has_unfinished_requests()


def answer(case: dict[str, Any]) -> dict[str, Any]:
    """Every step of one case."""
    run = Run(case)
    steps: list[dict[str, Any]] = []
    while not run.is_over and len(steps) < case.get("max_steps", MOST_STEPS):
        steps.append(run.step(len(steps)))
    return {"steps": steps, "done": run.is_over}


def main() -> None:
    """Answer cases until stdin ends."""
    init_none_hash(sha256)
    for line in sys.stdin:
        if not line.strip():
            continue
        try:
            told = answer(json.loads(line))
        except Exception as refused:  # noqa: BLE001 - every refusal is an answer
            told = {"steps": [], "done": False, "error": f"{type(refused).__name__}: {refused}"}
        ANSWERS.write(json.dumps({"vllm": vllm.__version__} | told) + "\n")
        ANSWERS.flush()


if __name__ == "__main__":
    main()
