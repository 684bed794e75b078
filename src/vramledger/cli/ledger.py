"""``vram ledger LAUNCH --gpu NAME``: where every GiB of a launch command goes."""

import click

from vramledger.errors import ExitCode


@click.command("ledger")
@click.argument("launch")
@click.option("--gpu", required=True, help="The accelerator: a name of vram gpus, or auto.")
@click.option("--engine-version", help="The engine's version, when the launch does not say.")
@click.option("--total-gib", type=float, help="Memory that the driver reports, per GPU.")
@click.option("--request-tokens", help="Length of the requests to count, such as 8k.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--markdown", is_flag=True, help="Print Markdown.")
def command(
    launch: str,
    *,
    gpu: str,
    engine_version: str | None,
    total_gib: float | None,
    request_tokens: str | None,
    as_json: bool,
    markdown: bool,
) -> int:
    """Where every GiB of a launch command goes, per GPU, and what fits.

    LAUNCH is the command as you would type it, or a compose file, manifest, values file or unit.
    """
    from vramledger.engine.read import read_launch
    from vramledger.engine.vllm.resolve import resolve
    from vramledger.ledger.account import build
    from vramledger.ledger.question import accelerator_for, model_of
    from vramledger.units import parse_count

    said = read_launch(launch)
    model = model_of(said)
    deployment = resolve(said, model, accelerator_for(gpu, total_gib), version=engine_version)
    length = parse_count(request_tokens, "--request-tokens") if request_tokens else None
    ledger = build(deployment, request_tokens=length)
    if as_json:
        import json

        from vramledger.report.ledger_json import ledger_json

        click.echo(json.dumps(ledger_json(ledger), indent=2))
    elif markdown:
        from vramledger.report.ledger_markdown import to_markdown

        click.echo(to_markdown(ledger), nl=False)
    else:
        from vramledger.report.ledger import to_text

        click.echo(to_text(ledger))
    if model.cache_unknown is not None:
        return ExitCode.CANNOT_KNOW
    return ExitCode.HOLDS if ledger.fits else ExitCode.DOES_NOT_HOLD
