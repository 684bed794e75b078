"""Runs inside the engine's environment: starts vLLM in this process for each job on stdin.

A job is one JSON line ``{"arguments": [...]}``, the words after ``vllm serve``. The answer is one
JSON line on the descriptor that stdout had at the start: what the engine resolved, or the sentence
with which it refused. What the engine prints goes to stderr.
"""

import gc
import json
import os
import sys
from typing import Any

ANSWERS = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # whatever the engine prints goes to stderr


def start(arguments: list[str]) -> dict[str, Any]:
    """Start the engine as ``vllm serve`` would and read what it made of its memory."""
    from vllm.engine.arg_utils import AsyncEngineArgs
    from vllm.entrypoints.launchers.cli_args import make_arg_parser
    from vllm.usage.usage_lib import UsageContext
    from vllm.utils.argparse_utils import FlexibleArgumentParser
    from vllm.v1.engine.llm_engine import LLMEngine
    from vllm.v1.executor import Executor

    parsed = make_arg_parser(FlexibleArgumentParser()).parse_args(arguments)
    context = UsageContext.OPENAI_API_SERVER
    parsed.model = parsed.model_tag or parsed.model
    config = AsyncEngineArgs.from_cli_args(parsed).create_engine_config(usage_context=context)
    engine = LLMEngine(
        vllm_config=config,
        executor_class=Executor.get_class(config),
        log_stats=False,
        usage_context=context,
        multiprocess_mode=False,
    )
    try:
        cache = engine.engine_core.engine_core.scheduler.kv_cache_config
        return {
            "blocks": cache.num_blocks,
            "tokens": config.cache_config.kv_cache_size_tokens,
            "concurrency": config.cache_config.kv_cache_max_concurrency,
            "max_model_len": config.model_config.max_model_len,
            "prefix_caching": config.cache_config.enable_prefix_caching,
            "in_flight": config.max_in_flight_tokens,
            "groups": [
                [len(group.layer_names), group.kv_cache_spec.block_size]
                for group in cache.kv_cache_groups
            ],
        }
    finally:
        engine.engine_core.shutdown()


def forget() -> None:
    """Let the next start print its lines again and find no process group."""
    from vllm import logger
    from vllm.distributed import cleanup_dist_env_and_memory

    for name in ("_print_debug_once", "_print_info_once", "_print_warning_once"):
        getattr(logger, name).cache_clear()
    cleanup_dist_env_and_memory()
    gc.collect()


def main() -> None:
    """Answer jobs until stdin ends."""
    for job in sys.stdin:
        try:
            answer = start(json.loads(job)["arguments"])
        except (Exception, SystemExit) as error:  # noqa: BLE001 - every refusal is an answer
            answer = {"refused": f"{type(error).__name__}: {error}"}
        ANSWERS.write(json.dumps(answer) + "\n")
        ANSWERS.flush()
        forget()


if __name__ == "__main__":
    main()
