"""The prices in the plan that a run carries; the rest of the plan may name files that are not here."""

from collections.abc import Mapping

from vramledger.errors import VramError
from vramledger.ledger.question import accelerator_for
from vramledger.plan.price import parse_price
from vramledger.yaml_text import parse_yaml


def plan_prices(text: str) -> dict[str, float]:
    """Money of a GPU and hour by card; what is no price, or of a card that is not known, is left out."""
    try:
        tree = parse_yaml(text, "plan.yaml").value
    except VramError:
        return {}
    written = tree.get("prices") if isinstance(tree, Mapping) else None
    found: dict[str, float] = {}
    for name, price in written.items() if isinstance(written, Mapping) else ():
        try:
            found[accelerator_for(str(name)).name] = parse_price(str(price), "price").per_hour
        except VramError:
            continue
    return found
