"""``vram inspect MODEL``: what a model weighs and what a token costs."""

import click

from vramledger.errors import ExitCode


@click.command("inspect")
@click.argument("model")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(model: str, *, as_json: bool) -> int:
    """What a model weighs and what a token costs.

    MODEL is a directory with config.json (with or without weights), a config.json, a safetensors
    file or index, a GGUF file, a catalogue id, or hf:org/name[@revision].

    Exit code 3 says that the weights are known but what the model keeps in its cache is not.
    """
    from vramledger.model.inspection import inspect
    from vramledger.model.load import load_model
    from vramledger.report.model import to_json, to_text

    inspection = inspect(load_model(model))
    if as_json:
        import json

        click.echo(json.dumps(to_json(inspection), indent=2))
    else:
        click.echo(to_text(inspection))
    return ExitCode.HOLDS if inspection.cache_reason is None else ExitCode.CANNOT_KNOW
