"""The options that say what is compared, and how."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import click

_FILE: Final = click.Path(path_type=Path)
_OPTIONS: Final = (
    click.option("--a", "a", metavar="URL", help="The server to compare with."),
    click.option("--b", "b", metavar="URL", help="The server that is compared."),
    click.option("--record", type=_FILE, metavar="FILE", help="Record A's answers there, no more."),
    click.option("--a-recorded", type=_FILE, metavar="FILE", help="Such a record in place of --a."),
    click.option("--prompts", type=_FILE, help="Prompts of your own, JSON lines."),
    click.option("--requests", type=int, default=100, help="Most prompts to send; 100 by default."),
    click.option("--max-tokens", type=int, default=64, help="Most tokens an answer; 64 by default."),
    click.option("--plan", type=_FILE, help="A plan, for its quality.min_agreement."),
    click.option("--min-agreement", type=float, metavar="SHARE", help="The same, stated here."),
    click.option("--repeat-a", type=float, default=0.25, metavar="SHARE",
                 help="Share of the prompts that A answers twice; 0.25 by default, of a mirror 0."),
    click.option("--api", type=click.Choice(["chat", "completions"]), default="chat",
                 help="Which endpoint; chat by default."),
    click.option("--concurrency", type=int, default=4, metavar="N",
                 help="Requests at a time to each server; 4 by default, of a mirror 16 to B."),
    click.option("--top-logprobs", type=int, default=5, metavar="K",
                 help="Likeliest tokens asked for at each place; 5 by default."),
    click.option("--timeout", default="5m", metavar="TIME", help="Most time for an answer; 5m by default."),
    click.option("--seed", type=int, default=0, help="Of the prompts' order and the intervals."),
    click.option("--model-a", help="The name to ask A for; its first by default."),
    click.option("--model-b", help="The name to ask B for; its first by default."),
    click.option("--key-env-a", metavar="NAME", help="Environment variable with A's key."),
    click.option("--key-file-a", metavar="FILE", help="File with A's key."),
    click.option("--key-env-b", metavar="NAME", help="Environment variable with B's key."),
    click.option("--key-file-b", metavar="FILE", help="File with B's key."),
    click.option("--mirror", is_flag=True,
                 help="Pass live traffic through to A, and put a share of it to B too."),
    click.option("--listen", default="127.0.0.1:8100", metavar="HOST:PORT",
                 help="Where a mirror listens; 127.0.0.1:8100 by default, port 0 takes a free one."),
    click.option("--share", type=float, default=0.05,
                 help="Share of the requests that a mirror puts to B; 0.05 by default."),
    click.option("--for", "for_", metavar="TIME", help="How long a mirror runs; until Ctrl-C by default."),
    click.option("--within", type=float, default=0.01, metavar="SHARE",
                 help="How well a switch wants agreement known, plus or minus; 0.01 by default."),
    click.option("--grace", default="30s", metavar="TIME",
                 help="Most time for answers under way when a mirror ends; 30s by default."),
    click.option("--pass-keys", is_flag=True, help="A mirror sends the keys of its clients to B too."),
    click.option("--same-text/--no-same-text", "same_text", default=True,
                 help="Have both read A's answers and tell what they hold likely, where both are vLLM; done by default."),
    click.option("--keep-text", is_flag=True, help="Keep prompts and answers in what is written."),
)  # fmt: skip


def shadow_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """All of them, in this order."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
