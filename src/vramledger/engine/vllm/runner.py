"""Which model runner serves a deployment: the second one profiles and samples differently.

Source: vllm/config/vllm.py, use_v2_model_runner, of 0.22, 0.24, 0.26, 0.27, 0.30, 0.32 and 0.33.
"""

from collections.abc import Callable
from typing import Final

from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.rules import RunnerV2
from vramledger.model.cache import RecurrentState
from vramledger.model.model import Model, ModelKind

_SWITCH: Final = "VLLM_USE_V2_MODEL_RUNNER"
_PLAIN_QWEN3: Final = frozenset({"Qwen3ForCausalLM"})
_LISTED: Final = frozenset(
    {
        "Qwen3ForCausalLM",
        "DeepseekV2ForCausalLM",
        "Qwen2MoeForCausalLM",
        "GraniteMoeForCausalLM",
        "LlamaForCausalLM",
        "MistralForCausalLM",
    }
)
_SPARSE_LISTED: Final = frozenset(
    {
        "DeepseekV2ForCausalLM",
        "GraniteMoeForCausalLM",
        "Qwen2MoeForCausalLM",
        "LongcatFlashNgramForCausalLM",
        "KimiK3ForConditionalGeneration",
    }
)


def uses_second_runner(deployment: Deployment) -> bool:
    """Whether model runner V2 serves this deployment: the environment's word, else the default."""
    rule = deployment.rules.runner_v2
    given = deployment.environment.get(_SWITCH)
    if given is not None and rule is not RunnerV2.NEVER:
        return given not in {"0", ""}
    return _DEFAULTS[rule](deployment.model)


def tries_graphs(deployment: Deployment) -> bool:
    """Whether start-up captures a few graphs to estimate what all will take.

    Before 0.29 the second runner answers zero without trying (``profile_cudagraph_memory`` of
    vllm/v1/worker/gpu/model_runner.py).
    """
    rules = deployment.rules
    if not rules.graph_estimate_run or deployment.enforce_eager.value:
        return False
    return rules.runner_v2_tries_graphs or not uses_second_runner(deployment)


def _plain_qwen3(model: Model) -> bool:
    return model.architecture in _PLAIN_QWEN3 and model.quantization is None


def _dense_or_listed(model: Model) -> bool:
    recurrent = any(isinstance(layer.spec, RecurrentState) for layer in model.cache_layers)
    if model.kind is ModelKind.ENCODER or recurrent:
        return False
    return model.text.experts is None or model.architecture in _SPARSE_LISTED


_DEFAULTS: Final[dict[RunnerV2, Callable[[Model], bool]]] = {
    RunnerV2.NEVER: lambda _model: False,
    RunnerV2.PLAIN_QWEN3: _plain_qwen3,
    RunnerV2.LISTED: lambda model: model.architecture in _LISTED,
    RunnerV2.DENSE: _dense_or_listed,
    RunnerV2.ALWAYS: lambda _model: True,
}
