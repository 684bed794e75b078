"""The options that say how logs are read."""

from collections.abc import Callable
from datetime import timezone
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from vramledger.cli.needs import need_full
from vramledger.errors import BadInput

if TYPE_CHECKING:
    from vramledger.workload.importer import Options


def _zone(_ctx: click.Context, _parameter: click.Parameter, given: str | None) -> timezone | None:
    if given is None:
        return None
    from vramledger.workload.timestamps import zone_of

    try:
        return zone_of(given)
    except ValueError:
        raise BadInput(
            f"--time-zone is {given!r}; write it as an offset from UTC, such as +02:00, or UTC."
        ) from None


_MANY: Final[dict[str, Any]] = {"multiple": True}
_FLAG: Final[dict[str, Any]] = {"is_flag": True}
_OPTIONS: Final = (
    click.option("--map", "mapping", metavar="FIELD=COLUMN,...", **_MANY,
                 help="Read any CSV, JSON or Parquet by the meaning of its columns."),
    click.option("--tokenizer", type=click.Path(path_type=Path),
                 help="A tokenizer.json that counts texts whose tokens the log does not say."),
    click.option("--characters-per-token", type=float, help="Estimate such texts at this ratio."),
    click.option("--block-tokens", type=click.IntRange(1, 1 << 20), default=16, show_default=True,
                 help="Tokens of a prefix block where the log does not say."),
    click.option("--time-zone", callback=_zone, metavar="+HH:MM",
                 help="Of times without one; by default UTC."),
    click.option("--keep", metavar="model|session|tenant|dates", **_MANY,
                 help="Keep identities that are otherwise removed."),
    click.option("--model-map", metavar="NAME=LABEL", **_MANY,
                 help="Store this label for a model."),
    click.option("--coarsen", **_FLAG,
                 help="Round lengths to 2 figures and move arrivals by up to 1 s."),
    click.option("--spread", **_FLAG,
                 help="Spread the requests of one instant where times are quantised."),
    click.option("--seed", type=click.IntRange(0), default=0, show_default=True,
                 help="Of --coarsen and --spread."),
)  # fmt: skip


def reading_options(command: Callable[..., int]) -> Callable[..., int]:
    """All of them; the command gets `options`, made of these and its own `name` of a format."""

    @wraps(command)
    def called(**given: Any) -> int:
        need_full("vram workload import")
        asked = {name: given.pop(name) for name in _NAMES}
        return command(**given, options=_options(**asked))

    for option in reversed(_OPTIONS):
        called = option(called)
    return called


_NAMES: Final = (
    "name", "mapping", "tokenizer", "characters_per_token", "block_tokens", "time_zone", "keep",
    "model_map", "coarsen", "spread", "seed",
)  # fmt: skip


def _options(
    *, name: str, mapping: tuple[str, ...], tokenizer: Path | None,
    characters_per_token: float | None, keep: tuple[str, ...], model_map: tuple[str, ...],
    **as_given: Any,
) -> "Options":  # fmt: skip
    from vramledger.workload.counting import counter_for
    from vramledger.workload.deidentify import checked_keeps
    from vramledger.workload.deidentify import model_map as read_models
    from vramledger.workload.formats.mapped import read_mapping
    from vramledger.workload.importer import Options

    return Options(
        format=name,
        mapping=read_mapping(mapping),
        counter=counter_for(tokenizer, characters_per_token),
        keep=checked_keeps(keep),
        models=read_models(model_map),
        **as_given,
    )
