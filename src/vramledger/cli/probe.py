"""``vram probe``: what a rented machine is, before a trial on it."""

from pathlib import Path
from typing import Any

import click

from vramledger.cli.output import show, show_json


@click.command("probe")
@click.option("--url", help="A server to ask what it is, such as http://localhost:8000.")
@click.option("--key-env", metavar="NAME", help="Environment variable with the server's key.")
@click.option("--key-file", metavar="FILE", help="File with the server's key.")
@click.option("--plan", help="Plan file: say where machine and server differ from it.")
@click.option("--gpu", metavar="NAME", help="Card that was ordered.")
@click.option("--gpus", type=int, metavar="N", help="How many were ordered.")
@click.option(
    "--disk",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder: measure how fast 256 MiB are written there, and take them away again.",
)
@click.option("--download", metavar="URL", help="Address: measure for 10 s how fast it is read.")
@click.option("--links", is_flag=True, help="Run all_reduce_perf of nccl-tests over all GPUs.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(*, as_json: bool, **asked: Any) -> int:
    """What this machine and its GPUs are, what state they are in, and what could not be read.

    Run it on the machine that serves. Nothing is measured that is not asked for, no GPU memory is taken, and a
    GPU that is not what was ordered, or is not sound, is exit code 1.
    """
    from vramledger.report.probe import probe_text
    from vramledger.report.probe_json import probe_json
    from vramledger.trial.probing.probe import Wanted, ordered_from_options, probe, verdict
    from vramledger.trial.probing.remarks import Severity, remarks
    from vramledger.trial.wire.target import Target, key_of

    ordered = ordered_from_options(asked["gpu"], asked["gpus"], asked["plan"])
    key = key_of(Target("", key_env=asked["key_env"], key_file=asked["key_file"]))
    found = probe(Wanted(asked["url"], key, asked["disk"], asked["download"], asked["links"]))
    said = remarks(found, ordered)
    if as_json:
        show_json(probe_json(found, said))
    else:
        show(probe_text(found, said))
    return verdict(found, sum(remark.severity is Severity.ERROR for remark in said))
