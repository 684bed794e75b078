"""Helm values: vLLM's production stack, and charts that take an image and lists of arguments.

Source of the production stack's keys: its ``deployment-vllm-multi.yaml`` template.
"""

from collections.abc import Iterator
from typing import Final

from vramledger.engine.container import Container
from vramledger.engine.invocation import Invocation, in_container
from vramledger.engine.launch import Argument
from vramledger.engine.manifests.containers import texts
from vramledger.engine.manifests.document import Node
from vramledger.engine.manifests.found import Found
from vramledger.engine.manifests.kubernetes import read_container, read_environment
from vramledger.engine.programs import PROGRAMS, VLLM, vllm_version_of

_STACK: Final = "servingEngineSpec"
_ARGUMENTS: Final = ("args", "extraArgs", "command", "vllmArgs", "engineArgs")
# Keys of the stack's ``vllmConfig`` and the flags its template makes of them.
_VALUES: Final = {
    "maxModelLen": "--max-model-len",
    "dtype": "--dtype",
    "tensorParallelSize": "--tensor-parallel-size",
    "pipelineParallelSize": "--pipeline-parallel-size",
    "maxNumSeqs": "--max-num-seqs",
    "gpuMemoryUtilization": "--gpu-memory-utilization",
    "maxLoras": "--max-loras",
}
_PREFIX_NOTE: Final = (
    "The chart turns prefix caching off unless vllmConfig.enablePrefixCaching is true."
)
_VLLM: Final = next(program for program in PROGRAMS if program.engine == VLLM)


def recognises(documents: tuple[Node, ...]) -> bool:
    """Whether a document is the stack's values, or holds an image beside arguments."""
    return any(d.get(_STACK) is not None or any(_charts(d)) for d in documents if d.is_mapping)


def read(documents: tuple[Node, ...]) -> tuple[Found, ...]:
    """Engine starts of every model the values describe."""
    found: list[Found] = []
    for document in documents:
        if not document.is_mapping:
            continue
        models = document.get(_STACK, "modelSpec")
        if models is not None:
            found += [_stack_model(model) for model in models.items()]
            continue
        for chart in _charts(document):
            found += _chart(chart)
    return tuple(found)


def _stack_model(model: Node) -> Found:
    """One entry of ``modelSpec``."""
    name = _text(model, "name") or "model"
    config = model.get("vllmConfig")
    words = [_text(model, "modelURL")]
    words += ["--enable-lora"] if _true(model.get("enableLoRA")) else []
    words += _config_words(config) if config is not None else []
    words += _cache_words(model)
    image = f"{_text(model, 'repository')}:{_text(model, 'tag')}"
    environment = read_environment(model.get("env"))
    if config is not None and _text(config, "v0") == "1":
        environment["VLLM_USE_V1"] = "0"
    gpus = _text(model, "requestGPU")
    invocation = Invocation(
        _VLLM,
        tuple(Argument(word) for word in words if word),
        environment,
        image,
        vllm_version_of(image),
        int(gpus) if gpus.isdigit() else None,
    )
    off = config is not None and not _true(config.get("enablePrefixCaching"))
    return Found(name, invocation, f"{model.where}, model {name}", (_PREFIX_NOTE,) if off else ())


def _config_words(config: Node) -> list[str]:
    words: list[str] = []
    chunked = config.get("enableChunkedPrefill")
    if chunked is not None:
        on = _true(chunked)
        words.append("--enable-chunked-prefill" if on else "--no-enable-chunked-prefill")
    caching = _true(config.get("enablePrefixCaching"))
    words.append("--enable-prefix-caching" if caching else "--no-enable-prefix-caching")
    for key, flag in _VALUES.items():
        value = config.get(key)
        if value is not None:
            words += [flag, value.text()]
    return words + texts(config.get("extraArgs"))


def _cache_words(model: Node) -> list[str]:
    """LMCache becomes a KV transfer connector."""
    if not _true(model.get("lmcacheConfig", "enabled")):
        return []
    old = _text(model, "vllmConfig", "v0") == "1"
    name = "LMCacheConnector" if old else "LMCacheConnectorV1"
    return ["--kv-transfer-config", f'{{"kv_connector": "{name}", "kv_role": "kv_both"}}']


def _charts(node: Node) -> Iterator[Node]:
    """Mappings with an image and a list of arguments, and containers of pod templates."""
    if node.is_list:
        for item in node.items():
            yield from _charts(item)
        return
    if not node.is_mapping:
        return
    has_words = any(node.get(key) is not None for key in _ARGUMENTS)
    image = node.get("image")
    inside = image is not None and image.is_mapping and image.get("command") is not None
    if image is not None and (has_words or inside):
        yield node
        return
    for _key, child in node.entries():
        yield from _charts(child)


def _chart(node: Node) -> list[Found]:
    image = node.get("image")
    if image is None or image.is_scalar:
        return read_container(node, "")
    repository, tag = _text(image, "repository"), _text(image, "tag")
    words = [word for key in _ARGUMENTS for word in texts(node.get(key))]
    words = [*texts(image.get("command")), *words]
    container = Container(
        f"{repository}:{tag}" if tag else repository,
        tuple(Argument(word) for word in words),
        read_environment(node.get("env")),
        None,
        None,
    )
    where = f"{node.where}, {node.key}" if node.key else node.where
    return [Found(node.key or "values", i, where) for i in in_container(container, {}, where)]


def _text(node: Node, *names: str) -> str:
    value = node.get(*names)
    return value.text() if value is not None and value.is_scalar else ""


def _true(node: Node | None) -> bool:
    return node is not None and node.is_scalar and node.text().casefold() in ("true", "1", "yes")
