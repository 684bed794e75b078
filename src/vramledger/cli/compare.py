"""``vram compare``: what differs between runs, whether it is the cause, and by how much figures differ."""

from typing import Any

import click

from vramledger.cli.needs import need_full


@click.command("compare")
@click.argument("sides", metavar="A B [MORE...]", nargs=-1, required=True)
@click.option(
    "--practical",
    metavar="SHARE",
    default="2%",
    show_default=True,
    help="The size from which an effect matters, as a share of A's figure.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(*, as_json: bool, **asked: Any) -> int:
    """Hold runs against each other: a side is the folder of a run, several with commas between them, or a folder of repetitions.

    First comes what differs, by everything that runs tell; then whether an effect can be put down to it, which takes one
    change exactly (what follows from it is none of its own); then the effects, pair by pair where both sides were sent the
    same requests. A folder of two servers in turn (vram trial repeat --a --b) is both sides. More sides are each held against A.

    Exit code 0 says that the effects can be put down to the one change, or that nothing differs and no figure does; 3 that
    they cannot be.
    """
    need_full("vram compare", ("numpy", "pyarrow", "scipy", "statsmodels"))
    from vramledger.cli.compare_asked import compare

    return compare(asked, as_json=as_json)
