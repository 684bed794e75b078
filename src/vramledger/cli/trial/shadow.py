"""``vram trial shadow --a URL --b URL``: do two servers give the same answers?"""

from pathlib import Path
from typing import Any

import click

from vramledger.cli.needs import need_full
from vramledger.cli.trial.needs import MODULES
from vramledger.cli.trial.shadow_options import shadow_options


@click.command("shadow")
@shadow_options
@click.option("-o", "out", type=click.Path(path_type=Path), help="Write the result there, as JSON.")
@click.option("--html", type=click.Path(path_type=Path), help="Write a page there too.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(*, out: Path | None, html: Path | None, as_json: bool, **given: Any) -> int:
    """Send the same prompts to two servers at temperature 0 and compare the answers.

    Tokens are compared up to the first that differs, and the log probabilities of the next token as long as the contexts
    are the same. Some prompts go to A twice: what A differs from itself is shown beside. With --min-agreement or --plan the agreement
    is judged; otherwise, whether B differs from A more than A from itself. No text is kept unless --keep-text says so.

    With --mirror it is a proxy: clients are pointed at --listen instead of at A, every request is passed on to A unchanged, and a
    share of them goes to B too, whose answers nobody waits for. It ends after --for or on Ctrl-C.

    Where the two servers are not up at the same time, record A first: --a URL --record FILE, then --a-recorded FILE --b URL.
    """
    need_full("vram trial shadow", (*MODULES, "scipy"))
    from vramledger.cli.trial.shadow_asked import refuse_mirror_options, shadow_asked
    from vramledger.cli.trial.shadow_run import compared, recorded

    if given["mirror"]:
        from vramledger.cli.trial.mirror_asked import mirror_asked
        from vramledger.cli.trial.mirror_run import run

        return run(mirror_asked(given, _stated(), html), out, as_json=as_json)
    refuse_mirror_options(_stated())
    asked = shadow_asked(given)
    if given["record"] is not None:
        return recorded(asked, given["record"], as_json=as_json)
    return compared(asked, out, html, as_json=as_json)


def _stated() -> frozenset[str]:
    """The options that stand in the command, by their names here."""
    context = click.get_current_context()
    given = click.core.ParameterSource.COMMANDLINE
    return frozenset(name for name in context.params if context.get_parameter_source(name) is given)
