"""The options of ``vram diagnose`` that look at a live server."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from vramledger.errors import BadInput

Function = TypeVar("Function", bound=Callable[..., Any])

_OPTIONS: Final = (
    click.option(
        "--url",
        help="Instead of a run, a live server: its metrics page is read for a while, and nothing is sent to it.",
    ),
    click.option(
        "--for", "lasting", metavar="TIME", help="How long to look (90s, 5m); 5m by default."
    ),
    click.option("--interval", metavar="TIME", help="Between two pages; 1s by default."),
    click.option(
        "--keep",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="Keep what was seen as a run's folder; new.",
    ),
    click.option("--key-env", metavar="NAME", help="Environment variable with the server's key."),
    click.option("--key-file", metavar="FILE", help="File with the server's key."),
    click.option(
        "--gpu-metrics", metavar="URL", help="DCGM exporter or Prometheus, for GPUs elsewhere."
    ),
    click.option("--gpu-selector", help="Matchers for that Prometheus, as in PromQL."),
)
NAMES: Final = ("url", "lasting", "interval", "keep", "key_env", "key_file", "gpu_metrics", "gpu_selector")  # fmt: skip
_CALLED: Final = {"lasting": "for"}


def look_options(function: Function) -> Function:
    """Adds them, in the order in which a help shows them."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def taken_out(options: dict[str, Any]) -> dict[str, Any]:
    """The options of a look, taken out of all of them."""
    return {name: options.pop(name) for name in NAMES}


def refuse_without_url(look: Mapping[str, Any], but: frozenset[str] = frozenset()) -> None:
    """Refuse what only a live server has a use for.

    Raises:
        BadInput: such an option is given.
    """
    for name, value in look.items():
        if value is not None and name not in but:
            flag = _CALLED.get(name, name.replace("_", "-"))
            raise BadInput(f"--{flag} is of a live server; name it with --url, or leave it out.")
