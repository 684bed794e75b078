"""``vram ledger LAUNCH --gpu NAME``: where every GiB of a launch command goes."""

from typing import TYPE_CHECKING, Any

import click

from vramledger.errors import ExitCode

if TYPE_CHECKING:
    from vramledger.ledger.ledger import Ledger


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
    from vramledger.ledger.question import accelerator_for, model_of
    from vramledger.units import parse_count

    said = read_launch(launch, version=engine_version)
    accelerator, model = accelerator_for(gpu, total_gib), model_of(said)
    length = parse_count(request_tokens, "--request-tokens") if request_tokens else None
    if said.engine != "vllm":
        from vramledger.ledger.independent import independent
        from vramledger.report import independent as shown

        part = independent(said, model)
        _print(shown.to_json(part) if as_json else shown.to_text(part))
        return ExitCode.CANNOT_KNOW
    from vramledger.engine.vllm.resolve import resolve
    from vramledger.ledger.account import build

    deployment = resolve(said, model, accelerator, version=engine_version)
    ledger = build(deployment, request_tokens=length)
    _print(_rendered(ledger, as_json=as_json, markdown=markdown))
    if model.cache_unknown is not None:
        return ExitCode.CANNOT_KNOW
    return ExitCode.HOLDS if ledger.fits else ExitCode.DOES_NOT_HOLD


def _rendered(ledger: "Ledger", *, as_json: bool, markdown: bool) -> Any:
    if as_json:
        from vramledger.report.ledger_json import ledger_json

        return ledger_json(ledger)
    if markdown:
        from vramledger.report.ledger_markdown import to_markdown

        return to_markdown(ledger)
    from vramledger.report.ledger import to_text

    return to_text(ledger)


def _print(content: Any) -> None:
    """Text as it is, an object as JSON."""
    if not isinstance(content, str):
        import json

        content = json.dumps(content, indent=2)
    click.echo(content)
