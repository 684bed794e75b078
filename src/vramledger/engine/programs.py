"""The serving engines we recognise by the program, Python module or image that starts them."""

import re
from typing import Final

from vramledger.frozen import frozen

VLLM: Final = "vllm"


@frozen
class Program:
    """How one engine is started. `commands` are program names with their subcommand."""

    engine: str
    title: str
    commands: tuple[tuple[str, ...], ...] = ()
    modules: tuple[str, ...] = ()
    images: tuple[str, ...] = ()  # ends of an image's repository path
    image_entry: bool = True  # the image's entry point is the server, so arguments follow it


PROGRAMS: Final = (
    Program(
        VLLM,
        "vLLM",
        (("vllm", "serve"),),
        (
            "vllm.entrypoints.openai.api_server",
            "vllm.entrypoints.launchers.api_server.entry",
            "vllm.entrypoints.api_server",
        ),
        ("vllm/vllm-openai", "vllm-openai", "vllm/vllm-openai-rocm", "vllm-openai-rocm"),
    ),
    Program(
        "sglang",
        "SGLang",
        (("sglang", "serve"),),
        ("sglang.launch_server",),
        ("lmsysorg/sglang", "sglang"),
        image_entry=False,
    ),
    Program(
        "tensorrt-llm",
        "TensorRT-LLM",
        (("trtllm-serve", "serve"), ("trtllm-serve",)),
        ("tensorrt_llm.commands.serve",),
        ("tensorrt-llm/release",),
        image_entry=False,
    ),
    Program(
        "llama.cpp",
        "llama.cpp",
        (("llama-server",), ("llama-cli",), ("llama-box",)),
        ("llama_cpp.server",),
        ("ggml-org/llama.cpp", "ggerganov/llama.cpp"),
    ),
    Program("ollama", "Ollama", (("ollama", "run"), ("ollama", "serve")), (), ("ollama/ollama",)),
    Program(
        "tgi",
        "Text Generation Inference",
        (("text-generation-launcher",),),
        (),
        ("huggingface/text-generation-inference", "text-generation-inference"),
    ),
    Program(
        "lmdeploy",
        "LMDeploy",
        (("lmdeploy", "serve", "api_server"), ("lmdeploy", "serve")),
        (),
        ("openmmlab/lmdeploy",),
        image_entry=False,
    ),
    Program(
        "aphrodite",
        "Aphrodite",
        (("aphrodite", "run"),),
        ("aphrodite.endpoints.openai.api_server",),
    ),
    Program("mlc", "MLC LLM", (("mlc_llm", "serve"),), ("mlc_llm.serve",)),
)

_SCRIPTS: Final = tuple(
    (module.replace(".", "/") + ".py", program)
    for program in PROGRAMS
    for module in program.modules
)
_VERSION_IN_TAG: Final = r"vllm[-_]?v?(?P<version>\d+\.\d+(?:\.\d+)?(?:\.?(?:post|rc|dev)\d+)*)"


_VERSION_TAG: Final = r"v?\d+\.\d+|latest|nightly"


def title_of(engine: str) -> str:
    """The engine's name as people write it."""
    return next((p.title for p in PROGRAMS if p.engine == engine), engine)


def by_module(module: str) -> Program | None:
    return next((p for p in PROGRAMS if module in p.modules), None)


def by_script(path: str) -> Program | None:
    """The engine whose module is that file, wherever the package is installed."""
    return next((p for end, p in _SCRIPTS if path.replace("\\", "/").endswith(end)), None)


@frozen
class ImageName:
    """An image reference in parts; `tag` is empty when there is none."""

    repository: str
    tag: str


def split_image(image: str) -> ImageName:
    """``registry:5000/vllm/vllm-openai:v0.11.0@sha256:...`` as repository and tag."""
    name = image.split("@", 1)[0]
    head, _, last = name.rpartition("/")
    base, _, tag = last.partition(":")
    return ImageName(f"{head}/{base}" if head else base, tag)


def by_image(image: str) -> Program | None:
    """The engine an image carries, by the end of its repository path."""
    repository = split_image(image).repository.casefold()
    for program in PROGRAMS:
        for end in program.images:
            if repository == end or repository.endswith("/" + end):
                return program
    return None


def vllm_version_of(image: str) -> str | None:
    """The vLLM version an image's tag states, None where the tag speaks of something else."""
    name = split_image(image)
    stated = re.search(_VERSION_IN_TAG, name.tag, re.IGNORECASE)
    if stated is not None:
        return stated["version"]
    if not name.repository.casefold().endswith(("vllm/vllm-openai", "vllm/vllm-openai-rocm")):
        return None
    tag = name.tag or "latest"
    return tag if re.match(_VERSION_TAG, tag, re.IGNORECASE) else None
