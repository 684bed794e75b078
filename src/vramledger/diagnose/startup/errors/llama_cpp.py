"""llama.cpp: sizes everything when it loads, so a buffer that is too large fails there."""

from collections.abc import Mapping
from typing import Final

from vramledger.diagnose.startup.error import Facts, Said, number, plain, row
from vramledger.diagnose.told import Change


def _buffer(groups: Mapping[str, str], facts: Facts) -> Said:
    """A buffer did not fit on a device: which one by the phase."""
    mib = number(groups.get("asked_mib")) or number(groups.get("asked2_mib"))
    device = groups.get("device")
    said = []
    if mib is not None:
        said.append(
            f"{mib / 1024:.2f} GiB were asked for{'' if device is None else f' on device {device}'}."
        )
    free = facts.setting("free_mib")
    if free is not None and mib is not None:
        said.append(f"{free / 1024:.2f} GiB were free there at the start, before the weights.")
    context = facts.setting("n_ctx") or facts.setting("ctx-size")
    layers = facts.setting("n_layer") or facts.setting("layers")
    if facts.phase in ("loading the weights", "reading its arguments"):
        fewer = None if layers is None else max(int(layers * 3 // 4), 0)
        change = (
            Change(f"--n-gpu-layers {fewer}", "n-gpu-layers", str(fewer))
            if fewer is not None
            else Change("lower --n-gpu-layers, or take a smaller quantisation")
        )
        return Said("The weights do not fit on the device.", tuple(said), change)
    if context is not None and context >= 1024:
        half = str(int(context) // 2)
        said.append(
            f"The context has {context:,.0f} tokens; the cache grows with it in proportion."
        )
        return Said(
            f"The device ran out of memory while {facts.phase}.",
            tuple(said),
            Change(f"--ctx-size {half}", "ctx-size", half),
        )
    return Said(
        f"The device ran out of memory while {facts.phase}.",
        tuple(said),
        Change("--ctx-size 8192", "ctx-size", "8192"),
        (
            "How long the context is; without --ctx-size it is the one the model was trained with, which can be far longer than needed.",
        ),
    )


ROWS: Final = (
    row(
        "S80", "device-buffer",
        r"(?:cudaMalloc|hipMalloc|ggml_backend_\w+_buffer_type_alloc_buffer)[^\n]*?(?:allocating (?P<asked_mib>[\d.]+) MiB on device (?P<device>\w+))?[^\n]*?(?:failed: out of memory|: out of memory)|"
        r"failed to allocate (?:(?:CUDA|ROCm|Vulkan|Metal|SYCL)\w* )?buffer of size (?P<bytes>\d+)|(?:unable|failed) to allocate (?:\w+ )?(?:compute|KV|backend) ?(?:pp |cache )?buffers?|ErrorOutOfDeviceMemory",
        _buffer,
        "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 43008.00 MiB on device 0: cudaMalloc failed: out of memory",
        "graph_reserve: failed to allocate compute buffers",
        cues=("malloc", "alloc_buffer", "failed to allocate", "unable to allocate", "outofdevicememory"), rank=0, memory=True,
    ),
    row(
        "S81", "device-buffer", r"failed to initialize the context: (?P<why>.*buffer.*)",
        _buffer,
        "llama_init_from_model: failed to initialize the context: failed to allocate buffer for kv cache",
        cues=("initialize the context",), rank=0, memory=True,
    ),
    row(
        "S82", "prompt-longer-than-slot", r"the request exceeds the available context size|exceed_context_size|input is too large to process",
        plain("A request is longer than the part of the context that a slot has (the context is divided by the slots).", "raise --ctx-size, or lower --parallel"),
        "srv  send_error: task id = 12, error: the request exceeds the available context size. try increasing the context size or enable context shift",
        cues=("exceeds the available context", "exceed_context", "input is too large"), rank=1, memory=True, severity="warning",
    ),
    row(
        "S84", "shared-cache-full", r"Context size has been exceeded|failed to find a memory slot for batch of size 1\b",
        plain("The context that all slots share is full, and every request that runs is failed.", "raise --ctx-size, lower --parallel, or leave out --kv-unified so that each slot has its own part"),
        "0.01.756.150 E srv        decode: Context size has been exceeded. off = 0, n_batch = 1, ret = 1",
        cues=("context size has been exceeded", "memory slot for batch"), rank=0, memory=True,
    ),
    row(
        "S83", "load-failed", r"(?:error|failed to) load(?:ing)? (?:the )?model(?P<why>[^\n]*)|unable to load model",
        plain("The model was not loaded.", "look at the lines before it; the log names the file and the tensor"),
        "srv    load_model: failed to load model, 'models/x.gguf'",
        "main: error: unable to load model",
        cues=("loading model", "load model"), rank=2,
    ),
)  # fmt: skip
