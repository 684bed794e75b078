"""``vram plan new`` and ``vram plan check PLAN``."""

from pathlib import Path

import click

from vramledger.cli.output import show, show_json
from vramledger.errors import BadInput, ExitCode


@click.group("plan", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> int:
    """Write and check a plan file: one requirement, carried through every verb."""
    if ctx.invoked_subcommand is None:
        show(ctx.get_help())
    return ExitCode.HOLDS


@command.command("new")
@click.option("--out", type=click.Path(path_type=Path), help="Write to this file, not to stdout.")
def new(out: Path | None) -> int:
    """Print a commented plan to fill in; it presets no threshold."""
    from vramledger.plan.template import template

    if out is None:
        show(template(), nl=False)
        return ExitCode.HOLDS
    try:
        with out.open("x", encoding="utf-8") as stream:
            stream.write(template())
    except FileExistsError as error:
        raise BadInput(f"{out} exists; name another file or remove it first.") from error
    except OSError as error:
        raise BadInput(f"{out} cannot be written: {error.strerror}.") from error
    show(f"Wrote {out}. Fill in what it asks for, then run vram plan check {out}.", err=True)
    return ExitCode.HOLDS


@command.command("check")
@click.argument("plan")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def check(plan: str, *, as_json: bool) -> int:
    """Read a plan: what was understood and assumed, what no card meets, or every problem in it."""
    from vramledger.plan.check import check_plan
    from vramledger.report.plan import to_json, to_text
    from vramledger.sizing.judge import undecided, unmet
    from vramledger.sizing.thinking_outputs import thinking_of_plan

    outcome = check_plan(plan, [unmet], [undecided], [thinking_of_plan])
    bad = outcome.requirement is None
    if as_json:
        show_json(to_json(outcome))
    else:
        show(to_text(outcome), err=bad)
    if bad:
        return ExitCode.BAD_INPUT
    return ExitCode.DOES_NOT_HOLD if outcome.unmet else ExitCode.HOLDS


@command.command("schema")
def schema() -> int:
    """Print the JSON Schema of the plan file, for editors."""
    from vramledger.plan.template import schema_text

    show(schema_text(), nl=False)
    return ExitCode.HOLDS
