"""``--limit``: lines of a contract on the command line."""

from typing import Final

import click

from vramledger.plan.limit_text import both, contract_of
from vramledger.plan.requirement import Contract

_OPTION: Final = "--limit"

limit_option = click.option(
    _OPTION,
    "limits",
    multiple=True,
    metavar="LIMIT",
    help='A line of the contract, as "ttft_s p95 <= 2", "success >= 99%", "the queue drains" or '
    '"100 requests an hour"; repeatable, and beside those of a plan.',
)


def with_limits(contract: Contract | None, limits: tuple[str, ...]) -> Contract | None:
    """A plan's contract with the limits that were given; None where there are none at all.

    Raises:
        BadInput: a limit that is none.
        UnknownName: a limit on something that is none.
    """
    if not limits:
        return contract
    given = contract_of(limits, _OPTION)
    return given if contract is None else both(contract, given)
