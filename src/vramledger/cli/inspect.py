"""``vram inspect MODEL``: what a model weighs and what a token costs."""

import click

from vramledger.cli.output import show, show_json
from vramledger.errors import ExitCode

_USUAL_GPU = "H100-80GB-SXM"  # the card most published figures of resident weights come from


@click.command("inspect")
@click.argument("model")
@click.option("--gpu", default=_USUAL_GPU, show_default=True, help="Loaded bytes on this card.")
@click.option("--engine-version", help="Loaded bytes under this vLLM; by default the newest known.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(model: str, *, gpu: str, engine_version: str | None, as_json: bool) -> int:
    """What a model weighs and what a token costs.

    MODEL is a directory with config.json (with or without weights), a config.json, a safetensors
    file or index, a GGUF file, a catalogue id, or hf:org/name[@revision].

    Exit code 3 says that the weights are known but what the model keeps in its cache is not.
    """
    from vramledger.engine.vllm.loaded import loaded
    from vramledger.engine.vllm.versions import rules_for
    from vramledger.hardware.catalogue import find
    from vramledger.model.inspection import inspect
    from vramledger.model.load import load_model
    from vramledger.report.model import to_json, to_text

    rules_for(engine_version)  # an unknown version is refused before anything is read
    accelerator = find(gpu)
    inspection = inspect(load_model(model))
    resident = loaded(inspection.model, accelerator, engine_version)
    if as_json:
        show_json(to_json(inspection, resident))
    else:
        show(to_text(inspection, resident))
    return ExitCode.HOLDS if inspection.cache_reason is None else ExitCode.CANNOT_KNOW
