"""``vram verify``: seal runs as evidence, and check what was sealed."""

from pathlib import Path
from typing import Any

import click

from vramledger.cli.needs import need_full


@click.command("verify")
@click.argument("paths", metavar="[BUNDLE | RUN...]", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--seal",
    is_flag=True,
    help="Seal the runs named, or folders of repetitions, ramps and soaks, with all that they rest on.",
)
@click.option(
    "-o",
    "out",
    type=click.Path(path_type=Path),
    help="Where the bundle goes: a new folder, or an archive that ends in .zip. With --challenge, a new folder.",
)
@click.option(
    "--key",
    metavar="KEY",
    help="With --seal, the file of the private key that signs; else the public key that should have signed, or its file.",
)
@click.option("--hash", "sha256", metavar="SHA256", help="The hash that the bundle should have.")
@click.option(
    "--workload",
    "workloads",
    multiple=True,
    type=click.Path(path_type=Path),
    help="With --seal, a run's workload that lies elsewhere by now; may be repeated.",
)
@click.option(
    "--quality",
    "evidence",
    multiple=True,
    type=click.Path(path_type=Path),
    help="With --seal, a file of evidence of quality that the plan names; may be repeated.",
)
@click.option("--ran-by", metavar="NAME", help="With --seal, who ran the trial.")
@click.option("--watched-by", metavar="NAME", help="With --seal, who watched it.")
@click.option("--sealed-by", metavar="NAME", help="With --seal, who seals it.")
@click.option(
    "--exercise",
    is_flag=True,
    help="With --seal, no evidence: simulated, rehearsed and imported runs may be in it.",
)
@click.option(
    "--new-key",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write a new private key to FILE and its public key to FILE.pub.",
)
@click.option(
    "--challenge",
    type=click.Path(path_type=Path),
    metavar="WORKLOAD | FOLDER",
    help="Draw a stretch of a workload that a trial must send (vram trial run --challenge); with a bundle, the challenge that "
    "its runs should answer.",
)
@click.option("--window", metavar="TIME", help="With --challenge, its length; a quarter of all.")
@click.option("--drawn-by", metavar="NAME", help="With --challenge, who draws it.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(paths: tuple[Path, ...], *, as_json: bool, **asked: Any) -> int:
    """Check a bundle: every file, the signature, the records row by row; then make the verdict again from them.

    With --seal, make one of runs. A seal proves that nothing changed since, never that the records are genuine; a buyer
    draws a challenge before the trial for that. Exit code 1 says that something is not as it was sealed, by name; with --seal,
    that what was sealed does not fit together.
    """
    need_full(
        "vram verify",
        ("cryptography", "rfc8785", "duckdb", "pyarrow", "numpy", "scipy", "statsmodels"),
    )
    from vramledger.cli.verify_asked import carried_out

    return carried_out(paths, asked, as_json=as_json)
