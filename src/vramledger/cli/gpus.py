"""``vram gpus [NAME]``: the accelerators we know, with reported memory."""

import click

from vramledger.cli.output import show, show_json
from vramledger.errors import ExitCode


@click.command("gpus")
@click.argument("name", required=False)
@click.option("--vendor", help="Only cards of this vendor: NVIDIA, AMD, Intel, Huawei.")
@click.option("--min-gib", type=float, help="Only cards that give programs at least this much.")
@click.option("--arch", help="Only cards of this architecture: Hopper, Ada, CDNA3 ...")
@click.option("--nvlink", is_flag=True, help="Only cards that NVLink joins.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    name: str | None,
    *,
    vendor: str | None,
    min_gib: float | None,
    arch: str | None,
    nvlink: bool,
    as_json: bool,
) -> int:
    """The accelerators we know, or every figure of one with its source.

    NAME is ours (H100-80GB-SXM), what nvidia-smi prints, a short form (4090), a MIG slice
    (A100-80GB-SXM-MIG-3g.40gb), or auto for this machine.
    """
    from vramledger.hardware.catalogue import find, slices
    from vramledger.hardware.selection import select
    from vramledger.hardware.server import servers
    from vramledger.report import hardware

    if name is None:
        cards = select(vendor=vendor, min_gib=min_gib, arch=arch, nvlink=nvlink)
        if as_json:
            show_json(hardware.list_json(cards))
        else:
            show(hardware.list_text(cards))
        return ExitCode.HOLDS if cards else ExitCode.DOES_NOT_HOLD
    card = find(name)
    parts = (card, slices(card), servers(card))
    if as_json:
        show_json(hardware.card_json(*parts))
    else:
        show(hardware.card_text(*parts))
    return ExitCode.HOLDS
