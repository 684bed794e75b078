"""``vram diagnose --server-log FILE`` and ``--metrics``: a log or a page instead of a run; the base installation is enough."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from vramledger.cli.output import show, show_json
from vramledger.errors import BadInput, ExitCode

_USED: Final = frozenset({"gpu", "model"})
_STDIN: Final = "-"
_FLAGS: Final = {"version": "engine-version", "prices": "price", "server_log": "server-log"}


def show_log(
    source: str, run: Path | None, stated: Mapping[str, Any], *, as_json: bool
) -> ExitCode:
    """Print what a log comes to.

    Raises:
        BadInput: the log cannot be read, or an option is given that has no part in it.
        UnknownName: the card is none.
    """
    from vramledger.diagnose.startup.account import Asked
    from vramledger.diagnose.startup.judge import diagnose_file, diagnose_stream
    from vramledger.report.diagnosed_log import log_json, log_text

    _only(run, stated, "--server-log", _USED)
    asked = Asked(stated.get("gpu") or "", stated.get("model") or "")
    if source == _STDIN:
        found = diagnose_stream(sys.stdin.buffer, "the standard input", asked)
    else:
        found = diagnose_file(Path(source), asked)
    if as_json:
        show_json(log_json(found))
    else:
        show(log_text(found))
    return found.exit_code


def show_page(
    source: str, run: Path | None, stated: Mapping[str, Any], *, as_json: bool
) -> ExitCode:
    """Print what stands on a metrics page.

    Raises:
        BadInput: the page cannot be read, or an option is given that has no part in it.
        CannotKnow: it has no metric of a known engine.
    """
    from vramledger.diagnose.pages.explain import explain
    from vramledger.report.explained_page import page_json, page_text

    _only(run, stated, "--metrics", frozenset())
    found = explain(source)
    if as_json:
        show_json(page_json(found))
    else:
        show(page_text(found))
    return found.exit_code


def _only(run: Path | None, stated: Mapping[str, Any], asked: str, used: frozenset[str]) -> None:
    if run is not None:
        raise BadInput(f"A run and {asked} ask different questions; ask one at a time.")
    for name, value in stated.items():
        if value not in (None, ()) and name not in used:
            flag = _FLAGS.get(name, name)
            raise BadInput(f"--{flag} has no part with {asked}; leave it out.")
